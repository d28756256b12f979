"""A page on another port of this machine, in a real browser, against a server without a key: it can
neither read nor write. The same page against a server without checks shows that it does try."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.responses import HTMLResponse
from starlette.routing import Route

import holdfast
from tests.e2e.browser import Seen, find_chromium, report_of, serving
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT
from tests.edges.http.serving import served

pytestmark = [
    pytest.mark.skipif(
        find_chromium() is None,
        reason="Chromium is not installed: `apt-get install chromium`, or HOLDFAST_TEST_CHROMIUM",
    ),
    pytest.mark.slow,
]
PAGE = (Path(__file__).parent / "foreign_page.html").read_text(encoding="utf-8")
# A page of the server's own origin, as a user interface would be.
OWN_PAGE = """<!doctype html><script>onload = async () => {
  const write = await fetch("/v1/memories", { method: "POST",
    headers: { "Content-Type": "application/json" }, body: '{"content": "Tea at four"}' });
  const upload = new FormData();
  upload.append("file", new Blob(["Coffee at five"]), "note.txt");
  const file = await fetch("/v1/memories/upload",
    { method: "POST", body: upload, headers: { "X-Holdfast-Client": "page" } });
  const read = await (await fetch("/v1/memories")).json();
  const opened = await new Promise((done) => {
    const source = new EventSource("/v1/events");
    source.onopen = () => { source.close(); done(true); };
    source.onerror = () => { source.close(); done(false); };
  });
  await fetch("/report", { method: "POST", mode: "no-cors", body: JSON.stringify(
    { write: write.status, file: file.status, found: read.data.length, opened }) });
}</script>"""
_PATIENCE_S = 30.0


@contextmanager
def holdfast_serving(home: Path) -> Iterator[int]:
    """`holdfast serve` as a process, without a key; its port."""
    environment = {
        **os.environ,
        "HOME": str(home),
        "HOLDFAST_HOME": str(home),
        "HOLDFAST_EMBED_MODEL": "none",
        "HOLDFAST_SERVER_PER_MINUTE": "100000",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast", "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as running:
        assert running.stderr is not None
        try:
            for line in running.stderr:
                if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                    yield int(found[1])
                    break
            else:
                raise AssertionError("the server did not start")
        finally:
            running.terminate()
            running.wait(_PATIENCE_S)


@pytest.mark.parametrize(
    ("page_host", "target_host"), [("localhost", "localhost"), ("127.0.0.1", "localhost")]
)
def test_a_page_on_another_port_neither_reads_nor_writes(
    tmp_path: Path, page_host: str, target_host: str
) -> None:
    """The same site (ports are no part of one) and another one."""
    with holdfast_serving(tmp_path) as port:
        with holdfast.Client(f"http://127.0.0.1:{port}") as client:
            hub = client.hub()
            hub.remember("The vault opens on Friday")
            before = hub.changes()
        with serving(PAGE.replace("TARGET", f"http://{target_host}:{port}")) as page:
            report = report_of(page, f"http://{page_host}:{page.port}/")
        assert report["reads"] == []
        with holdfast.Client(f"http://127.0.0.1:{port}") as client:
            hub = client.hub()
            assert [memory.content for memory in hub.list()] == ["The vault opens on Friday"]
            assert "written by" not in hub.context()
            assert hub.changes() == before


def test_a_server_without_checks_gets_all_of_it() -> None:
    """So that the test above does not pass because the page does nothing."""
    with (
        serving() as target,
        serving(PAGE.replace("TARGET", f"http://localhost:{target.port}")) as page,
    ):
        report = report_of(page, f"http://127.0.0.1:{page.port}/")
    for read in ("get cors include", "context cors omit", "json", "upload cors include", "delete"):
        assert any(one.startswith(f"{read}: 200") for one in report["reads"]), read
    assert {
        Seen("GET", "/v1/memories", ""),
        Seen("GET", "/v1/events", ""),
        Seen("POST", "/v1/memories", "text/plain"),
        Seen("POST", "/v1/memories", "application/x-www-form-urlencoded"),
        Seen("POST", "/v1/memories", "application/json"),
        Seen("POST", "/v1/memories/upload", "multipart/form-data"),
        Seen("POST", "/v1/memories/1/forget", ""),
        Seen("POST", "/v1/memories/1/forget", "text/plain"),
        Seen("POST", "/mcp", "text/plain"),
        Seen("DELETE", "/v1/memories/1", ""),
    } <= set(target.seen)


def test_a_page_of_the_servers_own_origin_may_use_it(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory, serving() as page:
        app = make_app(memory, key_needed=False, limits=PATIENT)
        text = OWN_PAGE.replace('"/report"', f'"http://127.0.0.1:{page.port}/report"')
        app.router.routes.insert(0, Route("/", lambda _: HTMLResponse(text)))
        with served(app) as url:
            report = report_of(page, f"{url}/")
    assert report == {"write": 201, "file": 201, "found": 2, "opened": True}
