"""A headless Chromium that opens one page, and the small web server that the page comes from.

The page reports by sending JSON to `/report` of its own server, so that nothing has to be timed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from tests.serve_thread import in_thread

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# A browser on a loaded machine takes seconds to start; past this it hangs.
_PATIENCE_S = 90.0
_OPTIONS = (
    "--headless=new",
    # The sandbox needs rights that a container does not have; the pages are our own.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
)


def find_chromium() -> str | None:
    """The program, by HOLDFAST_TEST_CHROMIUM or on the path; None where there is none."""
    named = os.environ.get("HOLDFAST_TEST_CHROMIUM")
    return named or next((found for name in _NAMES if (found := shutil.which(name))), None)


class Seen(NamedTuple):
    """A request that reached a server, by what a page can choose of it."""

    method: str
    path: str
    media_type: str


class PageServer(ThreadingHTTPServer):
    """Serves one page, takes its report, redirects where it is asked to, and grants everything to
    every origin: as the target of a page, it shows what a server without checks would get."""

    daemon_threads = True

    def __init__(self, page: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = page
        self.report: Any = None
        self.reported = threading.Event()
        self.seen: list[Seen] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        self._note()
        if self.path == "/" and self.server.page:
            self._answer(200, "text/html; charset=utf-8", self.server.page)
        else:
            self._answer(200, "application/json", "{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        split = urlsplit(self.path)
        if split.path == "/report":
            self.server.report = json.loads(body)
            self._answer(200, "application/json", "{}")
            self.server.reported.set()
        elif split.path == "/redirect":
            self.send_response(307)
            self.send_header("Location", parse_qs(split.query)["to"][0])
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self._note()
            self._answer(200, "application/json", "{}")

    def do_DELETE(self) -> None:
        self.do_POST()

    def do_OPTIONS(self) -> None:
        self._answer(200, "text/plain", "")

    def _note(self) -> None:
        media_type = self.headers.get("Content-Type", "").partition(";")[0]
        self.server.seen.append(Seen(self.command, self.path, media_type))

    def _answer(self, status: int, media_type: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(text.encode())))
        if origin := self.headers.get("Origin"):
            self.send_header("Access-Control-Allow-Origin", origin)
            self.send_header("Access-Control-Allow-Credentials", "true")
            self.send_header("Access-Control-Allow-Methods", "GET, POST, DELETE")
            self.send_header("Access-Control-Allow-Headers", "content-type, x-holdfast-client")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(page: str = "") -> Iterator[PageServer]:
    with in_thread(PageServer(page)) as server:
        yield server


@contextlib.contextmanager
def opened(url: str) -> Iterator[None]:
    """A browser of its own, with nothing stored, that has the page open."""
    program = find_chromium()
    assert program is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        running = subprocess.Popen(
            [program, *_OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-port=0", url],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env={**os.environ, "HOME": profile},
        )
        try:
            yield
        finally:
            # Its own group: a browser is many processes.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait(_PATIENCE_S)


def report_of(server: PageServer, url: str) -> Any:
    """Opens the page, and returns what it reports."""
    with opened(url):
        assert server.reported.wait(_PATIENCE_S), "the page did not report in time"
    return server.report
