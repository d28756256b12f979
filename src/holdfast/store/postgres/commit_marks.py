"""What became of a write whose COMMIT was never answered.

Each transaction that must last leaves a mark in a row of its thread's own. Who has lost the line
looks for the mark on whatever server writes now. The number of the transaction alone would not
tell: a server that died before it wrote, or a standby that took over, gives the same number to
somebody else. Finding the mark is a write too, so that an answer is as safe as the write itself:
where the server waits for its standbys, it has waited for both.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from holdfast.errors import ServerUnreachable

if TYPE_CHECKING:
    from holdfast.store.postgres.connections import Connection
    from holdfast.store.postgres.keepalive import Answering

# How far the log of a server is on its disk, which is past every commit that must last; on a
# standby, how much of its primary's it has replayed. (What is in memory only may stay there for a
# quarter of a minute, and no standby has it.) It is also asked outside a transaction, where names
# are looked up in the path of the role: nothing there may stand in for the server's own.
POSITION = (
    "CASE WHEN pg_catalog.pg_is_in_recovery()"
    " THEN coalesce(pg_catalog.pg_last_wal_replay_lsn(), '0/0')"
    " ELSE pg_catalog.pg_current_wal_flush_lsn() END::pg_catalog.text"
)

# Marks of threads that have ended are of no use once nobody waits for an answer any more.
_OLD = "1 day"
_FIRST_NAP_S = 0.05
_LONGEST_NAP_S = 1.0
# Each answer of a server that is asked what became of a write; then another is tried.
_ASK_WAIT_S = 5.0
# A writer that holds the mark's row is the one that is being asked about; it is asked again.
_LOCK_WAIT_MS = 1_000


class Mark(NamedTuple):
    """One write: by whom (`place`), which of theirs, for which hub, in which transaction. The
    place is made of letters and digits that we chose, so it may stand in a statement as it is."""

    hub: int
    place: str
    number: int
    transaction: str

    def written(self, *, tidy: bool) -> str:
        """The statements that leave the mark; `tidy` also clears away old ones of the hub."""
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


def naps(wait_s: float) -> Iterator[float]:
    """How long to wait before each further attempt: longer and longer, as long as there is time."""
    ends = time.monotonic() + wait_s
    nap_s = _FIRST_NAP_S
    while time.monotonic() < ends:
        yield nap_s
        nap_s = min(_LONGEST_NAP_S, nap_s * 2)


def was_committed(
    mark: Mark, connect: Callable[[], Answering], local: str, address: str, wait_s: float
) -> str:
    """Where the server's log is by now, if the write happened, and '' if it did not;
    ServerUnreachable where nobody could be asked in time."""
    for nap_s in naps(wait_s):
        with suppress(psycopg.Error), connect() as connection:
            connection.answer_s = _ASK_WAIT_S
            if not _goes_on(connection, mark.transaction):
                return _found(connection, mark, local)
        time.sleep(nap_s)
    raise in_doubt(address)


def _goes_on(connection: Connection, transaction: str) -> bool:
    """Whether the transaction may still end either way: its server has not noticed yet that the
    line is cut, or waits for a standby."""
    try:
        row = connection.execute(
            "SELECT pg_catalog.pg_xact_status(%s::pg_catalog.xid8)", (transaction,)
        ).fetchone()
    except psycopg.errors.InvalidParameterValue:
        # This server has not come that far: whoever had the number is not here.
        return False
    return row is not None and row[0] == "in progress"


def gave_up_waiting(notice: psycopg.errors.Diagnostic) -> bool:
    """A server that gives up waiting for its standbys says so, and takes the write for done."""
    return notice.severity_nonlocalized == "WARNING"


def _found(connection: Connection, mark: Mark, local: str) -> str:
    warned: list[bool] = []
    connection.add_notice_handler(lambda notice: warned.append(gave_up_waiting(notice)))
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
        # No standby need have it yet: asked again.
        raise psycopg.OperationalError("the server gave up waiting for its standbys")
    return "" if row is None else str(row[0])


def in_doubt(address: str) -> ServerUnreachable:
    """For a write of which nobody knows."""
    return ServerUnreachable(
        f"The connection to {address} was cut, or fell silent, while a write was being committed,"
        " and no server could be asked since; it is not known whether it was written.",
        hint="Look before you write it again.",
        in_doubt=True,
    )


def not_replicated(address: str) -> ServerUnreachable:
    """For a write that one server has, which was told not to wait for its standbys."""
    return ServerUnreachable(
        f"{address} has written it, and was stopped while it waited for a standby; if that server"
        " is lost now, the write may be too.",
        hint="Look before you write it again.",
        in_doubt=True,
    )
