"""lifecycle, stats, doctor, embed, backup, restore-backup, as a shell sees them."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

from holdfast.engine.upkeep.doctor import Diagnosis
from holdfast.store.values import Problem
from holdfast.testing import HashEmbedder
from tests.edges.cli.cli_calls import Run


def test_a_dry_run_shows_what_would_move_and_why(run: Run) -> None:
    run("remember", "Fetch the parcel", "--category", "daily", "--occurred-at", "2024-05-03")
    ran = run("lifecycle", "--dry-run")
    assert ran.rows[0][:2] == ["#1", "archived"]
    assert "daily note" in ran.rows[0][2]
    assert "nothing has moved" in ran.err
    assert run("get", "1", "--json").data["state"] == "active"
    assert run("lifecycle", "--json").data["moves"][0]["to"] == "archived"
    assert run("get", "1", "--json").data["state"] == "archived"
    assert "Nothing is due" in run("lifecycle").err
    run("undo")
    assert run("get", "1", "--json").data["state"] == "active"


def test_statistics_count(stocked: Run) -> None:
    stocked("forget", "2")
    rows = dict(stocked("stats").rows)
    assert (rows["memories"], rows["visible"], rows["forgotten"]) == ("3", "2", "1")
    assert rows["category preference"] == "1"
    plain = stocked("stats", "--json").data
    assert plain["by_category"]["preference"] == 1
    assert plain["oldest"].endswith("Z")


@pytest.mark.sqlite_only("says where the file of the embedded store is, and how large")
def test_a_healthy_store_is_said_to_be_so(stocked: Run, home: Path) -> None:
    ran = stocked("doctor")
    assert ran.code == 0
    rows = dict(ran.rows)
    assert rows["healthy"]
    assert rows["sqlite"] == apsw.sqlite_lib_version()
    assert rows["store"] == f"{home}/memory.db (0600)"
    assert rows["home"] == f"{home} (0700)"
    assert rows["model"].startswith("none.")
    assert stocked("doctor", "--json").data["healthy"] is True


def test_the_doctor_says_how_to_get_a_model(stocked: Run, monkeypatch) -> None:
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "auto")
    monkeypatch.setattr("holdfast.embed.providers._entry_points", dict)
    monkeypatch.setattr("holdfast.embed.providers._has_own", bool)
    assert "pip install" in dict(stocked("doctor").rows)["model"]


@pytest.mark.sqlite_only("damages the file of the embedded store")
def test_damage_to_derived_state_is_found_and_mended(stocked: Run, home: Path) -> None:
    connection = apsw.Connection(str(home / "memory.db"))
    connection.execute("DELETE FROM passages")
    connection.close()
    ran = stocked("doctor")
    assert ran.code == 6
    assert any(row[0] == "problem" for row in ran.rows)
    assert "doctor --fix" in ran.err
    ran = stocked("doctor", "--fix")
    assert ran.code == 0
    assert any(row[0] == "mended" for row in ran.rows)
    assert stocked("doctor").code == 0
    assert stocked("recall", "tabs", "--words").rows[0][0] == "#1"


@pytest.mark.parametrize("model", ["no-such-model", "openai:nowhere", "path:/nowhere"])
def test_the_doctor_works_with_a_model_that_is_none_and_says_so(
    stocked: Run, monkeypatch, model: str
) -> None:
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", model)
    ran = stocked("doctor")
    assert ran.code == 6
    found = [row[1] for row in ran.rows if row[0] == "problem"]
    assert len(found) == 1
    assert "--fix" not in ran.err
    assert "Use auto" in found[0] or "holds no embedding model" in found[0]
    assert stocked("doctor", "--fix").code == 6
    assert stocked("doctor", "--json").data["model"]["problem"] == found[0]


@pytest.mark.sqlite_only("damages the file of the embedded store")
def test_the_doctor_says_a_sentence_once_and_names_the_hub_where_there_are_several(
    stocked: Run, home: Path
) -> None:
    def lose_passages() -> None:
        connection = apsw.Connection(str(home / "memory.db"))
        connection.execute("DELETE FROM passages")
        connection.close()

    lose_passages()
    found = [row[1] for row in stocked("doctor").rows if row[0] == "problem"]
    assert len(found) == len(set(found))
    assert not any(text.startswith("hub default: ") for text in found)
    stocked("doctor", "--fix")
    stocked("hub", "create", "work")
    stocked("remember", "A thing at work", "--hub", "work")
    lose_passages()
    found = [row[1] for row in stocked("doctor").rows if row[0] == "problem"]
    assert any(text.startswith("hub default: ") for text in found)
    assert any(text.startswith("hub work: ") for text in found)


def test_the_doctor_counts_what_it_would_say_again(stocked: Run, monkeypatch) -> None:
    twice = Problem("a passage is gone", True)
    monkeypatch.setattr(
        "holdfast.engine.upkeep.doctor.examine", lambda core: Diagnosis([], [], [twice, twice], 0)
    )
    assert ["problem", "a passage is gone (2 times)"] in stocked("doctor").rows


@pytest.mark.sqlite_only("says where the file of the embedded store is, and how large")
def test_files_that_others_can_open_are_found_and_closed(stocked: Run, home: Path) -> None:
    os.chmod(home, 0o755)
    os.chmod(home / "memory.db", 0o644)
    ran = stocked("doctor", "--json")
    assert ran.code == 6
    assert ran.data["open_to_others"][:2] == [str(home), str(home / "memory.db")]
    assert stocked("doctor", "--fix").code == 0
    assert os.stat(home).st_mode & 0o777 == 0o700
    assert os.stat(home / "memory.db").st_mode & 0o777 == 0o600


def test_missing_vectors_are_counted_and_made(stocked: Run, monkeypatch) -> None:
    assert stocked("embed").code == 8
    monkeypatch.setattr("holdfast.wiring.embedder_of", lambda settings: HashEmbedder())
    assert stocked("doctor", "--json").data["passages_without_vectors"] == 3
    assert stocked("embed").rows == [["embedded", "3", "hash-words-64"]]
    assert stocked("embed", "--json").data["passages"] == 0
    assert stocked("recall", "tabs").err == ""


def test_a_backup_is_restored_and_what_was_there_is_kept(
    stocked: Run, home: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    assert stocked("backup", str(backup)).rows[0][:2] == ["backed up", str(backup)]
    assert os.stat(backup).st_mode & 0o777 == 0o600
    stocked("remember", "Came later")
    ran = stocked("restore-backup", str(backup))
    assert ran.code == 2
    assert "--yes" in ran.err
    ran = stocked("restore-backup", str(backup), "--yes")
    assert ran.code == 0
    kept = ran.rows[0][2]
    assert kept in ran.err
    assert os.path.dirname(kept) == str(home)
    assert len(stocked("list").rows) == 3
    assert stocked("restore-backup", kept, "--yes", "--json").data["safety_copy"] != kept
    assert len(stocked("list").rows) == 4


def test_a_backup_goes_into_a_folder_and_into_a_home_that_is_empty(
    stocked: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    path = stocked("backup", str(folder), "--json").data["path"]
    assert Path(path).parent == folder
    fresh = str(tmp_path / "fresh")
    assert stocked("restore-backup", path, "--yes", "--home", fresh).rows[0][2] == ""
    assert len(stocked("list", "--home", fresh).rows) == 3


@pytest.mark.sqlite_only("looks for the file of the embedded store")
def test_a_restore_that_replaces_nothing_does_not_ask(stocked: Run, tmp_path: Path) -> None:
    path = stocked("backup", str(tmp_path / "monday.db"), "--json").data["path"]
    fresh = str(tmp_path / "fresh")
    assert stocked("restore-backup", path, "--home", fresh).code == 0
    assert len(stocked("list", "--home", fresh).rows) == 3


@pytest.mark.sqlite_only("damages the file of the embedded store")
def test_a_damaged_store_is_moved_aside_by_a_restore(
    stocked: Run, home: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup.db"
    stocked("backup", str(backup))
    damaged = b"not a database at all" * 400
    (home / "memory.db").write_bytes(damaged)
    ran = stocked("list")
    assert ran.code == 6
    assert "holdfast doctor" in ran.err
    ran = stocked("doctor")
    assert ran.code == 6
    assert "restore-backup" in ran.err
    ran = stocked("restore-backup", str(backup), "--yes")
    assert ran.code == 0
    assert Path(ran.rows[0][2]).read_bytes() == damaged
    assert len(stocked("list").rows) == 3


@pytest.mark.parametrize("command", ["backup", "restore-backup"])
def test_bad_paths_are_refused(stocked: Run, tmp_path: Path, command: str) -> None:
    there = tmp_path / "there.db"
    there.write_bytes(b"hello")
    before = stocked("export", "-").out
    yes = ("--yes",) if command == "restore-backup" else ()
    expected = {"backup": (4, 3), "restore-backup": (6, 3)}[command]
    assert stocked(command, str(there), *yes).code == expected[0]
    assert stocked(command, str(tmp_path / "no" / "where.db"), *yes).code == expected[1]
    assert there.read_bytes() == b"hello"
    assert stocked("export", "-").out == before


@pytest.mark.sqlite_only("damages the file of the embedded store")
def test_foreign_and_newer_databases_are_refused_and_left_as_they_are(run: Run, home: Path) -> None:
    home.mkdir()
    path = home / "memory.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    ran = run("remember", "x")
    assert ran.code == 6
    assert "not one of Holdfast's" in ran.err
    assert path.read_bytes() == before


@pytest.mark.sqlite_only("damages the file of the embedded store")
def test_a_database_from_a_newer_version_is_refused(stocked: Run, home: Path) -> None:
    connection = apsw.Connection(str(home / "memory.db"))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    ran = stocked("list")
    assert ran.code == 6
    assert "Upgrade Holdfast" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_a_clear_error(run: Run, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    ran = run("remember", "x", "--home", str(locked / "home"))
    assert ran.code == 6
    assert "--home" in ran.err


def test_a_home_that_is_a_file_is_a_clear_error(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    ran = run("remember", "x", "--home", str(tmp_path / "file"))
    assert ran.code == 6
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("foreign", ["text", "empty", "database"])
def test_a_foreign_file_is_refused_with_what_to_name_instead(
    stocked: Run, tmp_path: Path, foreign: str
) -> None:
    path = tmp_path / "foreign"
    path.write_text("" if foreign == "empty" else "no database at all\n" * 100)
    if foreign == "database":
        path.unlink()
        connection = apsw.Connection(str(path))
        connection.execute("CREATE TABLE t (a)")
        connection.close()
    ran = stocked("restore-backup", str(path), "--yes")
    assert ran.code == 6
    assert "Name a file that `holdfast backup` has written" in ran.err
    assert "restore-backup" not in ran.err
    assert len(stocked("list").rows) == 3
