"""Workers and pushes that are killed: a job goes on elsewhere and has its effect once, and what was
acknowledged has its file."""

from __future__ import annotations

import hashlib
import io
import random
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

import holdfast
from holdfast import Holdfast, HubMemory
from tests.unit.extract import makes

pytestmark = pytest.mark.faults

PUSHING = Path(__file__).with_name("pushing.py")
# A minute more than a lease.
LATER_S = 360


def opened(folder: Path) -> Holdfast:
    return holdfast.open(folder, settings={"embed.model": "none", "actor": "tester"})


def started(what: str, folder: Path, later_s: int, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, str(PUSHING), what, str(folder), str(later_s), *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def killed(process: subprocess.Popen[str]) -> str:
    process.kill()
    out, _ = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL, "it ended by itself"
    return out[: out.rfind("\n") + 1]


def program(folder: Path, body: str) -> str:
    path = folder / "reads"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def read_once(hub: HubMemory, memory_id: str) -> bool:
    """Whether its text was written exactly once."""
    return [entry.after.state for entry in hub.history(memory_id)] == ["processing", "active"]


def test_a_worker_killed_in_mid_extraction_leaves_a_job_that_goes_on_and_has_its_effect_once(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with opened(home) as memory:
        made = memory.hub().remember_file(io.BytesIO(makes.png()), name="scan.png").memory
    hangs = program(tmp_path, f"mkdir -p {tmp_path}/begun; exec sleep 600")
    worker = started("work", home, 0, hangs)
    until = time.monotonic() + 60
    while not (tmp_path / "begun").exists():
        assert time.monotonic() < until, "it did not begin"
        assert worker.poll() is None, "it ended by itself"
        time.sleep(0.01)
    killed(worker)
    with opened(home) as memory:
        (job,) = memory.hub().jobs()
        assert (job.state, job.attempts) == ("running", 1)
        assert memory.hub().get(made.id).state == "processing"
    reads = program(tmp_path, "echo the heron has landed")
    # Its lease has not ended: nobody else takes the job yet.
    assert started("work", home, 0, reads).communicate(timeout=60)[0].endswith("done\n")
    with opened(home) as memory:
        assert memory.hub().get(made.id).state == "processing"
    assert started("work", home, LATER_S, reads).communicate(timeout=60)[0].endswith("done\n")
    with opened(home) as memory:
        hub = memory.hub()
        assert hub.get(made.id).content == "the heron has landed"
        assert read_once(hub, made.id)
        assert len(hub.changes()) == 1
        (job,) = hub.jobs()
        assert (job.state, job.attempts) == ("done", 2)


@pytest.mark.slow
def test_every_file_is_read_once_although_workers_are_killed_again_and_again(
    tmp_path: Path,
) -> None:
    chance = random.Random(7)
    made: dict[str, str] = {}
    later = count(step=LATER_S)
    for turn in range(3):
        with opened(tmp_path) as memory:
            for number in range(6):
                text = f"Note {number} of turn {turn} on herons."
                file = io.BytesIO(text.encode())
                pushed = memory.hub().remember_file(file, name=f"{number}.txt").memory
                made[pushed.id] = text
        # Two kills: what is begun three times is given up, and the third time it must come through,
        # wherever the kills fall.
        for _ in range(2):
            worker = started("work", tmp_path, next(later))
            assert worker.stdout is not None
            assert worker.stdout.readline() == "ready\n"
            time.sleep(chance.uniform(0.02, 0.3))
            worker.kill()
            worker.communicate(timeout=60)
        last = started("work", tmp_path, next(later))
        assert last.communicate(timeout=120)[0].endswith("done\n")
    with opened(tmp_path) as memory:
        hub = memory.hub()
        for memory_id, text in made.items():
            assert hub.get(memory_id).content == text
            assert read_once(hub, memory_id)
        assert {job.state for job in hub.jobs()} == {"done"}


@pytest.mark.slow
def test_whatever_was_acknowledged_has_its_file_after_a_kill(tmp_path: Path) -> None:
    chance = random.Random(3)
    for turn in range(5):
        pushing = started("push", tmp_path, turn)
        assert pushing.stdout is not None
        first = pushing.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.4))
        told = (first + killed(pushing)).splitlines()
        assert told
        with opened(tmp_path) as memory:
            hub = memory.hub()
            for line in told:
                memory_id, digest = line.split()
                path = Path(hub.attachment(memory_id).path)
                assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
            for note in hub.attachments.check():
                assert "belong to no memory" in note, "a file is missing"
            hub.attachments.sweep()
            assert hub.attachments.check() == []
