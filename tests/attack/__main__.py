"""Attacks a real server for two minutes and prints what a good client saw: `make test-attack`.

The server, the good client and each attack are processes of their own; the server may open 1,024
descriptors. Before and after each attack the good client has some quiet seconds; both together are
the quiet value, so that what else the machine does is on both sides. It fails where the good
client's p95 under an attack is more than three times that, or where one of its requests fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import holdfast
from holdfast.engine.people import keys, members
from tests.attack.hostile import ATTACKS

QUIET_S = 3.0
ATTACK_S = 4.5
RATIO_MAX = 3.0
DESCRIPTORS = 1_024
_START_S = 30.0

_SERVER = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, ({DESCRIPTORS}, {DESCRIPTORS}))
from holdfast.edges.cli import run
run()
"""


class Sample(NamedTuple):
    at: float
    seconds: float
    status: int


class Home(NamedTuple):
    folder: Path
    hub: str
    good: str
    viewer: str


def make_home(folder: Path) -> Home:
    """A hub with 2,000 memories, the key of its owner and that of somebody who may read it."""
    with holdfast.open(folder, settings={"embed.model": "none", "actor": "ada"}) as memory:
        hub = memory.create_hub("harbours")
        hub.remember_many(
            f"Harbour {number} is closed on {day}s and opens at {number % 12} o'clock."
            for number, day in enumerate(("Monday", "Tuesday", "Friday", "Sunday") * 500)
        )
        members.set_member(memory.core, "hub", hub.id, "eve", "viewer")
        good = keys.create_key(memory.core, "good").secret
        viewer = keys.create_key(memory.core, "hostile", actor="eve").secret
        return Home(folder, hub.id, good, viewer)


def start_server(home: Home, log: Path) -> tuple[subprocess.Popen[bytes], int]:
    words = ["--home", str(home.folder), "serve", "--port", "0", "--require-key"]
    with log.open("wb") as opened:
        server = subprocess.Popen(
            [sys.executable, "-c", _SERVER, *words],
            stderr=opened,
            env={**os.environ, "HOLDFAST_EMBED_MODEL": "none", "HOLDFAST_ACTOR": "ada"},
        )
    ends = time.monotonic() + _START_S
    while time.monotonic() < ends and server.poll() is None:
        found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", log.read_text())
        if found and "Ctrl-C" in log.read_text():
            return server, int(found[1])
        time.sleep(0.1)
    server.kill()
    raise SystemExit(f"The server did not start:\n{log.read_text()}")


def resident_mb(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status")
    found = re.search(r"VmRSS:\s+(\d+)", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else 0.0


class Row(NamedTuple):
    name: str
    quiet: list[Sample]
    samples: list[Sample]
    counts: dict[str, int]
    resident_mb: float


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")


def attack(name: str, port: int, home: Home) -> tuple[float, float, dict[str, int]]:
    """Runs one attack; returns when it stood and when it was over, and what it counted."""
    words = [name, str(port), home.viewer, home.hub, str(ATTACK_S)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.attack.hostile", *words], stdout=subprocess.PIPE, text=True
    ) as hostile:
        assert hostile.stdout is not None
        hostile.stdout.readline()
        begun = time.monotonic()
        counted = hostile.stdout.readline()
        over = time.monotonic()
    return begun, min(over, begun + ATTACK_S), json.loads(counted or "{}")


class Window(NamedTuple):
    began: float
    over: float

    def of(self, samples: Sequence[Sample]) -> list[Sample]:
        return [one for one in samples if self.began <= one.at < self.over]


def quiet() -> Window:
    began = time.monotonic()
    time.sleep(QUIET_S)
    return Window(began, time.monotonic())


def run(names: Sequence[str]) -> tuple[list[Row], int, float]:
    """What the good client saw in each attack, the bytes of the log, and the server's size."""
    with tempfile.TemporaryDirectory(prefix="holdfast-attack-") as folder:
        home = make_home(Path(folder) / "home")
        log, told = Path(folder) / "log", Path(folder) / "good"
        server, port = start_server(home, log)
        seconds = len(names) * (QUIET_S + ATTACK_S + 4) + 30
        words = [str(port), home.good, home.hub, str(seconds)]
        with told.open("wb") as opened:
            good = subprocess.Popen(
                [sys.executable, "-m", "tests.attack.good", *words], stdout=opened
            )
        windows = []
        try:
            # The first requests make routes and connections ready.
            time.sleep(3)
            before_mb = resident_mb(server)
            calm = [quiet()]
            for name in names:
                begun, over, counts = attack(name, port, home)
                windows.append((name, Window(begun, over), counts, resident_mb(server)))
                # What the attack left behind is over soon; until then it is neither.
                time.sleep(0.5)
                calm.append(quiet())
        finally:
            good.terminate()
            good.wait()
            server.terminate()
            server.wait(30)
        lines = [line.split() for line in told.read_text().splitlines() if line.count(" ") == 2]
        samples = [Sample(float(at), float(took), int(status)) for at, took, status in lines]
        rows = [
            Row(
                name,
                calm[number].of(samples) + calm[number + 1].of(samples),
                window.of(samples),
                counts,
                mb,
            )
            for number, (name, window, counts, mb) in enumerate(windows)
        ]
        return rows, len(log.read_bytes()), before_mb


def tell(rows: list[Row], log_bytes: int, before_mb: float) -> bool:
    print("| attack | quiet p50, p95 ms | attacked p50, p95 ms | p95 ratio | requests | errors |")
    print("| --- | --- | --- | --- | --- | --- |")
    fine = True
    for row in rows:
        calm = [one.seconds * 1000 for one in row.quiet]
        times = [one.seconds * 1000 for one in row.samples]
        errors = sum(not 200 <= one.status < 300 for one in row.quiet + row.samples)
        ratio = percentile(times, 0.95) / percentile(calm, 0.95)
        print(
            f"| {row.name} | {percentile(calm, 0.5):.0f}, {percentile(calm, 0.95):.0f} "
            f"| {percentile(times, 0.5):.0f}, {percentile(times, 0.95):.0f} "
            f"| {ratio:.1f} | {len(times)} | {errors} |"
        )
        fine = fine and bool(times) and not errors and ratio <= RATIO_MAX
    largest = max(row.resident_mb for row in rows)
    print(
        f"\nserver: {before_mb:.0f} MB before, at most {largest:.0f} MB after an attack; "
        f"log: {log_bytes / 1e6:.1f} MB"
    )
    for row in rows:
        print(f"  {row.name}: {row.counts}")
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", default="", help="only attacks whose names have this in them")
    only = parser.parse_args().only
    names = [name for name in ATTACKS if only in name]
    if not tell(*run(names)):
        raise SystemExit(
            f"A good client's p95 was over {RATIO_MAX:.0f} times its quiet value, or a request of "
            "it failed or was not answered."
        )


if __name__ == "__main__":
    main()
