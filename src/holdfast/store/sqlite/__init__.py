"""The embedded store: one SQLite file, one writer and many readers in a process, many processes.

Readers see the last committed state and never wait. Writers wait for each other: within the process
by a lock, and between processes by SQLite's lock, with growing pauses.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

import apsw

from holdfast.errors import StoreBusy, StoreClosed, StoreError, StoreReadOnly
from holdfast.store.sqlite.connection import (
    BUSY_WAIT_S,
    busy_handler,
    can_only_be_read,
    connect,
    deadline,
    is_read_without_locks,
    migrate,
    prepare_file,
    refuse_older,
    state_of,
    translated,
)
from holdfast.store.sqlite.reader import SqliteReader
from holdfast.store.sqlite.rows import Caches
from holdfast.store.values import Capability, Problem, Progress, Rescued, StoreDefaults

if TYPE_CHECKING:
    from holdfast.domain.hub import Viewer
    from holdfast.store.base import Store
    from holdfast.store.sqlite.writer import SqliteWriter

# Idle read connections kept open; each holds a page cache of its own.
_IDLE_READERS_MAX = 8
_PAGES_PER_STEP = 1_000
# How long a purge waits for readers before it leaves the truncation of the log to a later call.
_SETTLE_WAIT_S = 2.0


def open_store(url: str, *, read_only: bool = False) -> Store:
    """Opens the store at `sqlite:PATH`, and creates it if it does not exist, unless `read_only`. A
    store that cannot be written, as on a read-only mount, is opened for reading."""
    path = url.removeprefix("sqlite:")
    return SqliteStore(path, read_only=read_only or can_only_be_read(path))


class SqliteStore(StoreDefaults):
    """One SQLite file."""

    capabilities = frozenset(
        {
            Capability.DURABLE,
            Capability.MULTI_PROCESS,
            Capability.DEADLINES,
            Capability.SNAPSHOT,
            Capability.BACKUP,
            Capability.VECTORS,
            Capability.LATE_WORDS,
        }
    )

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        # Absolute, because a program may change its working folder while the store is open.
        self.path = path = os.path.abspath(path)
        self.read_only = read_only
        self._closed = False
        self._wrote = False
        self._start()
        if read_only and not os.path.isfile(path):
            raise StoreError(f"There is no store at {path}.", hint="Check the name.")
        if not read_only:
            prepare_file(path)
        self._file = _file_at(path)
        self._state = state_of(path)
        writer = connect(path, read_only=read_only)
        try:
            (refuse_older if read_only else migrate)(writer, path)
        except BaseException:
            writer.close()
            raise
        self._writer = writer

    def _start(self) -> None:
        self._process = os.getpid()
        self._write_lock = threading.RLock()
        self._pool_lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._busy: set[apsw.Connection] = set()
        self._caches = Caches()

    def _ready(self) -> None:
        if self._closed:
            raise StoreClosed(
                f"The store {self.path} is closed.", hint="Open it again with holdfast.open()."
            )
        if _file_at(self.path) != self._file:
            # Writes to a deleted file would be lost.
            raise StoreError(
                f"The store {self.path} was moved, removed or replaced while it was open here.",
                hint="Nothing was written; start this program again, or open the store anew.",
            )
        if os.getpid() != self._process:
            _close_inherited([self._writer, *self._idle, *self._busy])
            self._start()
            self._writer = connect(self.path, read_only=self.read_only)

    @contextmanager
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> Iterator[SqliteReader]:
        self._ready()
        state = self._drop_stale_readers()
        connection = self._take_reader()
        try:
            with translated(self.path), deadline(connection, deadline_s):
                connection.execute("BEGIN")
                yield SqliteReader(connection, viewer, self._caches)
            if state is not None and state != state_of(self.path):
                raise StoreBusy(
                    f"The store {self.path} was written while it was read without locks.",
                    hint="Try again. It is read so because its folder cannot be written from here.",
                )
        finally:
            self._give_back(connection)

    def _drop_stale_readers(self) -> tuple[object, ...] | None:
        """Closes connections that may have stale data. A file without a log in a folder that cannot
        be written is read without locks, and SQLite does not notice when another machine or user
        writes to it. Returns the state of the file; None if it is read with locks."""
        if not self.read_only:
            return None
        state = state_of(self.path)
        with self._pool_lock:
            stale = self._idle if state != self._state else []
            self._idle = [] if stale else self._idle
            self._state = state
        for connection in stale:
            connection.close()
        return state if is_read_without_locks(self.path) else None

    @contextmanager
    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> Iterator[SqliteWriter]:
        # Imported here, because most commands only read.
        from holdfast.store.sqlite.writer import SqliteWriter

        if os.getpid() != self._process:
            # A forked child gets a lock of its own: another thread may have held this one.
            self._ready()
        with self._write_lock:
            self._ready()
            if self.read_only:
                raise StoreReadOnly(
                    f"The store {self.path} can only be read.",
                    hint="It was opened so, or its folder is on a read-only mount or belongs to"
                    " somebody else.",
                )
            connection = self._writer
            if not connection.get_autocommit():
                raise StoreError("A write was begun inside another write of the same thread.")
            self._wrote = self._wrote or durable
            with (
                translated(self.path),
                _AS_USUAL if durable else _without_waiting(connection),
                _AS_USUAL if wait else _refusing_to_wait(connection),
            ):
                try:
                    # Inside the try, because an interrupt may come directly after it.
                    connection.execute("BEGIN IMMEDIATE")
                    writer = SqliteWriter(connection, viewer, self._caches.postings)
                    yield writer
                    writer.finish()
                    connection.execute("COMMIT")
                except BaseException:
                    self._caches.postings.clear()
                    # If the disk was full, SQLite has rolled back by itself.
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    raise

    def _take_reader(self) -> apsw.Connection:
        with self._pool_lock:
            if self._idle:
                connection = self._idle.pop()
                self._busy.add(connection)
                return connection
        connection = connect(self.path, read_only=self.read_only)
        with self._pool_lock:
            self._busy.add(connection)
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        with suppress(apsw.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        with self._pool_lock:
            self._busy.discard(connection)
            if not self._closed and len(self._idle) < _IDLE_READERS_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def notes(self) -> list[str]:
        return [f"The store {self.path} can only be read."] if self.read_only else []

    def rescue(self) -> Rescued:
        self._ready()
        with self._write_lock, self._pool_lock:
            idle, self._idle = self._idle, []
            for connection in idle:
                connection.close()
            self._writer.close()
            # Rebuilt rows may reuse the numbers of old ones.
            self._caches = Caches()
            from holdfast.store.sqlite.files import rescue

            try:
                return rescue(self.path)
            finally:
                self._writer = connect(self.path)

    def settle(self) -> None:
        """Checkpoints and truncates the write-ahead log, so that nothing purged stays in it."""
        from holdfast.store.sqlite.indexing import rewrite_word_indexes

        self._ready()
        with self._write_lock, translated(self.path):
            rewrite_word_indexes(self._writer)
            # A long reader prevents the truncation of the log. The wait is short: the next call
            # truncates it, or the last connection that closes the store.
            self._writer.set_busy_handler(busy_handler(_SETTLE_WAIT_S))
            try:
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.set_busy_handler(busy_handler(BUSY_WAIT_S))

    def check(self) -> list[Problem]:
        from holdfast.store.sqlite.check import problems

        self._ready()
        # A new connection: SQLite's check of a full-text index relies on the cache of an older
        # connection, and would report what others wrote since then as damage.
        connection = connect(self.path, read_only=self.read_only)
        try:
            if self.read_only:
                # The checks of full-text indexes are statements that write.
                connection = _copied(connection)
                return problems(connection)
            return problems(connection, self.path)
        finally:
            connection.close()

    def backup(self, path: str, progress: Progress | None = None) -> None:
        from holdfast.store.sqlite.files import copy_out

        self._ready()
        connection = self._take_reader()
        try:
            with translated(path):
                copy_out(connection, path, progress)
        finally:
            self._give_back(connection)

    def close(self) -> None:
        with self._write_lock, self._pool_lock:
            if self._closed:
                return
            self._closed = True
            idle, self._idle = self._idle, []
        if os.getpid() == self._process:
            for connection in idle:
                connection.close()
            if not self._wrote:
                # A checkpoint waits for the disk. A process that only read, and wrote only
                # counters, leaves it to the next one that writes.
                self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._writer.close()


def _file_at(path: str) -> int:
    """The identity of the file at a path, regardless of its name; 0 if there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _copied(source: apsw.Connection) -> apsw.Connection:
    """A copy of the database in a temporary file, which is deleted with its connection; closes the
    source."""
    try:
        copy = apsw.Connection("")
        with copy.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(_PAGES_PER_STEP)
    finally:
        source.close()
    return copy


