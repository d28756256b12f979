"""A connection that gives up on a server which has stopped answering without hanging up: a frozen
process, a dead disk, a line on which packets are lost.

The server's own limits (statement_timeout) do not help there, since it is the server that is stuck;
nor does the network's, since the kernel of a frozen server goes on acknowledging. A statement may
well take an hour, though. So a server that is silent for a while is knocked at: one that lets
nobody else in either is given up, one that does is waited for. Knows nothing of what is asked:
whoever begins a transaction may say how long one answer may take, or when the last must be there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import make_conninfo

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg.abc import RV, PQGen

# A server that has said nothing for so long is knocked at, and again whenever as much has passed.
# Few statements take as long, and knocking costs the server no more than a connection.
_KNOCK_AFTER_S = 10.0
# One that does not open by then is stuck: as patient as any new connection is by itself.
_KNOCK_WAIT_S = 10
# A new connection is asked one short question.
_GREETING_S = 10.0


class Silent(psycopg.OperationalError):
    """No answer in time; `late` where the time was that of whoever asked, and is up."""

    late = False


class Answering(psycopg.Connection[Any]):
    """`answer_s` is how long one answer may take, None: as long as the server is there; `ends` is
    when, by the monotonic clock, the last must be there. `spread` says that other nodes take part
    in a transaction, and must be told what it is told."""

    answer_s: float | None = _GREETING_S
    ends: float | None = None
    spread = False
    _url = ""

    @classmethod
    def connect(cls, conninfo: str = "", **values: Any) -> Answering:
        connection = super().connect(conninfo, **values)
        connection._url = conninfo
        return connection

    def wait(self, gen: PQGen[RV], *args: Any, **values: Any) -> RV:
        try:
            return super().wait(_in_time(gen, self._is_given_up), *args, **values)
        except Silent:
            # Nothing that comes later may be taken for the answer to something else.
            self.pgconn.finish()
            raise

    def _is_given_up(self, heard: float, known: float) -> float:
        """Raises Silent, or says when the server was last known to be there; `heard` is when the
        last word came on this line."""
        now = time.monotonic()
        if self.ends is not None:
            # Its end is known: whoever knocked might come back after it.
            if now > self.ends:
                silent = Silent("the server has stopped answering")
                silent.late = True
                raise silent
            return known
        if self.answer_s is not None and now > heard + self.answer_s:
            raise Silent("the server has stopped answering")
        if now < known + _KNOCK_AFTER_S:
            return known
        if not self._opens():
            raise Silent("the server has stopped answering")
        return time.monotonic()

    def _opens(self) -> bool:
        """Whether this very server, of several, answers at the door."""
        where = {"host": self.info.host, "port": str(self.info.port)}
        if not where["host"].startswith("/"):
            where["hostaddr"] = self.info.hostaddr
        where |= {"connect_timeout": str(_KNOCK_WAIT_S), "target_session_attrs": "any"}
        try:
            psycopg.connect(make_conninfo(self._url, **where)).close()
        except psycopg.errors.ConnectionTimeout:
            return False
        except psycopg.OperationalError:
            # It says something, if only that it has no room; or there is none any more, which the
            # line that we have tells in a moment.
            return True
        return True


def greeted(connection: Answering, greet: Callable[[Answering], None]) -> Answering:
    """The same, after its first words; closed where they fail."""
    try:
        greet(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _in_time(gen: PQGen[RV], is_given_up: Callable[[float, float], float]) -> PQGen[RV]:
    """The same steps; it is looked at the clock whenever there was nothing to be read."""
    heard = known = 0.0
    try:
        wanted = next(gen)
        heard = known = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard = known = time.monotonic()
            else:
                known = is_given_up(heard, known)
            wanted = gen.send(ready)
    except StopIteration as ended:
        result: RV = ended.value
        return result
