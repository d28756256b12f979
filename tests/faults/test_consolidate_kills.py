"""Kill -9 in the middle of a consolidation: all of it has happened or nothing, and the next run
ends what was begun. Two at once: one of them works."""

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
from holdfast.testing import FixedClock

pytestmark = pytest.mark.faults

# Kills itself at the n-th call of a function, before it or after it.
_CUT_OFF = """
import os, signal, sys
import holdfast
from holdfast.engine.writing.recorder import Recorder
from holdfast.files.memory_md import cache as backup
from holdfast.passes import schedule
from holdfast.passes.consolidation import run as consolidation

home, step, nth, when = sys.argv[1:]
place, name = {
    "copy": (backup, "keep_copy"),
    "add": (Recorder, "add"),
    "revise": (Recorder, "revise"),
    "noted": (consolidation, "note_run"),
    "hash": (consolidation, "note_hash"),
    "end": (schedule, "_end"),
}[step]
real, left = getattr(place, name), [int(nth)]

def cut(*args, **values):
    left[0] -= 1
    if left[0] == 0 and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    done = real(*args, **values)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return done

setattr(place, name, cut)
with holdfast.open(home, settings={"embed.model": "none", "actor": "tester"}) as memory:
    print(memory.hub().consolidate().change)
"""
LONG_TERM = ("Prefers dark mode", "prefers the dark mode!", "Lives in Berlin")
JOURNAL = ("Important: the gate is blue", "Always signs commits", "Moved to Lisbon")
AFTER = {"Prefers dark mode", "Important: the gate is blue", "Always signs commits"}
# Whether the lease of one that was killed keeps the next waiting. A server hears at once that a
# process has gone; a file does not.
WAITS = {"sqlite": True, "postgres": False}


def opened(folder: Path, **clock: float) -> Holdfast:
    settings = {"embed.model": "none", "actor": "tester"}
    at = FixedClock(SystemClock().now() + timedelta(**clock))
    return holdfast.open(folder, clock=at, settings=settings)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with opened(tmp_path, days=-1) as memory:
        for place, text in enumerate(LONG_TERM):
            memory.hub().remember(text, layer="long_term", session=str(place))
        memory.hub().sync()
    with opened(tmp_path, minutes=-5) as memory:
        for text in JOURNAL:
            memory.hub().journal_add(text)
    return tmp_path


def shown(memory: Holdfast) -> set[str]:
    """What long-term memory says now."""
    found = memory.hub().list(layer="long_term")
    return {one.content for one in found if one.superseded_by is None}


def consolidations(memory: Holdfast) -> int:
    return sum(change.action == "consolidate" for change in memory.hub().changes())


@pytest.mark.parametrize(
    ("step", "nth", "when", "happened"),
    [
        ("copy", 1, "before", False),
        ("copy", 1, "after", False),
        ("revise", 1, "after", False),
        ("add", 2, "after", False),
        ("noted", 1, "after", False),
        ("hash", 1, "before", True),
        ("end", 1, "before", True),
    ],
)
def test_a_consolidation_that_is_killed_has_happened_whole_or_not_at_all(
    home: Path, homes: str, step: str, nth: int, when: str, happened: bool
) -> None:
    words = [sys.executable, "-c", _CUT_OFF, str(home), step, str(nth), when]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    with opened(home) as memory:
        assert consolidations(memory) == int(happened)
        now = shown(memory)
        assert (now == set(LONG_TERM)) != happened
        said = memory.hub().consolidate().skipped
        assert (said == "another consolidation of this hub is running") == WAITS[homes]
        assert consolidations(memory) == int(happened or not WAITS[homes])
    # By now no lease holds any more.
    with opened(home, minutes=30) as memory:
        memory.hub().consolidate()
        assert consolidations(memory) == 1
        assert shown(memory) >= AFTER
        assert "Lives in Berlin" not in shown(memory)
        kept = {one.content for one in memory.hub().scan()}
        assert {*LONG_TERM, *JOURNAL} <= kept
        assert memory.core.store.check() == []
        memory.hub().undo()
        assert shown(memory) == set(LONG_TERM)


_RUN = """
import sys
import holdfast
with holdfast.open(sys.argv[1], settings={"embed.model": "none", "actor": "tester"}) as memory:
    hub = memory.hub()
    print("ready", flush=True)
    sys.stdin.readline()
    done = hub.consolidate()
    print(done.skipped or len(done.done), flush=True)
"""


def test_of_two_processes_at_once_one_consolidates(home: Path) -> None:
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _RUN, str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for run in runs:
        assert run.stdout is not None
        run.stdout.readline()
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    said = sorted(run.communicate(timeout=60)[0].strip() for run in runs)
    assert [one for one in said if one.isdigit()] == ["4"], said
    with opened(home) as memory:
        assert consolidations(memory) == 1