def _close_inherited(inherited: list[apsw.Connection]) -> None:
    """Closes the connections that a forked child inherited.

    SQLite keeps one table of locks per file and process. A child inherits the table but not the
    locks, so connections that it opens beside an inherited one would rely on locks that nobody
    holds. Closing releases no lock of the parent, and writes nothing while anyone has the file
    open. Only a connection in the middle of a write must be left open: closing it would roll back
    the parent's write in their shared memory.
    """
    for connection in inherited:
        with suppress(apsw.Error):
            if connection.txn_state() != apsw.SQLITE_TXN_WRITE:
                connection.close()
            else:
                _LEFT_ALONE.append(connection)


# References that prevent these connections from being closed by the garbage collector.
_LEFT_ALONE: list[apsw.Connection] = []


_AS_USUAL = nullcontext()


@contextmanager
def _without_waiting(connection: apsw.Connection) -> Iterator[None]:
    """For counters: waits neither for the disk (the next durable write includes them) nor for
    another process that is writing, so that no reply waits for its counters."""
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.set_busy_handler(None)
    try:
        yield
    finally:
        connection.set_busy_handler(busy_handler(BUSY_WAIT_S))
        connection.execute("PRAGMA synchronous = FULL")


@contextmanager
def _refusing_to_wait(connection: apsw.Connection) -> Iterator[None]:
    """For a write that fails if another process is writing."""
    connection.set_busy_handler(None)
    try:
        yield
    finally:
        connection.set_busy_handler(busy_handler(BUSY_WAIT_S))
