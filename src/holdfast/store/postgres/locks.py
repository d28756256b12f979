"""Advisory locks of the server: mutual exclusion over all machines, and the locks of writers.

An exclusive lock is held by a transaction that does nothing else, on its own connection. It belongs
to a transaction and not to the session, because a pooler in transaction mode would hand the session
to somebody else. The transaction holds no snapshot and no row, so it blocks neither writers nor
VACUUM nor an index build. When a process is killed, its connection closes and the server frees the
lock at once; for a machine that vanishes, the server's TCP keepalives do so after about a minute.

A writer for one hub holds that hub's lock and touches no other hub. Locks are taken in one order,
so that writers cannot deadlock: the whole store (shared by writers of one hub), then the hub, then
the records that belong to no hub.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import psycopg

from holdfast.errors import StoreError
from holdfast.store.postgres.errors import busy
from holdfast.store.postgres.session import NO_HALFVEC, Session

if TYPE_CHECKING:
    import psycopg

    from holdfast.domain.hub import Viewer
    from holdfast.store.postgres.tables import Halfvec


# "HLDF": locks of the store, among those of other programs on the same database.
LOCK_CLASS = 0x484C4446
WHOLE_STORE = 0
# "HLDH": writers of one hub, by the hub's number.
HUB_CLASS = 0x484C4448
# "HLDA": exclusive jobs, by a number made of the job's name and hub.
EXCLUSIVE_CLASS = 0x484C4441
# The default of the operating system would be two hours.
_LINE_IDLE_S, _LINE_EVERY_S, _LINE_LOOKS = 30, 10, 3
# transaction_timeout came with 17.
_LIMITED_FROM = 170000


def lock_number(name: str, hub_id: str) -> int:
    """The number of a lock, from its name and hub. Two names with one number exclude each other."""
    # Advisory locks take signed integers.
    return crc32(f"{name}\0{hub_id}".encode()) - 2**31


@contextmanager
def try_lock(connection: psycopg.Connection[Any], group: int, number: int) -> Iterator[bool]:
    """Tries to take the lock and yields whether it did; it is held until the block ends."""
    limits = ["idle_in_transaction_session_timeout = 0"]
    if connection.info.server_version >= _LIMITED_FROM:
        limits.append("transaction_timeout = 0")
    limits += [
        f"tcp_keepalives_idle = {_LINE_IDLE_S}",
        f"tcp_keepalives_interval = {_LINE_EVERY_S}",
        f"tcp_keepalives_count = {_LINE_LOOKS}",
    ]
    settings = "; ".join(f"SET LOCAL {limit}" for limit in limits)
    connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; {settings}")
    try:
        # Without parameters and not prepared: the portal of such a statement stays open until the
        # next one, and with it a snapshot, for which every concurrent index build would wait.
        row = connection.execute(
            f"SELECT pg_catalog.pg_try_advisory_xact_lock({group:d}, {number:d})", prepare=False
        ).fetchone()
        yield row is not None and bool(row[0])
    finally:
        # A lost connection has released the lock already.
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")


def require_held(connection: psycopg.Connection[Any]) -> None:
    """Raises an error of the driver where the connection, and the lock with it, is lost."""
    connection.execute("SELECT 1", prepare=False)


# An advisory lock has 32 bits for the hub; two hubs that share a lock only wait for each other.
_LOCKS = 2**31


class HubLock(NamedTuple):
    """The hub that a writer writes for (None: the whole store; NO_HUB: none), and whether it waits
    for the lock."""

    address: str
    hub: str | None
    wait: bool


def lock_hub(connection: psycopg.Connection[Any], hub: int) -> None:
    """Takes the lock of a hub's writers in a transaction outside `write()`."""
    connection.execute(
        "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)", (LOCK_CLASS, WHOLE_STORE)
    )
    connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (HUB_CLASS, hub % _LOCKS))


class WritingSession(Session):
    """The session of a writer."""

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
            self._wait_for(number % _LOCKS)
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
            locks=_LOCKS,
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
