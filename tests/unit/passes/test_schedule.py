"""Passes that run by themselves: every so often, in each hub, one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory, StoreError
from holdfast.passes.schedule import Periodic, last_run, run_due, taking_turn
from holdfast.settings import Settings
from holdfast.testing import FixedClock, open_for_tests


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path, clock=clock) as opened:
        yield opened


def daily(settings: Settings) -> timedelta | None:
    return timedelta(days=1)


def worked(memory: Holdfast, *passes: Periodic) -> int:
    return run_due(memory.core, memory.hub, stop=lambda: False, passes=list(passes))


def test_a_pass_runs_in_each_hub_and_again_when_its_time_has_come(
    memory: Holdfast, clock: FixedClock
) -> None:
    seen: list[str] = []

    def run(hub: HubMemory) -> None:
        seen.append(hub.name)

    memory.hub("a", create=True)
    memory.hub("b", create=True)
    assert worked(memory, Periodic("tidy", daily, run)) == 2
    assert worked(memory, Periodic("tidy", daily, run)) == 0
    clock.tick(hours=23)
    assert worked(memory, Periodic("tidy", daily, run)) == 0
    clock.tick(hours=1)
    assert worked(memory, Periodic("tidy", daily, run)) == 2
    assert seen == ["a", "b", "a", "b"]


def test_a_pass_that_is_switched_off_does_not_run(memory: Holdfast) -> None:
    memory.hub("a", create=True)
    assert worked(memory, Periodic("tidy", lambda settings: None, lambda hub: 1 / 0)) == 0


def test_a_run_that_fails_is_told_in_the_log_and_waits_for_its_next_time(
    memory: Holdfast, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    memory.hub("a", create=True)

    def run(hub: HubMemory) -> None:
        raise StoreError("The disk is full.")

    assert worked(memory, Periodic("tidy", daily, run)) == 1
    assert worked(memory, Periodic("tidy", daily, run)) == 0
    assert "a: tidy failed and is tried again later: The disk is full." in caplog.text


def test_what_was_asked_for_by_hand_is_not_done_again_at_once(
    memory: Holdfast, clock: FixedClock
) -> None:
    hub = memory.hub("a", create=True)
    with taking_turn(memory.core, hub.id, "tidy") as mine:
        assert mine
    assert worked(memory, Periodic("tidy", daily, lambda hub: None)) == 0
    clock.tick(days=1)
    assert worked(memory, Periodic("tidy", daily, lambda hub: None)) == 1


def test_a_look_that_finds_nothing_due_takes_nobodys_turn(
    memory: Holdfast, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        memory.hub(name, create=True)
    tidy = Periodic("tidy", daily, lambda hub: None)
    assert worked(memory, tidy) == 2
    with monkeypatch.context() as watched:
        watched.setattr("holdfast.passes.schedule.taking_turn", None)
        assert worked(memory, tidy) == 0
    clock.tick(days=1)
    assert worked(memory, tidy) == 2


def test_one_runs_at_a_time_and_one_that_died_is_over_after_a_while(
    memory: Holdfast, tmp_path: Path, clock: FixedClock
) -> None:
    hub = memory.hub("a", create=True)
    with open_for_tests(tmp_path, clock=clock) as other, taking_turn(memory.core, hub.id, "x") as a:
        assert a
        with taking_turn(other.core, hub.id, "x") as b:
            assert not b
        run = last_run(memory.core, hub.id, "x")
        assert run is not None
        assert run.ended_at is None
        clock.tick(minutes=31)
        with taking_turn(other.core, hub.id, "x") as b:
            assert b
    after = last_run(memory.core, hub.id, "x")
    assert after is not None
    assert after.ended_at == clock.now()
    with taking_turn(memory.core, hub.id, "x") as again:
        assert again
