"""The web page in a real Chromium, through Playwright: a browser for a module, and a server over a
memory of several thousand."""

from __future__ import annotations

import contextlib
import random
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.api.memory import Holdfast
from holdfast.edges.server.listening import make_server
from tests.e2e.browser import find_chromium
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT
from tests.edges.http.serving import QUICK

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: it is one of the dev dependencies"
)
NEEDS_CHROMIUM = pytest.mark.skipif(
    find_chromium() is None,
    reason="Chromium is not installed: `apt-get install chromium`, or HOLDFAST_TEST_CHROMIUM",
)
# Tabs share four renderer processes; the start of one for each takes a quarter of the test's time.
_OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--renderer-process-limit=4",
]
# What a person waits for on a loaded machine.
PATIENCE_MS = 20_000
playwright.expect.set_options(timeout=PATIENCE_MS)
_NOUNS = [
    "harbour",
    "buoy",
    "tide",
    "forecast",
    "station",
    "alert",
    "sensor",
    "map",
    "queue",
    "index",
    "backup",
    "release",
]
_VERBS = [
    "restarts",
    "measures",
    "reports",
    "replaces",
    "stores",
    "rejects",
    "delays",
    "repeats",
    "skips",
    "counts",
]
_PLACES = [
    "Porto",
    "Lisbon",
    "Viana",
    "Leixões",
    "Aveiro",
    "Faro",
    "Sagres",
    "Nazaré",
    "Peniche",
    "Setúbal",
]


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=find_chromium(), args=_OPTIONS)
        try:
            yield browser
        finally:
            browser.close()


class Site:
    """A memory, and the address of its page. It can be stopped and started again."""

    def __init__(self, memory: Holdfast, *, key_needed: bool = False) -> None:
        self.memory = memory
        self.hub = memory.hub()
        self.key_needed = key_needed
        self.port = 0
        self._stop: Callable[[], None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self.port))
        listening.listen()
        self.port = listening.getsockname()[1]
        app = make_app(self.memory, key_needed=self.key_needed, limits=PATIENT)
        server = make_server(app, stop_s=1, limits=QUICK, stopping=app.state.stopping.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join()
            listening.close()

        self._stop = stop

    def stop(self) -> None:
        if self._stop is not None:
            self._stop()
            self._stop = None


@contextlib.contextmanager
def site(folder: Path, *, memories: int = 0, key_needed: bool = False) -> Iterator[Site]:
    settings = {"embed.model": "none", "actor": "olga"}
    with holdfast.open(folder, settings=settings) as memory:
        made = Site(memory, key_needed=key_needed)
        fill(made.hub, memories)
        made.start()
        try:
            yield made
        finally:
            made.stop()


def fill(hub: Any, count: int) -> None:
    """Memories that differ, a batch at a time."""
    chance = random.Random(5)
    texts = (
        f"{chance.choice(_PLACES)}: the {chance.choice(_NOUNS)} {chance.choice(_VERBS)} the "
        f"{chance.choice(_NOUNS)} number {number}"
        for number in range(count)
    )
    for _ in hub.remember_stream({"content": text, "category": "project"} for text in texts):
        pass


@contextlib.contextmanager
def visiting(browser: Any, site: Site, **options: Any) -> Iterator[Any]:
    """A page of a browser with nothing stored; what its console reports as wrong fails the test."""
    context = browser.new_context(base_url=site.url, **options)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if _is_wrong(said) else None)
    page.wrong = wrong
    try:
        yield page
        assert not wrong, wrong
    finally:
        context.close()


def _is_wrong(said: Any) -> bool:
    # A request that was refused or broken off is reported by the browser and by htmx; the tests
    # look at what the page says.
    return said.type == "error" and not said.text.startswith(
        ("Failed to load resource", "Response Status Error", "htmx:")
    )
