"""Opens the database file, and translates SQLite's errors.

Knows pragmas, busy handlers and error codes, but not the tables.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EPERM, EROFS
from json import JSONDecodeError

import apsw

from holdfast.errors import (
    DeadlineExceeded,
    HoldfastError,
    InvalidInput,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
)
from holdfast.store.sqlite import schema
from holdfast.store.sqlite.schema import APPLICATION_ID, harden, newest
from holdfast.system import Backoff
from holdfast.system.named_tuple import NamedTuple

# A writer holds the lock for milliseconds; a minute means that something is stuck.
BUSY_WAIT_S = 60.0
_BACKOFF = Backoff(first_s=0.0005, longest_s=0.05)
# Virtual machine steps between two checks of the deadline: about a millisecond.
_STEPS_PER_LOOK = 20_000
# The application, the schema version, and the number of tables of the file.
_MARKS = (
    "SELECT (SELECT application_id FROM pragma_application_id),"
    " (SELECT user_version FROM pragma_user_version), count(*) FROM sqlite_schema"
)


def prepare_file(path: str) -> None:
    """Creates the SQLite file, readable by its owner only, before SQLite would create it with the
    umask.

    An existing file is not opened: closing it would release the locks that every other connection
    of this process holds on it.
    """
    try:
        if os.path.exists(path):
            _refuse_unfit(path)
            return
        # The real path: a link may point to a file that does not exist yet.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        with suppress(FileExistsError):
            os.close(os.open(os.path.realpath(path), flags, 0o600))
    except OSError as error:
        reason = error.strerror or str(error)
        kind = StoreReadOnly if error.errno in (EACCES, EPERM, EROFS) else StoreError
        raise kind(
            f"The store {path} cannot be opened: {reason}.",
            hint="Check that its folder exists and can be written, or choose another.",
            command="Check that its folder exists and can be written, or choose another --home.",
        ) from None


def _refuse_unfit(path: str) -> None:
    if os.path.isdir(path):
        raise StoreDamaged(
            f"{path} is a folder, not a store.", hint="Name a file, or move the folder away."
        )
    if not os.access(path, os.R_OK | os.W_OK):
        fault = "written" if os.access(path, os.R_OK) else "opened: permission denied"
        raise StoreReadOnly(
            f"The store {path} cannot be {fault}.",
            hint="Check the permissions of the file and its folder, or choose another.",
            command="Check the permissions of the file and its folder, or choose another --home.",
        )


def connect(
    path: str, *, busy_wait_s: float = BUSY_WAIT_S, read_only: bool = False
) -> apsw.Connection:
    """Opens a connection with the pragmas that all connections have."""
    with translated(path):
        connection = _open_to_read(path) if read_only else _open(path)
        try:
            harden(connection)
            # Otherwise SQLite plans a statement again whenever another value is bound, which takes
            # longer than running most of them.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.set_busy_handler(busy_handler(busy_wait_s))
            if not read_only:
                _retry_busy(lambda: _use_log(connection, path), busy_wait_s)
            # All rows are fetched: secure_delete returns one, and apsw runs the next statement only
            # after it was read.
            connection.execute(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
                "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000"
            ).fetchall()
        except BaseException:
            connection.close()
            raise
    return connection


def _open(path: str) -> apsw.Connection:
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOMUTEX)


def is_read_without_locks(path: str) -> bool:
    """Whether a read-only store has no log and no place for one."""
    writable = os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)
    return not writable and not any(os.path.exists(f"{path}-{part}") for part in ("shm", "wal"))


def _has_log_alone(path: str) -> bool:
    """Whether there is a write-ahead log without its shared-memory file, and that file cannot be
    created."""
    folder = os.path.dirname(os.path.abspath(path))
    return not os.access(folder, os.W_OK) and not os.path.exists(f"{path}-shm")


def _open_to_read(path: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOMUTEX
    if not is_read_without_locks(path):
        if _has_log_alone(path):
            raise StoreReadOnly(
                f"The store {path} has a log ({os.path.basename(path)}-wal) that is not in the file"
                " yet, and its folder cannot be written.",
                hint="Copy the folder to a place that can be written, and open it there once.",
            )
        return apsw.Connection(path, flags=flags)
    # A write-ahead log needs a shared-memory file beside the store. If that cannot be created and
    # there is no log, nobody writes there, and the store can be opened as immutable.
    from urllib.parse import quote

    address = f"file:{quote(os.path.abspath(path))}?immutable=1"
    return apsw.Connection(address, flags=flags | apsw.SQLITE_OPEN_URI)


def can_only_be_read(path: str) -> bool:
    """Whether a store exists and this process may read but not write it, because of a read-only
    mount or of permissions. Writing needs the folder too, because the log is created beside the
    file."""
    folder = os.path.dirname(os.path.realpath(path))
    writable = os.access(path, os.W_OK) and os.access(folder, os.W_OK)
    return not writable and os.path.isfile(path) and os.access(path, os.R_OK)


def state_of(path: str) -> tuple[object, ...]:
    """A value that changes whenever somebody writes to a SQLite file that is read without locks."""
    found: list[object] = []
    for name in (path, f"{path}-wal"):
        try:
            status = os.stat(name)
            found.append((status.st_mtime_ns, status.st_size))
        except OSError:
            found.append(None)
    return tuple(found)


def refuse_older(connection: apsw.Connection, path: str) -> None:
    """Refuses a SQLite file that needs a migration before it can be read."""
    with translated(path):
        version = _version(connection, path)
    if version < newest():
        raise StoreError(
            f"The store {path} has schema {version}; this Holdfast reads {newest()}.",
            hint="Open it once with this Holdfast, which brings it up to date.",
        )


def _use_log(connection: apsw.Connection, path: str) -> None:
    if connection.pragma("journal_mode") != "wal":
        # The mode is stored in the file, so a foreign file must be refused before.
        _version(connection, path)
        mode = connection.execute("PRAGMA journal_mode = WAL").get
        if mode != "wal":
            # Without a log, readers would block writers, and writers readers.
            raise StoreError(
                f"The folder of {path} has no shared memory, which the store needs; it may be on a"
                " network drive.",
                hint="Choose a folder on a disk of this machine; HOLDFAST_HOME may name it. A home"
                " that is on the drive already can be copied there.",
                command="Choose a folder on a disk of this machine with --home or HOLDFAST_HOME."
                " A home that is on the drive already can be copied there.",
            )


def busy_handler(wait_s: float) -> Callable[[int], bool]:
    """A busy handler of SQLite that waits a little longer each time, with jitter, so that two
    waiters get out of step."""
    started = 0.0

    def wait(prior: int) -> bool:
        nonlocal started
        now = time.monotonic()
        if prior == 0:
            started = now
        if now - started > wait_s:
            return False
        time.sleep(_BACKOFF.pause_s(prior + 1))
        return True

    return wait


def _retry_busy(act: Callable[[], object], wait_s: float) -> None:
    # Enabling WAL, and opening while another process recovers the log, can return BUSY without
    # calling the busy handler.
    wait = busy_handler(wait_s)
    attempt = 0
    while True:
        try:
            act()
            return
        except apsw.BusyError:
            if not wait(attempt):
                raise
            attempt += 1


def migrate(connection: apsw.Connection, path: str) -> None:
    """Runs the migrations that the SQLite file lacks, each in its own transaction."""
    with translated(path):
        if _version(connection, path) == newest():
            return
        for migration in schema.MIGRATIONS:
            try:
                connection.execute("BEGIN IMMEDIATE")
                # Another process may have migrated while this one waited for the lock.
                if _version(connection, path) < migration.version:
                    connection.execute(migration.sql)
                    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                    connection.execute(f"PRAGMA user_version = {migration.version}")
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def _version(connection: apsw.Connection, path: str) -> int:
    if connection.pragma("application_id") == APPLICATION_ID:
        version = connection.pragma("user_version")
    else:
        # In one statement, which sees one state: another process may be creating the tables.
        application, version, tables = connection.execute(_MARKS).get
        if application != APPLICATION_ID and (version or tables):
            raise StoreDamaged(
                f"{path} is an SQLite database, but not one of Holdfast's; it was left as it is.",
                hint="Move it away, or choose another folder.",
                command="Move it away, or choose another --home.",
            )
    assert isinstance(version, int)
    if version > newest():
        raise StoreTooNew(
            f"The store {path} has schema {version}; this Holdfast knows up to {newest()}.",
            hint="Upgrade Holdfast, or open another store.",
            command="Upgrade Holdfast, or open another store with --home.",
        )
    return version


@contextmanager
def deadline(connection: apsw.Connection, seconds: float | None) -> Iterator[None]:
    """Stops a read of SQLite that takes longer than `seconds`."""
    if seconds is None:
        yield
        return
    ends = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS_PER_LOOK)
    try:
        yield
    except apsw.InterruptError:
        raise DeadlineExceeded(
            f"The read was stopped after {seconds:g} s; this is not an empty answer.",
            hint="Narrow the query, or raise recall.deadline_s.",
        ) from None
    finally:
        connection.set_progress_handler(None)


class _Translation(NamedTuple):
    """The error that replaces some of SQLite's errors."""

    errors: tuple[type[Exception], ...]
    kind: type[HoldfastError]
    message: str
    hint: str


