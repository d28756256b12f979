"""The store on PostgreSQL: many processes on many machines, one database.

Readers see one snapshot and wait for nobody. Writers wait for each other: `write()` takes its lock
at the beginning, so that what is read inside it stays true until it ends. A writer for one hub
waits only for writers of that hub and for those of the whole store.

Reads may go to a standby, where it has everything that this process has written or seen. After each
write, and after each read from the primary, the position of the primary's log is noted; a read goes
to the standby if it has replayed the log up to there, and to the primary otherwise. So a process
reads its own writes, and never sees an older state than before. Writes of other processes are seen
when they are replayed. A standby that does not answer, or is a copy of another store, is not used
for a while, and a warning is logged.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.domain.clock import SystemClock
from holdfast.errors import StoreError
from holdfast.store.postgres.advisory_locks import (
    EXCLUSIVE_CLASS,
    LOCK_CLASS,
    lock_number,
    try_lock,
)
from holdfast.store.postgres.connections import (
    ANSWER_S,
    POSITION,
    Connection,
    Connections,
    configure,
    connect,
    connect_patiently,
)
from holdfast.store.postgres.errors import connection_lost, to_store_error, translated
from holdfast.store.postgres.migrate import prepare
from holdfast.store.postgres.pool import MonitoredConnection, closed
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.postgres.schema import SCHEMA, Halfvec, search_path
from holdfast.store.postgres.session import HubLock, Session, WritingSession
from holdfast.store.postgres.urls import address_of, complete
from holdfast.store.postgres.writer import PostgresWriter
from holdfast.store.rows import from_micros
from holdfast.store.values import Capability, Problem, Progress, Rescued

if TYPE_CHECKING:
    from holdfast.domain.hub import Viewer
    from holdfast.store.base import Store

# A standby is used for speed, so one that makes readers wait is no help. A new connection takes
# less than this, also to another city.
_STANDBY_WAIT_S = 0.3
# How long a standby that does not answer is not used.
_SUSPENDED_S = 10.0
# Defaults where the URL names several servers.
_ANY = {"target_session_attrs": "prefer-standby", "connect_timeout": "3"}

# When the tables were created: the same on a primary and its standbys, and nowhere else. This and
# the next query run with the search_path of the role, so every name is qualified.
CREATED_AT = (
    "SELECT extract(epoch FROM at)::pg_catalog.text"
    f" FROM {SCHEMA}.migrations ORDER BY version LIMIT 1"
)
_FAR_ENOUGH = (
    f"SELECT ({POSITION})::pg_catalog.pg_lsn OPERATOR(pg_catalog.>=) '{{}}'::pg_catalog.pg_lsn"
)


class Behind(Exception):
    """The standby has not replayed far enough, or does not answer."""


class Standby:
    """Connections to a standby of the store that was created at `made`, and the position that it
    must have replayed."""

    def __init__(self, url: str, search_path: str, made: str, *, spread: bool = False) -> None:
        self.address = address_of(url)
        self._made = made
        self._url = complete(url, wanted=_ANY)
        self._connections = Connections(
            self._url,
            self.address,
            search_path,
            spread=spread,
            wait_s=_STANDBY_WAIT_S,
            greet=self._greet,
        )
        self._position = "0/0"
        self._lock = threading.Lock()
        self._asked_again_at = 0.0
        # Why it is not used; '' if it is.
        self.trouble = ""

    def _greet(self, connection: Connection) -> None:
        configure(connection)
        row = connection.execute(CREATED_AT).fetchone()
        if row is None or row[0] != self._made:
            self._suspend("it is a copy of another store")
            raise psycopg.OperationalError("a copy of another store")

    def note_position(self, position: str) -> None:
        """Notes the position of the primary's log when this process wrote or read."""
        with self._lock:
            if _number(position) > _number(self._position):
                self._position = position

    @contextmanager
    def reading(self, deadline_s: float | None) -> Iterator[Connection]:
        """A connection in a transaction; raises Behind before it begins."""
        connection = self._begin(deadline_s)
        try:
            yield connection
        except psycopg.Error as error:
            # Lost, or cancelled by a recovery conflict: the next attempt goes to the primary.
            if connection_lost(error) or (error.sqlstate or "").startswith("40"):
                self._suspend("it broke off a read")
            raise
        finally:
            self._connections.end_read(connection)

    def _begin(self, deadline_s: float | None) -> MonitoredConnection:
        if time.monotonic() < self._asked_again_at:
            raise Behind
        with self._lock:
            position = self._position
        try:
            connection = self._connections.begin_read(deadline_s, _FAR_ENOUGH.format(position))
        except (psycopg.Error, StoreError) as error:
            self._note(error)
            raise Behind from None
        self._resume()
        if connection is None:
            raise Behind
        return connection

    def diagnose(self) -> str:
        """Why the standby cannot be used now; '' if it can. Waits longer than a read would."""
        self._asked_again_at = 0.0
        with self._lock:
            position = self._position
        try:
            with connect(self._url) as connection:
                self._greet(connection)
                far = connection.execute(_FAR_ENOUGH.format(position)).fetchone() == (True,)
        except psycopg.Error as error:
            self._note(error)
            return self.trouble
        self._resume()
        return "" if far else f"it has not come to {position} yet"

    def _note(self, error: psycopg.Error | StoreError) -> None:
        """Suspends the standby for this error, unless a better reason is known already."""
        if time.monotonic() >= self._asked_again_at:
            known = error if isinstance(error, StoreError) else to_store_error(error, self.address)
            self._suspend(_without_address(known.message, self.address))

    def _suspend(self, why: str) -> None:
        self._asked_again_at = time.monotonic() + _SUSPENDED_S
        if why != self.trouble:
            self.trouble = why
            self._log_warning(f"reads go to the primary and not to {self.address}: {why}")

    def _resume(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._log_warning(f"reads go to {self.address} again")

    def _log_warning(self, what: str) -> None:
        logger = logging.getLogger("holdfast.store")
        if not logger.handlers:
            # Only for programs that configure logging, not for every terminal.
            logger.addHandler(logging.NullHandler())
        logger.warning(what)

    def close(self) -> None:
        self._connections.close()


def _without_address(message: str, address: str) -> str:
    """The message with `it` in place of the address, which the sentence names already."""
    for named in (f"The PostgreSQL server of {address}", f"the server of {address}", address):
        message = re.sub(re.escape(named), "it", message, flags=re.IGNORECASE)
    return message.removesuffix(".")


def _number(position: str) -> int:
    """A position in the log as a number: two hexadecimal numbers of 32 bits."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)


# How long a measured clock skew is used: a corrected clock, or another server after a failover,
# is noticed after a minute.
_SKEW_TTL_S = 60.0

_ALWAYS = frozenset(
    {
        Capability.DURABLE,
        Capability.MULTI_PROCESS,
        Capability.MACHINES,
        Capability.DEADLINES,
        Capability.VECTORS,
        Capability.ALONE,
    }
)


def open_store(url: str, *, read_url: str = "", answer_s: float | None = None) -> Store:
    """The store in the database of the URL; its tables are created if they are missing. Reads may
    go to the standby of `read_url`; one answer to a write may take `answer_s`."""
    return PostgresStore(url, read_url=read_url, answer_s=answer_s or ANSWER_S)


class PostgresStore:
    """A database on a PostgreSQL server."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        found = set(_ALWAYS)
        if self.offered.vector_schema:
            found.add(Capability.NEAREST)
        if not self.offered.citus:
            # Each node of Citus has its own snapshots.
            found.add(Capability.SNAPSHOT)
        return frozenset(found)

    def __init__(
        self,
        url: str,
        *,
        read_url: str = "",
        answer_s: float = ANSWER_S,
        partitions: int | None = None,
        citus: bool = False,
    ) -> None:
        self.address = address_of(url)
        self._url = complete(url)
        self._read_url, self._answer_s = read_url, answer_s
        with translated(self.address), connect_patiently(self._url) as connection:
            self.offered = prepare(connection, self.address, partitions=partitions, citus=citus)
            skew, made = measure_skew(connection, CREATED_AT)
            self._made = str(made or "")
        self._closed = False
        self._skew = time.monotonic(), skew
        self._start()

    @property
    def halfvec(self) -> Halfvec:
        return Halfvec(self.offered.vector_schema)

    def _start(self) -> None:
        self._process = os.getpid()
        self._thread = threading.local()
        self._search_path = search_path()
        self._connections = Connections(
            self._url,
            self.address,
            self._search_path,
            answer_s=self._answer_s,
            timeout_ms=self.offered.timeout_ms,
            async_commit=self.offered.async_commit,
            spread=self.offered.citus,
        )
        self._standby = (
            Standby(self._read_url, self._search_path, self._made, spread=self.offered.citus)
            if self._read_url
            else None
        )

    def _ready(self) -> None:
        if self._closed:
            raise closed(self.address)
        if os.getpid() != self._process:
            # A forked child does not touch its parent's connections and opens its own.
            _INHERITED.append((self._connections, self._standby))
            self._start()

    @contextmanager
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> Iterator[PostgresReader]:
        self._ready()
        with translated(self.address), ExitStack() as taken:
            connection = self._take_reader(taken, deadline_s)
            yield PostgresReader(Session(connection, viewer, deadline_s, halfvec=self.halfvec))

    def _take_reader(self, taken: ExitStack, deadline_s: float | None) -> Connection:
        if self._standby is not None:
            with suppress(Behind):
                return taken.enter_context(self._standby.reading(deadline_s))
        connection = taken.enter_context(self._connections.reading(deadline_s))
        if self._standby is not None:
            row = connection.execute(f"SELECT {POSITION}").fetchone()
            if row is not None:
                self._standby.note_position(row[0])
        return connection

    @contextmanager
    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> Iterator[PostgresWriter]:
        self._ready()
        if getattr(self._thread, "writing", False):
            raise StoreError("A write was begun inside another write of the same thread.")
        self._thread.writing = True
        try:
            with (
                translated(self.address),
                self._connections.writing(
                    durable=durable,
                    wait=wait and durable,
                    wrote=None if self._standby is None else self._standby.note_position,
                ) as writing,
            ):
                lock = HubLock(self.address, hub, wait=wait and durable)
                session = WritingSession(writing.connection, viewer, lock, halfvec=self.halfvec)
                writing.transaction, writing.hub = session.transaction, session.own_hub
                writer = PostgresWriter(session)
                yield writer
                writer.finish()
        finally:
            self._thread.writing = False

    @contextmanager
    def owning(self, lock: int) -> Iterator[Connection]:
        """A transaction that changes tables, on a new connection, under an exclusive lock."""
        self._ready()
        with (
            translated(self.address),
            connect(self._url) as connection,
            connection.transaction(),
        ):
            connection.execute(f"SET LOCAL search_path = {self._search_path}")
            connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (LOCK_CLASS, lock))
            yield connection

    @contextmanager
    def alone(self, name: str, hub_id: str) -> Iterator[bool]:
        self._ready()
        with ExitStack() as held:
            # Not from the pools: this may take minutes.
            with translated(self.address):
                connection = held.enter_context(connect_patiently(self._url))
                mine = held.enter_context(
                    try_lock(connection, EXCLUSIVE_CLASS, lock_number(name, hub_id))
                )
            yield mine

    def skew(self) -> timedelta:
        self._ready()
        looked_at, skew = self._skew
        if time.monotonic() - looked_at > _SKEW_TTL_S:
            with translated(self.address), self._connections.reading(None) as connection:
                skew, _ = measure_skew(connection)
            self._skew = time.monotonic(), skew
        return skew

    def check(self) -> list[Problem]:
        from holdfast.store.postgres.checks import problems

        self._ready()
        # On the primary, even if reads go to a standby.
        with (
            translated(self.address),
            self._connections.reading(None, limit_s=self._answer_s) as connection,
        ):
            found = problems(PostgresReader(Session(connection)))
        if self._standby is not None and (wrong := self._standby.diagnose()):
            message = f"reads do not go to the standby {self._standby.address}: {wrong}"
            found.append(Problem(message, derived=False, outside=True))
        return found

    def notes(self) -> list[str]:
        from holdfast.store.postgres.checks import notes

        self._ready()
        with translated(self.address), self._connections.reading(None) as connection:
            return notes(connection, self.address)

    def about(self) -> tuple[str, dict[str, int]]:
        """The version of the server, and the size of the tables in bytes; on Citus over all nodes,
        and on each."""
        self._ready()
        with translated(self.address), self._connections.reading(None) as connection:
            if self.offered.citus:
                return _about_cluster(connection)
            row = connection.execute(
                "SELECT current_setting('server_version'), sum(pg_total_relation_size(oid))"
                " FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'",
                (SCHEMA,),
            ).fetchone()
        assert row is not None
        return f"PostgreSQL {row[0].partition(' ')[0]}", {"database": int(row[1] or 0)}

    def rescue(self) -> Rescued:
        """Repairs memories from their revisions, in place; the rest of the server's tables is the
        server's to mend."""
        from holdfast.store.postgres.checks import repair_memories

        notes: list[str] = []
        with self.read() as reader:
            hub_ids = [row[0] for row in reader._session.all("SELECT id FROM hubs ORDER BY name")]
        for hub_id in hub_ids:
            with self.write(hub=hub_id) as writer:
                notes += repair_memories(writer, hub_id)
        if not notes:
            raise StoreError(
                "A PostgreSQL server mends its own files; Holdfast cannot.",
                hint="Restore a backup of the server if tables are damaged.",
            )
        return Rescued("", "", tuple(notes))

    def settle(self) -> None:
        """Vacuums, so that the server soon overwrites deleted rows. Until then their bytes stay in
        free space and in the log. Only VACUUM FULL removes them at once; it locks the tables, and
        is for the owner to run (docs/how-to/keep-memories-in-postgresql.md)."""
        self._ready()
        from holdfast.store.postgres.schema import OF_A_HUB

        with translated(self.address), connect(self._url) as connection:
            names = ", ".join(f"{SCHEMA}.{name}" for name in OF_A_HUB)
            # The role's statement_timeout may stop it; autovacuum does the rest.
            with suppress(psycopg.errors.QueryCanceled):
                connection.execute(f"VACUUM (SKIP_LOCKED) {names}")

    def backup(self, path: str, progress: Progress | None = None) -> None:
        raise StoreError(
            "A PostgreSQL database has no file of ours to copy.",
            hint="Use `holdfast backup`, which writes what is in it to a file of the embedded"
            " store; or the server's own tools, such as `pg_dump` by a superuser.",
        )

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if os.getpid() == self._process:
            self._connections.close()
            if self._standby is not None:
                self._standby.close()


