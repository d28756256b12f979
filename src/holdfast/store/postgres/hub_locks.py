"""Locks of writers: a writer for one hub holds that hub's advisory lock and touches no other hub.

Locks are taken in one order, so that writers cannot deadlock: the whole store (shared by writers of
one hub), then the hub, then the records that belong to no hub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import StoreError
from holdfast.store.postgres.advisory_lock import HUB_CLASS, LOCK_CLASS, WHOLE_STORE
from holdfast.store.postgres.errors import busy
from holdfast.store.postgres.session import Session

if TYPE_CHECKING:
    import psycopg

    from holdfast.domain.viewer import Viewer

# An advisory lock has 32 bits for the hub; two hubs that share a lock only wait for each other.
_LOCKS = 2**31


class HubLock(NamedTuple):
    """The hub that a writer writes for (None: the whole store), and whether it waits for the
    lock."""

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
        self, connection: psycopg.Connection[Any], viewer: Viewer | None, lock: HubLock
    ) -> None:
        super().__init__(connection, viewer)
        self._wanted = lock
        self._has_no_hub = lock.hub is None
        # The lock is taken now and not at the first statement: writers wait at the beginning.
        # `own_hub` is the hub of the write; 0 for none, or for all.
        self.own_hub = max(0, self.hub(lock.hub)) if lock.hub else 0

    def _find_hub(self, hub_id: str) -> int | None:
        if self._wanted.hub not in (None, hub_id):
            self.whole(f"touched the hub {hub_id}")
        if self._wanted.hub is None:
            return super()._find_hub(hub_id)
        if getattr(self.connection, "spread", False):
            # Citus may read `hubs`, a reference table, on any node, and a lock taken in the same
            # statement would be that node's. The shared lock of the store keeps hubs from being
            # created or dropped meanwhile.
            found = super()._find_hub(hub_id)
            if found is not None:
                self._wait_for(found % _LOCKS)
            return found
        row = self.row(
            f"SELECT h.hub_id, {self._lock()}(%(of_hubs)s::int, (h.hub_id %% %(locks)s)::int),"
            " set_config('holdfast.hubs', current_setting('holdfast.hubs') || ',' || h.hub_id,"
            " true) FROM hubs h WHERE h.id = %(hub)s",
            of_hubs=HUB_CLASS,
            locks=_LOCKS,
            hub=hub_id,
        )
        if row is not None and row[1] is False:
            raise busy(self._wanted.address)
        return None if row is None else int(row[0])

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
