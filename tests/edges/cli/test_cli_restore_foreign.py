"""A backup with triggers, views, tables or indexes that are not ours is refused, and our own
connections run none of them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast.errors import StoreDamaged
from holdfast.store.sqlite import open_store
from holdfast.wiring.copies import check_backup
from tests.edges.cli.cli_calls import Run

pytestmark = pytest.mark.sqlite_only("a backup is a file of the embedded store")

EVIL = "UPDATE memories SET content = 'evil', pinned = 1"
# What somebody might put into a backup, and how the refusal names it.
FOREIGN: dict[str, tuple[str, str]] = {
    "trigger": (
        f"CREATE TRIGGER evil AFTER INSERT ON changes BEGIN {EVIL}; END",
        "trigger 'evil'",
    ),
    "view": ("CREATE VIEW evil AS SELECT * FROM memories", "view 'evil'"),
    "trigger on a view": (
        "CREATE VIEW v AS SELECT 1 AS one;"
        f" CREATE TRIGGER evil INSTEAD OF INSERT ON v BEGIN {EVIL}; END",
        "view 'v', trigger 'evil'",
    ),
    "table": ("CREATE TABLE evil (x)", "table 'evil'"),
    "table with an index of its own": ("CREATE TABLE evil (x UNIQUE)", "table 'evil'"),
    "index": ("CREATE INDEX evil ON memories (title)", "index 'evil'"),
    "index on an expression": (
        "CREATE INDEX evil ON memories (abs(content))",
        "index 'evil'",
    ),
    "virtual table": ("CREATE VIRTUAL TABLE evil USING fts5 (x)", "table 'evil'"),
    "name with a quote": ('CREATE TABLE "e""vil" (x)', "table 'e\"vil'"),
    "many": (";".join(f"CREATE TABLE evil{n} (x)" for n in range(20)), "and 15 more"),
    "view in the place of a table": (
        "ALTER TABLE clashes RENAME TO evil; CREATE VIEW clashes AS SELECT * FROM evil",
        "table 'evil'",
    ),
    "column that computes": (
        "ALTER TABLE receipts ADD COLUMN evil TEXT GENERATED ALWAYS AS (hex(reason))",
        "not as Holdfast makes it: 'receipts'",
    ),
    "column": ("ALTER TABLE hubs ADD COLUMN evil TEXT", "not as Holdfast makes it: 'hubs'"),
    "index in another form": (
        "DROP INDEX receipts_hub; CREATE INDEX receipts_hub ON receipts (reason)",
        "not as Holdfast makes it: 'receipts_hub'",
    ),
    "index under our name on another table": (
        "DROP INDEX receipts_hub; CREATE INDEX receipts_hub ON turns (content)",
        "index 'receipts_hub'",
    ),
    "table behind an index with a check": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
        " 'CREATE TABLE ''words_config''(k PRIMARY KEY, v CHECK (1), x) WITHOUT ROWID'"
        " WHERE name = 'words_config'; PRAGMA writable_schema = RESET",
        "not as Holdfast makes it: 'words_config'",
    ),
}


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    with holdfast.open(tmp_path / "other", settings={"embed.model": "none"}) as memory:
        memory.hub().remember("From the backup")
        memory.backup(str(tmp_path / "backup.db"))
    return tmp_path / "backup.db"


def alter(path: Path, sql: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(sql).fetchall()


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_backup_with_foreign_parts_is_refused_and_nothing_changes(
    run: Run,
    backup: Path,
    kind: str,
) -> None:
    sql, named = FOREIGN[kind]
    alter(backup, sql)
    before = backup.read_bytes()
    assert run("remember", "Here before").code == 0
    ran = run("restore-backup", str(backup), "--yes")
    assert ran.code == StoreDamaged.exit_code
    assert named in ran.err
    assert "nothing was changed" in ran.err
    assert run("list").out.count("Here before") == 1
    assert backup.read_bytes() == before


def test_a_backup_of_our_own_is_not_refused(backup: Path) -> None:
    check_backup(str(backup))
    # What ANALYZE leaves is SQLite's own.
    alter(backup, "ANALYZE")
    check_backup(str(backup))


def test_a_store_whose_indexes_were_rebuilt_can_be_restored(
    run: Run,
    home: Path,
    tmp_path: Path,
) -> None:
    run("remember", "Tea at four")
    alter(home / "memory.db", "DROP TABLE trigrams")
    assert run("doctor", "--fix").code == 0
    assert run("backup", str(tmp_path / "rebuilt.db")).code == 0
    assert run("restore-backup", str(tmp_path / "rebuilt.db"), "--yes").code == 0


@pytest.mark.parametrize(
    "kind", [kind for kind, (_, named) in FOREIGN.items() if "as Holdfast" not in named][:-2]
)
def test_a_backup_leaves_out_what_is_not_ours(
    run: Run,
    home: Path,
    tmp_path: Path,
    kind: str,
) -> None:
    """Somebody may keep tables of their own in the file, as programs that replicate it do."""
    run("remember", "Tea at four")
    alter(home / "memory.db", FOREIGN[kind][0])
    copy = tmp_path / "copy.db"
    assert run("backup", str(copy)).code == 0
    check_backup(str(copy))
    assert run("restore-backup", str(copy), "--yes").code == 0
    assert run("list").out.count("Tea at four") == 1


def test_our_connections_run_no_triggers(tmp_path: Path) -> None:
    path = tmp_path / "home" / "memory.db"
    with holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as memory:
        memory.hub().remember("Tea at four")
    alter(path, FOREIGN["trigger"][0])
    with holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as memory:
        hub = memory.hub()
        hub.remember("Coffee at five")
        assert {one.content for one in hub.list()} == {"Tea at four", "Coffee at five"}


def test_our_connections_read_no_views(tmp_path: Path) -> None:
    path = tmp_path / "home" / "memory.db"
    with holdfast.open(tmp_path / "home", settings={"embed.model": "none"}) as memory:
        memory.hub().remember("Tea at four")
    alter(path, FOREIGN["view in the place of a table"][0])
    with (
        closing(open_store(f"sqlite:{path}")) as store,
        store.read() as reader,
        pytest.raises(apsw.SQLError, match="view"),
    ):
        reader.clashes(reader.hubs()[0].id)


def test_foreign_keys_still_delete_what_depends_on_a_row(tmp_path: Path) -> None:
    """Their actions are triggers inside SQLite, which must not be turned off with the others."""
    with holdfast.open(tmp_path, settings={"embed.model": "none"}) as memory:
        memory.create_hub("gone").remember("Tea at four")
        memory.delete_hub("gone")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection:
        for table in ("memories", "revisions", "changes", "passages"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
