"""Copies of a store that a killed process left: the doctor reports them and removes them, and never
those of a restore that is under way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import StoreDamaged
from holdfast.wiring.copies import ABANDONED_S, restore_lock
from tests.edges.cli.cli_calls import Run

pytestmark = pytest.mark.sqlite_only("copies of the embedded store's file")
OF_A_RESTORE = (
    "memory.db.restoring-123",
    "memory.db.restoring-123-wal",
    "memory.db.restoring-123-shm",
    "memory.db.restoring-7-2",
    "memory.db.before-restore.partial-55",
    "memory.db.before-restore-2.filling-55-journal",
)
OTHERS = ("memory.db.rescue-9", "memory.db.damaged.partial-9", "memory.db.monday.partial-9")
# Files that only look like it, or are somebody's.
NOT_OURS = (
    "memory.db.before-restore",
    "memory.db.damaged",
    "memory.db.monday",
    "memory.db.restoring",
    "notes.restoring-1",
    "memory.db.restoring-1.txt",
)


def left(home: Path) -> set[str]:
    known = {"memory.db", "memory.db-wal", "memory.db-shm"}
    return {path.name for path in home.glob("*memory.db*")} - known | {
        path.name for path in home.glob("notes.*")
    }


def put(home: Path, *names: str, age_s: float = 0.0) -> None:
    for name in names:
        (home / name).write_bytes(b"half a copy")
        then = time.time() - age_s
        os.utime(home / name, (then, then))


def test_the_doctor_reports_and_removes_what_a_restore_left(run: Run, home: Path) -> None:
    run("remember", "Tea at four")
    put(home, *OF_A_RESTORE, *NOT_OURS)
    ran = run("doctor")
    assert ran.code == StoreDamaged.exit_code
    for name in OF_A_RESTORE:
        assert f"left {home / name}\n" in ran.out
    assert left(home) == {*OF_A_RESTORE, *NOT_OURS}
    ran = run("doctor", "--fix")
    assert ran.code == 0
    for name in OF_A_RESTORE:
        assert f"removed {home / name}," in ran.out
    assert left(home) == {*NOT_OURS}
    assert run("doctor").code == 0


def test_other_copies_are_removed_when_they_are_old(run: Run, home: Path) -> None:
    run("remember", "Tea at four")
    put(home, *OTHERS, age_s=ABANDONED_S / 2)
    assert run("doctor", "--fix").code == 0
    assert left(home) == {*OTHERS}
    put(home, *OTHERS, age_s=ABANDONED_S * 2)
    assert run("doctor").code == StoreDamaged.exit_code
    assert run("doctor", "--fix").code == 0
    assert left(home) == set()


def test_the_files_of_a_restore_that_is_under_way_are_left_alone(run: Run, home: Path) -> None:
    run("remember", "Tea at four")
    put(home, *OF_A_RESTORE, age_s=ABANDONED_S * 2)
    with restore_lock(str(home / "memory.db")):
        assert run("doctor").code == 0
        assert run("doctor", "--fix").code == 0
    assert left(home) == {*OF_A_RESTORE}


def test_files_that_were_unpacked_for_a_restore_are_removed_after_a_day(
    run: Run, home: Path
) -> None:
    run("remember", "Tea at four")
    folder = home / ".bringing-back-12-0a0a0a0a"
    folder.mkdir()
    (folder / "file").write_bytes(b"x")
    assert run("doctor", "--fix").code == 0
    assert folder.exists()
    then = time.time() - 90_000
    os.utime(folder, (then, then))
    assert run("doctor").code == StoreDamaged.exit_code
    assert run("doctor", "--fix").code == 0
    assert not folder.exists()


def test_a_link_or_a_folder_of_such_a_name_is_left_alone(run: Run, home: Path) -> None:
    run("remember", "Tea at four")
    (home / "memory.db.restoring-1").mkdir()
    (home / "memory.db.restoring-2").symlink_to(home / "memory.db")
    assert run("doctor", "--fix").code == 0
    assert (home / "memory.db.restoring-2").is_symlink()
    assert "Tea at four" in run("list").out


def test_a_restore_that_is_killed_is_cleaned_up_and_has_changed_nothing(
    run: Run, home: Path, tmp_path: Path
) -> None:
    with holdfast.open(tmp_path / "other", settings={"embed.model": "none"}) as memory:
        memory.hub().remember("From the backup")
        memory.backup(str(tmp_path / "backup.db"))
    run("remember", "Here before")
    # Killed when the copy is there and has not taken the store's place yet.
    killed = (
        "import os, sys; from holdfast.wiring import copies; from holdfast.edges.cli import main;"
        "copies._carry = lambda *_: os.kill(os.getpid(), 9); main(sys.argv[1:])"
    )
    command = ["restore-backup", str(tmp_path / "backup.db"), "--yes"]
    ended = subprocess.run([sys.executable, "-c", killed, *command], timeout=60, check=False)
    assert ended.returncode == -9
    assert any(".restoring-" in name for name in left(home))
    assert run("doctor").code == StoreDamaged.exit_code
    assert run("doctor", "--fix").code == 0
    assert not any(".restoring-" in name for name in left(home))
    assert "Here before" in run("list").out
    assert run(*command).code == 0
    assert "From the backup" in run("list").out
