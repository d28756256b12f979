"""Work for later: leased, tried three times, taken over, done once."""

from __future__ import annotations

import pytest

from holdfast import Conflict, Holdfast, HubMemory, NotFound
from holdfast.engine import jobs
from holdfast.engine.core import Core
from holdfast.testing import FixedClock


@pytest.fixture
def core(memory: Holdfast) -> Core:
    return memory.core


def put(core: Core, hub: HubMemory, work: str = "extract") -> jobs.Job:
    with core.store.write() as writer:
        return jobs.enqueue(core, writer, hub.id, work, {"memory": "mem_1"})


def take(core: Core) -> jobs.Job:
    job = jobs.lease(core)
    assert job is not None
    return job


def test_a_job_is_leased_once_and_oldest_first(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    first = put(core, hub)
    clock.tick()
    second = put(core, hub, "embed")
    assert take(core).id == first.id
    assert take(core).id == second.id
    assert jobs.lease(core) is None


def test_work_of_one_kind_can_be_asked_for(core: Core, hub: HubMemory) -> None:
    put(core, hub)
    wanted = put(core, hub, "embed")
    found = jobs.lease(core, work="embed")
    assert found is not None
    assert found.id == wanted.id
    assert jobs.lease(core, work="embed") is None


def test_what_is_finished_is_done_and_not_due_again(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    job = take(core)
    with core.store.write() as writer:
        jobs.finish(core, writer, job)
    clock.tick(hours=1)
    assert jobs.lease(core) is None
    (kept,) = jobs.jobs(core, hub.id, hub.name)
    assert (kept.state, kept.attempts) == ("done", 1)
    clock.tick(days=8)
    assert jobs.lease(core) is None
    assert jobs.jobs(core, hub.id, hub.name) == []


def test_a_failure_is_tried_again_later_and_the_third_is_the_last(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    for attempt in (1, 2, 3):
        job = take(core)
        assert job.attempts == attempt
        told = jobs.fail(core, job, "the page is broken")
        assert jobs.lease(core) is None
        clock.tick(minutes=4)
    assert told.state == "failed"
    assert jobs.lease(core) is None
    (kept,) = jobs.jobs(core, hub.id, hub.name)
    assert (kept.state, kept.reason) == ("failed", "the page is broken")


def test_a_failure_that_no_attempt_would_help_is_final(core: Core, hub: HubMemory) -> None:
    put(core, hub)
    assert jobs.fail(core, take(core), "not a PDF", final=True).state == "failed"


def test_a_stuck_job_is_taken_over_and_the_first_worker_has_no_effect(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    stuck = take(core)
    clock.tick(minutes=5)
    again = take(core)
    assert (again.id, again.attempts) == (stuck.id, 2)
    with pytest.raises(Conflict, match="taken over"), core.store.write() as writer:
        jobs.finish(core, writer, stuck)
    with pytest.raises(Conflict):
        jobs.progress(core, stuck, 1)
    with pytest.raises(Conflict):
        jobs.fail(core, stuck, "late")
    with core.store.write() as writer:
        jobs.finish(core, writer, again)


def test_progress_keeps_the_lease(core: Core, hub: HubMemory, clock: FixedClock) -> None:
    put(core, hub)
    job = take(core)
    for page in range(5):
        clock.tick(minutes=4)
        job = jobs.progress(core, job, page, 5)
        assert jobs.lease(core) is None
    (told,) = jobs.jobs(core, hub.id, hub.name)
    assert (told.done, told.total) == (4, 5)


def test_workers_that_die_three_times_leave_a_failed_job(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    for _ in range(3):
        take(core)
        clock.tick(minutes=5)
    assert jobs.lease(core) is None
    (told,) = jobs.jobs(core, hub.id, hub.name)
    assert told.state == "failed"
    assert "never finished" in told.reason


def test_a_job_goes_with_its_hub(memory: Holdfast, core: Core, hub: HubMemory) -> None:
    put(core, hub)
    job = take(core)
    memory.delete_hub(hub.name)
    with pytest.raises(NotFound):
        jobs.fail(core, job, "late")
    assert jobs.lease(core) is None


def test_a_job_of_a_write_that_failed_is_not_there(core: Core, hub: HubMemory) -> None:
    with pytest.raises(ZeroDivisionError), core.store.write() as writer:
        jobs.enqueue(core, writer, hub.id, "extract", {})
        raise ZeroDivisionError
    assert jobs.lease(core) is None
