"""Advisory locks of PostgreSQL: of the store, of the writers of a hub, and of work that only one
process may do at a time. A lock ends with its connection, so none outlives a process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from zlib import crc32

import psycopg

# "HLDF": locks of the store, among those of other programs on the same database.
LOCK_CLASS = 0x484C4446
WHOLE_STORE = 0
# "HLDH": writers of one hub, by the hub's number.
HUB_CLASS = 0x484C4448
# "HLDA": exclusive jobs, by a number made of the job's name and hub.
EXCLUSIVE_CLASS = 0x484C4441
# The default of the operating system would be two hours.
_KEEPALIVE_IDLE_S, _KEEPALIVE_EVERY_S, _KEEPALIVE_PROBES = 30, 10, 3
# transaction_timeout came with 17.
_TRANSACTION_TIMEOUT_FROM = 170000


def lock_number(name: str, hub_id: str) -> int:
    """The number of an advisory lock, from its name and hub. Two names with one number exclude each
    other."""
    # Advisory locks take signed integers.
    return crc32(f"{name}\0{hub_id}".encode()) - 2**31


@contextmanager
def try_lock(connection: psycopg.Connection[Any], group: int, number: int) -> Iterator[bool]:
    """Tries to take an advisory lock of PostgreSQL and yields whether it did; it is held until the
    block ends."""
    limits = ["idle_in_transaction_session_timeout = 0"]
    if connection.info.server_version >= _TRANSACTION_TIMEOUT_FROM:
        limits.append("transaction_timeout = 0")
    limits += [
        f"tcp_keepalives_idle = {_KEEPALIVE_IDLE_S}",
        f"tcp_keepalives_interval = {_KEEPALIVE_EVERY_S}",
        f"tcp_keepalives_count = {_KEEPALIVE_PROBES}",
    ]
    settings = "; ".join(f"SET LOCAL {limit}" for limit in limits)
    connection.execute(f"BEGIN ISOLATION LEVEL READ COMMITTED; {settings}")
    try:
        # Without parameters and not prepared: the portal of such a statement stays open until the
        # next one, and with it a snapshot, for which every concurrent index build would wait.
        row = connection.execute(
            f"SELECT pg_catalog.pg_try_advisory_xact_lock({group:d}, {number:d})", prepare=False
        ).fetchone()
        yield row is not None and bool(row[0])
    finally:
        # A lost connection has released the lock already.
        with suppress(psycopg.Error):
            connection.execute("ROLLBACK")


def require_held(connection: psycopg.Connection[Any]) -> None:
    """Raises an error of the driver where the connection, and the lock with it, is lost."""
    connection.execute("SELECT 1", prepare=False)


# An advisory lock has 32 bits for the hub; two hubs that share a lock only wait for each other.
HUB_LOCKS = 2**31


def lock_hub(connection: psycopg.Connection[Any], hub: int) -> None:
    """Takes the lock of a hub's writers in a transaction outside `write()`."""
    connection.execute(
        "SELECT pg_advisory_xact_lock_shared(%s::int, %s::int)", (LOCK_CLASS, WHOLE_STORE)
    )
    connection.execute(
        "SELECT pg_advisory_xact_lock(%s::int, %s::int)", (HUB_CLASS, hub % HUB_LOCKS)
    )
