"""One transaction on one connection: runs statements, keeps the deadline, and names the hubs that
row level security lets through.

Every statement of the store goes through here, so that tests can listen.

Advisory locks of the server give mutual exclusion over all machines (`try_lock`). Such a lock is
held by a transaction that does nothing else, on its own connection. It belongs to a transaction and
not to the session, because a pooler in transaction mode would hand the session to somebody else.
The transaction holds no snapshot and no row, so it blocks neither writers nor VACUUM nor an index
build. When a process is killed, its connection closes and the server frees the lock at once; for a
machine that vanishes, the server's TCP keepalives do so after about a minute.

A writer for one hub holds that hub's lock and touches no other hub (`WritingSession`). Locks are
taken in one order, so that writers cannot deadlock: the whole store (shared by writers of one hub),
then the hub, then the records that belong to no hub.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import psycopg
from psycopg import DataError
from psycopg.errors import CharacterNotInRepertoire

from holdfast.domain.records import NO_HUB
from holdfast.errors import DeadlineExceeded, StoreError
from holdfast.store.postgres import rows
from holdfast.store.postgres.advisory_locks import HUB_CLASS, HUB_LOCKS, LOCK_CLASS, WHOLE_STORE
from holdfast.store.postgres.errors import busy, transaction_failed
from holdfast.store.postgres.rows import SEEN, viewer_values
from holdfast.store.postgres.schema import Halfvec
from holdfast.store.sql import SqlReader

if TYPE_CHECKING:
    import psycopg

    from holdfast.domain.hub import Viewer
    from holdfast.domain.memory import Memory
    from holdfast.store.postgres.schema import Halfvec


Answer = TypeVar("Answer")

# Of a server without pgvector, on which no statement names its types.
NO_HALFVEC = Halfvec("")
# No hub has this number, so queries for it return nothing.
NO_SUCH_HUB = -1
# Rows fetched at a time by a scan.
_BATCH = 500
# Numbers for the names of cursors, never used twice.
_SCANS = count(1)

# Values of parameters are written into the statement.
_PLAIN = re.compile(r"[a-z0-9_]+")

# Called with every statement, for tests.
LISTENERS: list[Callable[[str], None]] = []


class Session:
    """Runs PostgreSQL statements of readers and writers until the transaction ends."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        viewer: Viewer | None = None,
        deadline_s: float | None = None,
        *,
        halfvec: Halfvec = NO_HALFVEC,
    ) -> None:
        self.connection = connection
        self.halfvec = halfvec
        self.viewer = viewer
        self._viewer_values = viewer_values(viewer)
        self._hubs: dict[str, int] = {}
        self._seconds = deadline_s
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s
        # Sends the buffered rows of a writer; called before a statement that could see them.
        self.held: Callable[[], None] | None = None

    def run(self, sql: str, /, **values: Any) -> psycopg.Cursor[Any]:
        """Runs a statement; the values of the viewer's condition are included."""
        self._before(sql)
        return self.connection.execute(sql, {**self._viewer_values, **values})

    def run_bytes(self, sql: str, /, **values: Any) -> psycopg.Cursor[Any]:
        """The same in binary format, for rows with bytes, which as text would be twice as long."""
        self._before(sql)
        return self.connection.execute(sql, values, binary=True)

    def all(self, sql: str, /, **values: Any) -> list[Any]:
        return self.run(sql, **values).fetchall()

    def row(self, sql: str, /, **values: Any) -> Any:
        """The first row, or None."""
        return self.run(sql, **values).fetchone()

    def value(self, sql: str, /, **values: Any) -> Any:
        """The first value of the first row, or None."""
        row = self.run(sql, **values).fetchone()
        return None if row is None else row[0]

    def put(self, sql: str, row: Sequence[Any]) -> int:
        """Runs a statement with positional values; returns the number of rows it changed."""
        self._before(sql)
        return self.connection.execute(sql, row).rowcount

    def many(self, sql: str, many: Iterable[Sequence[Any]]) -> None:
        """Runs the statement for each row, without waiting for each answer."""
        self._before(sql)
        with self.connection.cursor() as cursor:
            cursor.executemany(sql, many)

    def copy(self, sql: str, types: Sequence[str], many: Iterable[Sequence[Any]]) -> None:
        """A COPY FROM STDIN of rows with these types."""
        self._before(sql)
        try:
            with self.connection.cursor() as cursor, cursor.copy(sql) as copy:
                copy.set_types(types)
                for row in many:
                    copy.write_row(row)
        except CharacterNotInRepertoire:
            # NUL is the only character that a Python text can hold and PostgreSQL cannot. The
            # driver refuses it in a statement, but does not look in a COPY.
            raise DataError("a text holds a NUL") from None

    def hold(self, send: Callable[[], None]) -> None:
        """Sets the function that sends buffered rows. A session that refuses keeps refusing."""
        if self.held is None:
            self.held = send

    def release(self) -> None:
        """Sends the buffered rows. If that fails, every later statement is refused, because rows
        would be missing."""
        held, self.held = self.held, None
        if held is not None:
            try:
                held()
            except BaseException:
                self.held = _refuse
                raise

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Runs a statement that cannot see buffered rows, without sending them."""
        held, self.held = self.held, None
        try:
            yield
        finally:
            self.held = held

    def scan(self, sql: str, /, **values: Any) -> Iterator[tuple[Any, ...]]:
        """The rows one by one, fetched in batches: there may be a million."""
        return self._scan(sql, {**self._viewer_values, **values}, binary=False)

    def scan_bytes(self, sql: str, /, **values: Any) -> Iterator[tuple[Any, ...]]:
        """The same in binary format."""
        return self._scan(sql, values, binary=True)

    def _scan(
        self, sql: str, values: Mapping[str, Any], *, binary: bool
    ) -> Iterator[tuple[Any, ...]]:
        self._before(sql)
        scans: set[Any] = getattr(self.connection, "scans", set())
        with self.connection.cursor(f"scan_{next(_SCANS)}", binary=binary) as cursor:
            scans.add(cursor)
            try:
                cursor.itersize = _BATCH
                cursor.execute(sql, values)
                for row in cursor:
                    self._in_time()
                    yield row
            finally:
                scans.discard(cursor)

    @property
    def spread(self) -> bool:
        """Whether other nodes take part in the transaction (Citus)."""
        return bool(getattr(self.connection, "spread", False))

    def hub(self, hub_id: str) -> int:
        """The hub's number; from now on the transaction may see its rows."""
        number = self._hubs.get(hub_id)
        if number is None:
            number = self._find_hub(hub_id)
            # A missing hub is not cached: this writer may be about to create it.
            if number is None:
                return NO_SUCH_HUB
            if self.spread:
                self.name_hub(hub_id, number)
            else:
                self.note_hub(hub_id, number)
        return number

    def may_name(self, hub_id: str) -> bool:
        """Whether the transaction may name this hub, so that it sees its rows."""
        return True

    def note_hub(self, hub_id: str, number: int) -> None:
        """Notes a hub that a statement has named."""
        self._hubs[hub_id] = number

    def name_hub(self, hub_id: str, number: int) -> None:
        """Names a hub by its number, on all nodes: Citus passes on SET LOCAL, but not
        set_config()."""
        self._hubs[hub_id] = number
        named = ",".join(str(one) for one in (0, *self._hubs.values()))
        self.run(f"SET LOCAL holdfast.hubs = '{named}'")

    def known_hub(self, hub_id: str) -> int | None:
        """The number of a hub that the transaction has named already."""
        return self._hubs.get(hub_id)

    def _find_hub(self, hub_id: str) -> int | None:
        if self.spread:
            # Only a table that every node has whole: the hub's node may be down.
            return self._number_of(hub_id)
        found: int | None = self.value(
            "SELECT h.hub_id, set_config('holdfast.hubs',"
            " current_setting('holdfast.hubs') || ',' || h.hub_id, true)"
            " FROM hubs h WHERE h.id = %(hub)s",
            hub=hub_id,
        )
        return found

    def _number_of(self, hub_id: str) -> int | None:
        found: int | None = self.value(
            "SELECT h.hub_id FROM hubs h WHERE h.id = %(hub)s", hub=hub_id
        )
        return found

    def configure(self, **values: str) -> None:
        """Sets parameters of the server until the transaction ends, on all nodes."""
        assert all(_PLAIN.fullmatch(value) for value in values.values())
        if self.spread:
            for name, value in values.items():
                self.run(f"SET LOCAL {name.replace('__', '.')} = '{value}'")
            return
        calls = (
            f"set_config('{name.replace('__', '.')}', '{value}', true)"
            for name, value in values.items()
        )
        self.run(f"SELECT {', '.join(calls)}")

    def no_hub(self) -> int:
        """The number for records that belong to no hub; real hubs begin at 1."""
        return 0

    def whole(self, what: str) -> None:
        """Refuses an operation on the whole store where the writer is for one hub."""

    def forget_hub(self, hub_id: str) -> None:
        self._hubs.pop(hub_id, None)

    def _before(self, sql: str) -> None:
        if self.held is not None:
            self.release()
        self._in_time()
        for listener in LISTENERS:
            listener(sql)

    def _in_time(self) -> None:
        if self._ends is not None and time.monotonic() >= self._ends:
            raise DeadlineExceeded(
                f"The read was stopped after {self._seconds:g} s; this is not an empty answer.",
                hint="Narrow the query, or raise recall.deadline_s.",
            )


