"""Passes of several processes that propose the same at once, and one that is killed at it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from holdfast.api.memory import Holdfast
from holdfast.api.memory import open as open_memory
from tests.faults.proposing import FACTS

pytestmark = pytest.mark.faults

SCRIPT = Path(__file__).with_name("proposing.py")
PROCESSES = 4
ROUNDS = 5


def proposing(folder: Path, rounds: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def opened(folder: Path) -> Holdfast:
    return open_memory(folder, settings={"embed.model": "none", "actor": "tester"})


def test_the_same_facts_proposed_by_many_at_once_make_one_row_each(tmp_path: Path) -> None:
    opened(tmp_path).close()
    running = [proposing(tmp_path, ROUNDS) for _ in range(PROCESSES)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    # All are ready before the first may go.
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * PROCESSES
    outcomes = Counter(" ".join(told).split())
    with opened(tmp_path) as memory:
        found = memory.hub().list(layer="journal")
        assert sorted(one.content for one in found) == sorted(FACTS)
        # What is said often is in long-term memory too, once.
        kept = [one.content for one in memory.hub().list(layer="long_term")]
        assert sorted(kept) == sorted(FACTS)
        # Nothing was lost on the way: each time that it was said is counted.
        assert {one.mention_count for one in found} == {PROCESSES * ROUNDS}
        assert {len(memory.hub().history(one.id)) for one in found} == {1}
    said = PROCESSES * ROUNDS * len(FACTS)
    assert outcomes == {"stored": len(FACTS), "mentioned": said - len(FACTS)}


def test_a_process_killed_at_it_leaves_all_of_a_call_or_nothing(tmp_path: Path) -> None:
    opened(tmp_path).close()
    process = proposing(tmp_path, 1_000)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.stdin.write("go\n")
    process.stdin.flush()
    told = [process.stdout.readline() for _ in range(3)]
    process.kill()
    process.communicate(timeout=60)
    assert len(told) == 3
    with opened(tmp_path) as memory:
        found = memory.hub().list(layer="journal")
        assert sorted(one.content for one in found) == sorted(FACTS)
        counts = {one.mention_count for one in found}
        # What was acknowledged is there, and every call was whole.
        assert len(counts) == 1
        assert min(counts) >= len(told)
