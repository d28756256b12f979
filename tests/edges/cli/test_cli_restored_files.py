"""MEMORY.md and journals after `restore-backup`: they show what the backup held. What they said for
the state before is no edit; what a person wrote and nobody had taken in yet is one."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import holdfast
from holdfast.engine.transfer.copy import _Mover
from holdfast.files.restore import _CHANGES_MAX
from holdfast.store.sqlite import SqliteStore
from tests.edges.cli.cli_calls import Run
from tests.postgres_server import ROLE, database

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")


@pytest.fixture
def monday(run: Run, tmp_path: Path) -> Run:
    """The commands, for two hubs with files, a backup of Monday, and what was said since."""
    return _said(run, tmp_path)


@pytest.fixture
def in_database(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """The same for memories in a database."""
    with database(ROLE) as url:
        monkeypatch.setenv("HOLDFAST_STORE_URL", url)
        yield _said(run, tmp_path)


def _said(run: Run, tmp_path: Path) -> Run:
    for hub in ("default", "work"):
        assert run("hub", "create", hub).code == 0
        run("remember", f"The office of {hub} is in Bonn", "--key", "office", "--hub", hub)
        run("remember", "Tea is at four", "--hub", hub)
        run("sync", "--hub", hub)
    run("journal", "add", "Slept well")
    assert run("backup", str(tmp_path / "monday.db")).code == 0
    for hub in ("default", "work"):
        run("update", "office", f"The office of {hub} is in Ulm", "--hub", hub)
        run("remember", "Said on Tuesday", "--hub", hub)
    run("journal", "add", "Met Ada")
    return run


def _files(home: Path, hub: str = "default") -> str:
    return "".join(one.read_text() for one in sorted((home / "hubs" / hub).glob("*.md")))


def _restored(run: Run, path: object) -> str:
    ran = run("restore-backup", str(path), "--yes", "--json")
    assert ran.code == 0, ran.err
    kept: str = ran.data["safety_copy"]
    return kept


def test_files_follow_a_backup_and_are_no_edit(monday: Run, home: Path, tmp_path: Path) -> None:
    tuesday = _files(home)
    assert "Ulm" in tuesday and "Met Ada" in tuesday
    kept = _restored(monday, tmp_path / "monday.db")
    for hub in ("default", "work"):
        shown, listed = _files(home, hub), monday("list", "--hub", hub).out
        for text in (shown, listed):
            assert "Bonn" in text and "Tea is at four" in text
            assert "Ulm" not in text and "Tuesday" not in text
    assert "Slept well" in _files(home) and "Met Ada" not in _files(home)
    # And back again.
    _restored(monday, kept)
    assert _files(home) == tuesday
    assert "Met Ada" in monday("journal").out


def test_what_nobody_had_taken_in_yet_is_kept_and_told(
    monday: Run, home: Path, tmp_path: Path
) -> None:
    path = home / "hubs" / "default" / "MEMORY.md"
    edited = path.read_text().replace("Tea is at four", "Tea is at five")
    path.write_text(f"{edited}\n# My own words\n\nNot a memory.\n")
    ran = monday("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert f"One line of {path} that you had edited before" in ran.err
    listed = monday("list").out
    assert "Tea is at five" in listed and "Bonn" in listed and "Tuesday" not in listed
    assert "Tea is at five" in path.read_text() and "Not a memory." in path.read_text()


def test_a_restore_that_ends_before_the_files_follow_folds_nothing_in(
    monday: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("holdfast.files.restore.follow", _killed)
        with pytest.raises(_Killed):
            monday("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert "Ulm" in _files(home)
    listed = monday("list")
    assert "Ulm" not in listed.out + _files(home) and "Tuesday" not in listed.out
    assert "left alone" not in listed.err
    # Restored twice, the files of the other hub are known all the same.
    with monkeypatch.context() as broken:
        broken.setattr("holdfast.files.restore.follow", _killed)
        with pytest.raises(_Killed):
            monday("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert "Ulm" not in monday("list", "--hub", "work").out + _files(home, "work")


def test_files_of_memories_are_swept_after_a_backup_that_is_far_behind_came_back(
    monday: Run, home: Path, tmp_path: Path
) -> None:
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        hub = memory.hub("default")
        made = hub.remember_file(io.BytesIO(b"Lunch is at one.\n"), name="lunch.txt").memory
        path = Path(hub.attachment(made.id).path)
        hub.attachments.sweep()
        for number in range(_CHANGES_MAX):
            hub.pin(made.id) if number % 2 == 0 else hub.unpin(made.id)
    for _ in range(2):  # the second knows what the first was told
        _restored(monday, tmp_path / "monday.db")
    assert path.exists()
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        place = memory.hub("default").attachments
        assert "the next sweep removes them" in place.check()[0]
        assert place.sweep() == 1 and not path.exists()


@pytest.mark.parametrize("damage", ["DROP TABLE agreed", "UPDATE records SET body = '{'"])
def test_a_backup_comes_back_over_a_store_whose_rows_cannot_be_read(
    monday: Run, home: Path, tmp_path: Path, damage: str
) -> None:
    _restored(monday, tmp_path / "monday.db")  # which notes the first record
    with closing(sqlite3.connect(home / "memory.db")) as store, store:
        store.execute(damage)
    ran = monday("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert ran.code == 0, ran.err
    assert "Bonn" in monday("list").out


def test_the_files_of_another_homes_hub_are_reported_by_the_doctor_too(
    monday: Run, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "other", settings={"embed.model": "none"}) as memory:
        memory.create_hub("default").remember("Said elsewhere")
        memory.backup(str(tmp_path / "other.db"))
    told = "holds the files of another hub that was called `default`"
    assert told in monday("restore-backup", str(tmp_path / "other.db"), "--yes").err
    assert told in monday("doctor").err
    assert monday("sync", "--confirm").code == 0
    assert told not in monday("doctor").err


@pytest.mark.parametrize("moved_away", [False, True])
def test_after_a_damage_the_files_wait_for_somebodys_word(
    monday: Run, home: Path, tmp_path: Path, moved_away: bool
) -> None:
    for one in home.glob("memory.db*"):
        one.unlink()
    (home / "memory.db").write_bytes(b"not a store" * 1_000)
    ran = monday("restore-backup", str(tmp_path / "monday.db"), "--yes")
    assert ran.code == 0
    assert "left alone" in ran.err and "holdfast sync --confirm" in ran.err
    assert "Tuesday" not in monday("list").out and "Tuesday" in _files(home)
    assert "`default`" in monday("doctor").err and "left alone" in monday("doctor").err
    if moved_away:
        (home / "hubs" / "default" / "MEMORY.md").rename(tmp_path / "MEMORY.md")
    assert monday("sync", "--confirm").code == 0
    assert "`default`" not in monday("doctor").err
    assert ("Said on Tuesday" in monday("list").out) is not moved_away
    assert "Tea is at four" in monday("list").out and "Tea is at four" in _files(home)


def test_a_restore_into_a_database_that_was_killed_forgets_no_file(
    in_database: Run, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, into = _Mover._copy, []

    def killed(mover: _Mover) -> None:
        if not isinstance(mover.target, SqliteStore):
            into.append(mover.hub.name)
            if len(into) == 2:
                raise _Killed
        copy(mover)

    with monkeypatch.context() as broken:
        broken.setattr(_Mover, "_copy", killed)
        with pytest.raises(_Killed):
            in_database("restore-backup", str(tmp_path / "monday.db"), "--yes")
    # One hub is there, the other is half there; its files are known to what the restore left.
    _restored(in_database, tmp_path / "monday.db")
    for hub in ("default", "work"):
        assert "Tuesday" not in in_database("list", "--hub", hub).out + _files(home, hub)
    assert "Met Ada" not in _files(home)
    assert not [one.name for one in home.iterdir() if "restoring" in one.name]


class _Killed(BaseException):
    """What a signal would do, as far as a test can."""


def _killed(*_: object) -> list[str]:
    raise _Killed
