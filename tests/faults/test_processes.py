"""Kills, crowds and forks: nothing acknowledged is lost, and nobody sees a lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.faults

SCENES = Path(__file__).with_name("scenes.py")
_A_FILE = pytest.mark.sqlite_only("about the file of the embedded store")


def play(scene: str, folder: Path | str) -> dict[str, Any]:
    """Runs a scene in an interpreter of its own; its last line is what it saw."""
    done = subprocess.run(
        [sys.executable, str(SCENES), scene, str(folder)],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    seen: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return seen


@pytest.mark.slow
def test_every_acknowledged_write_survives_100_kills(tmp_path: Path) -> None:
    assert play("kills", tmp_path)["acknowledged"] > 100


@pytest.mark.slow
def test_eight_processes_write_125_memories_each_and_none_sees_an_error(tmp_path: Path) -> None:
    assert play("writers", tmp_path) == {"memories": 1_000}


def test_a_forked_child_may_go_on_with_its_parents_store(tmp_path: Path) -> None:
    play("fork", tmp_path)


@_A_FILE
def test_a_crash_between_any_two_statements_leaves_the_old_state_or_the_new(
    tmp_path: Path,
) -> None:
    assert play("statements", tmp_path)["kills"] > 50


@_A_FILE
def test_a_file_that_may_not_grow_is_a_full_disk(tmp_path: Path) -> None:
    seen = play("file_size_limit", tmp_path)
    assert seen["error"] == "StoreFull"
    assert "disk" in seen["message"]
    assert seen["kept"] > 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB, with half of it taken by a file that can be removed."""
    disk = tmp_path / "disk"
    disk.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("this machine does not let us mount a small file system")
    (disk / "ballast").write_bytes(b"x" * 1_000_000)
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@_A_FILE
def test_a_full_disk_is_said_to_be_full_and_loses_nothing(small_disk: Path) -> None:
    seen = play("small_disk", small_disk)
    assert seen["error"] == "StoreFull"
    assert "no room left" in seen["message"]
    assert seen["kept"] > 1


@_A_FILE
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_who_may_not_write_is_told_so() -> None:
    # Not in pytest's own folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        seen = play("read_only", folder)
    assert {name: told[0] for name, told in seen.items()} == {
        "folder": "StoreReadOnly",
        "file": "StoreReadOnly",
        "both": "StoreReadOnly",
        "hidden": "StoreReadOnly",
        "new": "StoreReadOnly",
    }
    assert all("memory.db" in told[1] or "folder" in told[1] for told in seen.values())
