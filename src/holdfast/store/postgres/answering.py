"""A connection that gives up on a server which has stopped answering without hanging up: a frozen
process, a dead disk, a line on which packets are lost.

The server's own limits (statement_timeout) do not help there, since it is the server that is stuck;
nor does the network's, since the kernel of a frozen server goes on acknowledging. Knows nothing of
what is asked: whoever begins a transaction says how long one answer may take.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from psycopg.abc import RV, PQGen


class Answering(psycopg.Connection[Any]):
    """`answer_s` is how long one answer may take; None: as long as it takes. `spread` says that
    other nodes take part in a transaction, and must be told what it is told."""

    answer_s: float | None = None
    spread = False

    def wait(self, gen: PQGen[RV], *args: Any, **values: Any) -> RV:
        if self.answer_s is None:
            return super().wait(gen, *args, **values)
        bounded = _in_time(gen, time.monotonic() + self.answer_s)
        try:
            return super().wait(bounded, *args, **values)
        except _Silent:
            # Nothing that comes later may be taken for the answer to something else.
            self.pgconn.finish()
            raise


class _Silent(psycopg.OperationalError):
    """No answer in time."""


def _in_time(gen: PQGen[RV], ends: float) -> PQGen[RV]:
    """The same steps; it is looked at the clock whenever there was nothing to be read."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > ends:
                raise _Silent("the server has stopped answering")
            wanted = gen.send(ready)
    except StopIteration as ended:
        result: RV = ended.value
        return result
