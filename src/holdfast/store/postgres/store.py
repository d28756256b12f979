"""The store on PostgreSQL: many processes on many machines, one database.

Readers see one moment and wait for nobody. Writers take turns: `write()` waits at its beginning for
the turn, so that whatever is read inside it stays true until it ends. A writer that says for which
hub it writes waits for writers of that hub alone, and for those that write for the whole store.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.domain.clock import SystemClock, from_micros
from holdfast.errors import StoreError
from holdfast.store.postgres.advisory_lock import EXCLUSIVE_CLASS, LOCK_CLASS, lock_number, try_lock
from holdfast.store.postgres.commit_marks import POSITION
from holdfast.store.postgres.connections import (
    ANSWER_S,
    Connection,
    Connections,
    connect,
    connect_patiently,
)
from holdfast.store.postgres.errors import translated
from holdfast.store.postgres.hub_locks import HubLock, WritingSession
from holdfast.store.postgres.migrate import prepare
from holdfast.store.postgres.pool import closed
from holdfast.store.postgres.reader import PostgresReader
from holdfast.store.postgres.session import Session
from holdfast.store.postgres.standby import MADE, Behind, Standby
from holdfast.store.postgres.tables import SCHEMA, search_path
from holdfast.store.postgres.urls import address_of, complete
from holdfast.store.postgres.writer import PostgresWriter
from holdfast.store.values import Capability, Problem, Progress

if TYPE_CHECKING:
    from holdfast.domain.viewer import Viewer
    from holdfast.store.base import Store


# A clock that is set right, or another server after a failover, is noticed in a minute.
_SKEW_KEPT_S = 60.0

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
    """The store in the database that the URL names; its tables are made if they are not there.
    Reads may go to the standby that `read_url` names; one answer to a write may take `answer_s`."""
    return PostgresStore(url, read_url=read_url, answer_s=answer_s or ANSWER_S)


class PostgresStore:
    """A database on a PostgreSQL server."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        return _ALWAYS | {Capability.NEAREST} if self.offered.vector_schema else _ALWAYS

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
            skew, made = measured(connection, MADE)
            self._made = str(made or "")
        self._closed = False
        self._skew = time.monotonic(), skew
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._thread = threading.local()
        self._search_path = search_path(self.offered.vector_schema)
        self._connections = Connections(
            self._url,
            self.address,
            self._search_path,
            answer_s=self._answer_s,
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
            # A forked child leaves its parent's connections alone and makes its own.
            _LEFT_ALONE.append((self._connections, self._standby))
            self._start()

    @contextmanager
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> Iterator[PostgresReader]:
        self._ready()
        with translated(self.address), ExitStack() as taken:
            connection = self._take_reader(taken, deadline_s)
            yield PostgresReader(Session(connection, viewer, deadline_s))

    def _take_reader(self, taken: ExitStack, deadline_s: float | None) -> Connection:
        if self._standby is not None:
            with suppress(Behind):
                return taken.enter_context(self._standby.reading(deadline_s))
        connection = taken.enter_context(self._connections.reading(deadline_s))
        if self._standby is not None:
            row = connection.execute(f"SELECT {POSITION}").fetchone()
            if row is not None:
                self._standby.has_come_to(row[0])
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
                    whole=hub is None,
                    wrote=None if self._standby is None else self._standby.has_come_to,
                ) as writing,
            ):
                lock = HubLock(self.address, hub, wait=wait and durable)
                session = WritingSession(writing.connection, viewer, lock)
                writing.hub = session.own_hub
                writer = PostgresWriter(session)
                yield writer
                writer.finish()
        finally:
            self._thread.writing = False

    @contextmanager
    def owning(self, lock: int) -> Iterator[Connection]:
        """A transaction that changes tables, one at a time, on a connection of its own."""
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
            # A connection of its own: this may take minutes, and the pools are for moments.
            with translated(self.address):
                connection = held.enter_context(connect_patiently(self._url))
                mine = held.enter_context(
                    try_lock(connection, EXCLUSIVE_CLASS, lock_number(name, hub_id))
                )
            yield mine

    def skew(self) -> timedelta:
        self._ready()
        looked_at, skew = self._skew
        if time.monotonic() - looked_at > _SKEW_KEPT_S:
            with translated(self.address), self._connections.reading(None) as connection:
                skew, _ = measured(connection)
            self._skew = time.monotonic(), skew
        return skew

    def check(self) -> list[Problem]:
        from holdfast.store.postgres.checks import problems

        self._ready()
        # The primary, whatever reads may go to.
        with translated(self.address), self._connections.reading(None) as connection:
            found = problems(PostgresReader(Session(connection)))
        if self._standby is not None and (wrong := self._standby.look()):
            said = f"reads do not go to the standby {self._standby.address}: {wrong}"
            found.append(Problem(said, derived=False, outside=True))
        return found

    def notes(self) -> list[str]:
        from holdfast.store.postgres.checks import notes

        self._ready()
        with translated(self.address), self._connections.reading(None) as connection:
            return notes(connection, self.address)

    def about(self) -> tuple[str, int]:
        """Which server it is, and how many bytes the tables take there."""
        self._ready()
        with translated(self.address), self._connections.reading(None) as connection:
            row = connection.execute(
                "SELECT current_setting('server_version'), sum(pg_total_relation_size(oid))"
                " FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'",
                (SCHEMA,),
            ).fetchone()
        assert row is not None
        return f"PostgreSQL {row[0].partition(' ')[0]}", int(row[1] or 0)

    def rescue(self) -> str:
        raise StoreError(
            "A PostgreSQL server mends its own files; Holdfast cannot.",
            hint="Restore a backup of the server if tables are damaged.",
        )

    def settle(self) -> None:
        """Clears away rows that were removed, so that the server writes over them soon. Bytes stay
        until then, in free room and in the log; only VACUUM FULL, which shuts everybody out, ends
        that, and it is the owner's to run (docs/how-to/keep-memories-in-postgresql.md)."""
        self._ready()
        from holdfast.store.postgres.schema import OF_A_HUB

        with translated(self.address), connect(self._url) as connection:
            names = ", ".join(f"{SCHEMA}.{name}" for name in OF_A_HUB)
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


# Kept from being closed when they would be collected: they are those of a parent process.
_LEFT_ALONE: list[Any] = []


_READ_ONLY = "-c default_transaction_read_only=on"


def open_to_read(url: str) -> Store:
    """The store in a database, for who may not change it."""
    address_of(url)  # says what is wrong with a URL that cannot be read
    options = conninfo_to_dict(url).get("options") or ""
    return PostgresStore(make_conninfo(url, options=f"{options} {_READ_ONLY}".strip()))


# Clocks that are looked after agree within milliseconds, and nothing here hangs on seconds. So they
# count as equal, and what one machine put off until now is not early on another.
_NEAR = timedelta(seconds=5)
# In microseconds: how a time is written is a setting of the server (DateStyle), a number is not.
# By their full names: it is also asked where the path of the role counts.
_CLOCK = "(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000000)::bigint"


def measured(connection: psycopg.Connection[Any], also: str = "NULL") -> tuple[timedelta, Any]:
    """How much later it is on the server; nothing where both are near each other. With it the
    answer to what is asked `also`, on the same way."""
    before = SystemClock().now()
    row = connection.execute(f"SELECT {_CLOCK}, ({also})").fetchone()
    after = SystemClock().now()
    assert row is not None
    # The answer is from somewhere between the two.
    skew = from_micros(row[0]) - (before + (after - before) / 2)
    return (skew if abs(skew) > _NEAR + (after - before) else timedelta()), row[1]
