"""What only one may be at, over all machines: the server knows who it is, and that one who was
killed is not."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import Conflict, Holdfast
from holdfast.domain.clock import TimeIds
from holdfast.errors import HoldfastError
from holdfast.passes import schedule
from holdfast.passes.consolidation.run import RUNNING
from holdfast.testing import FixedClock, open_for_tests
from tests.postgres_server import ROLE, database

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres.advisory_locks import EXCLUSIVE_CLASS, require_held, try_lock  # noqa: E402
from holdfast.store.postgres.connections import connect  # noqa: E402

_WAIT_S = 30.0
_LASTS = timedelta(minutes=10)

_HOLDER = """
import sys, time
from datetime import timedelta
import holdfast
from holdfast.passes import schedule
with holdfast.open(sys.argv[1]) as memory:
    hub = memory.hub("h")
    with schedule.taking_turn(memory.core, hub.id, "consolidate", lasts=timedelta(hours=1)) as run:
        print(bool(run), flush=True)
        time.sleep(600)
"""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    with database(ROLE) as found:
        yield found


@pytest.fixture
def memory(url: str) -> Iterator[Holdfast]:
    with holdfast.open(url) as memory:
        memory.hub("h", create=True)
        yield memory


@contextmanager
def _holder(url: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that is at it, and stays."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, url],
        stdout=subprocess.PIPE,
        text=True,
        env={"HOLDFAST_HOME": str(tmp_path / "other")},
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip() == "True"
        yield process
    finally:
        process.kill()
        process.communicate()


def _opened(url: str, home: Path, clock: FixedClock) -> Holdfast:
    """A memory of another machine: its ids are its own."""
    return open_for_tests(home, clock=clock, ids=TimeIds(clock), settings={"store.url": url})


def _turn(memory: Holdfast) -> Any:
    core = memory.core
    return schedule.taking_turn(core, memory.hub("h").id, "consolidate", lasts=_LASTS)


def test_one_that_is_killed_is_followed_at_once(memory: Holdfast, url: str, tmp_path: Path) -> None:
    hub = memory.hub("h")
    hub.remember("Important: the dentist is Dr High", layer="journal")
    with _holder(url, tmp_path) as process:
        with _turn(memory) as run:
            assert not run
        assert hub.consolidate().skipped == RUNNING
        process.kill()
        process.wait()
    # No lease runs out here: its line is cut, and the server knows.
    ends = time.monotonic() + _WAIT_S
    while True:
        with _turn(memory) as run:
            if run:
                break
        assert time.monotonic() < ends
        time.sleep(0.01)
    assert hub.consolidate().skipped != RUNNING


def test_the_lock_keeps_nothing_from_being_cleared_away(memory: Holdfast, url: str) -> None:
    with (
        memory.core.store.alone("tidy", memory.hub("h").id) as mine,
        psycopg.connect(url, autocommit=True) as connection,
    ):
        assert mine
        held = connection.execute(
            "SELECT a.backend_xmin, a.backend_xid, count(r.relation) FROM pg_stat_activity a"
            " JOIN pg_locks l ON l.pid = a.pid AND l.locktype = 'advisory' AND l.objsubid = 2"
            " LEFT JOIN pg_locks r ON r.pid = a.pid AND r.locktype = 'relation'"
            " WHERE a.datname = current_database() GROUP BY 1, 2"
        ).fetchall()
    assert held == [(None, None, 0)]


def test_the_lock_keeps_nobody_waiting_however_often_it_is_looked_at(url: str) -> None:
    """A statement that is run often is prepared by the driver, and what answers one that is
    prepared keeps a snapshot: each build of an index would wait for it."""
    with connect(url) as holder, try_lock(holder, EXCLUSIVE_CLASS, 7) as mine:
        assert mine
        for _ in range(12):
            require_held(holder)
        with psycopg.connect(url) as other:
            asked = "SELECT backend_xmin FROM pg_stat_activity WHERE pid = %s"
            assert other.execute(asked, (holder.info.backend_pid,)).fetchone() == (None,)


def test_a_run_that_did_not_get_the_lock_is_waited_for(memory: Holdfast) -> None:
    """One that replaced an overdue run does not hold it, so nobody can tell whether it is alive."""
    core, hub = memory.core, memory.hub("h")
    left = _turn(memory)
    left.__enter__()
    with core.store.write() as writer:
        record = writer.record(hub.id, schedule.KIND, "consolidate")
        assert record is not None
        body = {**record.body, "known": False}
        writer.put_record(record._replace(body=body))
    left.gen.close()
    with core.store.write() as writer:
        writer.put_record(record._replace(body=body))
    with _turn(memory) as run:
        assert not run


def test_one_that_takes_too_long_is_passed_over_and_writes_nothing(
    url: str, tmp_path: Path
) -> None:
    clock = FixedClock()
    with (
        _opened(url, tmp_path / "one", clock) as one,
        _opened(url, tmp_path / "two", clock) as two,
    ):
        one.hub("h", create=True)
        with _turn(one) as slow:
            assert slow
            clock.tick(minutes=11)
            with _turn(two) as fast:
                assert fast
                with two.core.store.write() as writer:
                    fast.require(writer)
                    with pytest.raises(Conflict, match="took too long"):
                        slow.require(writer)


def test_the_lifecycle_leaves_a_hub_to_who_is_at_it(url: str, tmp_path: Path) -> None:
    clock = FixedClock()
    with _opened(url, tmp_path / "one", clock) as memory:
        hub = memory.hub("h", create=True)
        hub.remember("The office is in Bonn", stability="volatile")
        clock.tick(days=400)
        with memory.core.store.alone("lifecycle", hub.id):
            assert hub.lifecycle() == []
        assert len(hub.lifecycle()) == 1


def test_a_line_that_is_cut_is_reported_and_not_taken_for_an_end(
    memory: Holdfast, url: str
) -> None:
    """The lock is somebody else's by then; what was written before stays."""
    with _turn(memory) as run, psycopg.connect(url, autocommit=True) as connection:
        assert run
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            " AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname ="
            " current_database())"
        )
        ends = time.monotonic() + _WAIT_S
        while True:
            with _turn(memory) as other:
                if other:
                    with memory.core.store.write() as writer, pytest.raises(HoldfastError):
                        run.require(writer)
                    break
            assert time.monotonic() < ends
            time.sleep(0.01)
