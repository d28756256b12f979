"""Backups beside writers, locks that are held, threads that share a memory, and writes that fail
at any statement."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from holdfast.api.hub import HubMemory
from holdfast.api.memory import Holdfast
from holdfast.engine.upkeep.doctor import examine
from holdfast.engine.writing.redacting_store import unguarded
from holdfast.errors import AlreadyExists, HoldfastError, NotFound, StoreBusy, StoreDamaged
from holdfast.store.postgres.session import LISTENERS
from holdfast.store.sqlite import SqliteStore
from holdfast.store.sqlite.connection import busy_handler
from holdfast.store.sqlite.files import copy_in
from holdfast.testing import HashEmbedder, open_for_tests

pytestmark = pytest.mark.faults

# Only a deadlock takes this long.
_PATIENCE_S = 60
_A_FILE = pytest.mark.sqlite_only("about a file that takes the place of another")
_A_LOCK = pytest.mark.sqlite_only("about the lock on the file of the embedded store")


def _database(folder: Path) -> str:
    return str(folder / "memory.db")


# Backups


@pytest.mark.sqlite_too("a backup is a file of the embedded store")
def test_a_backup_beside_writers_is_one_moment_and_opens(tmp_path: Path) -> None:
    """Each write makes two memories; a backup that caught half of one would have an odd number."""
    backups = [tmp_path / f"backup{number}" for number in range(4)]
    started, done = threading.Event(), threading.Event()
    with open_for_tests(tmp_path / "home") as memory:
        hub = memory.create_hub("work")

        def write() -> int:
            count = 0
            while not done.is_set() and count < 2_000:
                hub.remember_many([f"Left {count}", f"Right {count}"])
                count += 1
                started.set()
            return count

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            assert started.wait(_PATIENCE_S)
            for folder in backups:
                folder.mkdir()
                memory.backup(folder / "memory.db")
            done.set()
            pairs = writing.result(_PATIENCE_S)
    sizes = []
    for folder in backups:
        with open_for_tests(folder, settings={"store.url": f"sqlite:{_database(folder)}"}) as copy:
            listed = copy.hub("work").list(order="number")
            assert len(listed) % 2 == 0
            assert [one.content.split()[0] for one in listed[-2:]] == ["Left", "Right"]
            assert examine(copy.core).found == []
            sizes.append(len(listed))
    assert sizes == sorted(sizes)
    assert 0 < sizes[0] <= sizes[-1] <= 2 * pairs


@_A_FILE
def test_a_backup_brings_everything_back(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("work")
        hub.remember("Here before the backup.")
        before = list(hub.export())
        memory.backup(tmp_path / "backup.db")
        hub.remember("After the backup.")
        hub.purge(1)
    copy_in(_database(tmp_path), str(tmp_path / "backup.db"))
    with open_for_tests(tmp_path) as memory:
        assert list(memory.hub("work").export()) == before
        assert [hit.memory.number for hit in memory.hub("work").recall("before")] == [1]
        assert examine(memory.core).found == []


@_A_FILE
def test_a_backup_comes_back_under_those_who_have_the_store_open(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("work")
        hub.remember("Here before the backup.")
        memory.backup(tmp_path / "backup.db")
        hub.remember("After the backup.")
        copy_in(_database(tmp_path), str(tmp_path / "backup.db"))
        assert [one.content for one in hub.list()] == ["Here before the backup."]
        assert hub.recall("after backup", limit=9)[0].memory.number == 1
        assert examine(memory.core).found == []


def test_a_backup_never_overwrites_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    with open_for_tests(tmp_path / "home") as memory:
        memory.hub().remember("Something.")
        with pytest.raises(AlreadyExists):
            memory.backup(taken)
        with pytest.raises(NotFound):
            memory.backup(tmp_path / "no folder" / "backup.db")
    assert taken.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "taken.db"]


@_A_FILE
@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\1" * 5_000])
def test_what_is_no_backup_is_refused_and_the_store_stays(tmp_path: Path, content: bytes) -> None:
    with open_for_tests(tmp_path) as memory:
        memory.hub().remember("Still here.")
    (tmp_path / "backup.db").write_bytes(content)
    with pytest.raises(StoreDamaged):
        copy_in(_database(tmp_path), str(tmp_path / "backup.db"))
    with pytest.raises(NotFound):
        copy_in(_database(tmp_path), str(tmp_path / "none.db"))
    with open_for_tests(tmp_path) as memory:
        assert len(memory.hub().list()) == 1


# Locks


@_A_LOCK
def test_a_writer_waits_for_a_lock_and_then_writes(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        store: Any = memory.core.store
        other = apsw.Connection(_database(tmp_path))
        other.execute("BEGIN IMMEDIATE")
        asked = 0
        patient = busy_handler(_PATIENCE_S)

        def wait(prior: int) -> bool:
            nonlocal asked
            asked += 1
            if asked == 3:
                other.execute("ROLLBACK")
            return patient(prior)

        store._writer.set_busy_handler(wait)
        hub.remember("It was worth waiting.")
        assert asked == 3
        other.close()


@_A_LOCK
def test_only_a_lock_that_stays_is_an_error_and_nothing_is_written(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        store: Any = memory.core.store
        store._writer.set_busy_handler(busy_handler(0.05))
        other = apsw.Connection(_database(tmp_path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="kept writing") as caught:
            hub.remember("This has to wait.")
        assert "try again" in caught.value.hint
        # Readers do not mind.
        assert hub.list() == []
        other.execute("ROLLBACK")
        other.close()
        hub.remember("This has to wait.")
        assert len(hub.list()) == 1


def test_the_busy_handler_waits_longer_each_time_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    naps: list[float] = []

    def nap(seconds: float) -> None:
        nonlocal now
        now += seconds
        naps.append(seconds)

    monkeypatch.setattr("holdfast.store.sqlite.connection.time.monotonic", lambda: now)
    monkeypatch.setattr("holdfast.store.sqlite.connection.time.sleep", nap)
    wait = busy_handler(2.0)
    tries = 0
    while tries < 1_000 and wait(tries):
        tries += 1
    assert 2.0 < now < 2.2
    assert naps[0] < 0.001
    assert max(naps) <= 0.05
    assert tries > 30


def test_two_stores_on_one_file_in_one_process_see_each_other(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as one, open_for_tests(tmp_path) as two:
        one.create_hub("work").remember("From the first.")
        assert [m.content for m in two.hub("work").list()] == ["From the first."]
        assert len(two.hub("work").recall("first")) == 1
        with pytest.raises(AlreadyExists):
            two.create_hub("work")


# Threads


def test_threads_may_share_one_memory(tmp_path: Path) -> None:
    start = threading.Barrier(4)
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")

        def work(number: int) -> None:
            start.wait(_PATIENCE_S)
            for step in range(12):
                # No two of the same words: `1 says 2` and `2 says 1` would be one answer.
                stored = hub.remember(f"Thread {100 + number} says {step} about apples")
                found = hub.recall("apples", limit=50)
                assert stored.memory.id in {hit.memory.id for hit in found} or step > 8
                if step % 3 == 0:
                    hub.update(stored.memory.id, title=f"title {step}")
                if step % 4 == 0:
                    hub.forget(stored.memory.id)
                hub.list(limit=5)

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, number) for number in range(4)]:
                done.result(_PATIENCE_S)
        everything = hub.list(state="all"), hub.list(forgotten=True)
        assert [len(found) for found in everything] == [36, 12]
        assert examine(memory.core).found == []


def test_closing_while_others_work_ends_them_with_our_error(tmp_path: Path) -> None:
    """Whoever comes too late is told so; what was acknowledged is there."""
    memory = open_for_tests(tmp_path)
    hub = memory.hub()
    started = threading.Event()

    def work() -> int:
        for step in range(100_000):
            try:
                hub.remember(f"Step {step}")
            except HoldfastError:
                return step
            started.set()
        return -1

    with ThreadPoolExecutor(1) as pool:
        working = pool.submit(work)
        assert started.wait(_PATIENCE_S)
        memory.close()
        acknowledged = working.result(_PATIENCE_S)
    with open_for_tests(tmp_path) as again:
        assert len(again.hub().list()) == acknowledged
        assert examine(again.core).found == []


# A write that fails in the middle

ACTS: dict[str, Callable[[HubMemory], object]] = {
    "remember": lambda hub: hub.remember("A new thing to know", supersedes=1, tags=["t"]),
    "remember_many": lambda hub: hub.remember_many(["one thing", "another thing"]),
    "update": lambda hub: hub.update(2, content="It says something else now", key="k"),
    "pin": lambda hub: hub.pin(2),
    "forget": lambda hub: hub.forget_many([2, 3]),
    "restore": lambda hub: hub.restore(5),
    "purge": lambda hub: hub.purge(3),
    "undo": lambda hub: hub.undo(),
}


def _state(memory: Holdfast) -> list[str]:
    assert examine(memory.core).found == []
    return list(memory.hub("work").export())


@contextmanager
def _refusing_on_sqlite(memory: Holdfast, refuses: Callable[[], bool]) -> Iterator[None]:
    store = unguarded(memory.core.store)
    assert isinstance(store, SqliteStore)
    store._writer.exec_trace = lambda *_: not refuses()
    try:
        yield
    finally:
        store._writer.exec_trace = None


@contextmanager
def _refusing_on_postgres(_: Holdfast, refuses: Callable[[], bool]) -> Iterator[None]:
    def listen(_: str) -> None:
        if refuses():
            raise psycopg.errors.DiskFull("no room")

    LISTENERS.append(listen)
    try:
        yield
    finally:
        LISTENERS.remove(listen)


# Each asks before a statement whether it is to be refused.
REFUSING = {"sqlite": _refusing_on_sqlite, "postgres": _refusing_on_postgres}


@pytest.mark.parametrize("name", ACTS)
def test_a_write_that_fails_at_any_statement_leaves_the_old_state(
    tmp_path: Path, homes: str, name: str
) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")
        for number in range(5):
            hub.remember(f"Number {number} of the things to know.")
        hub.forget(5)
        before = _state(memory)
        for number in range(1, 300):
            seen = 0

            def refuses(number: int = number) -> bool:
                nonlocal seen
                seen += 1
                return seen == number

            with REFUSING[homes](memory, refuses):
                raised = _raises(lambda: ACTS[name](hub))
            after = _state(memory)
            if seen < number:
                # Nothing was left to fail: it has gone through.
                assert not raised
                assert after != before
                assert number > 5
                return
            if after != before:
                # Only what comes after the write itself may fail without taking it back: the
                # clean-up of a purge, which is said, and vectors, which are made later then.
                assert name in (("purge",) if raised else ("restore", "undo"))
                return
            assert raised, "a failed write was not reported"
        pytest.fail("a write without end")


def _raises(act: Callable[[], object]) -> bool:
    """Whether the caller is told of a failure."""
    try:
        act()
    except HoldfastError:
        return True
    return False
