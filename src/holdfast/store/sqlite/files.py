"""Operations on whole files: a consistent copy while writers run, restoring a copy, and the rescue
of a damaged file.

Restoring uses SQLite's transactions, so that other processes that have the store open see the whole
copy or none of it.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.errors import AlreadyExists, NotFound, StoreBusy, StoreDamaged, StoreTooNew
from holdfast.store.sqlite.connection import (
    _version,
    busy_handler,
    connect,
    migrate,
    prepare_file,
    translated,
)
from holdfast.store.sqlite.schema import drop_foreign, harden, refuse_foreign
from holdfast.store.values import Rescued
from holdfast.system.atomic_file import new_file, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.store.sqlite.rescue import Report
    from holdfast.store.values import Progress

# Pages copied between two reports: about 4 MB.
_PAGES_PER_STEP = 1_000
# The most sentences about repaired rows; the others are counted.
_REPAIRED_LISTED_MAX = 20
# How long a rescue waits for others to close the store: enough for a process that is just ending.
_ALONE_WAIT_S = 2.0
# The files of a connection, as apsw numbers them, and how much is read of them at once.
_DATABASE, _LOG = 0, 1
_BYTES_PER_STEP = 1_000_000


def copy_out(
    source: apsw.Connection, path: str, progress: Progress | None, *, whole: bool = False
) -> None:
    """Writes a consistent copy of the source to `path`: complete and flushed, or not at all. Tables
    and other objects that are not Holdfast's are left out, unless the copy is to be `whole`."""
    refuse_place(path)
    partial = _create_empty(f"{path}.partial-{os.getpid()}")
    try:
        # An open read transaction keeps the snapshot, so that writers cannot force the copy to
        # start over.
        source.execute("BEGIN; SELECT 1 FROM sqlite_schema LIMIT 1")
        destination = apsw.Connection(partial)
        try:
            harden(destination)
            _copy(destination, source, progress)
            if not whole:
                drop_foreign(destination, path)
            _disable_log(destination)
        finally:
            destination.close()
        _verify_copy(partial, whole=whole)
        _flush(partial)
        publish(partial, path)
    except BaseException:
        remove(partial)
        raise


def _verify_copy(partial: str, *, whole: bool) -> None:
    """Refuses to keep a damaged copy, because a backup is needed when nothing else is left."""
    try:
        verify(partial, whole=whole, derived=True)
    except StoreDamaged as error:
        found = error.message.removeprefix(f"{partial} is damaged: ")
        raise StoreDamaged(
            f"The store is damaged, so no backup was made of it: {found}",
            hint="Run `holdfast doctor --fix` first; older backups are as they were.",
        ) from None


def refuse_place(path: str) -> None:
    """Refuses a name for a copy if the file exists already, or its folder does not."""
    if os.path.exists(path):
        raise AlreadyExists(f"{path} exists already.", hint="Choose another name for the backup.")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise NotFound(f"The folder {folder} does not exist.", hint="Make it, or choose another.")


def copy_in(
    path: str,
    backup: str,
    progress: Progress | None = None,
    *,
    first: Callable[[], None] | None = None,
) -> None:
    """Replaces the content of the SQLite file at `path` by the backup, in one transaction. `first`
    is called while others can no longer write, but the old content can still be read."""
    if not os.path.isfile(backup):
        raise NotFound(f"There is no backup at {backup}.", hint="Check the name.")
    verify(backup)
    with translated(path):
        prepare_file(path)
        destination = connect(path)
        source = _read_only(backup)
        try:
            _copy(destination, source, progress, first)
            migrate(destination, path)
        finally:
            source.close()
            destination.close()


class Aside:
    """A copy of the SQLite file beside it, made before its content is replaced; `kept` is its name.

    A store that is too damaged to be read is moved aside instead. The name is empty if there is no
    store.
    """

    def __init__(self, path: str) -> None:
        self.kept = ""
        self._path = path
        self._source: apsw.Connection | None = None
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            return
        self.kept = free_name(f"{path}.before-restore")
        try:
            self._source = connect(path)
            try:
                self._copy(self.kept)
            except BaseException:
                self.close()
                raise
        except (StoreDamaged, StoreTooNew):
            for suffix in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(path + suffix, self.kept + suffix)

    def renew(self) -> None:
        """Copies again if something was written since, which would otherwise be lost: others go on
        writing until they are locked out."""
        if self._source is not None and self._state() != self._copied:
            newer = free_name(f"{self._path}.before-restore")
            self._copy(newer)
            os.replace(newer, self.kept)

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None

    def _copy(self, kept: str) -> None:
        assert self._source is not None
        with translated(self._path):
            # Before the copy: what is written in between is copied again, and not lost.
            self._copied = self._state()
            copy_out(self._source, kept, None, whole=True)
            self._source.execute("ROLLBACK")

    def _state(self) -> object:
        """A value that changes when another connection writes."""
        assert self._source is not None
        return self._source.pragma("data_version")


