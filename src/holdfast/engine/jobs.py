"""The job queue. Jobs are leased for five minutes by the store's clock, tried at most three times,
and given one at a time to the runner of their kind. `passes.work` lists the runners."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from heapq import merge
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.query import check_count
from holdfast.domain.records import Record
from holdfast.engine.core import Core, Scope
from holdfast.errors import Conflict, HoldfastError, NotFound, StoreBusy
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from holdfast.domain.records import Turn
    from holdfast.store.base import Reader, Writer


def shared_now(core: Core) -> datetime:
    """The time by the store's clock, which is the same for all processes that lease jobs."""
    return core.now() + core.store.skew()


JobState: TypeAlias = Literal["waiting", "running", "done", "failed"]

# The kinds of work, and the queue of each.
EXTRACT, JOURNAL = "extract", "journal"
QUEUES: Mapping[str, str] = {EXTRACT: "job", JOURNAL: "job-journal"}
# Jobs of these kinds run one after the other in a hub: journal lines are in the order of the
# conversation.
IN_ORDER = (JOURNAL,)
# The field of `Job.about` with the texts of a turn. It is removed when the job is over.
SAID = "said"
# The field with the question that the turn answers.
QUESTION = "question"
# The field with the change set of the import that the turn came from.
IMPORT_RUN = "import_run"
_OVER: tuple[JobState, ...] = ("done", "failed")
ATTEMPTS_MAX = 3
LEASE = timedelta(minutes=5)
# A failed job is retried after this, and the next time after four times this.
_RETRY = timedelta(seconds=15)
# Finished jobs are listed for this long.
_KEPT = timedelta(days=7)
_PAGE = 100
_REASON_MAX = 500


class Job(NamedTuple):
    """A job in the queue. `lease` identifies the current attempt, so that a worker that lost its
    lease is informed so when it reports."""

    id: str
    hub_id: str
    work: str
    about: Mapping[str, Any]
    at: datetime
    state: JobState = "waiting"
    attempts: int = 0
    lease: str = ""
    done: int = 0
    total: int | None = None
    reason: str = ""
    ended_at: datetime | None = None


def enqueue(core: Core, writer: Writer, hub_id: str, work: str, about: Mapping[str, Any]) -> Job:
    """Enqueues a job, in the transaction of what it is about."""
    job = Job(core.ids.next("job"), hub_id, work, dict(about), core.now())
    writer.put_record(_record(job, due=shared_now(core)))
    return job


def make_room(writer: Writer, hub_id: str, work: str, *, most: int) -> list[Job]:
    """Removes the oldest waiting jobs from a queue until there is room for one more, and returns
    them. Finished jobs are cut to the same number. Jobs of an import are neither removed nor
    counted: there are as many as it has turns, and nothing else would note what they say."""
    if writer.count_records(hub_id, QUEUES[work], limit=most) < most:
        # All the caller waits for, while there is room: jobs have the texts of their turns.
        return []
    over, waiting, running = [], [], 0
    for job in _scan(writer, hub_id, work):
        if job.state not in _OVER and IMPORT_RUN in job.about:
            continue
        if job.state == "waiting":
            waiting.append(job)
        elif job.state == "running":
            running += 1
        else:
            over.append(job)
    room = max(0, most - 1 - running)
    dropped = waiting[: max(0, len(waiting) - room)]
    for job in [*dropped, *over[: max(0, len(over) - most)]]:
        writer.drop_record(hub_id, QUEUES[work], job.id)
    return dropped


def is_due(core: Core, works: Iterable[str], *, within: timedelta = timedelta()) -> bool:
    """Whether a job is due, or will be within a time. It only reads, because most calls find
    nothing and should not block writers."""
    by = shared_now(core) + within
    with core.store.read() as reader:
        return any(reader.due_records(QUEUES[work], by, limit=1) for work in works)


def lease(
    core: Core,
    *,
    work: str = EXTRACT,
    lost: Callable[[Writer, Job, str], None] | None = None,
    in_order: bool = False,
    after: str = "",
) -> Job | None:
    """Leases, for five minutes, the job of this kind that has waited longest in the next hub that
    has one; None if none is due. Hubs take turns, so that a busy one does not delay the others:
    `after` is the hub of the last job. With `in_order`, only one job of a hub is worked on at a
    time, and none before older ones are over.

    `lost` is called for a job after its last worker died, in the transaction that ends it, to
    inform those who wait for it.
    """
    busy: list[str] = []
    for hub_id in _hubs_in_turn(core, QUEUES[work], after):
        try:
            taken = _lease_in(core, hub_id, work, lost, in_order=in_order, wait=False)
        except StoreBusy:
            # Another process writes to this hub or takes a job of it; other hubs have jobs too.
            busy.append(hub_id)
            continue
        if taken is not None:
            return taken
    for hub_id in busy:
        taken = _lease_in(core, hub_id, work, lost, in_order=in_order, wait=True)
        if taken is not None:
            return taken
    return None


