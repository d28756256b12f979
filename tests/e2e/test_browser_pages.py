"""A page on another port of this machine, in a real browser, against a server without a key: it can
neither read nor write. The same page against a server without checks shows that it does try."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import HTMLResponse
from starlette.routing import Route

import holdfast
from tests.e2e.browser import Seen, find_chromium, report_of, serving
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT
from tests.edges.http.serving import served
from tests.serve_process import serve_process

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


@pytest.mark.parametrize(
    ("page_host", "target_host"), [("localhost", "localhost"), ("127.0.0.1", "localhost")]
)
def test_a_page_on_another_port_neither_reads_nor_writes(
    tmp_path: Path, page_host: str, target_host: str
) -> None:
    """The same site (ports are no part of one) and another one."""
    settings = {"HOME": str(tmp_path), "HOLDFAST_SERVER_PER_MINUTE": "100000"}
    with serve_process(tmp_path, **settings) as (url, _):
        port = url.rpartition(":")[2]
        with holdfast.Client(url) as client:
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
