"""Jobs on PostgreSQL: many workers on many machines, each job once, and nobody waits for a hub that
is somebody else's."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast import Holdfast
from holdfast.domain.records import NO_HUB
from holdfast.engine import jobs
from holdfast.testing import open_for_tests
from tests.postgres_server import ROLE, database

pytest.importorskip("psycopg")

_HUBS = 5
_JOBS = 8
_WAIT_S = 60.0

# One worker on one machine, whose clock is off by so many seconds: takes jobs until none is left,
# and leaves a trace of each in the transaction that ends it. It may be killed at a job.
_WORKER = """
import os, signal, sys, time
from datetime import timedelta
from holdfast.domain import clock
now = clock.SystemClock.now
off = timedelta(seconds=float(sys.argv[2]))
clock.SystemClock.now = lambda self: now(self) + off
import holdfast
from holdfast.domain.records import Record
from holdfast.engine import jobs
jobs.LEASE = timedelta(seconds=float(sys.argv[3]))
dies_at, takes_s = int(sys.argv[4]), float(sys.argv[5])
with holdfast.open(sys.argv[1]) as memory:
    core, after, count, idle = memory.core, "", 0, 0
    while idle < 3:
        job = jobs.lease(core, after=after)
        if job is None:
            idle += 1
            time.sleep(min(0.5, jobs.LEASE.total_seconds() / 2))
            continue
        after, count, idle = job.hub_id, count + 1, 0
        print(job.id, flush=True)
        if count == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        # Work takes a while, in which others look for some.
        time.sleep(takes_s)
        with core.store.write(hub=job.hub_id) as writer:
            jobs.finish(core, writer, job, keep=False)
            trace = core.ids.next("trace")
            writer.put_record(Record(job.hub_id, "trace", trace, core.now(), {"job": job.id}))
"""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with database(ROLE) as found:
        yield found


@pytest.fixture
def memory(url: str, tmp_path: Path) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path / "home", settings={"store.url": url}) as memory:
        yield memory


def _fill(memory: Holdfast) -> set[str]:
    made = set()
    for number in range(_HUBS):
        hub = memory.hub(f"h{number}", create=True)
        with memory.core.store.write(hub=hub.id) as writer:
            for _ in range(_JOBS):
                made.add(jobs.enqueue(memory.core, writer, hub.id, jobs.EXTRACT, {}).id)
    return made


class Worker(NamedTuple):
    """What a worker is like: its clock, how long its leases last, at which job it dies, and how
    long a job takes it."""

    clock_s: float = 0.0
    lease_s: float = jobs.LEASE.total_seconds()
    dies_at: int = 0
    takes_s: float = 0.02

    def start(self, url: str, home: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", _WORKER, url, *map(str, self)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={"HOLDFAST_HOME": str(home)},
        )


def _ended(process: subprocess.Popen[str]) -> list[str]:
    """The jobs that a worker took after those that were read already."""
    out, err = process.communicate(timeout=_WAIT_S)
    assert process.returncode in (0, -9), err
    return out.split()


def _traces(memory: Holdfast) -> Counter[str]:
    found: Counter[str] = Counter()
    with memory.core.store.read() as reader:
        for hub in reader.hubs():
            found.update(
                one.body["job"] for one in reader.scan_records(hub.id) if one.kind == "trace"
            )
    return found


def test_machines_whose_clocks_differ_work_on_each_job_once(
    memory: Holdfast, url: str, tmp_path: Path
) -> None:
    made = _fill(memory)
    # Further apart than a lease lasts: by their own clocks one would take from the other at once.
    late = Worker(clock_s=-900.0, takes_s=1.5).start(url, tmp_path / "late")
    assert late.stdout is not None
    taken = [late.stdout.readline().strip()]
    early = Worker(clock_s=900.0).start(url, tmp_path / "early")
    taken += _ended(early) + _ended(late)
    assert sorted(taken) == sorted(made)
    assert _traces(memory) == Counter(made)


def test_workers_that_are_killed_leave_their_jobs_to_others(
    memory: Holdfast, url: str, tmp_path: Path
) -> None:
    made = _fill(memory)
    dying = [Worker(lease_s=1.0, dies_at=number) for number in (1, 2)]
    workers = [
        worker.start(url, tmp_path / f"w{number}")
        for number, worker in enumerate([*dying, Worker(lease_s=1.0), Worker(lease_s=1.0)])
    ]
    taken = [job for worker in workers for job in _ended(worker)]
    died = sum(worker.returncode == -9 for worker in workers)
    assert died > 0
    # What the dead ones had begun was begun again, and every one had its effect once.
    assert set(taken) == made
    assert len(taken) >= len(made) + died
    assert _traces(memory) == Counter(made)


def test_a_hub_in_which_somebody_writes_keeps_no_worker_and_no_other_hub_waiting(
    memory: Holdfast,
) -> None:
    core = memory.core
    first, second = memory.hub("h0", create=True), memory.hub("h1", create=True)
    for hub in (first, second):
        with core.store.write(hub=hub.id) as writer:
            jobs.enqueue(core, writer, hub.id, jobs.EXTRACT, {})
    taken: list[jobs.Job | None] = []
    with core.store.write(hub=first.id):
        worker = threading.Thread(target=lambda: taken.append(jobs.lease(core)))
        worker.start()
        worker.join(_WAIT_S)
        assert not worker.is_alive()
    (job,) = taken
    assert job is not None
    assert job.hub_id == second.id
    # Where only a busy hub is left, its turn is waited for.
    inside, let_go = threading.Event(), threading.Event()

    def write() -> None:
        with core.store.write(hub=first.id):
            inside.set()
            let_go.wait(_WAIT_S)

    writing = threading.Thread(target=write)
    writing.start()
    assert inside.wait(_WAIT_S)
    worker = threading.Thread(target=lambda: taken.append(jobs.lease(core)))
    worker.start()
    let_go.set()
    worker.join(_WAIT_S)
    writing.join(_WAIT_S)
    assert taken[1] is not None
    assert taken[1].hub_id == first.id


def test_clocks_that_are_near_count_as_equal(memory: Holdfast) -> None:
    assert memory.core.store.skew() == timedelta()


def test_what_belongs_to_no_hub_is_no_hubs_work(memory: Holdfast) -> None:
    from holdfast.domain.records import Record

    core = memory.core
    with core.store.write() as writer:
        writer.put_record(Record(NO_HUB, "job", "x", core.now(), {}, due=core.now()))
    assert jobs.lease(core) is None
