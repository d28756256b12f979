"""The journaler is killed between any two of its steps: a turn is noted once, and none is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import Holdfast

pytestmark = pytest.mark.faults

ROOT = Path(__file__).parents[2]
# A minute more than a lease.
LATER_S = 360


def opened(folder: Path) -> Holdfast:
    settings = {"embed.model": "none", "actor": "tester", "shadowJournal.enabled": True}
    memory = holdfast.open(folder, settings=settings)
    memory.core.set_has_worker(True)
    return memory


def started(folder: Path, later_s: int, *step: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "tests.faults.noting", str(folder), str(later_s), *step]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT)


STEPS = ("leased", "proposed", "in the transaction", "committed")


@pytest.mark.parametrize(
    "step",
    [
        *((step,) for step in STEPS),
        *((step, "thread") for step in ("put off", *STEPS)),
    ],
    ids=" ".join,
)
def test_a_turn_is_noted_once_wherever_the_process_dies(
    tmp_path: Path, step: tuple[str, ...]
) -> None:
    with opened(tmp_path) as memory:
        hub = memory.hub()
        hub.journal_add("Up early")
        hub.observe_turn("I use vim for everything.", "A fine choice.")
    process = started(tmp_path, 0, *step)
    assert process.communicate(timeout=60)[0] == "ready\n"
    assert process.returncode == -signal.SIGKILL
    with opened(tmp_path) as memory:
        assert len(memory.hub().turns()) == 2
    assert started(tmp_path, LATER_S).communicate(timeout=60)[0] == "ready\ndone\n"
    with opened(tmp_path) as memory:
        hub = memory.hub()
        noted = [one for one in hub.list(layer="journal") if one.source == "extraction"]
        assert [(one.content, one.mention_count) for one in noted] == [
            ("Uses vim for everything", 1)
        ]
        assert hub.jobs() == []
        assert [day.outcomes.get("stored") for day in hub.captured()] == [1]
        hub.journal()
        (file,) = (tmp_path / "hubs" / "default").glob("2*.md")
        assert file.read_text().count("Uses vim for everything") == 1
        assert memory.core.store.check() == []


def test_a_turn_that_was_acknowledged_is_logged_and_queued_or_counted(tmp_path: Path) -> None:
    process = started(tmp_path, 0, "observe")
    assert process.stdout is not None
    told = [process.stdout.readline().strip() for _ in range(20)]
    process.kill()
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    told += rest[: rest.rfind("\n") + 1].split()
    with opened(tmp_path) as memory:
        hub = memory.hub()
        logged = {turn.id for turn in hub.turns(limit=500)}
        assert set(told[-50:]) <= logged
        (day,) = hub.captured()
        waiting = len(hub.jobs(limit=500))
        assert waiting + day.outcomes.get("left out", 0) == day.outcomes["queued"] >= len(told)
        assert waiting <= 100
