"""The warm process of the command line: it has Holdfast loaded, and the embedding model if commands
need it, and forks a child for each request of `warm`: `python -m holdfast.edges.cli.fork_server
HOME KIND MODULE...`.

The child takes over the client's arguments, environment, folder and standard streams, opens the
memory itself and runs the command, so that the output is exactly what the client itself would have
printed. The warm process never opens a store and has a single thread, because a fork copies neither
safely.

It exits when it has been idle for a while, when its socket, its code or the settings file has
changed, or on SIGTERM.
"""

from __future__ import annotations

import fcntl
import gc
import io
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from holdfast.edges.cli import warm
from holdfast.edges.hooks import state_files
from holdfast.edges.hooks.front import socket_of
from holdfast.edges.local_socket import LOCK_NAME, listen, mark, only_one
from holdfast.errors import HoldfastError
from holdfast.settings import FILE_NAME, load

assert sys.platform == "linux", "commands are served on Linux alone"
# How often it checks whether it is still needed.
_LOOK_S = 2.0
# After this long without a command, it imports the modules that recent children had to import.
_PAUSE_S = 0.3
# A client that sends nothing is broken, and must not occupy a child.
_REQUEST_S = 5.0
_HEAD_BYTES_MAX = 4_000_000
# Children at once; beyond this, a command runs in its own process.
_CHILDREN_MAX = 16
# The largest atomic write to a pipe, so that the reports of two children do not mix.
_REPORT_BYTES_MAX = 4_096
# A command also sets these before it imports numpy and onnxruntime. Both would start threads, which
# a fork does not copy; onnxruntime's threads would also send telemetry.
_DEFAULTS = {"OPENBLAS_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"}
# The exit status of a child that found the code of this process outdated.
_STALE = 75


class Request(NamedTuple):
    """A command for the warm process, with the state of the client's process."""

    program: list[str]
    folder: str
    umask: int
    nice: int
    encodings: list[str]
    words: list[str]
    environ: dict[str, str]


class Outdated(Exception):
    """The code of the warm process has changed since it was loaded."""


