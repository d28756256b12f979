"""`holdfast move`: a person takes everything to another store, and goes on there."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.transfer.copy import _Mover
from holdfast.testing import open_for_tests
from tests.edges.cli.cli_calls import Run


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_move_takes_everything_along_and_says_so(run: Run, home: Path, tmp_path: Path) -> None:
    run("remember", "The office is in Bonn")
    run("remember", "The office has 40 desks", "--hub", "default")
    target = f"sqlite:{tmp_path / 'new.db'}"
    told = run("move", "--to", target, "--json")
    assert told.code == 0, told.err
    answer = told.data
    assert answer["verified"] is True
    rows = {row["table"]: row["rows"] for row in answer["tables"]}
    assert (rows["memories"], rows["revisions"]) == ("2", "2")
    assert (home / "memory.db").exists()
    assert "Bonn" in run("recall", "office").out


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_after_a_switch_the_new_store_is_used(run: Run, home: Path, tmp_path: Path) -> None:
    run("remember", "The office is in Bonn")
    target = tmp_path / "new.db"
    told = run("move", "--to", f"sqlite:{target}", "--switch")
    assert told.code == 0, told.err
    assert "both sides were compared and are equal" in told.err
    (home / "memory.db").unlink()
    assert "Bonn" in run("recall", "office").out
    assert run("config", "get", "store.url").out.strip().startswith(f"sqlite:{target}")


@pytest.mark.skipif(sys.platform == "win32", reason="quotes as a POSIX shell reads them")
def test_the_command_to_use_the_new_store_can_be_pasted(run: Run, tmp_path: Path) -> None:
    run("remember", "The office is in Bonn")
    target = f"sqlite:{tmp_path / 'R & D, new.db'}"
    printed = run("move", "--to", target).err
    (command,) = re.findall(r"To use it: (.*)", printed)
    assert shlex.split(command) == ["holdfast", "config", "set", "store.url", target]


@pytest.mark.skipif(sys.platform == "win32", reason="quotes as a POSIX shell reads them")
def test_the_command_that_brings_a_backup_back_can_be_pasted(run: Run, tmp_path: Path) -> None:
    run("remember", "The office is in Bonn")
    backup = str(tmp_path / "my backup & more.db")
    (command,) = re.findall(r"To bring it back: `(.*)`", run("backup", backup).err)
    assert shlex.split(command) == ["holdfast", "restore-backup", backup]


def test_a_store_in_this_folder_is_found_from_every_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    run("remember", "The office is in Bonn")
    monkeypatch.chdir(here)
    told = run("move", "--to", "sqlite:new.db", "--switch")
    assert "It is used from now on" in told.err
    assert run("move", "--to", f"sqlite:{here / 'new.db'}").code == 2
    monkeypatch.chdir(there)
    assert "Bonn" in run("recall", "office").out
    monkeypatch.chdir(here)
    run("config", "set", "store.url", "sqlite:new.db")
    monkeypatch.chdir(there)
    assert "Bonn" in run("recall", "office").out
    assert list(there.iterdir()) == []


def test_a_password_is_neither_printed_nor_saved(run: Run, home: Path) -> None:
    told = run("move", "--to", "postgresql://ada:hunter2@127.0.0.1:1/none", "--switch")
    assert told.code == 2
    assert "PGPASSWORD" in told.err
    assert "hunter2" not in told.out + told.err


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_move_that_is_interrupted_says_how_far_it_came_and_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "The office is in Bonn")
    run("remember", "Lunch is at one")
    target = f"sqlite:{tmp_path / 'new.db'}"
    rows = _Mover._rows

    def interrupted(mover: _Mover, what: str, *rest: Any) -> None:
        if what == "revisions":
            raise KeyboardInterrupt
        rows(mover, what, *rest)

    with monkeypatch.context() as broken:
        broken.setattr(_Mover, "_rows", interrupted)
        told = run("move", "--to", target)
        assert told.code == 130
        assert "Interrupted at default: changes, 2 rows." in told.err
        assert "the same command, started again, goes on from there" in told.err
        broken.setattr(_Mover, "move", _interrupted)
        assert "Interrupted before anything was moved" in run("move", "--to", target).err
    assert run("move", "--to", target).code == 0


def _interrupted(_: _Mover) -> None:
    raise KeyboardInterrupt


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_move_into_itself_or_to_nowhere_is_refused(run: Run, home: Path) -> None:
    run("remember", "Something")
    assert "Say where to" in run("move").err
    itself = run("move", "--to", f"sqlite:{home / 'memory.db'}")
    assert itself.code == 2
    assert "into itself" in itself.err


def test_a_source_that_is_not_there_is_not_made(run: Run, home: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    told = run("move", "--from", f"sqlite:{missing}", "--to", f"sqlite:{tmp_path / 'n.db'}")
    assert told.code != 0
    assert "There is no store at" in told.err
    assert not missing.exists()


def _with_a_file(other: Path) -> Path:
    """Another home with a memory that was made from a file; where its bytes are."""
    with open_for_tests(other) as memory:
        hub = memory.hub("h", create=True)
        made = hub.remember_file(io.BytesIO(b"Tea is at four in the kitchen.\n"), name="tea.txt")
        return Path(hub.attachments.kept(made.memory).path)


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_files_of_another_home_come_along(run: Run, home: Path, tmp_path: Path) -> None:
    other, target = tmp_path / "other", f"sqlite:{tmp_path / 'new.db'}"
    kept = _with_a_file(other)
    bytes_there = kept.read_bytes()
    told = run("move", "--from", f"sqlite:{other / 'memory.db'}", "--to", target, "--switch")
    assert told.code == 0, told.err
    assert "1 file of memories: here, and compared" in told.err
    here = home / kept.relative_to(other)
    assert here.read_bytes() == bytes_there == kept.read_bytes()
    assert not here.samefile(kept)
    assert "missing" not in run("doctor").out


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_files_that_cannot_be_brought_are_counted(run: Run, home: Path, tmp_path: Path) -> None:
    other, target = tmp_path / "other", f"sqlite:{tmp_path / 'new.db'}"
    kept = _with_a_file(other)
    kept.write_text("something else")
    told = run("move", "--from", f"sqlite:{other / 'memory.db'}", "--to", target)
    assert "1 file of memories: not brought" in told.err
    assert not (home / kept.relative_to(other)).exists()


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_a_home_that_is_new_can_be_switched(run: Run, home: Path, tmp_path: Path) -> None:
    other, target = tmp_path / "other", f"sqlite:{tmp_path / 'new.db'}"
    with open_for_tests(other) as memory:
        memory.hub("h", create=True).remember("Tea is at four")
    assert not home.exists()
    told = run("move", "--from", f"sqlite:{other / 'memory.db'}", "--to", target, "--switch")
    assert told.code == 0, told.err
    assert "Tea is at four" in run("list", "--hub", "h").out


@pytest.mark.sqlite_only("says by itself which stores it is about")
def test_one_hub_is_moved_beside_others_and_the_source_stays(run: Run, tmp_path: Path) -> None:
    for name in ("first", "work"):
        run("hub", "create", name)
    run("remember", "The office is in Bonn", "--hub", "first")
    run("remember", "The office has 40 desks", "--hub", "work")
    target = f"sqlite:{tmp_path / 'new.db'}"
    assert run("move", "--to", target, "--hub", "work", "--switch").code == 2
    told = run("move", "--to", target, "--hub", "work")
    assert told.code == 0, told.err
    assert {row[0] for row in told.rows} == {"work"}
    assert "holdfast hub delete work" in told.err
    again = run("move", "--to", target, "--hub", "first")
    assert again.code == 0, again.err
    assert "desks" in run("recall", "desks", "--hub", "work").out
    run("config", "set", "store.url", target)
    assert "desks" in run("recall", "desks", "--hub", "work").out
    assert "Bonn" in run("recall", "office", "--hub", "first").out
