"""Kill -9 in the middle of journal entries: what was acknowledged is there, once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from holdfast import Conflict
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.files import hub_folder
from holdfast.files.hub_folder import require_place
from holdfast.testing import open_for_tests

# Says each number once it is safe.
_WRITER = """
import sys
from holdfast.domain.clock import SystemClock
from holdfast.domain.clock import TimeIds
from holdfast.testing import open_for_tests

clock = SystemClock()
with open_for_tests(sys.argv[1], clock=clock, ids=TimeIds(clock)) as memory:
    hub = memory.hub("work")
    for number in range(int(sys.argv[2]), 100_000):
        hub.journal_add(f"entry {number}.", at="2026-01-14T12:00:00Z")
        print(number, flush=True)
"""


def test_entries_that_were_acknowledged_survive_a_kill(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.create_hub("work")
    acknowledged: list[int] = []
    for round_ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(tmp_path), str(round_ * 1_000)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        acknowledged += [int(process.stdout.readline()) for _ in range(5 + round_)]
        process.send_signal(signal.SIGKILL)
        acknowledged += map(int, process.stdout.read().split())
        process.wait()
        process.stdout.close()
    with open_for_tests(tmp_path, ids=TimeIds(SystemClock())) as memory:
        hub = memory.hub("work")
        said = [entry.text for day in hub.journal("2026-01-14") for entry in day.entries]
        stored = [memory.content for memory in hub.list(layer="journal")]
        text = Path(hub.folder, "2026-01-14.md").read_text()
        assert memory.core.store.check() == []
    assert len(said) == len(set(said)) and sorted(said) == sorted(stored)
    assert {f"entry {number}." for number in acknowledged} <= set(said)
    assert sorted(re.findall(r"entry \d+\.", text)) == sorted(said)


# Kills itself at the n-th step of an addition, before it or after it.
_CUT_OFF = """
import os, signal, sys
from holdfast import engine
from holdfast.domain.clock import SystemClock
from holdfast.domain.clock import TimeIds
from holdfast.files import journal
from holdfast.files.journal import day_sync, entries
from holdfast.testing import open_for_tests

home, step, when = sys.argv[1:]
place, name = {
    "sync": (day_sync, "sync_day"),
    "remember": (engine.remember, "remember"),
    "append": (journal, "append_line"),
    "agree": (entries, "agree"),
}[step]
real = getattr(place, name)

def cut(*args, **values):
    if step == "agree" and len(args[2]) == 1:
        return real(*args, **values)  # on what was there before
    done = real(*args, **values) if when == "after" else None
    os.kill(os.getpid(), signal.SIGKILL)
    return done

clock = SystemClock()
with open_for_tests(home, clock=clock, ids=TimeIds(clock)) as memory:
    hub = memory.hub("work")
    hub.journal_add("safe before", at="2026-01-14T12:00:00Z")
    setattr(place, name, cut)
    hub.journal_add("cut off", at="2026-01-14T12:00:00Z")
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["sync", "remember", "append", "agree"])
def test_a_kill_between_any_two_steps_of_an_addition_doubles_nothing(
    tmp_path: Path, step: str, when: str
) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.create_hub("work")
    done = subprocess.run([sys.executable, "-c", _CUT_OFF, str(tmp_path), step, when])
    assert done.returncode == -signal.SIGKILL
    nothing_yet = step == "sync" or (step, when) == ("remember", "before")
    kept = [] if nothing_yet else ["cut off"]
    with open_for_tests(tmp_path, ids=TimeIds(SystemClock())) as memory:
        hub = memory.hub("work")
        # Whatever comes first, a look at something else or the retry, the entry is there once.
        assert [one.content for one in hub.list(order="number")] == ["safe before", *kept]
        if not kept:
            hub.journal_add("cut off", at="2026-01-14T12:00:00Z")
        said = [entry.text for day in hub.journal("2026-01-14") for entry in day.entries]
        assert said == ["safe before", "cut off"]
        assert [one.content for one in hub.list(order="number")] == said
        text = Path(hub.folder, "2026-01-14.md").read_text()
        assert text == "- 12:00 safe before\n- 12:00 cut off\n"
        assert memory.core.store.check() == []


def test_a_folder_that_another_thread_is_claiming_is_not_taken_for_another_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SystemClock()
    failed: list[Conflict] = []
    with open_for_tests(tmp_path, clock=clock, ids=TimeIds(clock)) as memory:
        hub = memory.create_hub("work")
        make = hub_folder._make

        def add() -> None:
            try:
                require_place(hub.scope, hub.folder)
            except Conflict as error:
                failed.append(error)

        other = threading.Thread(target=add)

        def make_and_pause(folder: str, mark: str) -> None:
            make(folder, mark)
            monkeypatch.setattr(hub_folder, "_make", make)
            # The mark is there, and the transaction that records it has not ended.
            other.start()
            other.join(0.5)

        monkeypatch.setattr(hub_folder, "_make", make_and_pause)
        hub_folder._claim(hub.core, hub.id, hub.folder)
        other.join()
    assert failed == []


def test_threads_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    clock = SystemClock()
    with open_for_tests(tmp_path, clock=clock, ids=TimeIds(clock)) as memory:
        hub = memory.create_hub("work")

        def add(name: str) -> None:
            for number in range(20):
                hub.journal_add(f"{name}{number}", at="2026-01-14T12:00:00Z")
                hub.log_turn("user", f"{name}{number}", session=name)

        crowd = [threading.Thread(target=add, args=(name,)) for name in "abc"]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
        expected = sorted(f"{name}{number}" for name in "abc" for number in range(20))
        days = hub.journal("2026-01-14")
        assert sorted(entry.text for day in days for entry in day.entries) == expected
        assert sorted(turn.content for turn in hub.turns(limit=100)) == expected
        assert not [name for name in os.listdir(hub.folder) if "partial" in name]