def verify(path: str, *, whole: bool = False, derived: bool = False) -> None:
    """Refuses a file that is damaged, foreign or of a newer version, without changing it. It is
    also refused if it has triggers, views, tables or indexes that are not Holdfast's, unless it is
    a `whole` copy. With `derived`, damage of derived state counts too, although that can be
    rebuilt."""
    from holdfast.store.sqlite.check import problems

    with translated(path):
        connection = _read_only(path)
        try:
            if _version(connection, path) == 0:
                raise StoreDamaged(f"{path} is empty; there is nothing in it to bring back.")
            if not whole:
                refuse_foreign(connection, path)
            found = problems(connection, compare_indexes=False)
        finally:
            connection.close()
    wrong = [problem for problem in found if derived or not problem.derived]
    if wrong:
        more = f", and {len(wrong) - 1} more problems" if len(wrong) > 1 else ""
        raise StoreDamaged(
            f"{path} is damaged: {wrong[0].what}{more}.",
            hint="Use another backup; or put this one into an empty home as memory.db and run"
            " `holdfast doctor --fix` there, which repairs what can be repaired.",
        )


def _disable_log(copy: apsw.Connection) -> None:
    """Disables the log in a copy, so that it is a single file."""
    copy.execute("PRAGMA journal_mode = DELETE").fetchall()


