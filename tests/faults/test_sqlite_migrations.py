"""The migration runner of the SQLite store, with a migration 2 that exists only here.

Only schema 1 exists so far. These tests show that the mechanism works before the first release
needs it: a migration runs once, survives kill -9 and a full disk, and a store of a newer schema is
refused.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from holdfast.errors import StoreError, StoreFull, StoreTooNew
from holdfast.store.sqlite import SqliteStore, connection, schema
from holdfast.store.sqlite.schema import MIGRATIONS, Migration
from holdfast.testing import open_for_tests

pytestmark = [
    pytest.mark.faults,
    pytest.mark.sqlite_only("about the migrations of the embedded store"),
]

WAIT_S = 60.0
SECOND = Migration(
    2,
    "a column with a value for every row, a table and an index",
    """
ALTER TABLE memories ADD COLUMN shouted TEXT NOT NULL DEFAULT '';
UPDATE memories SET shouted = upper(content);
CREATE TABLE labels (pk INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
CREATE INDEX memories_shouted ON memories (hub, shouted);
""",
)
# Kills itself at the statement whose number it is given, as `kill -9` would.
KILLED = """
import os, signal, sys
from holdfast.store.sqlite import connection, schema
schema.MIGRATIONS = (*schema.MIGRATIONS, schema.Migration(2, "second", sys.argv[2]))
writer = connection.connect(sys.argv[1])
left = [int(sys.argv[3])]
def trace(*_):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True
writer.exec_trace = trace
connection.migrate(writer, sys.argv[1])
"""
CONTENTS = ["Prefers tabs", "Prefers tea", "x" * 20_000]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of schema 1 with three memories."""
    with open_for_tests(tmp_path) as memory:
        for content in CONTENTS:
            memory.hub().remember(content)
    return tmp_path / "memory.db"


def _know_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "MIGRATIONS", (*MIGRATIONS, SECOND))


def _assert_migrated(path: Path) -> None:
    store = SqliteStore(str(path))
    with store.read() as reader:
        (hub,) = reader.hubs()
        assert reader.statistics(hub.id).memories == len(CONTENTS)
    assert store.check() == []
    store.close()
    made = apsw.Connection(str(path))
    assert made.pragma("user_version") == 2
    assert made.pragma("integrity_check") == "ok"
    shouted = made.execute("SELECT shouted FROM memories ORDER BY number")
    assert [one for (one,) in shouted] == [content.upper() for content in CONTENTS]
    assert made.execute("SELECT count(*) FROM labels").get == 0
    made.close()


def test_migrations_count_up_from_one_without_a_gap() -> None:
    assert [one.version for one in MIGRATIONS] == list(range(1, schema.newest() + 1))


def test_a_store_of_the_older_schema_is_migrated_when_it_is_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _know_second(monkeypatch)
    SqliteStore(str(path)).close()
    _assert_migrated(path)


def test_a_new_store_gets_every_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _know_second(monkeypatch)
    path = tmp_path / "memory.db"
    SqliteStore(str(path)).close()
    made = apsw.Connection(str(path))
    assert made.pragma("user_version") == 2
    assert made.execute("SELECT count(*) FROM labels").get == 0
    made.close()


def test_many_open_an_older_store_at_once_and_it_is_migrated_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _know_second(monkeypatch)
    ready = threading.Barrier(4, timeout=WAIT_S)
    opened: list[SqliteStore | StoreError] = []

    def open_it() -> None:
        ready.wait()
        try:
            opened.append(SqliteStore(str(path)))
        except StoreError as error:
            opened.append(error)

    threads = [threading.Thread(target=open_it, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert [type(one) for one in opened] == [SqliteStore] * 4
    for store in opened:
        assert isinstance(store, SqliteStore)
        store.close()
    _assert_migrated(path)


# Refused


@pytest.mark.parametrize("read_only", [False, True])
def test_a_store_of_a_newer_schema_is_refused_and_not_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch, read_only: bool
) -> None:
    with monkeypatch.context() as newer:
        _know_second(newer)
        store = SqliteStore(str(path))
        store.settle()
        store.close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match="has schema 2; this Holdfast knows up to 1") as refused:
        SqliteStore(str(path), read_only=read_only)
    assert "Upgrade Holdfast" in refused.value.hint
    assert path.read_bytes() == before


def test_a_store_of_an_older_schema_is_not_opened_for_reading_only(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _know_second(monkeypatch)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="has schema 1; this Holdfast reads 2"):
        SqliteStore(str(path), read_only=True)
    assert path.read_bytes() == before


# Interrupted


def test_a_crash_at_any_statement_of_a_migration_leaves_a_store_that_opens(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _know_second(monkeypatch)
    crashes: list[Path] = []

    def crash(*_: object) -> bool:
        """Copies the files as they are on disk at this moment."""
        folder = tmp_path / f"crash-{len(crashes)}"
        folder.mkdir()
        for name in ("memory.db", "memory.db-wal"):
            if (tmp_path / name).exists():
                shutil.copy(tmp_path / name, folder / name)
        crashes.append(folder)
        return True

    writer = connection.connect(str(path))
    writer.exec_trace = crash
    connection.migrate(writer, str(path))
    writer.close()
    # BEGIN, the four statements, two marks and COMMIT, beside those that look.
    assert len(crashes) > 8
    for folder in crashes:
        _assert_migrated(folder / "memory.db")


@pytest.mark.parametrize("statements", [5, 9])
def test_kill_minus_nine_during_a_migration_leaves_a_store_that_opens(
    path: Path, monkeypatch: pytest.MonkeyPatch, statements: int
) -> None:
    words = [sys.executable, "-c", KILLED, str(path), SECOND.sql, str(statements)]
    killed = subprocess.run(words, capture_output=True, timeout=WAIT_S, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = apsw.Connection(str(path))
    assert left.pragma("user_version") == 1
    left.close()
    _know_second(monkeypatch)
    _assert_migrated(path)


def test_a_migration_without_room_on_the_disk_leaves_the_store_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = connection.connect(str(path))
    pages = writer.pragma("page_count")
    # SQLite reports a file that may not grow the same way as a full disk.
    writer.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with monkeypatch.context() as newer:
        _know_second(newer)
        with pytest.raises(StoreFull):
            connection.migrate(writer, str(path))
    assert (writer.pragma("user_version"), writer.pragma("page_count")) == (1, pages)
    assert not writer.in_transaction
    writer.close()
    with open_for_tests(path.parent) as memory:
        assert memory.core.store.check() == []
        assert len(memory.hub().list()) == len(CONTENTS)


def test_a_migration_that_fails_is_taken_back_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = SECOND._replace(sql=SECOND.sql + "SELECT missing FROM nowhere;")
    with monkeypatch.context() as newer:
        newer.setattr(schema, "MIGRATIONS", (*MIGRATIONS, broken))
        with pytest.raises(StoreError):
            SqliteStore(str(path))
    left = apsw.Connection(str(path))
    assert left.pragma("user_version") == 1
    assert "shouted" not in [row[1] for row in left.execute("PRAGMA table_info(memories)")]
    left.close()