_RESTORE = "Run `holdfast doctor`; `holdfast restore-backup` brings back a backup."
# The first row that fits counts.
_TRANSLATIONS = (
    _Translation(
        (apsw.BusyError,),
        StoreBusy,
        f"Other processes kept writing to {{path}} for {BUSY_WAIT_S:g} s.",
        "Nothing was written; try again when they are done.",
    ),
    _Translation(
        (apsw.FullError,),
        StoreFull,
        "There is no room left on the disk of {path}.",
        "Nothing was written; free some space and try again.",
    ),
    _Translation(
        (apsw.ReadOnlyError, apsw.PermissionsError),
        StoreReadOnly,
        "The store {path} cannot be written.",
        "Check the permissions of the file and its folder.",
    ),
    _Translation(
        (apsw.CorruptError, apsw.NotADBError),
        StoreDamaged,
        "{path} is damaged, or not a Holdfast store ({error}).",
        _RESTORE,
    ),
    # SQLite does not check texts; a flipped bit in one is found when it is read.
    _Translation(
        (UnicodeDecodeError, JSONDecodeError, OverflowError),
        StoreDamaged,
        "{path} holds a value that cannot be read ({kind}).",
        _RESTORE,
    ),
    _Translation(
        (UnicodeEncodeError,),
        InvalidInput,
        "The text holds half of a character, which cannot be stored.",
        "Write it as UTF-8 anew.",
    ),
    _Translation(
        (apsw.CantOpenError,),
        StoreError,
        "The store {path} cannot be opened ({error}).",
        "Check that its folder exists and can be written.",
    ),
    # Too many readers to get a slot; or locks do not work.
    _Translation(
        (apsw.ProtocolError,),
        StoreBusy,
        "Others kept the locks of {path} all the time.",
        "Nothing was written; try again. A store on a network drive is not safe.",
    ),
    # A quota or a file size limit is reported as an input/output error, not as a full disk.
    _Translation(
        (apsw.IOError,),
        StoreFull,
        "Writing or reading {path} failed ({error}).",
        "The disk may be full or failing; nothing was half written.",
    ),
    # Holdfast's statements are valid; a table or column that they name is missing or broken.
    _Translation(
        (apsw.SQLError,),
        StoreDamaged,
        "A table of {path} is missing or broken ({error}).",
        "Run `holdfast doctor --fix`: it rebuilds what can be derived and loses nothing.",
    ),
    _Translation(
        (apsw.ConnectionClosedError,),
        StoreClosed,
        "The store {path} is closed.",
        "Open it again with holdfast.open().",
    ),
)
_TRANSLATED: tuple[type[Exception], ...] = (
    apsw.Error,
    *(one for row in _TRANSLATIONS for one in row.errors),
)


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Translates SQLite's errors into messages that a person can act on."""
    try:
        yield
    except apsw.InterruptError:
        raise  # `deadline` handles it.
    except _TRANSLATED as error:
        for row in _TRANSLATIONS:
            if isinstance(error, row.errors):
                values = {"path": path, "error": error, "kind": type(error).__name__}
                raise row.kind(row.message.format(**values), hint=row.hint) from None
        raise StoreError(
            f"The store {path} refused: {error}.", hint="Nothing was written."
        ) from error
