"""A proxy between the store and a PostgreSQL server that reads the protocol: it sees every
statement that is sent, whoever sends it, counts the round trips, and may refuse a statement.

It speaks no TLS. A refused statement is answered with a fatal error and the connection is closed,
as a server would do that cannot go on.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

# Requests for encryption, which come before the startup message and are declined.
_SSL, _GSS = 80877103, 80877104
# After these messages the client waits for an answer: a query, the end of a pipeline, a flush.
_END_WAIT_S = 5.0
_ASKS = (b"Q", b"S", b"H")


class Sent(NamedTuple):
    """A statement that went over the wire, and the types of its parameters where they were named
    (object ids, 0 for unknown)."""

    sql: str
    types: tuple[int, ...] = ()


Rule = Callable[[str], str]


class Wire:
    """A proxy in front of the server of a URL; `url` is that of the proxy.

    `rules` makes, for each connection, a function that says why a statement is refused ('' where it
    is not).
    """

    def __init__(self, url: str, rules: Callable[[], Rule] | None = None) -> None:
        self._to = conninfo_to_dict(url)
        self._rules = rules
        self.sent: list[Sent] = []
        self.refused: list[tuple[str, str]] = []
        self.round_trips = 0
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._closed = False
        port = self._listening.getsockname()[1]
        user = quote(str(self._to.get("user", "")))
        self.url = f"postgresql://{user}@127.0.0.1:{port}/{self._to['dbname']}?sslmode=disable"
        self._threads: list[threading.Thread] = []
        self._run(self._accept)

    def _run(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def close(self) -> None:
        self._closed = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        with self._lock:
            for one in self._sockets:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_END_WAIT_S)
        self._listening.close()

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """The number of round trips of a block, in a list that is filled when it ends."""
        with self._lock:
            before = self.round_trips
        out: list[int] = []
        yield out
        with self._lock:
            out.append(self.round_trips - before)

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self._run(partial(self._serve, client))

    def _connect(self) -> socket.socket:
        host, port = str(self._to.get("host") or "localhost"), int(self._to.get("port") or 5432)
        if host.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.{port}")
            return server
        return socket.create_connection((host, port))

    def _serve(self, client: socket.socket) -> None:
        try:
            server = self._connect()
        except OSError:
            client.close()
            return
        for one in (client, server):
            if one.family == socket.AF_INET:
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._sockets |= {client, server}
        back = threading.Thread(target=_pump, args=(server, client), daemon=True)
        back.start()
        with suppress(OSError, EOFError):
            self._forward(client, server, self._rules() if self._rules else _anything)
        for one in (client, server):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        back.join(_END_WAIT_S)
        with self._lock:
            self._sockets -= {client, server}
        client.close()
        server.close()

    def _forward(self, client: socket.socket, server: socket.socket, rule: Rule) -> None:
        with client.makefile("rb") as reading:
            self._forward_all(reading, client, server, rule)

    def _forward_all(
        self, reading: BinaryIO, client: socket.socket, server: socket.socket, rule: Rule
    ) -> None:
        _start(reading.read, client, server)
        last = b""
        while True:
            kind = reading.read(1)
            if not kind:
                return
            head = _exactly(reading.read, 4)
            body = _exactly(reading.read, struct.unpack("!i", head)[0] - 4)
            # The driver sends a flush behind the end of a pipeline, for which it does not wait.
            if kind in _ASKS and (kind, last) != (b"H", b"S"):
                with self._lock:
                    self.round_trips += 1
            last = kind
            sent = _statement(kind, body)
            if sent is not None:
                with self._lock:
                    self.sent.append(sent)
                if why := rule(sent.sql):
                    with self._lock:
                        self.refused.append((why, sent.sql))
                    client.sendall(_error(why))
                    return
            server.sendall(kind + head + body)


def _anything(_: str) -> str:
    return ""


def _start(read: Callable[[int], bytes], client: socket.socket, server: socket.socket) -> None:
    """Forwards the startup message."""
    while True:
        head = _exactly(read, 4)
        body = _exactly(read, struct.unpack("!i", head)[0] - 4)
        if len(body) == 4 and struct.unpack("!i", body)[0] in (_SSL, _GSS):
            client.sendall(b"N")
            continue
        server.sendall(head + body)
        return


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    data = read(size)
    if len(data) < size:
        raise EOFError
    return data


def _statement(kind: bytes, body: bytes) -> Sent | None:
    if kind == b"Q":
        return Sent(body.rstrip(b"\0").decode())
    if kind == b"P":
        _, text, rest = body.split(b"\0", 2)
        (count,) = struct.unpack("!h", rest[:2])
        return Sent(text.decode(), struct.unpack(f"!{count}I", rest[2 : 2 + 4 * count]))
    return None


def _error(why: str) -> bytes:
    fields = {"S": "FATAL", "V": "FATAL", "C": "0A000", "M": why}
    body = b"".join(f"{name}{value}\0".encode() for name, value in fields.items()) + b"\0"
    return b"E" + struct.pack("!i", len(body) + 4) + body


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


@contextmanager
def wire(url: str, rules: Callable[[], Rule] | None = None) -> Iterator[Wire]:
    """A proxy for the length of a block."""
    made = Wire(url, rules)
    try:
        yield made
    finally:
        made.close()
