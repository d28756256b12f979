"""Kill -9 between two batches of a lifecycle run: what was moved stays moved and can be undone, and
the next run moves the rest."""

from __future__ import annotations

import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import holdfast
from holdfast import Holdfast
from holdfast.domain.clock import SystemClock
from holdfast.engine.upkeep.doctor import examine
from holdfast.testing import FixedClock

pytestmark = pytest.mark.faults

SETTINGS = {"embed.model": "none", "actor": "tester", "lifecycle.automatic": False}
NOTES = 12
BATCH = 5

# Runs the lifecycle in batches of five, and kills itself at the n-th batch: before it begins, when
# its rows are written and not committed, or after it.
_CUT_OFF = f"""
import os, signal, sys
import holdfast
from holdfast.engine.upkeep import lifecycle

home, nth, when = sys.argv[1], int(sys.argv[2]), sys.argv[3]
lifecycle._BATCH = {BATCH}
real, batches = lifecycle.Recorder, []

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(real):
    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        batches.append(self)
        self.left = {BATCH}
        if len(batches) == nth and when == "before" or len(batches) == nth + 1:
            die()

    def revise(self, *given, **named):
        done = super().revise(*given, **named)
        self.left -= 1
        if len(batches) == nth and when == "within" and self.left == 1:
            die()
        return done

lifecycle.Recorder = Dying
with holdfast.open(home, settings={SETTINGS!r}) as memory:
    memory.hub().lifecycle()
"""


def opened(folder: Path, **ago: float) -> Holdfast:
    return holdfast.open(
        folder, clock=FixedClock(SystemClock().now() - timedelta(**ago)), settings=SETTINGS
    )


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with opened(tmp_path, days=30) as memory:
        hub = memory.hub()
        hub.remember_many(
            {"content": f"Fetch parcel {number}", "category": "daily"} for number in range(NOTES)
        )
        hub.remember("Prefers dark mode")
    return tmp_path


def archived(memory: Holdfast) -> int:
    return len(list(memory.hub().list(state="archived")))


@pytest.mark.parametrize(
    ("nth", "when", "moved"),
    [(1, "before", 0), (1, "within", 0), (2, "before", 5), (2, "within", 5), (2, "after", 10)],
)
def test_a_run_that_is_killed_is_finished_by_the_next(
    home: Path, nth: int, when: str, moved: int
) -> None:
    cut = [sys.executable, "-c", _CUT_OFF, str(home), str(nth), when]
    assert subprocess.run(cut, check=False).returncode == -signal.SIGKILL
    with holdfast.open(home, settings=SETTINGS) as memory:
        assert examine(memory.core).found == []
        assert archived(memory) == moved
        begun = [one.id for one in memory.hub().changes() if one.action == "lifecycle"]
        assert len(begun) == (1 if moved else 0)
        done = memory.hub().lifecycle()
        assert len(done) == NOTES - moved
        assert archived(memory) == NOTES
        assert len(memory.hub().lifecycle()) == 0
        assert done.change is not None
        for change in (done.change, *begun):
            memory.hub().undo(change)
        assert archived(memory) == 0
        assert examine(memory.core).found == []