def _read_only(path: str) -> apsw.Connection:
    """Opens a file without changing it or creating files beside it."""
    from urllib.parse import quote

    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log):
        # It was copied by hand together with its log, which has the latest writes.
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    else:
        connection = apsw.Connection(
            f"file:{quote(os.path.abspath(path))}?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        )
    harden(connection)
    # Pages are checked when they are read: the file may have been crafted.
    connection.execute("PRAGMA cell_size_check = ON").fetchall()
    return connection


def rescue(path: str) -> Rescued:
    """Copies the canonical tables of a damaged SQLite file into a new database, which replaces it.

    Used if canonical rows are damaged, or derived tables cannot be dropped. Raises StoreBusy if
    anybody else has the store open. The damaged file is kept, and rows that could not be copied are
    written to a file beside it.

    The new database is copied into the file, in one transaction, instead of replacing the file: a
    process that opens the store meanwhile waits for the lock of this file, and would continue with
    the one that was moved aside.
    """
    fresh = f"{path}.rescue-{os.getpid()}"
    with translated(path):
        damaged = _connect_exclusively(path)
        try:
            kept = _copy_damaged(damaged, path)
            report = _rescued_into(fresh, damaged)
            aside = _write_set_aside(kept, report)
            _replace_content(damaged, fresh)
        finally:
            damaged.close()
            remove(fresh)
    return Rescued(kept, aside, tuple(_summary_of(report)))


def _replace_content(connection: apsw.Connection, fresh: str) -> None:
    """Copies another database into the open one, in one transaction."""
    source = apsw.Connection(fresh, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        _copy(connection, source, None)
    finally:
        source.close()


def rescue_unopened(path: str) -> Rescued:
    """Does the same for a file that SQLite refuses to open because it lost its end.

    Reads from a copy, and replaces the content of the file at last: until then nothing is written
    to it. Raises StoreBusy if anybody else has the store open, and StoreDamaged if it is not one of
    Holdfast's or none of its memories can be read; the file is then left as it is.
    """
    staged, fresh = (f"{path}.rescue-{os.getpid()}-{number}" for number in (1, 2))
    with translated(path):
        alone = _connect_exclusively(path, shortened=True)
        try:
            _copy_bytes(alone, path, staged)
            damaged = apsw.Connection(staged, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                _allow_shortened(damaged)
                _version(damaged, path)
                report = _rescued_into(fresh, damaged)
                _refuse_without_memories(damaged, fresh)
            finally:
                damaged.close()
            kept = free_name(f"{path}.damaged")
            _copy_bytes(alone, path, kept)
            aside = _write_set_aside(kept, report)
            _replace_content(alone, fresh)
        finally:
            alone.close()
            remove(staged)
            remove(fresh)
    return Rescued(kept, aside, tuple(_summary_of(report)))


def _allow_shortened(connection: apsw.Connection) -> None:
    """Otherwise a file with fewer pages than its header says is not read at all. The schema itself
    is not changed."""
    connection.execute("PRAGMA writable_schema = ON").fetchall()


def _copy_bytes(store: apsw.Connection, path: str, to: str) -> None:
    """Copies a database and its log as they are. They are read by the connection, as closing a
    file of our own would release the connection's lock."""
    for which, suffix in ((_DATABASE, ""), (_LOG, "-wal")):
        # A store that is a link has its log beside the file that it leads to.
        size = _size(os.path.realpath(path) + suffix)
        if not size:
            continue
        _create_empty(to + suffix)
        with open(to + suffix, "r+b") as copy:
            for start in range(0, size, _BYTES_PER_STEP):
                length = min(_BYTES_PER_STEP, size - start)
                copy.write(store.read("main", which, start, length)[1])
            copy.flush()
            os.fsync(copy.fileno())


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def _rescued_into(fresh: str, damaged: apsw.Connection) -> Report:
    """Makes a new store of what can be read of a damaged one."""
    made = connect(_create_empty(fresh))
    try:
        migrate(made, fresh)
    finally:
        made.close()
    return _save_canonical(damaged, fresh)


def _refuse_without_memories(damaged: apsw.Connection, fresh: str) -> None:
    filled = apsw.Connection(fresh, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        if _holds_any(filled) or not _holds_any(damaged):
            return
    finally:
        filled.close()
    raise StoreDamaged(
        "Too much of the store is damaged: none of its memories can be read.",
        hint="It was left as it is; a backup brings your memories back.",
    )


def _holds_any(store: apsw.Connection) -> bool:
    """Whether a store has memories or logged turns; yes if that cannot be read."""
    query = "SELECT EXISTS (SELECT 1 FROM memories) OR EXISTS (SELECT 1 FROM turns)"
    try:
        return bool(store.execute(query).get)
    except apsw.Error:
        return True


def _connect_exclusively(path: str, *, shortened: bool = False) -> apsw.Connection:
    """Opens the only connection to the store; the lock is held until it is closed. With
    `shortened`, also to a file that lost its end, which is not changed by opening and closing."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_handler(busy_handler(_ALONE_WAIT_S))
        # Before anything is read: only then is the lock on the file itself, which everybody who has
        # the store open shares.
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
        if shortened:
            _allow_shortened(connection)
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        # A commit would write the new number of pages, with which the file would open again, and
        # memories would be missing.
        connection.execute("BEGIN EXCLUSIVE; ROLLBACK" if shortened else "BEGIN EXCLUSIVE; COMMIT")
    except apsw.BusyError:
        connection.close()
        raise StoreBusy(
            f"Other programs have {path} open, so it cannot be mended.",
            hint="Nothing was changed; close the other programs that use the store, and try again.",
        ) from None
    except BaseException:
        connection.close()
        raise
    return connection


def _copy_damaged(damaged: apsw.Connection, path: str) -> str:
    """Copies the damaged file, page by page; returns the name of the copy."""
    kept = free_name(f"{path}.damaged")
    partial = _create_empty(f"{kept}.partial-{os.getpid()}")
    try:
        copy = apsw.Connection(partial)
        try:
            _copy(copy, damaged, None)
            # If the header is too damaged to show its mode, it is copied unchanged.
            with suppress(apsw.Error):
                _disable_log(copy)
        finally:
            copy.close()
        _flush(partial)
        publish(partial, kept)
    except BaseException:
        remove(partial)
        raise
    return kept


def _save_canonical(damaged: apsw.Connection, fresh: str) -> Report:
    from holdfast.store.sqlite.rescue import bring_over

    filled = apsw.Connection(fresh, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return bring_over(damaged, filled)
    finally:
        # Closing it releases its lock, so that it can be read as a source.
        filled.close()


def _write_set_aside(kept: str, report: Report) -> str:
    """Writes the rows that were set aside to a file beside the damaged one; returns an empty name
    if there were none."""
    if not report.aside:
        return ""
    path = free_name(f"{kept}.rows.jsonl")
    with new_file(path) as file:
        for row in report.aside:
            # One JSON object per line; bytes that are not text in hex.
            values = {
                "table": row.table,
                "key": [_plain(part) for part in row.key],
                "why": row.why,
                "row": {name: _plain(one) for name, one in row.values.items()},
            }
            file.write(json.dumps(values, ensure_ascii=False).encode() + b"\n")
    return path


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _summary_of(report: Report) -> Iterator[str]:
    yield from report.repaired[:_REPAIRED_LISTED_MAX]
    if len(report.repaired) > _REPAIRED_LISTED_MAX:
        yield f"and {len(report.repaired) - _REPAIRED_LISTED_MAX} more rows"
    counts: dict[str, int] = {}
    for row in report.aside:
        counts[row.table] = counts.get(row.table, 0) + 1
    for table, count in counts.items():
        yield f"set aside {count} damaged rows of {table}"


def _copy(
    destination: apsw.Connection,
    source: apsw.Connection,
    progress: Progress | None,
    first: Callable[[], None] | None = None,
) -> None:
    with destination.backup("main", source, "main") as copying:
        if first is not None:
            # Copies no page yet, but takes the lock.
            copying.step(0)
            first()
        while not copying.done:
            copying.step(_PAGES_PER_STEP)
            if progress is not None:
                progress(copying.page_count - copying.remaining, copying.page_count)


def _create_empty(path: str) -> str:
    """Creates an empty file. An existing one was left by a dead process with the same id, which is
    always the same in a container."""
    remove(path)
    prepare_file(path)
    return path


def free_name(wanted: str) -> str:
    name, number = wanted, 1
    while os.path.exists(name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def remove(path: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        with suppress(FileNotFoundError):
            os.remove(path + suffix)


def _flush(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
