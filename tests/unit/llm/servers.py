"""A model's server on this machine that does as it is told: well, badly, or not at all.

Each request takes the next behaviour; the last one is kept. Every request is written down with its
headers, as the other side saw it.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.serve_thread import in_thread

Behaviour = Callable[["Handler"], None]


class Heard(NamedTuple):
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.heard.append(Heard(self.path, headers, body))
        self.server.next_behaviour()(self)

    def log_message(self, *args: Any) -> None:
        """Nothing: the tests say what matters."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            # The client gave up, which is what many of these tests are about.
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behaviours: Sequence[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.heard: list[Heard] = []
        # Set when the test is over, so that whoever hangs can go.
        self.over = threading.Event()
        self._behaviours = list(behaviours)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def next_behaviour(self) -> Behaviour:
        with self._lock:
            return self._behaviours.pop(0) if len(self._behaviours) > 1 else self._behaviours[0]


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Server]:
    server = Server(behaviours)
    with in_thread(server):
        try:
            yield server
        finally:
            server.over.set()


# What a server may do


def reply(
    body: Any = None, *, status: int = 200, raw: bytes | None = None, **headers: str
) -> Behaviour:
    """An answer; `raw` is sent to the letter. A header `retry_after` is sent as `retry-after`."""

    def do(handler: Handler) -> None:
        data = raw if raw is not None else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return do


def hang(handler: Handler) -> None:
    handler.server.over.wait(30)


def reset(handler: Handler) -> None:
    """Tears the connection down without a word."""
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()
    handler.close_connection = True


def break_off(handler: Handler) -> None:
    """Promises more than it sends."""
    handler.wfile.write(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"cho')
    handler.wfile.flush()
    handler.close_connection = True


def trickle(start: bytes, piece: bytes) -> Behaviour:
    """Sends a piece every hundredth of a second, for ever."""

    def do(handler: Handler) -> None:
        handler.wfile.write(start)
        while not handler.server.over.wait(0.01):
            handler.wfile.write(piece)
            handler.wfile.flush()
        handler.close_connection = True

    return do


trickle_headers = trickle(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n")
trickle_body = trickle(
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n", b" "
)


def flood(handler: Handler) -> None:
    """Sends as fast as it can, without end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
    block = b" " * (1 << 16)
    while not handler.server.over.is_set():
        handler.wfile.write(block)
        handler.server.sent = getattr(handler.server, "sent", 0) + len(block)  # type: ignore[attr-defined]
    handler.close_connection = True
