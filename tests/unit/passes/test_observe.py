"""A turn is shown to memory: logged always, queued where that is wanted, and all of it bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import HubMemory, InvalidInput
from holdfast.engine import jobs
from holdfast.settings import save
from holdfast.testing import FixedClock, open_for_tests
from tests.unit.passes.conftest import Opener


def test_both_sides_are_logged_with_the_time_and_the_session_of_the_turn(hub: HubMemory) -> None:
    seen = hub.observe_turn(
        "I moved to Lisbon", "Lovely.", session="s1", source="tui", at="2026-01-10T08:00:00Z"
    )
    assert seen.queued
    assert [(turn.role, turn.content) for turn in seen.turns] == [
        ("user", "I moved to Lisbon"),
        ("assistant", "Lovely."),
    ]
    logged = hub.turns(session="s1")
    assert {turn.id for turn in logged} == {turn.id for turn in seen.turns}
    assert {(turn.source, f"{turn.at:%Y-%m-%d %H:%M}") for turn in logged} == {
        ("tui", "2026-01-10 08:00")
    }
    (job,) = hub.jobs()
    assert (job.work, job.state) == ("journal", "waiting")


@pytest.mark.parametrize("mode", ["cron", "heartbeat", "consolidation"])
def test_what_runs_by_itself_is_logged_and_not_queued(hub: HubMemory, mode: str) -> None:
    seen = hub.observe_turn("I moved to Lisbon", "Lovely.", mode=mode)
    assert (seen.queued, seen.reason) == (False, f"turns of mode {mode} are not looked at")
    assert len(hub.turns()) == 2
    assert hub.jobs() == []


def test_a_mode_that_is_none_is_an_error(hub: HubMemory) -> None:
    with pytest.raises(InvalidInput, match="current"):
        hub.observe_turn("a", "b", mode="curent")
    assert hub.turns() == []


@pytest.mark.parametrize(("user", "assistant"), [("", ""), ("  \n", "​")])
def test_an_empty_turn_is_skipped(hub: HubMemory, user: str, assistant: str) -> None:
    seen = hub.observe_turn(user, assistant)
    assert seen == ((), False, "both messages are empty", 0)
    assert hub.turns() == []
    assert hub.jobs() == []


def test_one_side_alone_is_a_turn_too(hub: HubMemory) -> None:
    assert len(hub.observe_turn("I moved to Lisbon", "").turns) == 1
    assert len(hub.observe_turn("", "The backup is done.").turns) == 1
    assert len(hub.jobs()) == 2


def test_it_is_off_until_somebody_says_so_and_the_next_turn_obeys(
    tmp_path: Path, clock: FixedClock
) -> None:
    with open_for_tests(tmp_path, clock=clock) as memory:
        memory.core.set_has_worker(True)
        hub = memory.create_hub("work")
        seen = hub.observe_turn("I moved to Lisbon", "Lovely.")
        assert (seen.queued, seen.reason) == (False, "shadowJournal.enabled is false")
        save(str(tmp_path), "shadowJournal.enabled", "true")
        assert hub.observe_turn("I like tea", "Noted.").queued
        save(str(tmp_path), "shadowJournal.enabled", "false")
        assert not hub.observe_turn("I like rye bread", "Noted.").queued
        assert len(hub.turns()) == 6


def test_no_secret_waits_in_the_queue_and_long_texts_are_cut(hub: HubMemory) -> None:
    key = "sk-ant-api03-" + "Ab3" * 31 + "xxAA"
    hub.observe_turn(f"My key is {key} " + "x" * 50_000, "y" * 50_000)
    (job,) = jobs.jobs(hub.scope)
    said = job.about[jobs.SAID]
    assert key not in str(job)
    assert "[secret:" in said["user"]
    assert (len(said["user"]), len(said["assistant"])) == (12_000, 8_000)


def test_what_memory_told_the_agent_is_not_queued_as_new(hub: HubMemory) -> None:
    hub.remember("The staging server is called heron", category="fact")
    block = hub.context()
    assert "heron" in block
    hub.observe_turn(f"{block}\n\nWhat is staging called?", "It is called heron.")
    (job,) = jobs.jobs(hub.scope)
    assert "heron" not in job.about[jobs.SAID]["user"]


def test_a_full_queue_leaves_out_the_oldest_and_says_so(opened: Opener) -> None:
    memory = opened(shadowJournal__queueMax=3)
    memory.core.set_has_worker(True)
    hub = memory.create_hub("work")
    for number in range(5):
        seen = hub.observe_turn(f"My locker is number {number}", "Noted.")
    assert seen.dropped == 1
    waiting = [job.about[jobs.SAID]["user"] for job in jobs.jobs(hub.scope)]
    assert waiting == [f"My locker is number {number}" for number in (2, 3, 4)]
    (day,) = hub.captured()
    assert day.outcomes == {"queued": 5, "left out": 2}
    assert day.reasons == {"left out: the queue was full": 2}
    assert [noted.text for _, noted in day.last] == [
        "My locker is number 0",
        "My locker is number 1",
    ]
    # All of them are still in the log.
    assert len(hub.turns()) == 10


def test_counts_are_kept_by_day_and_stay_small(hub: HubMemory, clock: FixedClock) -> None:
    for _ in range(100):
        clock.tick(days=1)
        hub.observe_turn("I moved to Lisbon", "")
    assert len(hub.captured(days=1_000)) <= 93
    assert [day.day for day in hub.captured(days=2)] == [
        f"{clock.now():%Y-%m-%d}",
        f"{clock.tick(days=-1):%Y-%m-%d}",
    ]


@pytest.mark.parametrize("days", [0, -1, "x"])
def test_no_days_at_all_cannot_be_asked_for(hub: HubMemory, days: Any) -> None:
    with pytest.raises(InvalidInput, match="days"):
        hub.captured(days=days)
