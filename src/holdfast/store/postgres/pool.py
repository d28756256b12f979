"""A connection pool that says why it has no connection.

The driver's pool only reports a timeout. This one distinguishes: all connections are in use, nobody
listens, the server is starting, or it does not answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.errors import StoreBusy, StoreClosed
from holdfast.store.postgres.errors import is_timeout, to_store_error
from holdfast.store.postgres.keepalive import MonitoredConnection, NoAnswer, configured

# How often the driver's pool is asked again: it makes one attempt for each request, and the server
# may be back since.
_ASK_AGAIN_S = 0.5


class Patience(NamedTuple):
    """How long to wait for a connection: where all are in use, where the server is down and may
    come back, and where it is up and does not answer."""

    busy_s: float
    away_s: float
    silent_s: float


class Pool:
    """Up to `size` connections to one server, opened on demand."""

    def __init__(
        self,
        url: str,
        address: str,
        *,
        name: str,
        size: int,
        greet: Callable[[psycopg.Connection[Any]], None],
    ) -> None:
        self._address, self.size = address, size
        self._lent: set[int] = set()
        # When and why the last attempt to connect failed.
        self._failed: tuple[float, psycopg.Error] | None = None
        self._pool = ConnectionPool(
            url,
            connection_class=self._connecting(greet),
            kwargs={"autocommit": True},
            min_size=0,
            max_size=size,
            name=f"holdfast-{name}",
            # Long enough that a busy process keeps its connections, short enough that an idle one
            # closes them.
            max_idle=300.0,
            # Callers ask again; pauses of the pool itself would only add delay.
            reconnect_timeout=0.0,
            num_workers=1,
            open=True,
        )

    def _connecting(
        self, greet: Callable[[psycopg.Connection[Any]], None]
    ) -> type[MonitoredConnection]:
        """A connection class that records why connecting failed; the driver's pool does not say."""
        pool = self

        class Connecting(MonitoredConnection):
            @classmethod
            def connect(cls, conninfo: str = "", **values: Any) -> MonitoredConnection:  # type: ignore[override]
                try:
                    return configured(super().connect(conninfo, **values), greet)
                except psycopg.Error as error:
                    pool._failed = time.monotonic(), error
                    raise

        return Connecting

    def take(self, patience: Patience) -> MonitoredConnection:
        """A connection, to be given back; raises StoreBusy or ServerUnreachable where there is
        none in time."""
        began = time.monotonic()
        while True:
            waited_s = time.monotonic() - began
            try:
                connection = self._pool.getconn(timeout=self._ask_for_s(patience, waited_s))
            except PoolClosed:
                raise closed(self._address) from None
            except PoolTimeout:
                self._raise_if_expired(patience, began)
            else:
                if not _is_closed(connection):
                    self._lent.add(id(connection))
                    return connection
                # A server that restarts, or ends idle sessions, closes all pooled connections.
                # Discarding them here avoids a pause before each.
                self._pool.putconn(connection)

    def _ask_for_s(self, patience: Patience, waited_s: float) -> float:
        """At most the time until the next limit."""
        left_s = [one - waited_s for one in patience if one > waited_s]
        return min(_ASK_AGAIN_S, *left_s) if left_s else 0.0

    def _raise_if_expired(self, patience: Patience, began: float) -> None:
        """Raises where the limit for the reason at hand is reached."""
        waited_s = time.monotonic() - began
        if len(self._lent) >= self.size:
            if waited_s >= patience.busy_s:
                raise StoreBusy(
                    f"All {self.size} connections to {self._address} were in use for as long"
                    " as we wait.",
                    hint="Nothing was written; try again, or run more servers.",
                )
            return
        at, failure = self._failed or (0.0, None)
        if failure is None or at < began or is_timeout(failure):
            if waited_s >= patience.silent_s:
                raise NoAnswer("the server has stopped answering")
        elif waited_s >= patience.away_s:
            raise to_store_error(failure, self._address)

    def give_back(self, connection: MonitoredConnection) -> None:
        self._lent.discard(id(connection))
        self._pool.putconn(connection)

    def drop_idle(self) -> None:
        """Replaces all idle connections: if one has gone silent, the others probably have too."""
        self._pool.drain()

    def close(self) -> None:
        self._pool.close()


def _is_closed(connection: MonitoredConnection) -> bool:
    """Whether the server has closed the connection, without a round trip: the end of the stream is
    unread in the socket."""
    try:
        # This does not block. The first call reads the reason, the second the end of the stream.
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return False


def closed(address: str) -> StoreClosed:
    return StoreClosed(
        f"The store {address} is closed.", hint="Open it again with holdfast.open()."
    )
