"""A pool of connections, and a connection that notices when its server has stopped answering.

The pool of the driver only reports a timeout. `Pool` distinguishes: all connections are in use,
nobody listens, the server is starting, or it does not answer.

A server may freeze, its disk may die, or the network may lose packets. The limits of the server
(statement_timeout) do not help then, since the server itself is stuck; nor do TCP keepalives, since
the kernel of a frozen server still acknowledges packets. A statement may take an hour, though. So a
server that is silent for a while is probed with a new connection: if that is not accepted either,
the server is given up; otherwise the wait goes on (`MonitoredConnection`). The caller that begins a
transaction may set how long one answer may take, or when the last must have arrived."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from holdfast.errors import StoreBusy, StoreClosed
from holdfast.store.postgres.errors import (
    NoAnswer,
    is_timeout,
    to_store_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg.abc import RV, PQGen

# A server that has been silent this long is probed, and again after each further period. Few
# statements take that long, and a probe costs the server one connection.
_PROBE_AFTER_S = 10.0
# A probe that is not accepted by then means that the server is stuck; as long as any new connection
# waits.
_PROBE_WAIT_S = 10
# For the first short query on a new connection.
_GREETING_S = 10.0


class MonitoredConnection(psycopg.Connection[Any]):
    """A connection to PostgreSQL with timeouts. `answer_s` is how long one answer may take (None:
    as long as the server accepts probes); `ends` is the time of the monotonic clock by which the
    last must have arrived. `spread` says that other nodes take part in a transaction (Citus) and
    need its settings. `scans` are the server-side cursors that are open."""

    answer_s: float | None = _GREETING_S
    ends: float | None = None
    spread = False
    scans: set[psycopg.ServerCursor[Any]]
    _url = ""

    @classmethod
    def connect(cls, conninfo: str = "", **values: Any) -> MonitoredConnection:
        connection = super().connect(conninfo, **values)
        connection._url, connection.scans = conninfo, set()
        return connection

    def close_scans(self) -> None:
        """Closes the cursors that are still open after a transaction. The server has closed them,
        so nothing is sent. A cursor that a traceback keeps alive would otherwise be closed later,
        in another transaction, which would fail."""
        while self.scans:
            with suppress(psycopg.Error):
                self.scans.pop().close()

    def wait(self, gen: PQGen[RV], *args: Any, **values: Any) -> RV:
        try:
            return super().wait(_with_clock(gen, self._check_alive), *args, **values)
        except NoAnswer:
            # An answer that arrives later must not be taken for that of another statement.
            self.pgconn.finish()
            raise

    def _check_alive(self, heard: float, known: float) -> float:
        """Raises NoAnswer, or returns when the server was last known to be alive. `heard` is when
        the last data arrived on this connection."""
        now = time.monotonic()
        if self.ends is not None:
            # The deadline is fixed; a probe might return after it.
            if now > self.ends:
                silent = NoAnswer("the server has stopped answering")
                silent.late = True
                raise silent
            return known
        if self.answer_s is not None and now > heard + self.answer_s:
            raise NoAnswer("the server has stopped answering")
        if now < known + _PROBE_AFTER_S:
            return known
        if not self._accepts_probe():
            raise NoAnswer("the server has stopped answering")
        return time.monotonic()

    def _accepts_probe(self) -> bool:
        """Whether this server, of several in the URL, accepts a connection."""
        where = {"host": self.info.host, "port": str(self.info.port)}
        if not where["host"].startswith("/"):
            where["hostaddr"] = self.info.hostaddr
        where |= {"connect_timeout": str(_PROBE_WAIT_S), "target_session_attrs": "any"}
        try:
            psycopg.connect(make_conninfo(self._url, **where)).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            # It answers, if only that it has no slots left; or it is gone, which the connection at
            # hand will show in a moment.
            return True
        return True


def configured(
    connection: MonitoredConnection, greet: Callable[[MonitoredConnection], None]
) -> MonitoredConnection:
    """The PostgreSQL connection after its setup queries; closed where they fail."""
    try:
        greet(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _with_clock(gen: PQGen[RV], check_alive: Callable[[float, float], float]) -> PQGen[RV]:
    """The same generator, which checks the deadline whenever there was nothing to read."""
    heard = known = 0.0
    try:
        wanted = next(gen)
        heard = known = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = known = time.monotonic()
            else:
                known = check_alive(heard, known)
            wanted = gen.send(ready)
    except StopIteration as ended:
        result: RV = ended.value
        return result


# How often the driver's pool is asked again: it makes one attempt for each request, and the server
# may be back since.
_ASK_AGAIN_S = 0.5


class WaitLimits(NamedTuple):
    """The longest wait for a connection: if all are in use, if the server is down and may come
    back, and if it is up but does not answer."""

    busy_s: float
    away_s: float
    silent_s: float


class Pool:
    """Up to `size` connections to one PostgreSQL server, opened on demand."""

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

    def take(self, limits: WaitLimits) -> MonitoredConnection:
        """A connection, to be given back; raises StoreBusy or ServerUnreachable where there is
        none in time."""
        began = time.monotonic()
        while True:
            waited_s = time.monotonic() - began
            try:
                connection = self._pool.getconn(timeout=self._ask_for_s(limits, waited_s))
            except PoolClosed:
                raise closed(self._address) from None
            except PoolTimeout:
                self._raise_if_expired(limits, began)
            else:
                if not _is_closed(connection):
                    self._lent.add(id(connection))
                    return connection
                # A server that restarts, or ends idle sessions, closes all pooled connections.
                # Discarding them here avoids a pause before each.
                self._pool.putconn(connection)

    def _ask_for_s(self, limits: WaitLimits, waited_s: float) -> float:
        """At most the time until the next limit."""
        left_s = [one - waited_s for one in limits if one > waited_s]
        return min(_ASK_AGAIN_S, *left_s) if left_s else 0.0

    def _raise_if_expired(self, limits: WaitLimits, began: float) -> None:
        """Raises where the limit for the reason at hand is reached."""
        waited_s = time.monotonic() - began
        if len(self._lent) >= self.size:
            if waited_s >= limits.busy_s:
                raise StoreBusy(
                    f"All {self.size} connections to {self._address} were in use for as long"
                    " as we wait.",
                    hint="Nothing was written; try again, or run more servers.",
                )
            return
        at, failure = self._failed or (0.0, None)
        if failure is None or at < began or is_timeout(failure):
            if waited_s >= limits.silent_s:
                raise NoAnswer("the server has stopped answering")
        elif waited_s >= limits.away_s:
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
