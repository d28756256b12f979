"""The warm process of a home: it has the memory open, answers hooks over a socket, and does the
work that they queue. The first hook starts it. It ends after a while without hooks, when its
socket, its program or the settings file has changed, on request, or at SIGTERM: `python -m
holdfast.edges.hooks.server HOME`.

Until the embedding model is loaded, it answers by words: the model takes longer to load than a
person waits.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from holdfast.edges.hooks import front, state_files
from holdfast.edges.hooks.cold import open_memory
from holdfast.edges.hooks.event import parse
from holdfast.edges.hooks.respond import respond
from holdfast.edges.local_socket import listen, mark, only_one
from holdfast.errors import HoldfastError
from holdfast.settings import FILE_NAME

# How often it checks whether it is still needed.
_LOOK_S = 2.0
# A hook that sends nothing is broken, and must not occupy a thread.
_REQUEST_S = 5.0
_HEAD_BYTES_MAX = 1_000_000


class Server:
    """The warm process that answers hooks for one home."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.path = front.socket_of(home)
        # Before the settings are read: a change meanwhile counts as one.
        watched = (front.__file__, os.path.join(home, FILE_NAME))
        self._watched = {path: mark(path) for path in watched}
        self.memory = open_memory(home, words_only=False)
        self.idle_s: float = self.memory.core.settings["hooks.idle_s"]
        self._asked_at = time.monotonic()
        self._running = 0
        self._model_ready = threading.Event()
        self._stop = threading.Event()
        self._works: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def serve(self) -> None:
        """Answers hooks until it is no longer needed."""
        listener = listen(self.path)
        own = mark(self.path)
        threading.Thread(target=self._load_model, daemon=True).start()
        threading.Thread(target=self._work, daemon=True).start()
        listener.settimeout(_LOOK_S)
        try:
            while not self._stop.is_set() and self._is_wanted(own):
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                if not self._is_current(own):
                    # Without an answer, the hook does the work itself, by the new settings.
                    connection.close()
                    break
                self._asked_at = time.monotonic()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()
        finally:
            listener.close()
            if mark(self.path) == own:
                with suppress(OSError):
                    os.unlink(self.path)
            self._finish()

    def stop(self, *_: object) -> None:
        self._stop.set()

    def _is_wanted(self, own: tuple[int, int]) -> bool:
        is_idle = time.monotonic() - self._asked_at > self.idle_s and not self._running
        return self._is_current(own) and not is_idle

    def _is_current(self, own: tuple[int, int]) -> bool:
        unchanged = all(mark(path) == seen for path, seen in self._watched.items())
        return unchanged and mark(self.path) == own

    def _answer(self, connection: socket.socket) -> None:
        self._running += 1
        try:
            with connection:
                connection.settimeout(_REQUEST_S)
                head, data = _read(connection)
                answer = self._respond(head, data)
                connection.sendall(b"+" + answer)
        except OSError:
            # The hook has given up; its request is completed all the same.
            pass
        finally:
            self._running -= 1

    def _respond(self, head: list[str], data: bytes) -> bytes:
        name, client, folder, hub = head
        if name == front.PING:
            return front.PONG
        if name == front.SHUT_DOWN:
            self.stop()
            return front.PONG
        try:
            event = parse(name, client, folder, data)
            return respond(
                self.memory,
                event,
                named_hub=hub,
                meaning=self._model_ready.is_set(),
                later=self._works.put,
            ).encode()
        except Exception as error:  # noqa: BLE001  the client's session must go on
            state_files.note_error(self.home, name, error)
            return b""

    def _load_model(self) -> None:
        """Loads the embedding model, so that no hook has to wait for it."""
        embedder = self.memory.core.embedder
        if embedder is None:
            return
        with suppress(HoldfastError, OSError, ImportError):
            embedder.embed_query("warm")
            self._model_ready.set()

    def _work(self) -> None:
        """Does the deferred work, one piece after the other."""
        from holdfast.engine.jobs import JOURNAL
        from holdfast.passes.work import work_until_done

        def finish_queue() -> None:
            # Jobs queued by hooks that ran without a warm process.
            work_until_done(self.memory.core, self.memory.home, works=(JOURNAL,))

        self._works.put(finish_queue)
        while True:
            work = self._works.get()
            try:
                work()
            except Exception as error:  # noqa: BLE001  the next piece of work may succeed
                if not self._stop.is_set():
                    state_files.note_error(self.home, "work", error)

    def _finish(self) -> None:
        self._stop.set()
        until = time.monotonic() + _REQUEST_S
        while self._running and time.monotonic() < until:
            time.sleep(0.01)
        with suppress(HoldfastError):
            self.memory.close()


def _read(connection: socket.socket) -> tuple[list[str], bytes]:
    data = b""
    while part := connection.recv(262_144):
        data += part
        if len(data) > front.INPUT_BYTES_MAX + _HEAD_BYTES_MAX:
            break
    length, _, rest = data.partition(b"\n")
    size = int(length) if length.isdigit() else 0
    head = rest[:size].decode("utf-8", "surrogateescape").split("\0")
    if len(head) != 4:
        raise OSError("This is no request of a hook.")
    return head, rest[size:]


def main(home: str) -> NoReturn:
    """Runs the hooks' warm process, if no other does."""
    if not only_one(os.path.join(home, front.FOLDER)):
        sys.exit(0)
    try:
        server = Server(home)
        signal.signal(signal.SIGTERM, server.stop)
        server.serve()
    except Exception as error:  # noqa: BLE001  nobody reads what a detached process prints
        state_files.note_error(home, "server", error)
    # Threads that wait for a model must not keep the process.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
