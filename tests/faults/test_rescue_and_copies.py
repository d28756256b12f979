"""Whole files that take another's place: nothing acknowledged is lost, and nothing is left over."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest

import holdfast
from holdfast import Holdfast
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.errors import StoreBusy
from holdfast.store.sqlite import files
from holdfast.testing import FixedClock, open_for_tests
from holdfast.wiring import copies
from holdfast.wiring.copies import copy_to_file, restore_backup

pytestmark = pytest.mark.faults


def _open(folder: Path) -> Holdfast:
    return open_for_tests(folder, clock=FixedClock(), ids=TimeIds(SystemClock()))


def test_a_rescue_is_refused_while_somebody_else_has_the_store_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_ALONE_WAIT_S", 0.0)
    with _open(tmp_path) as memory, _open(tmp_path) as other:
        memory.hub().remember("Tea is kept in the green tin.")
        other.hub().remember("Coffee is kept in the red tin.")
        with pytest.raises(StoreBusy, match="close the other programs"):
            memory.core.store.rescue()
        other.hub().remember("Sugar is kept in the blue tin.")
        assert len(memory.hub().list()) == 3
    with _open(tmp_path) as memory:
        assert len(memory.hub().list()) == 3
    assert not [name for name in os.listdir(tmp_path) if "damaged" in name or "rescue" in name]


def test_a_rescue_that_is_broken_off_leaves_the_store_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def broken_off(*_: object) -> None:
        seen.append((tmp_path / "memory.db").exists())
        raise KeyboardInterrupt

    with _open(tmp_path) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        with monkeypatch.context() as patched:
            patched.setattr(files, "_save_canonical", broken_off)
            with pytest.raises(KeyboardInterrupt):
                memory.core.store.rescue()
        assert seen == [True]
        assert len(memory.hub().list()) == 1


def test_whoever_opens_the_store_during_a_rescue_writes_to_the_right_file(tmp_path: Path) -> None:
    with _open(tmp_path) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        before = os.stat(tmp_path / "memory.db").st_ino
        memory.core.store.rescue()
    assert os.stat(tmp_path / "memory.db").st_ino == before


@pytest.mark.sqlite_only("copies the file of the embedded store")
def test_what_a_process_left_that_died_and_had_our_number_is_in_nobodys_way(tmp_path: Path) -> None:
    with _open(tmp_path) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        for name in ("backup.db.partial", "memory.db.damaged.partial", "memory.db.rescue"):
            (tmp_path / f"{name}-{os.getpid()}").write_bytes(b"half a copy" * 5_000)
        memory.backup(tmp_path / "backup.db")
        memory.core.store.rescue()
        assert len(memory.hub().list()) == 1
    with _open(tmp_path) as memory:
        assert len(memory.hub().list()) == 1
    left = [name for name in os.listdir(tmp_path) if "partial" in name or "rescue" in name]
    assert left == []


def test_a_copy_of_a_store_without_a_file_holds_nothing_of_one_that_was_broken_off(
    tmp_path: Path,
) -> None:
    mark = f"-{os.getpid()}"
    with _open(tmp_path / "left") as left:
        left.create_hub("gone")
    os.replace(tmp_path / "left" / "memory.db", tmp_path / f"copy.db.filling{mark}")
    with holdfast.open("memory:", settings={"embed.model": "none"}) as memory:
        memory.create_hub("work").remember("Tea is kept in the green tin.")
        copy_to_file(memory.core.store, str(tmp_path / "copy.db"))
    (tmp_path / f"memory.db.restoring{mark}").write_bytes(b"half a copy" * 5_000)
    restore_backup(str(tmp_path / "memory.db"), str(tmp_path / "copy.db"))
    with _open(tmp_path) as memory:
        assert [hub.name for hub in memory.hubs()] == ["work"]


@pytest.mark.sqlite_only("copies the file of the embedded store")
def test_what_was_written_while_a_backup_came_back_is_in_the_copy_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others write until the store is taken from them, also after it was copied."""
    carry = copies._carry
    with _open(tmp_path) as other:
        other.hub().remember("Tea is kept in the green tin.")
        other.backup(tmp_path / "backup.db")

        def meanwhile(*given: str) -> None:
            other.hub().remember("Coffee is kept in the red tin.")
            carry(*given)

        monkeypatch.setattr(copies, "_carry", meanwhile)
        kept = restore_backup(str(tmp_path / "memory.db"), str(tmp_path / "backup.db"))
        assert [item.content for item in other.hub().list()] == ["Tea is kept in the green tin."]
        other.hub().remember("Sugar is kept in the blue tin.")
    # Locks stay.
    left = {name for name in os.listdir(tmp_path) if "restor" in name and "lock" not in name}
    assert left == {os.path.basename(kept)}
    connection = apsw.Connection(kept)
    found = [content for (content,) in connection.execute("SELECT content FROM memories")]
    connection.close()
    assert found == ["Tea is kept in the green tin.", "Coffee is kept in the red tin."]


def test_a_backup_is_exactly_one_file_and_comes_back_as_a_store_that_keeps_a_log(
    tmp_path: Path,
) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    kept.mkdir()
    backup = kept / "memory#1 50%.backup"
    with _open(home) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        memory.backup(backup)
        memory.hub().remember("Coffee is kept in the red tin.")
    assert os.listdir(kept) == [backup.name]
    files.copy_in(str(home / "memory.db"), str(backup))
    files.copy_in(str(home / "second.db"), str(backup))
    assert os.listdir(kept) == [backup.name]
    with _open(home) as memory:
        assert [item.content for item in memory.hub().list()] == ["Tea is kept in the green tin."]
    for name in ("memory.db", "second.db"):
        connection = apsw.Connection(str(home / name))
        assert connection.pragma("journal_mode") == "wal"
        connection.close()


def test_a_backup_from_before_with_a_log_in_its_header_comes_back_and_stays_alone(
    tmp_path: Path,
) -> None:
    home, kept = tmp_path / "home", tmp_path / "kept"
    kept.mkdir()
    with _open(home) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
    (kept / "old.db").write_bytes((home / "memory.db").read_bytes())
    files.copy_in(str(home / "second.db"), str(kept / "old.db"))
    assert os.listdir(kept) == ["old.db"]