def _refuse() -> None:
    raise transaction_failed()


@lru_cache(maxsize=256)
def _in_driver_style(sql: str) -> str:
    """A statement of `store.sql`, with its values named as the driver wants them."""
    return re.sub(r":([a-z_]+)", r"%(\1)s", sql)


class SessionPart(SqlReader):
    """Base of the parts of the Reader and the Writer."""

    HUB, HUB_KEY, PLACE, SEQUENCE = "hub_id", "hub_id", "place", "sequence"
    REVISIONS = (
        "SELECT r.sequence, r.change_id, m.id, r.version, r.at, r.fields, r.checksum"
        " FROM revisions r JOIN memories m ON m.hub_id = r.hub_id AND m.number = r.memory"
    )
    AMONG = "= ANY(:ids)"
    OF_MEMORIES = f"r.hub_id = :hub AND m.id {AMONG}"
    OF_CHANGE = "r.hub_id = :hub AND r.change_id = :change"
    IN_SESSION = "t.session_hash = hashtextextended(:session, 0) AND t.session = :session"
    AT_PATH = "t.path_hash = hashtextextended(:path, 0) AND t.path = :path"
    AGREED_KEY = "hub_id, path_hash, path_hash_two"
    NO_LIMIT = None

    def __init__(self, session: Session) -> None:
        self._session = session
        viewer = session.viewer
        self._seen = "" if viewer is None else SEEN
        self._of_hub = "" if viewer is None or "hub" in viewer.boundaries else " AND FALSE"

    def _hub_number(self, hub_id: str) -> int:
        return self._session.hub(hub_id)

    def _records_hub(self, hub_id: str) -> int:
        return self._session.no_hub() if hub_id == NO_HUB else self._session.hub(hub_id)

    def _find(self, sql: str, **values: Any) -> list[Any]:
        return self._session.all(_in_driver_style(sql), **values)

    def _scan(self, sql: str, **values: Any) -> Iterator[Any]:
        return self._session.scan(_in_driver_style(sql), **values)

    def _find_due(self, sql: str, **values: Any) -> list[Any]:
        # Row level security lets rows of all hubs through with this setting.
        self._session.run("SET LOCAL holdfast.due = 'all'")
        found = self._find(sql, **values)
        self._session.run("SET LOCAL holdfast.due = ''")
        return found

    def _execute(self, sql: str, **values: Any) -> int:
        return self._session.run(_in_driver_style(sql), **values).rowcount

    def _array(self, texts: Sequence[str]) -> list[str]:
        return list(texts)

    def _select(self, hub_id: str, rest: str, **values: Any) -> list[Memory]:
        found = self._session.all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub_id = %(hub)s{rest}",
            hub=self._session.hub(hub_id),
            **values,
        )
        return [rows.memory_from_row(row, hub_id) for row in found]

    def _seen_changes(self, table: str) -> str:
        if not self._seen:
            return ""
        touched = f"r.hub_id = %(hub)s AND r.change_id = {table}.id"
        # Not EXISTS: two of them joined by OR are answered with a hash of all revisions of the hub,
        # built for each statement.
        return (
            " AND ((SELECT true FROM revisions r JOIN memories m ON m.hub_id = r.hub_id"
            f" AND m.number = r.memory WHERE {touched}{self._seen} LIMIT 1)"
            f" OR (SELECT true FROM revisions r WHERE {touched} LIMIT 1) IS NULL)"
        )

    def _once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        """The answer to a query that is repeated in one transaction. Readers cache it; a writer
        asks again, because it may have changed the answer itself."""
        return ask()

    def _note(self, question: object, answer: object) -> None:
        """Notes the answer to a query that another has brought along. A writer notes nothing."""

    def _write_counts(self) -> None:
        """Writes the counts that a writer has gathered; a reader has none."""

    def _of_seen(self, table: str) -> str:
        """The condition for rows of a memory: those who see the memory see them."""
        if not self._seen:
            return ""
        return (
            f" AND EXISTS (SELECT 1 FROM memories m WHERE m.hub_id = %(hub)s"
            f" AND m.number = {table}.memory{self._seen})"
        )


