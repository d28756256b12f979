"""A backup of a store that is no file, and back: the same file as of the embedded store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.transfer.copy import _Mover
from holdfast.store.sqlite import SqliteStore
from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, database

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")


@pytest.fixture
def on_server(stocked: Run, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The commands, for memories in a database."""
    with database(ROLE) as url:
        monkeypatch.setenv("HOLDFAST_STORE_URL", url)
        stocked("remember", "Prefers spaces over tabs", "--key", "indent")
        stocked("remember", "The office is in Bonn", "--key", "office")
        stocked("update", "office", "The office is in Ulm")
        yield stocked


def test_a_backup_of_a_database_is_a_store_by_itself(on_server: Run, tmp_path: Path) -> None:
    ran = on_server("backup", str(tmp_path / "monday.db"))
    assert (ran.code, ran.rows[0][:2]) == (0, ["backed up", str(tmp_path / "monday.db")])
    assert sorted(os.listdir(tmp_path)) == ["home", "monday.db"]
    with holdfast.open(
        f"sqlite:{tmp_path / 'monday.db'}", settings={"embed.model": "none"}
    ) as copy:
        hub = copy.hub()
        assert [memory.content for memory in hub.list()] == [
            "The office is in Ulm",
            "Prefers spaces over tabs",
        ]
        assert [entry.after.content for entry in hub.history("office")] == [
            "The office is in Bonn",
            "The office is in Ulm",
        ]
        assert hub.recall("office")[0].memory.key == "office"
        assert copy.core.store.check() == []


def test_a_database_is_what_the_backup_held_and_what_was_there_is_kept(
    on_server: Run, tmp_path: Path, home: Path
) -> None:
    exported = on_server("export", "-").out
    on_server("backup", str(tmp_path / "monday.db"))
    on_server("remember", "Said on Tuesday")
    on_server("hub", "create", "tuesday")
    ran = on_server("restore-backup", str(tmp_path / "monday.db"), "--yes", "--json")
    assert ran.code == 0, ran.err
    assert on_server("export", "-").out == exported
    assert [row[1] for row in on_server("hub", "list").rows] == ["default"]
    kept = ran.data["safety_copy"]
    assert os.path.dirname(kept) == str(home)
    assert on_server("restore-backup", kept, "--yes").code == 0
    assert "Said on Tuesday" in on_server("list").out
    assert [row[1] for row in on_server("hub", "list").rows] == ["default", "tuesday"]
    assert on_server("doctor").code == 0
    assert not [name for name in os.listdir(home) if "restoring" in name or "filling" in name]


def test_a_file_that_is_no_backup_changes_nothing(on_server: Run, tmp_path: Path) -> None:
    before = on_server("export", "-").out
    (tmp_path / "note.db").write_text("not a store")
    assert on_server("restore-backup", str(tmp_path / "note.db"), "--yes").code == 6
    assert on_server("restore-backup", str(tmp_path / "none.db"), "--yes").code == 3
    assert on_server("export", "-").out == before


def test_the_doctor_says_which_server_it_is_and_how_large_the_store(on_server: Run) -> None:
    facts = dict(row[:2] for row in on_server("doctor").rows)
    assert re.fullmatch(r"postgresql://.* \(PostgreSQL \d+\.\d+\)", facts["store"])
    size = re.fullmatch(r"database ([\d,]+) bytes", facts["size"])
    assert size is not None and int(size[1].replace(",", "")) > 100_000
    assert on_server("doctor", "--json").data["facts"]["bytes"]["database"] > 100_000


def test_a_restore_that_was_killed_is_run_again(
    on_server: Run, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = on_server("export", "-").out
    backup = str(tmp_path / "monday.db")
    on_server("backup", backup)

    copy = _Mover._copy

    def killed(mover: _Mover) -> None:
        if not isinstance(mover.target, SqliteStore):
            raise _Killed
        copy(mover)

    with monkeypatch.context() as broken:
        broken.setattr(_Mover, "_copy", killed)
        # A process that is killed takes nothing away, and says nothing of its end.
        broken.setattr("holdfast.store.sqlite.files.remove", lambda _: None)
        broken.setattr("holdfast.engine.transfer.copy._release", lambda *_: None)
        with pytest.raises(_Killed):
            on_server("restore-backup", backup, "--yes")
    assert [name for name in os.listdir(home) if "restoring" in name]
    (home / "memory.db.before-restore.filling-1").write_text("half a copy")
    told = on_server("list")
    assert told.code == 3
    assert "`holdfast restore-backup`" in told.err and "again" in told.err
    assert "doctor --fix" not in told.err
    assert "a move or restore into hub default" in on_server("doctor").out
    # One that may be running is not taken away.
    on_server("doctor", "--fix")
    assert "again" in on_server("list").err
    assert on_server("restore-backup", backup, "--yes").code == 0
    assert on_server("export", "-").out == before
    left = [name for name in os.listdir(home) if "restoring" in name or "filling" in name]
    assert left == []


class _Killed(BaseException):
    """What a signal would do, as far as a test can."""
