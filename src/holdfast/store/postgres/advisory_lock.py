"""One at a time, over all machines: an advisory lock of the server, held in a transaction that does
nothing else, on a connection of its own.

In a transaction and not for the session, because a pooler that works by transaction would hand the
session to somebody else. Such a transaction holds no snapshot and no row: it keeps nobody from
writing, nothing from being cleared away, and no index from being built. A process that is killed
closes its connection, and the server frees the lock at once; a machine that vanishes is given up
by the server's own looks at the line, after about a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from zlib import crc32

import psycopg

# "HLDF": our locks among those of others on the same database.
LOCK_CLASS = 0x484C4446
WHOLE_STORE = 0
# "HLDH": the turn of one hub's writers, by the hub's number.
HUB_CLASS = 0x484C4448
# "HLDA": who is at what, by a number made of its name and hub.
ALONE_CLASS = 0x484C4441
# Where the server does not say otherwise, it would look for two hours whether anybody is there.
_LINE_IDLE_S, _LINE_EVERY_S, _LINE_LOOKS = 30, 10, 3
# A limit on whole transactions came with 17.
_LIMITED_FROM = 170000


def number_of(name: str, hub_id: str) -> int:
    """The number of a lock, from its name and hub. Two that share one only wait for each other."""
    # As a whole number with a sign, which is what a lock takes.
    return crc32(f"{name}\0{hub_id}".encode()) - 2**31


@contextmanager
def holding(connection: psycopg.Connection[Any], group: int, number: int) -> Iterator[bool]:
    """Whether nobody else holds the lock; then it is ours until the block ends."""
    limits = ["idle_in_transaction_session_timeout = 0"]
    if connection.info.server_version >= _LIMITED_FROM:
        limits.append("transaction_timeout = 0")
    limits += [
        f"tcp_keepalives_idle = {_LINE_IDLE_S}",
        f"tcp_keepalives_interval = {_LINE_EVERY_S}",
        f"tcp_keepalives_count = {_LINE_LOOKS}",
    ]
    told = "; ".join(f"SET LOCAL {limit}" for limit in limits)
    connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; {told}")
    try:
        # Without parameters, and never prepared: what answers such a statement stays open until
        # the next one, and with it a snapshot, for which every build of an index would wait.
        row = connection.execute(
            f"SELECT pg_catalog.pg_try_advisory_xact_lock({group:d}, {number:d})", prepare=False
        ).fetchone()
        yield row is not None and bool(row[0])
    finally:
        # A line that was cut has given the lock back already.
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")


def require_held(connection: psycopg.Connection[Any]) -> None:
    """An error of the driver where the line was cut, and the lock with it."""
    connection.execute("SELECT 1", prepare=False)
