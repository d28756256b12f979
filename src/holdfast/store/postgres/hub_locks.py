"""Whose turn it is: a writer for one hub holds that hub's lock, and touches no other hub.

Locks are taken in one order, so that no two writers wait for each other: the whole store (shared by
those that write for one hub), then the hub, then what belongs to no hub.
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

# An advisory lock has 32 bits for what it is about; two hubs that share one only wait more.
_LOCKS = 2**31


class Turn(NamedTuple):
    """For which hub a writer writes (None: for the whole store), and whether it waits."""

    address: str
    hub: str | None
    wait: bool


def take_turn(connection: psycopg.Connection[Any], hub: int) -> None:
    """Waits, in a transaction that is no write of the engine's, for the turn of a hub's writers."""
    connection.execute(
        "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)", (LOCK_CLASS, WHOLE_STORE)
    )
    connection.execute("SELECT pg_advisory_xact_lock(%s::int, %s::int)", (HUB_CLASS, hub % _LOCKS))


class WritingSession(Session):
    """The session of a writer."""

    def __init__(
        self, connection: psycopg.Connection[Any], viewer: Viewer | None, turn: Turn
    ) -> None:
        super().__init__(connection, viewer)
        self._turn = turn
        self._has_no_hub = turn.hub is None
        # At once, and not when it is first asked for: writers wait at the beginning. Which hub the
        # write is for; 0 where it is for none, or for all.
        self.own_hub = max(0, self.hub(turn.hub)) if turn.hub else 0

    def _find_hub(self, hub_id: str) -> int | None:
        if self._turn.hub not in (None, hub_id):
            self.whole(f"touched the hub {hub_id}")
        if self._turn.hub is None:
            return super()._find_hub(hub_id)
        if getattr(self.connection, "spread", False):
            # Citus may read `hubs`, which every node has, on any of them, and a lock that is asked
            # for beside it would be that node's. Nobody makes or drops hubs meanwhile: the lock of
            # the store is shared.
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
            raise busy(self._turn.address)
        return None if row is None else int(row[0])

    def no_hub(self) -> int:
        if not self._has_no_hub:
            self._wait_for(0)
            self._has_no_hub = True
        return super().no_hub()

    def _wait_for(self, hub: int) -> None:
        asked = f"SELECT {self._lock()}(%(of_hubs)s::int, %(hub)s::int)"
        # One that waits comes back with nothing, one that tries with whether it got it.
        if self.value(asked, of_hubs=HUB_CLASS, hub=hub) is False:
            raise busy(self._turn.address)

    def _lock(self) -> str:
        return "pg_advisory_xact_lock" if self._turn.wait else "pg_try_advisory_xact_lock"

    def whole(self, what: str) -> None:
        if self._turn.hub is not None:
            raise StoreError(f"A write for one hub {what}.", hint="Nothing was written.")
