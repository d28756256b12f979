"""Finds out whether a transaction was committed when the connection was lost during COMMIT.

Each durable transaction writes a mark into a row of its thread. After a lost connection, the mark
is looked for on whatever server is the primary now. The transaction's id alone would not tell: a
server that died before it wrote, or a standby that took over, gives the same id to another
transaction. The mark is found with an UPDATE, so that the answer is as durable as the write itself:
a server with synchronous standbys has waited for both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from holdfast.errors import ServerUnreachable
from holdfast.system.backoff import Backoff

if TYPE_CHECKING:
    from holdfast.store.postgres.connections import Connection
    from holdfast.store.postgres.keepalive import MonitoredConnection

# The position to which a primary has flushed its log, which is past every durable commit; on a
# standby, the position it has replayed. (What is only in memory may stay there for 15 seconds, and
# no standby has it.) Also queried outside a transaction, with the search_path of the role, so every
# name is qualified.
POSITION = (
    "CASE WHEN pg_catalog.pg_is_in_recovery()"
    " THEN coalesce(pg_catalog.pg_last_wal_replay_lsn(), '0/0')"
    " ELSE pg_catalog.pg_current_wal_flush_lsn() END::pg_catalog.text"
)

# Marks of threads that have ended are deleted when nobody can be waiting for an answer any more.
_OLD = "1 day"
_BACKOFF = Backoff(first_s=0.05, longest_s=1.0)
# The timeout for each answer of a server; then another connection is tried.
_ASK_WAIT_S = 5.0
# If the row of the mark is locked, the transaction in question still runs: asked again.
_LOCK_WAIT_MS = 1_000


class Mark(NamedTuple):
    """One write: its thread (`place`), its number, its hub and its transaction id. The place
    consists of letters and digits that we choose, so it needs no quoting in a statement."""

    hub: int
    place: str
    number: int
    transaction: str

    def written(self, *, tidy: bool) -> str:
        """The statements that write the mark; with `tidy`, also delete old ones of the hub."""
        old = (
            f"DELETE FROM commits WHERE hub_id = {self.hub} AND at < now() - interval '{_OLD}'; "
            if tidy
            else ""
        )
        return (
            f"{old}INSERT INTO commits (hub_id, place, mark, at)"
            f" VALUES ({self.hub}, '{self.place}', {self.number}, now())"
            " ON CONFLICT (hub_id, place) DO UPDATE SET mark = excluded.mark, at = excluded.at; "
        )


def backoff(wait_s: float) -> Iterator[float]:
    """Pauses between attempts, until the time is up."""
    return _BACKOFF.pauses(wait_s)


def was_committed(
    mark: Mark, connect: Callable[[], MonitoredConnection], local: str, address: str, wait_s: float
) -> str:
    """The position of the server's log if the write was committed, and '' if it was not; raises
    ServerUnreachable where no server could be asked in time."""
    for nap_s in backoff(wait_s):
        with suppress(psycopg.Error), connect() as connection:
            connection.answer_s = _ASK_WAIT_S
            if not _in_progress(connection, mark.transaction):
                return _found(connection, mark, local)
        time.sleep(nap_s)
    raise in_doubt(address)


def _in_progress(connection: Connection, transaction: str) -> bool:
    """Whether the transaction may still commit or roll back: its server has not noticed yet that
    the connection is lost, or is waiting for a standby."""
    try:
        row = connection.execute(
            "SELECT pg_catalog.pg_xact_status(%s::pg_catalog.xid8)", (transaction,)
        ).fetchone()
    except psycopg.errors.InvalidParameterValue:
        # This server has not assigned that id yet, so the transaction was not on it.
        return False
    return row is not None and row[0] == "in progress"


def gave_up_on_standbys(notice: psycopg.errors.Diagnostic) -> bool:
    """Whether the server gave up waiting for its standbys: it commits all the same, with a
    warning."""
    return notice.severity_nonlocalized == "WARNING"


def _found(connection: Connection, mark: Mark, local: str) -> str:
    warned: list[bool] = []
    connection.add_notice_handler(lambda notice: warned.append(gave_up_on_standbys(notice)))
    connection.execute(
        f"BEGIN; {local}; SET LOCAL holdfast.hubs = '0,{mark.hub}';"
        f" SET LOCAL lock_timeout = {_LOCK_WAIT_MS}"
    )
    row = connection.execute(
        "UPDATE commits SET at = now() WHERE hub_id = %s AND place = %s AND mark = %s"
        f" RETURNING {POSITION}",
        (mark.hub, mark.place, mark.number),
    ).fetchone()
    connection.execute("COMMIT")
    if any(warned):
        # No standby may have it yet: asked again.
        raise psycopg.OperationalError("the server gave up waiting for its standbys")
    return "" if row is None else str(row[0])


def in_doubt(address: str) -> ServerUnreachable:
    """For a write whose outcome is unknown."""
    return ServerUnreachable(
        f"The connection to {address} was cut, or fell silent, while a write was being committed,"
        " and no server could be asked since; it is not known whether it was written.",
        hint="Look before you write it again.",
        in_doubt=True,
    )


def not_replicated(address: str) -> ServerUnreachable:
    """For a write that only the primary has, because its wait for standbys was stopped."""
    return ServerUnreachable(
        f"{address} has written it, and was stopped while it waited for a standby; if that server"
        " is lost now, the write may be too.",
        hint="Look before you write it again.",
        in_doubt=True,
    )
