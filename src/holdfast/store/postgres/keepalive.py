"""A connection that gives up on a server which has stopped answering without closing the
connection: a frozen process, a dead disk, a network that loses packets.

The server's limits (statement_timeout) do not help, since the server itself is stuck; nor do TCP
keepalives, since the kernel of a frozen server still acknowledges packets. A statement may take an
hour, though. So a server that is silent for a while is probed with a new connection: if that is not
accepted either, the server is given up; otherwise the wait goes on. The caller that begins a
transaction may set how long one answer may take, or when the last must have arrived.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import make_conninfo

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


class NoAnswer(psycopg.OperationalError):
    """No answer in time; `late` where the deadline of the caller has passed."""

    late = False


class MonitoredConnection(psycopg.Connection[Any]):
    """A connection with timeouts. `answer_s` is how long one answer may take (None: as long as the
    server accepts probes); `ends` is the time of the monotonic clock by which the last must have
    arrived. `spread` says that other nodes take part in a transaction (Citus) and need its
    settings. `scans` are the server-side cursors that are open.
    """

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
    """The connection after its setup queries; closed where they fail."""
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
