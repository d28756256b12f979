"""Opening the file of a store: by several processes at once, on unsuitable folders, and when the
file is moved away while it is open."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast import Holdfast
from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.errors import HoldfastError, StoreBusy, StoreError, StoreFull
from holdfast.store.sqlite import SqliteStore, connection
from holdfast.store.sqlite.schema import newest
from holdfast.testing import FixedClock, open_for_tests
from holdfast.wiring.copies import restore_backup

pytestmark = [
    pytest.mark.faults,
    pytest.mark.sqlite_only("about the file of the embedded store"),
]

# Longer than anything here takes on a busy machine.
WAIT_S = 60.0


def _open(folder: Path) -> Holdfast:
    return open_for_tests(folder, clock=FixedClock(), ids=TimeIds(SystemClock()))


# Two at once


def test_who_opens_a_store_twice_still_keeps_others_from_mending_it(tmp_path: Path) -> None:
    code = (
        "import sys; from holdfast.store.sqlite import files; files._ALONE_WAIT_S = 0.0\n"
        "files._connect_exclusively(sys.argv[1])"
    )
    with _open(tmp_path) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        with _open(tmp_path):
            words = [sys.executable, "-c", code, str(tmp_path / "memory.db")]
            ran = subprocess.run(words, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert "StoreBusy" in ran.stderr


def test_many_may_make_one_store_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    ready = threading.Barrier(6, timeout=WAIT_S)
    seen: list[object] = []

    def make() -> None:
        ready.wait()
        try:
            store = SqliteStore(path)
            with store.read() as reader:
                seen.append(reader.hubs())
            store.close()
        except HoldfastError as error:
            seen.append(error)

    threads = [threading.Thread(target=make, daemon=True) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert seen == [[]] * 6


class _Overtaken:
    """A connection of somebody who looks at the file while another process makes its tables."""

    def __init__(self, real: apsw.Connection, meanwhile: Callable[[], None]) -> None:
        self._real = real
        self._meanwhile = meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def pragma(self, name: str) -> object:
        found = self._real.pragma(name)
        self._meanwhile()
        return found


def test_tables_that_another_makes_meanwhile_are_known_for_ours(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    connection.prepare_file(path)
    real = apsw.Connection(path)
    overtaken: Any = _Overtaken(real, lambda: SqliteStore(path).close())
    assert connection._version(overtaken, path) == newest()
    real.close()


# Where it cannot work


def test_a_folder_without_shared_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The locks of this one are files, as on drives that have none; it shares no memory.
    monkeypatch.setattr(connection, "_open", lambda path: apsw.Connection(path, vfs="unix-dotfile"))
    with pytest.raises(StoreError, match="may be on a network drive") as refused:
        SqliteStore(str(tmp_path / "memory.db"))
    assert "HOLDFAST_HOME" in refused.value.hint
    assert os.path.getsize(tmp_path / "memory.db") == 0


def test_locks_that_do_not_work_are_reported_as_such() -> None:
    with pytest.raises(StoreBusy, match="kept the locks"), connection.translated("memory.db"):
        raise apsw.ProtocolError("locking protocol")


def test_a_link_to_a_file_that_is_yet_to_be_made_is_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "memory.db").symlink_to(tmp_path / "elsewhere" / "real.db")
    SqliteStore(str(tmp_path / "memory.db")).close()
    assert (tmp_path / "elsewhere" / "real.db").stat().st_mode & 0o777 == 0o600


def test_a_program_may_go_to_another_folder_while_the_store_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteStore("memory.db")
    monkeypatch.chdir("/")
    with store.read() as reader:
        assert reader.hubs() == []
    store.close()


# An interrupted write


def test_an_interrupt_right_after_the_beginning_of_a_write_leaves_nothing_open(
    tmp_path: Path,
) -> None:
    def interrupt(_cursor: object, statement: str, _bindings: object) -> bool:
        if statement.startswith("BEGIN"):
            writer.exec_trace = None
            writer.execute(statement)
            raise KeyboardInterrupt
        return True

    with _open(tmp_path) as memory:
        store = memory.core.store
        writer: apsw.Connection = store._writer  # type: ignore[attr-defined]
        writer.exec_trace = interrupt
        with pytest.raises(KeyboardInterrupt):
            memory.hub().remember("Tea is kept in the green tin.")
        memory.hub().remember("Coffee is kept in the red tin.")
        assert [one.content for one in memory.hub().list()] == ["Coffee is kept in the red tin."]


# Taken away from those who have it open


def _removed(path: Path) -> None:
    for name in os.listdir(path.parent):
        if name.startswith(path.name):
            os.remove(path.parent / name)


def _replaced(path: Path) -> None:
    with _open(path.parent / "other") as other:
        other.hub().remember("Another store.")
    os.replace(path.parent / "other" / "memory.db", path)


def _moved(path: Path) -> None:
    os.rename(path, path.with_name("away.db"))


@pytest.mark.parametrize("take_away", [_removed, _replaced, _moved])
def test_nothing_is_acknowledged_that_goes_to_a_file_nobody_opens_any_more(
    tmp_path: Path, take_away: Callable[[Path], None]
) -> None:
    with _open(tmp_path) as memory:
        hub = memory.hub()
        hub.remember("Tea is kept in the green tin.")
        take_away(tmp_path / "memory.db")
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            hub.remember("Coffee is kept in the red tin.")
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            hub.list()


def test_who_has_a_damaged_store_open_is_told_of_the_backup_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with _open(tmp_path) as memory:
        memory.hub().remember("Tea is kept in the green tin.")
        memory.backup(str(tmp_path / "backup.db"))
        memory.core.store.settle()
        with open(path, "r+b") as file:
            file.write(b"noise" * 20)
        restore_backup(str(path), str(tmp_path / "backup.db"))
        with pytest.raises(StoreError, match="moved, removed or replaced"):
            memory.hub().remember("Coffee is kept in the red tin.")
    with _open(tmp_path) as memory:
        assert [one.content for one in memory.hub().list()] == ["Tea is kept in the green tin."]


# A full disk after the deed


def _fill_disk(monkeypatch: pytest.MonkeyPatch, *, after: int = 0) -> None:
    """No room to clear up any more, once that was done so many times."""
    settle, done = SqliteStore.settle, iter(range(after))

    def full(store: SqliteStore) -> None:
        if next(done, None) is None:
            raise StoreFull("There is no room left.", hint="Nothing was written.")
        settle(store)

    monkeypatch.setattr(SqliteStore, "settle", full)


@pytest.mark.parametrize("in_files", [True, False])
def test_what_was_purged_is_gone_although_there_was_no_room_to_clear_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_files: bool
) -> None:
    said = "Tea is kept in the green tin."
    (tmp_path / "tea.txt").write_text(said)
    with _open(tmp_path / "home") as memory:
        hub = memory.hub()
        hub.remember(said)
        hub.remember_file(tmp_path / "tea.txt")
        if in_files:
            hub.sync()
        _fill_disk(monkeypatch)
        with pytest.raises(StoreError, match="What was purged is gone, but words of it may still"):
            hub.purge_many([1, 2])
        assert len(hub.list()) == 0
        files = [one for one in Path(hub.folder).rglob("*") if one.is_file()]
        assert [one for one in files if said in one.read_text()] == []


def test_secrets_are_replaced_although_there_was_no_room_to_clear_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as memory:
        hub = memory.hub()
        hub.remember("Tea is kept in the green tin.")
        hub.sync()
        _fill_disk(monkeypatch, after=1)
        with pytest.raises(StoreError, match="The secrets are replaced, but words of it may still"):
            hub.redact_secrets()


def test_a_hub_is_gone_with_its_files_although_there_was_no_room_to_clear_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path) as memory:
        hub = memory.create_hub("work")
        hub.remember("Tea is kept in the green tin.")
        hub.sync()
        _fill_disk(monkeypatch)
        with pytest.raises(StoreError, match="The hub is gone, but words of it may still"):
            memory.delete_hub("work")
        assert [one.name for one in memory.hubs()] == []
        assert not os.path.exists(hub.memory_md)
