"""One piece of work at a time: a job is leased, given to the runner of its kind, and put back where
it has to stop. What a runner does with a job, and how it ends it, is the runner's business; which
runners there are, `passes.work` knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine.jobs import queue
from holdfast.errors import Conflict, NotFound

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.engine.jobs.queue import Job
    from holdfast.store.base import Writer


class Stopped(Exception):
    """Whoever asked for the work wants to stop."""


class Runner(NamedTuple):
    """What is done with the jobs of one kind. `run` ends the job, well or badly, in the transaction
    of what it does, and raises Stopped where it has to leave it. `lost` hears of a job whose last
    worker died, and `failed` of one that ended in an error nobody foresaw; without it the job is
    tried again when its lease is over. `in_order` is for work where the order of a hub's jobs
    matters."""

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
    """Works on the job that has waited longest in the hub that comes after this one; None where
    none is due. `holds` is told which job it is, and when it is let go."""
    core = core.acting(sees_all=True)
    if not queue.is_due(core, (runner.work,)):
        return None
    job = queue.lease(
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
        queue.put_back(core, job)
    except (Conflict, NotFound):
        # Another worker has it by now, or its hub is gone; there is nothing to be said.
        return job
    finally:
        if holds is not None:
            holds(None)
    return job
