"""Takes the screenshots of the README and the docs, of an invented hub, as WebP of modest size:

python -m tools.screenshots FOLDER
"""

from __future__ import annotations

import io
import os
import shutil
import socket
import sys
import tempfile
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import holdfast
from holdfast.edges.http.app import create_app
from holdfast.edges.http.limits import Limits
from holdfast.edges.server.listening import make_server
from tools import demo_store

WIDE = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 780}
# Name, path, theme, size of the window, and what is waited for.
SHOTS: tuple[tuple[str, str, str, dict[str, int], str], ...] = (
    ("find", "?q=Tidepool+database+and+backups", "light", WIDE, "#hits .hit"),
    ("memory", "/m/{changed}", "light", WIDE, ".related"),
    ("today", "/today", "light", WIDE, ".inbox"),
    ("agent", "/agent?q=how+do+I+deploy+a+hotfix", "dark", WIDE, ".block-text"),
    ("pictures", "/pictures", "dark", WIDE, "#map[data-ready]"),
    ("phone", "", "dark", PHONE, "#hits .hit"),
)
_WEBP_QUALITY = 82


class _StoppedClock:
    """The morning that the demo ends on, so that pictures are the same each time."""

    def now(self) -> datetime:
        return demo_store.NOW


def main(target: str) -> None:
    from playwright.sync_api import sync_playwright

    program = os.environ.get("HOLDFAST_TEST_CHROMIUM") or shutil.which("chromium")
    folder = Path(target)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as home:
        demo_store.main(home)
        clock = _StoppedClock()
        settings = {"actor": "ada"}
        with holdfast.open(home, clock=clock, settings=settings) as memory:
            changed = memory.hub().recall("backups of the database", limit=1, turns=False)[0]
            server, port = _start(memory)
            with sync_playwright() as running:
                browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
                for name, path, theme, size, ready in SHOTS:
                    url = f"http://127.0.0.1:{port}/h/default"
                    url += path.replace("{changed}", str(changed.memory.number))
                    _shoot(browser, url, theme, size, ready, folder / f"{name}.webp")
                browser.close()
            server.should_exit = True


def _start(memory: holdfast.Holdfast) -> tuple[Any, int]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    app = create_app(memory, key_needed=False, limits=Limits(per_minute=1_000_000))
    server = make_server(app, stop_s=1, stopping=app.state.stopping.set)
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}).start()
    return server, listening.getsockname()[1]


def _shoot(
    browser: Any, url: str, theme: str, size: dict[str, int], ready: str, path: Path
) -> None:
    from PIL import Image

    context = browser.new_context(viewport=size, color_scheme=theme, device_scale_factor=1.5)
    page = context.new_page()
    # The demo has a date of its own.
    page.clock.install(time=demo_store.NOW)
    page.goto(url)
    page.wait_for_selector(ready)
    page.wait_for_timeout(400)
    page.evaluate("document.activeElement.blur()")
    taken = Image.open(io.BytesIO(page.screenshot()))
    taken.save(path, "WEBP", quality=_WEBP_QUALITY, method=6)
    context.close()
    print(f"{path} {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main(sys.argv[1])
