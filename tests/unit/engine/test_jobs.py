"""Work for later: leased, tried three times, taken over, done once."""

from __future__ import annotations

import pytest

from holdfast import Conflict, Holdfast, HubMemory, NotFound
from holdfast.engine import jobs
from holdfast.engine.core import Core, Scope
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
    second = put(core, hub)
    assert take(core).id == first.id
    assert take(core).id == second.id
    assert jobs.lease(core) is None


def test_each_kind_of_work_has_a_queue_of_its_own(core: Core, hub: HubMemory) -> None:
    put(core, hub)
    wanted = put(core, hub, "journal")
    assert jobs.is_due(core, ("journal",))
    found = jobs.lease(core, work="journal")
    assert found is not None
    assert found.id == wanted.id
    assert jobs.lease(core, work="journal") is None
    assert not jobs.is_due(core, ("journal",))
    assert jobs.is_due(core, ("extract", "journal"))
    assert [job.work for job in jobs.jobs(Scope(core, hub.id, hub.name))] == ["extract", "journal"]


def test_a_job_behind_another_says_what_it_waits_for(core: Core, hub: HubMemory) -> None:
    first, _ = put(core, hub, "journal"), put(core, hub, "journal")
    put(core, hub, "extract"), put(core, hub, "extract")

    def reasons() -> list[tuple[str, str]]:
        return [(job.work, job.reason) for job in jobs.jobs(Scope(core, hub.id, hub.name))]

    behind = ("journal", f"it waits for {first.id}, which comes before it")
    side_by_side = [("extract", ""), ("extract", "")]
    assert reasons() == [("journal", ""), behind, *side_by_side]
    leased = jobs.lease(core, work="journal", in_order=True)
    assert leased is not None
    jobs.fail(core, leased, "the model did not answer")
    assert reasons() == [("journal", "the model did not answer"), behind, *side_by_side]


def test_jobs_of_a_hub_may_be_worked_on_one_by_one_in_the_order_they_came(
    memory: Holdfast, core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    first, second = put(core, hub, "journal"), put(core, hub, "journal")
    other = put(core, memory.hub("other", create=True), "journal")

    def leased() -> jobs.Job | None:
        return jobs.lease(core, work="journal", in_order=True)

    head = leased()
    assert head is not None
    assert head.id == first.id
    elsewhere = leased()
    assert elsewhere is not None
    assert elsewhere.id == other.id
    assert leased() is None
    jobs.fail(core, head, "the line was busy")
    # It waits to be tried again, and the one behind it waits for it.
    assert leased() is None
    clock.tick(minutes=1)
    again = leased()
    assert again is not None
    assert again.id == first.id
    with core.store.write() as writer:
        jobs.finish(core, writer, again, keep=False)
    after = leased()
    assert after is not None
    assert after.id == second.id
    assert first.id not in {job.id for job in jobs.jobs(Scope(core, hub.id, hub.name))}


def test_a_queue_of_many_that_wait_keeps_no_other_hub_waiting(
    memory: Holdfast, core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    for _ in range(120):
        put(core, hub, "journal")
    clock.tick()
    wanted = put(core, memory.hub("other", create=True), "journal")
    assert jobs.lease(core, work="journal", in_order=True) is not None
    found = jobs.lease(core, work="journal", in_order=True)
    assert found is not None
    assert found.id == wanted.id


def test_hubs_take_turns_however_much_one_has_to_do(
    memory: Holdfast, core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    for _ in range(8):
        put(core, hub)
    clock.tick()
    late = {put(core, memory.hub(name, create=True)).hub_id for name in ("second", "third")}
    after, served = "", []
    while (job := jobs.lease(core, after=after)) is not None:
        after = job.hub_id
        served.append(job.hub_id)
    assert late <= set(served[:3])
    assert len(served) == 10


def test_a_full_queue_drops_what_has_waited_longest_and_says_which(
    core: Core, hub: HubMemory
) -> None:
    made = [put(core, hub, "journal") for _ in range(5)]
    running = jobs.lease(core, work="journal")
    assert running is not None
    with core.store.write() as writer:
        dropped = jobs.make_room(writer, hub.id, "journal", most=3)
    assert [job.id for job in dropped] == [job.id for job in made[1:4]]
    left = jobs.jobs(Scope(core, hub.id, hub.name))
    assert [job.id for job in left] == [running.id, made[4].id]


def test_a_job_that_is_over_keeps_no_texts(core: Core, hub: HubMemory) -> None:
    with core.store.write() as writer:
        about = {jobs.SAID: {"user": "I moved"}, "turn": "trn_1"}
        jobs.enqueue(core, writer, hub.id, "journal", about)
    job = jobs.lease(core, work="journal")
    assert job is not None
    assert job.about[jobs.SAID] == {"user": "I moved"}
    with core.store.write(hub=hub.id) as writer:
        jobs.give_up(core, writer, job, "no use")
    assert jobs.jobs(Scope(core, hub.id, hub.name))[0].about == {"turn": "trn_1"}


def test_what_is_finished_is_done_and_not_due_again(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    job = take(core)
    with core.store.write() as writer:
        jobs.finish(core, writer, job)
    clock.tick(hours=1)
    assert jobs.lease(core) is None
    (kept,) = jobs.jobs(Scope(core, hub.id, hub.name))
    assert (kept.state, kept.attempts) == ("done", 1)
    clock.tick(days=8)
    assert jobs.lease(core) is None
    assert jobs.jobs(Scope(core, hub.id, hub.name)) == []


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
    (kept,) = jobs.jobs(Scope(core, hub.id, hub.name))
    assert (kept.state, kept.reason) == ("failed", "the page is broken")


def test_a_failure_that_no_attempt_would_help_is_final(core: Core, hub: HubMemory) -> None:
    put(core, hub)
    job = take(core)
    with core.store.write(hub=hub.id) as writer:
        jobs.give_up(core, writer, job, "not a PDF")
    (over,) = jobs.jobs(Scope(core, hub.id, hub.name))
    assert (over.state, over.reason) == ("failed", "not a PDF")


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
    (told,) = jobs.jobs(Scope(core, hub.id, hub.name))
    assert (told.done, told.total) == (4, 5)


def test_workers_that_die_three_times_leave_a_failed_job(
    core: Core, hub: HubMemory, clock: FixedClock
) -> None:
    put(core, hub)
    for _ in range(3):
        take(core)
        clock.tick(minutes=5)
    assert jobs.lease(core) is None
    (told,) = jobs.jobs(Scope(core, hub.id, hub.name))
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