def _hubs_in_turn(core: Core, kind: str, after: str) -> Iterator[str]:
    """The hubs with a due job of this kind, each once, beginning after the given one."""
    now = shared_now(core)
    seen: set[str] = set()
    for start in (after, "") if after else ("",):
        at = start
        while True:
            with core.store.read() as reader:
                found = reader.due_hub(kind, now, after=at)
            if found is None or found in seen:
                break
            seen.add(found)
            yield found
            at = found


def _lease_in(
    core: Core,
    hub_id: str,
    work: str,
    lost: Callable[[Writer, Job, str], None] | None,
    *,
    in_order: bool,
    wait: bool,
) -> Job | None:
    """Leases a job of one hub, in a write transaction."""
    now, kind = shared_now(core), QUEUES[work]
    with core.store.write(hub=hub_id, wait=wait) as writer:
        while due := writer.due_records(kind, now, limit=_PAGE, hub_id=hub_id):
            jobs = [_job(record) for record in due]
            for job in jobs:
                if job.state in _OVER:
                    # A finished job becomes due when its record may be removed.
                    writer.drop_record(hub_id, kind, job.id)
            waiting = (job for job in jobs if job.state not in _OVER)
            for job in _due_first(writer, hub_id, work, now) if in_order else waiting:
                if (taken := _taken(core, writer, job, lost)) is not None:
                    return taken
            if in_order:
                break
    return None


def _due_first(writer: Writer, hub_id: str, work: str, now: datetime) -> Iterator[Job]:
    """Yields the first job while it is due; after it has been ended, the next one."""
    while (record := next(_open_records(writer, hub_id, work), None)) is not None:
        if record.due is None or record.due > now:
            # It is leased, or waits for a retry.
            return
        yield _job(record)


def _taken(
    core: Core, writer: Writer, job: Job, lost: Callable[[Writer, Job, str], None] | None
) -> Job | None:
    """Leases the job. Returns None if it was tried too often; it is ended then."""
    now = shared_now(core)
    if job.attempts >= ATTEMPTS_MAX:
        reason = "it was begun three times and never finished"
        _end(writer, job, "failed", reason, now)
        if lost is not None:
            lost(writer, job, reason)
        return None
    taken = job._replace(state="running", attempts=job.attempts + 1, lease=core.ids.next("lease"))
    writer.put_record(_record(taken, due=now + LEASE))
    return taken


def progress(core: Core, job: Job, done: int, total: int | None = None) -> Job:
    """Reports progress and renews the lease. Raises Conflict if another worker took the job
    over."""
    with core.store.write(hub=job.hub_id) as writer:
        _require_lease(writer, job)
        updated = job._replace(done=done, total=total)
        writer.put_record(_record(updated, due=shared_now(core) + LEASE))
    return updated


def finish(core: Core, writer: Writer, job: Job, *, keep: bool = True) -> None:
    """Completes the job in the transaction of its effect, so that the effect happens once. Without
    `keep` its record is removed."""
    _require_lease(writer, job)
    if keep:
        _end(writer, job, "done", "", shared_now(core))
    else:
        writer.drop_record(job.hub_id, QUEUES[job.work], job.id)


def put_back(core: Core, job: Job) -> None:
    """Returns an unfinished job without counting an attempt: its worker has to stop."""
    with core.store.write(hub=job.hub_id) as writer:
        _require_lease(writer, job)
        again = job._replace(state="waiting", lease="", attempts=job.attempts - 1)
        writer.put_record(_record(again, due=shared_now(core)))


def give_up(core: Core, writer: Writer, job: Job, reason: str) -> None:
    """Ends a job of the queue as failed, in the transaction that informs those who wait for it."""
    _require_lease(writer, job)
    _end(writer, job, "failed", reason, shared_now(core))


def fail(core: Core, job: Job, reason: str) -> Job:
    """Notes a failure: the job is retried, unless this was the last attempt."""
    now = shared_now(core)
    with core.store.write(hub=job.hub_id) as writer:
        _require_lease(writer, job)
        if job.attempts >= ATTEMPTS_MAX:
            return _end(writer, job, "failed", reason, now)
        again = job._replace(state="waiting", lease="", reason=reason[:_REASON_MAX])
        writer.put_record(_record(again, due=now + _RETRY * 4 ** (job.attempts - 1)))
    return again


def jobs(scope: Scope, *, limit: int = _PAGE) -> list[Job]:
    """The newest jobs of a hub, oldest first, with those finished in the last week."""
    check_count(limit)
    with scope.read_unfiltered() as reader:
        queues = (_with_reasons(_scan(reader, scope.hub_id, work), work) for work in QUEUES)
        return list(deque(merge(*queues, key=lambda job: job.id), maxlen=limit))


def _with_reasons(found: Iterable[Job], work: str) -> Iterator[Job]:
    """The jobs; one that waits for an older job gets that as its reason."""
    first: Job | None = None
    for job in found:
        if first is not None and job.state == "waiting" and not job.reason:
            job = job._replace(reason=f"it waits for {first.id}, which comes before it")
        elif first is None and work in IN_ORDER and job.state not in _OVER:
            first = job
        yield job