class ForkServer:
    """The warm process for one home and one kind of commands, `warm.WORDS` or `warm.MEANING`."""

    def __init__(self, home: str, kind: str, modules: Sequence[str]) -> None:
        self.path = socket_of(home, kind)
        self.settings = load(home)
        self.idle_s: float = self.settings["commands.idle_s"]
        self.environ = dict(os.environ)
        self.program = warm.program()
        self.nice = os.nice(0)
        self._embedder: object = None
        self._wanted: set[str] = set()
        self._children: set[int] = set()
        self._ended = False
        self._asked_at = time.monotonic()
        # The lock is watched because the socket of a home with a long path is elsewhere.
        lock = os.path.join(home, kind, LOCK_NAME)
        watched = (os.path.join(home, FILE_NAME), lock, warm.__file__)
        self._watched = {path: mark(path) for path in watched}
        self._reports, self._report_to = os.pipe()
        os.set_blocking(self._reports, False)
        # A full pipe must block neither this process, which alone reads it, nor a child.
        os.set_blocking(self._report_to, False)
        for name, value in _DEFAULTS.items():
            os.environ.setdefault(name, value)
        self._load(modules)

    # Loading

    def _load(self, modules: Sequence[str]) -> None:
        """Imports the modules that commands use, and loads the embedding model if one of them
        did."""
        for name in modules:
            # If a module cannot be imported here, the child imports it, or it is not needed.
            with suppress(Exception):
                import_module(name)
        if "onnxruntime" in sys.modules and self._embedder is None:
            from holdfast.wiring import embedder_of

            with suppress(HoldfastError, OSError, ImportError):
                embedder = embedder_of(self.settings)
                if embedder is not None:
                    embedder.embed_query("warm")
                self._embedder = embedder or False
        if "holdfast.recall.expand" in sys.modules:
            from holdfast.recall.expand import load_tables

            load_tables()
        self._code = {path: mark(path) for path in _code_paths()}
        # A garbage collection would write to every page that children share with this process.
        gc.collect()
        gc.freeze()

    def _read_reports(self) -> None:
        """Reads the reports of children."""
        with suppress(BlockingIOError):
            names = os.read(self._reports, 16 * _REPORT_BYTES_MAX).decode(errors="replace").split()
            self._wanted |= {name for name in names if name not in sys.modules}

    def _import_reported(self) -> None:
        """Imports the modules that children had to import themselves. This blocks requests, so it
        waits for a pause."""
        wanted, self._wanted = self._wanted, set()
        self._load(sorted(wanted))
        if _threads() != 1:
            self._ended = True

    # Serving

    def serve(self) -> None:
        """Serves commands until the process is no longer needed."""
        if _threads() != 1:
            raise RuntimeError("A library has started a thread; a fork would not be safe.")
        listener = listen(self.path)
        own = mark(self.path)
        listener.setblocking(False)
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(self._reports, select.POLLIN)
        try:
            while not self._ended and self._is_wanted(own):
                wait_s = _PAUSE_S if self._wanted else _LOOK_S
                ready = {number for number, _ in poll.poll(wait_s * 1_000)}
                self._reap()
                if self._reports in ready:
                    self._read_reports()
                if listener.fileno() in ready:
                    self._accept(listener)
                if self._wanted and not ready:
                    self._import_reported()
        finally:
            listener.close()
            if mark(self.path) == own:
                with suppress(OSError):
                    os.unlink(self.path)

    def stop(self, *_: object) -> None:
        self._ended = True
        self.wake()

    def wake(self, *_: object) -> None:
        """Wakes the event loop: by itself, Python resumes waiting after a signal."""
        with suppress(BlockingIOError):
            os.write(self._report_to, b" ")

    def _is_wanted(self, own: tuple[int, int]) -> bool:
        is_idle = time.monotonic() - self._asked_at > self.idle_s and not self._children
        is_current = all(mark(path) == seen for path, seen in self._watched.items())
        return mark(self.path) == own and is_current and not is_idle

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            if len(self._children) >= _CHILDREN_MAX or _peer_of(connection)[1] != os.getuid():
                return
            self._asked_at = time.monotonic()
            child = os.fork()
            if child:
                self._children.add(child)
                return
            listener.close()
            self._answer(connection)

    def _reap(self) -> None:
        for child in list(self._children):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                self._children.discard(child)
                if os.waitstatus_to_exitcode(status) == _STALE:
                    self._ended = True

    # In a child

    def _answer(self, connection: socket.socket) -> NoReturn:
        """Runs one command and ends this process."""
        status = 0
        try:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            connection.setblocking(True)
            connection.settimeout(_REQUEST_S)
            request = _read(connection)
            client = _peer_of(connection)[0]
            self._refuse_other(request, client)
            _limit_as(client)
            connection.sendall(str(os.getpid()).encode())
            streams = _take_streams(connection)
            connection.settimeout(None)
            self._run(connection, request, streams)
        except Outdated:
            status = _STALE
        except BaseException:  # noqa: BLE001  a child must not go on as a second server
            # The client has given up, or this was not a valid request.
            pass
        os._exit(status)

    def _refuse_other(self, request: Request, client: int) -> None:
        """Raises if the result could differ from that of the client's own process."""
        if not warm.only_reads(request.words):
            raise ValueError("no reading command")
        if _confinement(client) != _confinement(os.getpid()):
            raise ValueError("another sandbox or container")
        if request.program != self.program:
            raise ValueError("another program")
        if any(mark(path) != seen for path, seen in self._code.items()):
            raise Outdated
        if _at_start(request.environ) != _at_start(self.environ):
            raise ValueError("another environment")
        if request.nice < self.nice:
            raise ValueError("another priority")

    def _run(self, connection: socket.socket, request: Request, streams: list[int]) -> None:
        _die_with(connection)
        _become_client(request, streams, connection)
        before = set(sys.modules)
        from holdfast.edges.cli.dispatch import main

        code = main(request.words)
        sys.stdout.flush()
        sys.stderr.flush()
        self._report([name for name in sys.modules if name not in before])
        connection.sendall(b"%s%d\n" % (warm.ENDS, code))

    def _report(self, names: Sequence[str]) -> None:
        """Reports the modules that the warm process should import."""
        line = " ".join(names).encode()[: _REPORT_BYTES_MAX - 1].rpartition(b" ")[0] + b" "
        if names:
            with suppress(OSError):
                os.write(self._report_to, line)


class _Announced(io.FileIO):
    """A standard stream that announces its first write on the connection to the client."""

    connection: socket.socket | None = None

    def write(self, data: Any) -> int:
        cls = type(self)
        if cls.connection is not None:
            cls.connection.sendall(warm.WRITES)
            cls.connection = None
        return super().write(data)


def _die_with(connection: socket.socket) -> None:
    """Makes this process end together with the client: the connection closes when the client
    ends."""
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(connection, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(connection, fcntl.F_GETFL)
    fcntl.fcntl(connection, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([connection], [], [], 0)[0]:
        os._exit(0)


def _become_client(request: Request, streams: list[int], connection: socket.socket) -> None:
    """Makes this process equal to the client's, as far as a command can see."""
    for number, given in enumerate(streams):
        os.dup2(given, number)
        os.close(given)
    os.chdir(request.folder)
    os.umask(request.umask)
    os.nice(request.nice - os.nice(0))
    for name in os.environ.keys() - request.environ.keys():
        del os.environ[name]
    os.environ.update(
        (name, value) for name, value in request.environ.items() if os.environ.get(name) != value
    )
    time.tzset()
    sys.argv[1:] = request.words
    _Announced.connection = connection
    sys.stdin, sys.stdout, sys.stderr = map(_stream, range(3), request.encodings)
    # As in the entry point of a command.
    gc.set_threshold(100_000, 20, 20)


def _stream(number: int, how: str) -> io.TextIOWrapper:
    """Opens a standard stream as the client's interpreter would."""
    encoding, errors, by_line, at_once = how.split(":")
    if number == 0:
        return io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), encoding, errors)
    return io.TextIOWrapper(
        io.BufferedWriter(_Announced(number, "w", closefd=False)),
        encoding,
        errors,
        line_buffering=by_line == "1",
        write_through=at_once == "1",
    )


