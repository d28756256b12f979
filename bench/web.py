"""The web page: what the first view weighs, how soon it is painted, and how large hubs behave.

    python -m bench.web [--memories 20000 200000] [--keep FOLDER]

Each hub is filled with invented sentences and vectors of the test embedder, in a folder of its own;
with `--keep` it is there for the next run. Times are of the whole request over loopback, on the
clock and of the processor, which also counts the client; paint is what Chromium reports for a cold
cache.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import re
import shutil
import socket
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import holdfast
from holdfast.edges.http.app import create_app
from holdfast.edges.http.limits import Limits
from holdfast.edges.server.listening import make_server
from holdfast.testing import HashEmbedder

_WORDS = tuple(
    word
    for line in (
        "harbour buoy tide forecast station alert sensor map queue index backup release",
        "bread oven flour crust train ticket window platform garden fence lamp door roof",
        "kettle compiler branch commit deploy linter review meeting budget invoice contract",
    )
    for word in line.split()
)
_REPEATS = 5


def _texts(count: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(3)
    for number in range(count):
        topic = chance.randrange(len(_WORDS) - 6)
        words = [chance.choice(_WORDS[topic : topic + 6]) for _ in range(6)]
        yield {"content": f"{' '.join(words)} number {number}", "category": words[0]}


@contextmanager
def _served(memory: holdfast.Holdfast) -> Iterator[str]:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    app = create_app(memory, key_needed=False, limits=Limits(per_minute=1_000_000))
    server = make_server(app, stop_s=1, stopping=app.state.stopping.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class _Got(NamedTuple):
    """The body as it is sent, compressed, and the milliseconds: on the clock, of the processor."""

    body: bytes
    clock_ms: float
    cpu_ms: float


def _get(url: str) -> _Got:
    request = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})
    begun, cpu = time.perf_counter(), time.process_time()
    with urllib.request.urlopen(request) as answer:
        body: bytes = answer.read()
    return _Got(body, 1000 * (time.perf_counter() - begun), 1000 * (time.process_time() - cpu))


def _weight(url: str) -> int:
    """Bytes of the first view with an empty cache: the page and what it loads."""
    body = _get(url + "/").body
    total = len(body)
    page = gzip.decompress(body).decode()
    for path in sorted(set(re.findall(r'"(/static/[^"]+)"', page))):
        total += len(_get(url + path).body)
    return total


def _paint(url: str) -> str:
    program = os.environ.get("HOLDFAST_TEST_CHROMIUM") or shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return "not measured: Playwright is not installed"
    if program is None:
        return "not measured: Chromium is not installed"
    script = """() => new Promise((done) => new PerformanceObserver((list) => {
      const found = list.getEntriesByName("first-contentful-paint")[0];
      if (found) done(found.startTime);
    }).observe({ type: "paint", buffered: true }))"""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        times = []
        for _ in range(_REPEATS):
            context = browser.new_context()
            page = context.new_page()
            page.goto(url + "/")
            times.append(page.evaluate(script))
            context.close()
        frames = _frames(browser, url)
        browser.close()
    return f"{statistics.median(times):.0f} ms (median of {_REPEATS}), map: {frames}"


def _frames(browser: Any, url: str) -> str:
    """How long a frame of the map takes while it is zoomed."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(url + "/h/default/pictures")
    page.wait_for_selector("#map[data-ready]", timeout=120_000)
    script = """async () => {
      const over = document.querySelector("#map .u-over"), box = over.getBoundingClientRect();
      const times = [];
      for (let i = 0; i < 40; i++) {
        const begun = performance.now();
        over.dispatchEvent(new WheelEvent("wheel", { deltaY: i % 2 ? 1 : -1, cancelable: true,
          clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
        await new Promise(requestAnimationFrame);
        await new Promise((done) => setTimeout(done));
        times.push(performance.now() - begun);
      }
      return times.sort((a, b) => a - b);
    }"""
    times = page.evaluate(script)
    count = page.get_attribute("#map", "data-ready")
    return f"{count} points, frame {times[20]:.0f} ms median, {times[37]:.0f} ms p95"


@contextmanager
def _folder(count: int, keep: str | None) -> Iterator[Path]:
    if keep is not None:
        yield Path(keep, str(count))
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-web-") as folder:
        yield Path(folder)


def _measure(count: int, keep: str | None) -> None:
    with _folder(count, keep) as folder:
        settings = {"embed.background": False}
        with holdfast.open(folder, embedder=HashEmbedder(), settings=settings) as memory:
            hub = memory.hub()
            begun = time.perf_counter()
            if not hub.info.numbers:
                for _ in hub.remember_stream(_texts(count)):
                    pass
            print(f"\n{hub.statistics().visible:,} memories", end=" ")
            print(f"(made in {time.perf_counter() - begun:.0f} s)")
            with _served(memory) as url:
                base = url + "/h/default"
                print(f"  first view: {_weight(url) / 1000:.0f} kB compressed")
                for name, path in (
                    ("find, newest", ""),
                    ("search as typed", "/results?q=harbour+buoy"),
                    ("one memory", f"/m/{count // 2}"),
                    ("today", "/today"),
                    ("agent's view", "/agent?q=harbour"),
                    ("pictures", "/pictures"),
                    ("map", "/pictures/map"),
                ):
                    first = _get(base + path)
                    again = [_get(base + path) for _ in range(_REPEATS)]
                    clock = statistics.median(one.clock_ms for one in again)
                    cpu = statistics.median(one.cpu_ms for one in again)
                    print(
                        f"  {name:16} {clock:7.0f} ms, processor {cpu:.0f} ms  (first"
                        f" {first.clock_ms:.0f} and {first.cpu_ms:.0f} ms,"
                        f" {len(first.body) / 1000:.0f} kB)",
                        flush=True,
                    )
                print(f"  first paint: {_paint(url)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, nargs="+", default=[2_000, 20_000, 200_000])
    parser.add_argument("--keep", metavar="FOLDER", help="keep the hubs here, and use them again")
    given = parser.parse_args()
    for count in given.memories:
        _measure(count, given.keep)


if __name__ == "__main__":
    main()