def open_jobs(reader: Reader, hub_id: str, work: str) -> Iterator[Job]:
    """The jobs of a hub that are not over, oldest first."""
    return map(_job, _open_records(reader, hub_id, work))


def _open_records(reader: Reader, hub_id: str, work: str) -> Iterator[Record]:
    return (one for one in _records(reader, hub_id, work) if one.body["state"] not in _OVER)


def _scan(reader: Reader, hub_id: str, work: str) -> Iterator[Job]:
    return map(_job, _records(reader, hub_id, work))


def _records(reader: Reader, hub_id: str, work: str) -> Iterator[Record]:
    return every_record(reader, hub_id, QUEUES[work])


def drop_about(writer: Writer, hub_id: str, turns: Mapping[str, Turn]) -> None:
    """Removes the jobs on these turns, with their texts, and from other jobs the question that one
    of these turns asked."""
    for record in list(_records(writer, hub_id, JOURNAL)):
        about = _job(record).about
        if not turns.keys().isdisjoint(about.get("turns", {}).values()):
            writer.drop_record(hub_id, record.kind, record.id)
        elif any(turn.content.endswith(about.get(QUESTION, "\0")) for turn in turns.values()):
            kept = {name: value for name, value in about.items() if name != QUESTION}
            writer.put_record(record._replace(body={**record.body, "about": kept}))


def without_texts(job: Job) -> Job:
    """The job without texts of turns."""
    about = {name: value for name, value in job.about.items() if name != SAID}
    return job._replace(about=about)


def for_others(job: Job) -> Job:
    """The job as a caller with a key sees it: without its worker and its turn."""
    about = {name: value for name, value in job.about.items() if name == "memory"}
    return job._replace(about=about, lease="")


def _end(writer: Writer, job: Job, state: JobState, reason: str, now: datetime) -> Job:
    ended = without_texts(job)._replace(
        state=state, lease="", reason=reason[:_REASON_MAX], ended_at=now
    )
    writer.put_record(_record(ended, due=now + _KEPT))
    return ended


def _require_lease(writer: Writer, job: Job) -> None:
    record = writer.record(job.hub_id, QUEUES[job.work], job.id)
    if record is None:
        raise NotFound(f"The job {job.id} is gone; its hub was deleted.")
    if record.body["lease"] != job.lease or not job.lease:
        raise Conflict(f"The job {job.id} was taken over by another worker.")


def _record(job: Job, *, due: datetime) -> Record:
    body = {
        "work": job.work,
        "about": dict(job.about),
        "state": job.state,
        "attempts": job.attempts,
        "lease": job.lease,
        "done": job.done,
        "total": job.total,
        "reason": job.reason,
        "ended_at": None if job.ended_at is None else to_text(job.ended_at),
    }
    return Record(job.hub_id, QUEUES[job.work], job.id, job.at, body, due=due)


def _job(record: Record) -> Job:
    body = dict(record.body)
    ended = body.pop("ended_at")
    return Job(
        id=record.id,
        hub_id=record.hub_id,
        at=record.at,
        ended_at=None if ended is None else from_text(ended),
        **body,
    )


class Stopped(Exception):
    """Raised by a runner that was asked to stop."""


class Runner(NamedTuple):
    """Runs the jobs of one kind. `run` ends the job, as done or failed, in the transaction
    of its effect, and raises Stopped if it was asked to stop. `lost` is called for a job after its
    last worker died, and `failed` for one that raised an unexpected error; without `failed`, the
    job is retried when its lease is over. `in_order` is for work where the order of a hub's jobs
    matters.
    """

    work: str
    run: Callable[[Core, Job], None]
    lost: Callable[[Core, Writer, Job, str], None]
    failed: Callable[[Core, Job, str], None] | None = None
    in_order: bool = False


def work_on_next(
    core: Core,
    runner: Runner,
    *,
    holds: Callable[[Job | None], None] | None = None,
    after: str = "",
) -> Job | None:
    """Runs the job that has waited longest in the next hub after `after`; None if none is due.
    `holds` is called with the job when it is leased and when it is released."""
    core = core.acting(sees_all=True)
    if not is_due(core, (runner.work,)):
        return None
    job = lease(
        core,
        work=runner.work,
        lost=lambda writer, lost, reason: runner.lost(core, writer, lost, reason),
        in_order=runner.in_order,
        after=after,
    )
    if job is None:
        return None
    if holds is not None:
        holds(job)
    try:
        runner.run(core, job)
    except Stopped:
        put_back(core, job)
    except KeyboardInterrupt:
        # Whoever continues need not wait for the end of the lease.
        with suppress(HoldfastError):
            put_back(core, job)
        raise
    except (Conflict, NotFound):
        # Another worker has taken the job over, or its hub was removed: nothing to report.
        return job
    finally:
        if holds is not None:
            holds(None)
    return job