def _about_cluster(connection: Connection) -> tuple[str, dict[str, int]]:
    from holdfast.store.postgres.extensions import citus_version, node_bytes

    version = (connection.info.parameter_status("server_version") or "").partition(" ")[0]
    nodes = node_bytes(connection)
    sizes = {"database": sum(nodes.values())} | {f"node {one}": nodes[one] for one in nodes}
    return f"PostgreSQL {version}, Citus {citus_version(connection)}", sizes


# Connections of a parent process, kept from being garbage collected, which would close them.
_INHERITED: list[Any] = []


_READ_ONLY = "-c default_transaction_read_only=on"


def open_read_only(url: str) -> Store:
    """The store of another home, for reading only. Nothing in it is created or migrated; the server
    refuses every write."""
    address_of(url)  # refuses a URL that cannot work
    options = conninfo_to_dict(url).get("options") or ""
    return PostgresStore(make_conninfo(url, options=f"{options} {_READ_ONLY}".strip()))


# Machines that share a store do not share a clock, and a lease must not expire earlier on one than
# on another. Clocks within this difference count as equal, so that a job that one machine deferred
# until now is due on another too.
_SKEW_IGNORED = timedelta(seconds=5)
# In microseconds, because the format of a time depends on DateStyle. Names are qualified, because
# it is also queried with the search_path of the role.
_CLOCK = "(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000000)::bigint"


def measure_skew(connection: psycopg.Connection[Any], also: str = "NULL") -> tuple[timedelta, Any]:
    """How much later it is on the server (0 if the clocks agree), and the answer to the query
    `also`, in one round trip."""
    before = SystemClock().now()
    row = connection.execute(f"SELECT {_CLOCK}, ({also})").fetchone()
    after = SystemClock().now()
    assert row is not None
    # The server's time was taken somewhere between the two.
    skew = from_micros(row[0]) - (before + (after - before) / 2)
    return (skew if abs(skew) > _SKEW_IGNORED + (after - before) else timedelta()), row[1]
