"""A proxy on a loopback port over a home of its own, and an endpoint for it that answers as a test
says."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from holdfast import Holdfast
from holdfast.edges.hooks.cold import open_memory
from holdfast.edges.proxy.app import Options, Proxy, create_app
from holdfast.edges.proxy.formats import Upstream
from holdfast.edges.proxy.memory import ProxyMemory
from holdfast.edges.server.connections import ConnectionLimits
from holdfast.edges.server.listening import LOOPBACK
from holdfast.passes.work import work_until_done
from tests.edges.http.serving import served
from tests.serve_thread import in_thread

# A client that is busy with something else keeps its connection.
PATIENT = ConnectionLimits(idle_s=30.0)


class Running(NamedTuple):
    """A proxy that runs: its address, and the memory behind it."""

    url: str
    memory: Holdfast
    proxy: Proxy

    def settle(self) -> None:
        """Waits until what was said is logged: that is done behind the answer."""
        until = time.monotonic() + 60
        while self.proxy.requests_open:
            assert time.monotonic() < until, "a request does not end"
            time.sleep(0.005)

    @property
    def logged(self) -> list[tuple[str, str, str]]:
        """Role, trust and text of what the default hub has logged, oldest first."""
        self.settle()
        turns = self.memory.hub("default", create=True).turns(limit=500)
        return [(turn.role, turn.trust, turn.content) for turn in reversed(turns)]

    def work(self) -> None:
        """Does what a worker would do later."""
        self.settle()
        work_until_done(self.memory.core, self.memory.home)


@contextmanager
def proxy(home: Path, upstream: str, **options: Any) -> Iterator[Running]:
    """On a busy machine memory is not late, unless a test says so."""
    with open_memory(str(home), words_only=True) as memory:
        memory.core.set_has_worker(True)
        app = create_app(
            ProxyMemory(memory, folder=str(home.parent)),
            Options(Upstream.parse(upstream), hosts=LOOPBACK, **{"memory_s": 30.0, **options}),
        )
        with served(app, PATIENT) as url:
            yield Running(url, memory, app.state.proxy)


Answering = Callable[[BaseHTTPRequestHandler, bytes], None]


@contextmanager
def endpoint(answering: Answering) -> Iterator[str]:
    """An endpoint that does with a request what the test says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base's name
            pass

        def do_POST(self) -> None:
            if self.headers.get("Transfer-Encoding") == "chunked":
                data = _chunked(self.rfile)
            else:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answering(self, data)

        def do_GET(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with in_thread(server):
        yield f"http://127.0.0.1:{server.server_port}"


def _chunked(file: Any) -> bytes:
    data = b""
    while size := int(file.readline().split(b";")[0], 16):
        data += file.read(size)
        file.readline()
    file.readline()
    return data


def raw(url: str, request: bytes, *, wait_s: float = 10.0) -> bytes:
    """What comes back for these bytes, until the connection ends."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=wait_s) as connection:
        connection.sendall(request)
        data = b""
        while piece := connection.recv(65_536):
            data += piece
    return data
