"""Connections that are lent and given back, and why there is none where there is none.

The driver's pool says only that time is up. Here it is told apart: all are in use, nobody listens,
somebody is starting, or nobody says a word. Knows nothing of transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import psycopg
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.errors import StoreBusy, StoreClosed
from holdfast.store.postgres.errors import fault, is_silence
from holdfast.store.postgres.keepalive import MonitoredConnection, NoAnswer, configured

# The pool is asked for a connection again as often as this: it makes one attempt for each time it
# is asked, and the server may be back since.
_ASK_AGAIN_S = 0.5


class Patience(NamedTuple):
    """How long a connection is waited for: where all are in use, where a server is away and may
    come back, and where one is there and says nothing."""

    busy_s: float
    away_s: float
    silent_s: float


class Pool:
    """Up to `size` connections to one server, made when they are asked for."""

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
            # Long enough that a busy server keeps its connections, short enough that an idle one
            # gives them back.
            max_idle=300.0,
            # Callers ask again; pauses of the pool itself would only add delay.
            reconnect_timeout=0.0,
            num_workers=1,
            open=True,
        )

    def _connecting(
        self, greet: Callable[[psycopg.Connection[Any]], None]
    ) -> type[MonitoredConnection]:
        """The class of the connections: the driver's pool keeps to itself why it could not make
        one."""
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
        """A connection, to be given back; StoreBusy or ServerUnreachable where none comes."""
        began = time.monotonic()
        while True:
            waited_s = time.monotonic() - began
            try:
                connection = self._pool.getconn(timeout=self._ask_for_s(patience, waited_s))
            except PoolClosed:
                raise closed(self._address) from None
            except PoolTimeout:
                self._go_on(patience, began)
            else:
                if not _is_cut(connection):
                    self._lent.add(id(connection))
                    return connection
                # A server that restarts, or cuts what is idle, cuts all that lie here. Whoever
                # tried one after the other would nap before each.
                self._pool.putconn(connection)

    def _ask_for_s(self, patience: Patience, waited_s: float) -> float:
        """No longer than until the next of the limits."""
        left_s = [one - waited_s for one in patience if one > waited_s]
        return min(_ASK_AGAIN_S, *left_s) if left_s else 0.0

    def _go_on(self, patience: Patience, began: float) -> None:
        """Raises where it was waited for long enough, for what there is to be waited for."""
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
        if failure is None or at < began or is_silence(failure):
            if waited_s >= patience.silent_s:
                raise NoAnswer("the server has stopped answering")
        elif waited_s >= patience.away_s:
            raise fault(failure, self._address)

    def give_back(self, connection: MonitoredConnection) -> None:
        self._lent.discard(id(connection))
        self._pool.putconn(connection)

    def forget_idle(self) -> None:
        """Makes new ones in place of those that lie here: a line that has fallen silent is not
        alone."""
        self._pool.drain()

    def close(self) -> None:
        self._pool.close()


def _is_cut(connection: MonitoredConnection) -> bool:
    """Whether the server has hung up. Asks it nothing: whoever hangs up has said so, and that lies
    here unread."""
    try:
        # It does not wait. First its reason is read, then that nothing more will come.
        connection.pgconn.consume_input()
        connection.pgconn.consume_input()
    except psycopg.OperationalError:
        return True
    return False


def closed(address: str) -> StoreClosed:
    return StoreClosed(
        f"The store {address} is closed.", hint="Open it again with holdfast.open()."
    )
