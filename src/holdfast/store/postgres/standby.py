"""Reading from a standby: only where it has what this process wrote.

A standby is behind its primary by a little, or by a lot. After each write the primary's position is
noted; a read goes to the standby if it has replayed the log as far as that, and to the primary
otherwise. So whoever writes reads what they wrote. What other processes write is seen when it has
come through. A standby that does not answer is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from holdfast.errors import StoreError
from holdfast.store.postgres.connections import Connection, Connections, complete
from holdfast.store.postgres.faults import address_of

# A standby is asked for speed; one that makes readers wait is no help.
_PATIENCE_S = 1.0
# How long one that does not answer is left alone.
_LEFT_ALONE_S = 10.0

_FAR_ENOUGH = (
    "SELECT NOT pg_is_in_recovery() OR coalesce(pg_last_wal_replay_lsn() >= '{}'::pg_lsn, false)"
)


class Behind(Exception):
    """The standby does not have yet what was written, or does not answer."""


class Standby:
    """Connections to a standby, and how far it must have come."""

    def __init__(self, url: str, search_path: str) -> None:
        self._connections = Connections(
            complete(url), address_of(url), search_path, patience_s=_PATIENCE_S
        )
        self._position = "0/0"
        self._lock = threading.Lock()
        self._asked_again_at = 0.0

    def wrote(self, position: str) -> None:
        """Notes where the primary's log was after a write."""
        with self._lock:
            if _number(position) > _number(self._position):
                self._position = position

    @contextmanager
    def reading(self, deadline_s: float | None) -> Iterator[Connection]:
        """A connection in a transaction, or Behind before it begins."""
        if time.monotonic() < self._asked_again_at:
            raise Behind
        with self._lock:
            position = self._position
        try:
            connection = self._connections.begin_read(deadline_s, _FAR_ENOUGH.format(position))
        except (psycopg.Error, StoreError):
            self._asked_again_at = time.monotonic() + _LEFT_ALONE_S
            raise Behind from None
        if connection is None:
            raise Behind
        try:
            yield connection
        finally:
            self._connections.end_read(connection)

    def close(self) -> None:
        self._connections.close()


def _number(position: str) -> int:
    """A position in the log, to be compared: two hexadecimal numbers of 32 bits."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
