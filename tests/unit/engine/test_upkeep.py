"""The lifecycle runs by itself in programs without a worker: when the memory is closed, and in a
thread of programs that run long."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.domain.clock import TimeIds
from holdfast.engine.upkeep import automatic as upkeep
from holdfast.engine.upkeep.automatic import upkeep_of
from holdfast.engine.upkeep.lifecycle import AUTOMATIC_ACTOR
from holdfast.errors import ServerUnreachable
from holdfast.testing import FixedClock, open_for_tests


def opened(home: Path, clock: FixedClock, **more: Any) -> Holdfast:
    # Ids that are never used twice, since the same home is opened several times.
    return open_for_tests(home, clock=clock, ids=TimeIds(clock), **more)


def aged(home: Path, clock: FixedClock, hub: str = "work") -> None:
    """A hub in which the lifecycle has something to do."""
    with opened(home, clock) as memory:
        memory.hub(hub, create=True).remember("Volatile note", stability="volatile")
    clock.tick(days=20)


def state(home: Path, clock: FixedClock, hub: str = "work") -> str:
    off = {"lifecycle.automatic": False}
    with opened(home, clock, settings=off) as memory:
        return memory.hub(hub).get(1).state


def test_it_runs_after_the_answers_when_the_memory_is_closed(
    tmp_path: Path, clock: FixedClock
) -> None:
    aged(tmp_path, clock)
    aged(tmp_path, clock, "unused")
    with opened(tmp_path, clock) as memory:
        hub = memory.hub("work")
        assert [hit.memory.state for hit in hub.recall("note")] == ["active"]
    assert state(tmp_path, clock) == "cooling"
    # Nobody used this one, and so nobody waits for it.
    assert state(tmp_path, clock, "unused") == "active"


def test_closing_asks_a_server_that_is_gone_once_and_not_for_long(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    deadlines: list[float | None] = []

    def gone(*, deadline_s: float | None = None, **_: Any) -> Any:
        deadlines.append(deadline_s)
        raise ServerUnreachable("the database server is not there")

    with opened(tmp_path, clock) as memory:
        for name in ("one", "two"):
            memory.hub(name, create=True).list()
        monkeypatch.setattr(memory.core.store, "read", gone)
    assert deadlines == [1.0]


def test_it_runs_at_most_once_a_day(tmp_path: Path, clock: FixedClock) -> None:
    aged(tmp_path, clock)
    for hours in (0, 23):
        clock.tick(hours=hours)
        with opened(tmp_path, clock) as memory:
            hub = memory.hub("work")
            hub.list()
            runs = [change for change in hub.changes() if change.action == "lifecycle"]
            if hours:
                assert [run.actor for run in runs] == [AUTOMATIC_ACTOR]
                hub.undo(runs[0].id)
    assert state(tmp_path, clock) == "active"


def test_a_new_hub_is_left_alone_for_a_day(tmp_path: Path, clock: FixedClock) -> None:
    with opened(tmp_path, clock) as memory:
        memory.hub().remember("Old news", category="daily", occurred_at="2020-01-01T00:00:00Z")
    assert state(tmp_path, clock, "default") == "active"


def test_the_setting_turns_it_off(tmp_path: Path, clock: FixedClock) -> None:
    aged(tmp_path, clock)
    off = {"lifecycle.automatic": False}
    with opened(tmp_path, clock, settings=off) as memory:
        memory.hub("work").list()
    assert state(tmp_path, clock) == "active"


def test_where_a_worker_lives_it_is_left_to_the_worker(tmp_path: Path, clock: FixedClock) -> None:
    aged(tmp_path, clock)
    with opened(tmp_path, clock) as memory:
        memory.core.set_has_worker(True)
        memory.hub("work").list()
        memory.core.set_has_worker(False)
    assert state(tmp_path, clock) == "active"


@pytest.mark.sqlite_only("makes the folder of the embedded store read-only")
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_home_that_cannot_be_written_is_read_as_before(tmp_path: Path, clock: FixedClock) -> None:
    aged(tmp_path, clock)
    tmp_path.chmod(0o500)
    try:
        with opened(tmp_path, clock) as memory:
            assert len(memory.hub("work").list()) == 1
    finally:
        tmp_path.chmod(0o700)


def test_a_store_that_refuses_to_write_is_no_error(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(tmp_path, clock)
    with opened(tmp_path, clock) as memory:
        hub = memory.hub("work")
        hub.list()
        refuse_writes(monkeypatch, memory)
    monkeypatch.undo()
    assert state(tmp_path, clock) == "active"


def refuse_writes(monkeypatch: pytest.MonkeyPatch, memory: Holdfast) -> None:
    from holdfast.errors import StoreReadOnly

    def write(*args: object, **values: object) -> None:
        raise StoreReadOnly("The file system is read-only.")

    monkeypatch.setattr(memory.core.store, "write", write)


def test_a_program_that_runs_long_looks_every_hour_in_a_thread(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_PAUSE_S", 0.0)
    aged(tmp_path, clock)
    with opened(tmp_path, clock) as memory:
        hub = memory.hub("work")
        hub.list()
        upkeep_of(memory.core).wait()
        assert hub.get(1).state == "active"
        an_hour_later = upkeep.monotonic() + 3601
        monkeypatch.setattr(upkeep, "monotonic", lambda: an_hour_later)
        hub.list()
        upkeep_of(memory.core).wait()
        assert hub.get(1).state == "cooling"


def test_an_edge_can_have_it_begin_at_once_and_only_once(
    tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_PAUSE_S", 0.0)
    aged(tmp_path, clock)
    with opened(tmp_path, clock) as memory:
        hub: HubMemory = memory.hub("work")
        hub.list()
        upkeep_of(memory.core).start()
        upkeep_of(memory.core).wait()
        assert hub.get(1).state == "cooling"
        monkeypatch.setattr(upkeep.Upkeep, "_start", None)
        upkeep_of(memory.core).start()


def test_a_conversation_that_is_only_observed_counts_as_use(
    tmp_path: Path, clock: FixedClock
) -> None:
    aged(tmp_path, clock)
    with opened(tmp_path, clock) as memory:
        memory.hub("work").observe_turn("Hello", "Hello!")
    assert state(tmp_path, clock) == "cooling"