class HubLock(NamedTuple):
    """The hub that a writer of PostgreSQL writes for (None: the whole store; NO_HUB: none), and
    whether it waits for the lock."""

    address: str
    hub: str | None
    wait: bool


class WritingSession(Session):
    """The session of a writer of PostgreSQL."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        viewer: Viewer | None,
        lock: HubLock,
        *,
        halfvec: Halfvec = NO_HALFVEC,
    ) -> None:
        super().__init__(connection, viewer, halfvec=halfvec)
        self._wanted = lock
        self._has_no_hub = lock.hub is None
        # The locks are taken now and not at the first statement: writers wait at the beginning.
        # `transaction` is the id of the transaction; `own_hub` the hub of the write, 0 for none or
        # for all.
        self.transaction, self.own_hub = self._take_locks()

    def _take_locks(self) -> tuple[str, int]:
        hub_id = self._wanted.hub
        # In one round trip: the server takes one lock after the other.
        with self.connection.pipeline():
            store = self._lock_store()
            hub = self._lock_hub(hub_id) if hub_id else None
        row = store.fetchone()
        assert row is not None
        # The waiting function returns void, the trying one whether it got the lock.
        if row[0] is False:
            raise busy(self._wanted.address)
        found = None if hub is None else hub.fetchone()
        if hub_id is None or found is None:
            return str(row[1]), 0
        if found[1] is False:
            raise busy(self._wanted.address)
        number = int(found[0])
        if self.spread:
            self._wait_for(number % HUB_LOCKS)
            self.name_hub(hub_id, number)
        else:
            self.note_hub(hub_id, number)
        return str(row[1]), number

    def _lock_store(self) -> psycopg.Cursor[Any]:
        shared = "" if self._wanted.hub is None else "_shared"
        return self.run(
            f"SELECT {self._lock()}{shared}(%(of_store)s::int, %(whole)s::int),"
            " pg_current_xact_id()::text",
            of_store=LOCK_CLASS,
            whole=WHOLE_STORE,
        )

    def _lock_hub(self, hub_id: str) -> psycopg.Cursor[Any]:
        if self.spread:
            # Citus may read `hubs`, a reference table, on any node, and a lock taken in the same
            # statement would be that node's. The shared lock of the store keeps hubs from being
            # created or dropped meanwhile.
            return self.run("SELECT h.hub_id, true FROM hubs h WHERE h.id = %(hub)s", hub=hub_id)
        return self.run(
            f"SELECT h.hub_id, {self._lock()}(%(of_hubs)s::int, (h.hub_id %% %(locks)s)::int),"
            " set_config('holdfast.hubs', current_setting('holdfast.hubs') || ',' || h.hub_id,"
            " true) FROM hubs h WHERE h.id = %(hub)s",
            of_hubs=HUB_CLASS,
            locks=HUB_LOCKS,
            hub=hub_id,
        )

    def may_name(self, hub_id: str) -> bool:
        return self._wanted.hub is None

    def _find_hub(self, hub_id: str) -> int | None:
        if self._wanted.hub is None:
            return super()._find_hub(hub_id)
        if self._wanted.hub != hub_id:
            self.whole(f"touched the hub {hub_id}")
        # It was looked for when its lock was taken.
        return None

    def no_hub(self) -> int:
        if not self._has_no_hub:
            self._wait_for(0)
            self._has_no_hub = True
        return super().no_hub()

    def _wait_for(self, hub: int) -> None:
        asked = f"SELECT {self._lock()}(%(of_hubs)s::int, %(hub)s::int)"
        # The waiting function returns void, the trying one whether it got the lock.
        if self.value(asked, of_hubs=HUB_CLASS, hub=hub) is False:
            raise busy(self._wanted.address)

    def _lock(self) -> str:
        return "pg_advisory_xact_lock" if self._wanted.wait else "pg_try_advisory_xact_lock"

    def whole(self, what: str) -> None:
        if self._wanted.hub is not None:
            raise StoreError(f"A write for one hub {what}.", hint="Nothing was written.")