def _take_streams(connection: socket.socket) -> list[int]:
    """Receives the client's standard streams, which come with its permission to continue."""
    size = 4  # of a file descriptor
    said, extra, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(3 * size))
    streams = [
        int.from_bytes(numbers[at : at + size], sys.byteorder)
        for _, kind, numbers in extra
        if kind == socket.SCM_RIGHTS
        for at in range(0, len(numbers), size)
    ]
    if said != warm.GO or len(streams) != 3:
        raise ValueError("no longer wanted")
    return streams


def _read(connection: socket.socket) -> Request:
    """Reads a client's request. Raises ValueError if it is malformed."""
    length, _, rest = connection.recv(262_144).partition(b"\n")
    wanted = int(length)
    while len(rest) < wanted < _HEAD_BYTES_MAX:
        part = connection.recv(262_144)
        if not part:
            break
        rest += part
    if len(rest) != wanted:
        raise ValueError("no request")
    fields = iter(rest.decode("utf-8", "surrogateescape").split("\0"))

    def take(count: int) -> list[str]:
        return [next(fields) for _ in range(count)]

    program = take(int(next(fields)))
    folder, umask, nice = take(3)
    encodings = take(3)
    words = take(int(next(fields)))
    environ = dict(field.split("=", 1) for field in fields)
    return Request(program, folder, int(umask), int(nice), encodings, words, environ)


# Restrictions on a process beyond its account: capabilities, seccomp filters, and Landlock, which
# requires NoNewPrivs.
_STATUS_LINES = ("Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp")
_NAMESPACES = ("mnt", "pid", "net", "user")


def _confinement(process: int) -> list[str]:
    """The restrictions and namespaces of a process. They are read from the kernel, not from the
    client: a program in a sandbox must not read through this process what it cannot read itself."""
    place = f"/proc/{process}"
    with open(f"{place}/status", encoding="utf-8", errors="replace") as file:
        lines = [line for line in file if line.startswith(_STATUS_LINES)]
    about = os.stat(f"{place}/root")
    lines.append(f"{about.st_dev}:{about.st_ino}")
    lines += [os.readlink(f"{place}/ns/{name}") for name in _NAMESPACES]
    # The profile of AppArmor or SELinux, if there is one.
    with suppress(OSError), open(f"{place}/attr/current", encoding="utf-8") as file:
        lines.append(file.read())
    return lines


def _limit_as(process: int) -> None:
    """Takes over the `ulimit` limits of a process. Raises ValueError if they are higher than this
    process may set."""
    import resource

    for name in dir(resource):
        if name.startswith("RLIMIT_"):
            kind = getattr(resource, name)
            wanted = resource.prlimit(process, kind)
            if wanted != resource.getrlimit(kind):
                resource.setrlimit(kind, wanted)


def _peer_of(connection: socket.socket) -> tuple[int, int]:
    """The process and user at the other end. Only this user and root can enter the socket's
    folder."""
    about = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(about[:4], sys.byteorder), int.from_bytes(about[4:8], sys.byteorder)


def _at_start(environ: dict[str, str]) -> dict[str, str]:
    """The variables that are read only once, when a process starts or imports a library."""
    return _DEFAULTS | {
        name: value
        for name, value in environ.items()
        if name.startswith(warm.START_VARIABLES) or name in warm.START_NAMES
    }


def _code_paths() -> set[str]:
    """The files of Holdfast that this process has loaded, and the folders of installed packages,
    whose modification time an update changes."""
    files = {
        module.__file__ or ""
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "holdfast" and getattr(module, "__file__", None)
    }
    return files | {folder for folder in sys.path if os.path.isdir(folder)}


def _threads() -> int:
    try:
        return len(os.listdir("/proc/self/task"))
    except OSError:
        import threading

        return threading.active_count()


def main(home: str, kind: str, modules: Sequence[str]) -> NoReturn:
    """Runs the warm process, unless another one does."""
    with suppress(OSError):
        os.setsid()
    os.chdir("/")
    if not os.path.isdir(home):
        sys.exit(0)  # the home was removed, and must not be created again
    if not only_one(os.path.join(home, kind)):
        sys.exit(0)
    try:
        server = ForkServer(home, kind, modules)
        signal.signal(signal.SIGTERM, server.stop)
        signal.signal(signal.SIGCHLD, server.wake)
        server.serve()
    except Exception as error:  # noqa: BLE001  nobody reads what a detached process prints
        if os.path.isdir(home):
            state_files.note_error(home, "commands", error)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
