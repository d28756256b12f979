"""kill −9 of a real server under load: what was answered with 2xx is there after a restart, nothing
is there twice, and the store is whole."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from holdfast.engine.people import keys
from holdfast.engine.upkeep.doctor import examine

CLIENTS = 6
KILLS = 4
# Writes that are answered before a kill: enough that it falls into the middle of others.
ANSWERED = 40
_WAIT_S = 60

SERVER = """
import sys
from holdfast.edges.http.limits import Limits
from holdfast.edges.http.app import create_app
from holdfast.edges.server import listening
from holdfast.api.memory import open as open_memory
memory = open_memory(sys.argv[1], settings={"embed.model": "none", "actor": "tester"})
socket_ = listening.listen("127.0.0.1", int(sys.argv[2]))
print(socket_.getsockname()[1], flush=True)
app = create_app(memory, limits=Limits(per_minute=10**6))
listening.run(app, socket_, stop_s=5)
memory.close()
"""


class Server:
    """A server in a process of its own, that can be killed and started again at its address."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = 0
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER, str(self._folder), str(self.port)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._ended()

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        code = self._process.wait(timeout=_WAIT_S)
        assert self._process.stdout is not None
        self._process.stdout.close()
        return code

    def close(self) -> None:
        if self._process.poll() is None:
            self.kill()


class Client(threading.Thread):
    """Writes without end, each write with an idempotency key; what is not answered is sent again
    with the same key, as a client does that lost its connection."""

    def __init__(self, server: Server, key: str, number: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._key = key
        self._number = number
        self._line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        self._stop_asked = stop
        self.pushed: list[str] = []
        self.logged: list[str] = []
        # Turns that were cut off after they were written: there once, and never answered with 2xx.
        self.unanswered: list[str] = []
        self.odd: list[str] = []

    def run(self) -> None:
        step = 0
        while self._step(f"client{self._number} step{step}"):
            step += 1
        self._line.close()

    def _step(self, text: str) -> bool:
        memory = {"content": f"Memory of {text}"}
        turn = {"role": "user", "content": f"Turn of {text}"}
        return self._once("/v1/memories", memory, text, self.pushed) and self._once(
            "/v1/log", turn, text, self.logged
        )

    def _post(self, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        self._line.request("POST", path, json.dumps(body), headers)
        answer = self._line.getresponse()
        return answer.status, json.loads(answer.read())

    def _once(self, path: str, body: Any, text: str, done: list[str]) -> bool:
        headers = {
            "Authorization": f"Bearer {self._key}",
            "Content-Type": "application/json",
            "X-Hub-ID": "plans",
            "Idempotency-Key": f"{path} {text}",
        }
        until = time.monotonic() + _WAIT_S
        while time.monotonic() < until:
            if self._stop_asked.is_set():
                return False
            try:
                status, told = self._post(path, body, headers)
            except (OSError, http.client.HTTPException):
                self._line.close()
                self._stop_asked.wait(0.02)
                continue
            if status in (200, 201):
                done.append(text)
                return True
            code = told["error"]["code"]
            if code == "interrupted":
                self.unanswered.append(text)
                return True
            if code not in ("in_progress", "busy", "overloaded"):
                self.odd.append(f"{path}: {status} {told}")
                return False
            self._stop_asked.wait(0.02)
        self.odd.append(f"{path} {text} was never answered")
        return False


def opened(folder: Path) -> Holdfast:
    return open_memory(
        folder, settings={"embed.model": "none", "actor": "tester", "log.keep": 10**6}
    )


@pytest.mark.skipif(os.name != "posix", reason="kills by a signal")
def test_what_a_killed_server_had_answered_is_there_once(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.create_hub("plans")
        key = keys.create_key(memory.core, "load").secret
    server = Server(tmp_path)
    stop = threading.Event()
    clients = [Client(server, key, number, stop) for number in range(CLIENTS)]
    try:
        for client in clients:
            client.start()
        for kill in range(1, KILLS + 1):
            _wait_for(clients, kill * ANSWERED)
            server.kill()
            server.start()
        _wait_for(clients, (KILLS + 1) * ANSWERED)
        stop.set()
        for client in clients:
            client.join(_WAIT_S)
        assert server.stop() == 0
    finally:
        stop.set()
        server.close()
    assert [said for client in clients for said in client.odd] == []
    with opened(tmp_path) as memory:
        hub = memory.hub("plans")
        there = Counter(one.content for one in hub.list())
        turns = Counter(json.loads(line)["content"] for line in _turns(hub))
        assert [text for text, count in (there + turns).items() if count > 1] == []
        for client in clients:
            assert [t for t in client.pushed if f"Memory of {t}" not in there] == []
            told = [*client.logged, *client.unanswered]
            assert [t for t in told if f"Turn of {t}" not in turns] == []
        assert examine(memory.core).found == []


def _turns(hub: Any) -> list[str]:
    return [line for line in hub.export() if line.startswith('{"type":"turn"')]


def _wait_for(clients: list[Client], answered: int) -> None:
    until = time.monotonic() + _WAIT_S
    while sum(len(client.pushed) + len(client.logged) for client in clients) < answered:
        assert time.monotonic() < until, [client.odd for client in clients]
        assert any(client.is_alive() for client in clients), [client.odd for client in clients]
        time.sleep(0.01)
