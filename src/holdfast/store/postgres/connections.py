"""Connections: two pools, how a transaction begins, and how it ends when the connection is lost.

Readers and writers have separate pools: writers that wait for a lock must not take the connections
that readers need. All settings are local to a transaction (SET LOCAL), so that a pooler between us
and the server may hand out another connection each time.

Where the connection is lost during COMMIT, it is found out whether the transaction was committed.
Each durable transaction writes a mark into a row of its thread. After a lost connection, the mark
is looked for on whatever server is the primary now. The transaction's id alone would not tell: a
server that died before it wrote, or a standby that took over, gives the same id to another
transaction. The mark is found with an UPDATE, so that the answer is as durable as the write itself:
a server with synchronous standbys has waited for both.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper

from holdfast.errors import ServerUnreachable
from holdfast.store.postgres.errors import (
    NoAnswer,
    connection_lost,
    connection_refused,
    is_coming_up,
    transaction_failed,
    was_idle,
    write_cancelled,
)
from holdfast.store.postgres.pool import MonitoredConnection, Pool, WaitLimits, configured
from holdfast.system import Backoff

if TYPE_CHECKING:
    from collections.abc import Callable


Connection = psycopg.Connection[Any]

# The driver and its pool log failed attempts. The outcome is raised here as an error with a
# message, so their log level is raised, unless somebody chose one. (The driver's default is
# WARNING.)
for _log in (logging.getLogger("psycopg"), logging.getLogger("psycopg.pool")):
    if _log.level in (logging.NOTSET, logging.WARNING):
        _log.setLevel(logging.ERROR)

# The oldest server that has everything that the store uses.
SERVER_FROM = 140000
READERS_MAX = 10
# Writers of a hub wait for each other, so more connections than hubs written at once would be idle.
WRITERS_MAX = 4
# A writer holds its lock for milliseconds; a minute means that something is stuck.
BUSY_WAIT_S = 60.0
# idle_in_transaction_session_timeout of a writer: one that is idle for longer has died without its
# connection being closed, and others wait for its lock. It replaces the server's own setting, which
# may be shorter than a writer needs between two statements.
_SILENCE_MS = 300_000
# The same for readers: an export may go to a slow network, or to a pager. Nobody waits for a
# reader, but VACUUM removes nothing that it could still see.
_READER_SILENCE_MS = 3_600_000
# How long a failed connection is retried, with growing pauses: a server that restarts, or a standby
# that takes over, is back by then.
RECONNECT_WAIT_S = 15.0
# BEGIN takes a server no time. One that has not answered by then, on a pooled connection and on a
# new one, is stuck. (A pooler in between may make us wait.)
_BEGIN_WAIT_S = 20.0
# A read with a deadline waits no longer than that, but at least this long: a busy server is not
# stuck yet, and a restart takes a second or two.
_BEGIN_WAIT_LEAST_S = 2.0
_STANDBY_WAIT_S = 1.0
# The server stops a read at its deadline; if it has not after this time, we do.
_STOP_WAIT_S = 2.0
# One statement of a write may take long: dropping a large hub takes minutes. A server that is gone
# is noticed long before (see MonitoredConnection); this is for one that accepts us and does
# not answer.
ANSWER_S = 600.0
# The same for a read without a deadline. A large scan fetches its rows in batches, and each is a
# statement; `doctor` has the time of a write.
READ_ANSWER_S = 120.0
# A connection on which ROLLBACK is not answered by then is closed, which ends the transaction too.
_END_WAIT_S = 1.0
# How long to ask whether a write was committed after its connection was lost: as long as a cluster
# may take to elect another primary.
_ANSWER_WAIT_S = 30.0
# How long opening a store retries where nobody listens: a server restarts in a second or two, and a
# wrong address should be reported soon.
REFUSED_WAIT_S = 2.0

# Citus does not pass settings on to its nodes by default; without them row level security would
# hide every row there.
_ALL_NODES = "SET LOCAL citus.propagate_set_commands = 'local'"
# A transaction that has read a distributed table over several connections to a node may not write
# to a table that every node has whole (`hubs`, `models`).
_ONE_CONNECTION = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'"


def connect(url: str) -> MonitoredConnection:
    """A connection outside the pools."""
    connection = configured(MonitoredConnection.connect(url, autocommit=True), configure)
    connection.answer_s = None
    return connection


def connect_to_stay(url: str) -> MonitoredConnection:
    """Connects to PostgreSQL for a connection that is idle while another one works, however long
    that takes."""
    connection = connect(url)
    # Behind a pooler, the pooler's limits on idle clients count. A server that is too old has no
    # such setting, and is refused later.
    limited = connection.info.server_version >= SERVER_FROM
    if not is_pooled(connection) and limited:
        connection.execute("SET idle_session_timeout = 0")
    return connection


def connect_patiently(url: str) -> MonitoredConnection:
    """Connects to PostgreSQL with retries while the server restarts or fails over."""
    began = time.monotonic()
    for nap_s in backoff(RECONNECT_WAIT_S):
        try:
            return connect(url)
        except psycopg.OperationalError as error:
            wait_s = (
                min(REFUSED_WAIT_S, RECONNECT_WAIT_S)
                if connection_refused(error)
                else RECONNECT_WAIT_S
            )
            if (
                not (connection_refused(error) or is_coming_up(error))
                or time.monotonic() > began + wait_s
            ):
                raise
        time.sleep(nap_s)
    return connect(url)


def configure(connection: Connection) -> None:
    """Sends integers as bigint whatever their size, so that a statement is prepared once. Behind a
    pooler, no statement is prepared."""
    connection.adapters.register_dumper(int, Int8Dumper)
    row = connection.execute("SELECT pg_catalog.pg_backend_pid()").fetchone()
    if row is None or row[0] != connection.info.backend_pid:
        # The backend that answers is not the one that accepted us: there is a pooler. The next
        # transaction may be on another connection, without our prepared statements.
        connection.prepare_threshold = None


def is_pooled(connection: Connection) -> bool:
    """Whether a pooler answers in the server's place; known once the connection is configured."""
    return connection.prepare_threshold is None


class WriteTransaction:
    """An open write transaction: its connection, and its id and its hub (0: none, or all), which
    are known when the locks are taken (see `session`)."""

    def __init__(self, connection: Connection) -> None:
        self.connection, self.transaction = connection, ""
        self.hub = 0
        self.warned = False

    def on_notice(self, notice: psycopg.errors.Diagnostic) -> None:
        self.warned = self.warned or gave_up_on_standbys(notice)


class Connections:
    """The pools of connections to PostgreSQL of one store."""

    def __init__(
        self,
        url: str,
        address: str,
        search_path: str,
        *,
        answer_s: float = ANSWER_S,
        timeout_ms: int = 0,
        async_commit: bool = False,
        spread: bool = False,
        wait_s: float | None = None,
        greet: Callable[[Connection], None] = configure,
    ) -> None:
        self._url, self._address, self._search_path = url, address, search_path
        self._answer_s, self._wait_s = answer_s, wait_s
        self._read_s = min(READ_ANSWER_S, answer_s)
        # The role's own statement_timeout; 0 if it has none.
        self._timeout_ms = timeout_ms
        self._spread = spread
        # For commit marks: an id of this run and its threads, and the hubs without old marks.
        self._run, self._threads, self._thread = os.urandom(8).hex(), count(1), threading.local()
        self._tidied: set[int] = set()
        # Overrides synchronous_commit = off; a server that waits for its standbys keeps its
        # setting.
        self._commits = ["SET LOCAL synchronous_commit = on"] if async_commit else []
        self._readers = Pool(url, address, name="readers", size=READERS_MAX, greet=greet)
        self._writers = Pool(url, address, name="writers", size=WRITERS_MAX, greet=greet)

    @contextmanager
    def reading(
        self, deadline_s: float | None, *, limit_s: float | None = None
    ) -> Iterator[Connection]:
        """A connection in a transaction with one snapshot. Without a deadline, `limit_s` is how
        long a single statement may take."""
        connection = self.begin_read(deadline_s, limit_s=limit_s)
        assert connection is not None
        try:
            yield connection
        finally:
            self.end_read(connection)

    def begin_read(
        self, deadline_s: float | None, only_if: str = "", *, limit_s: float | None = None
    ) -> MonitoredConnection | None:
        """A connection in a transaction with one snapshot; None if the query `only_if`, sent
        before the transaction begins, does not return true."""
        begin = ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
        one_s = limit_s or self._read_s
        limit_ms = self._limit_ms(one_s)
        if deadline_s is not None:
            # 0 would mean no limit.
            limit_ms = max(1, round(deadline_s * 1000))
        begin += self._local(_READER_SILENCE_MS, limit_ms)
        try:
            connection = self._begin(self._readers, begin, only_if, within_s=deadline_s)
        except (NoAnswer, ServerUnreachable) as error:
            # The reader has no time for another attempt; a request with a later deadline does.
            error.late = deadline_s is not None and deadline_s < RECONNECT_WAIT_S
            raise
        if connection is None:
            return None
        if deadline_s is not None:
            # From now on: the time in which the server came back does not count.
            connection.ends = time.monotonic() + deadline_s + _STOP_WAIT_S
        else:
            connection.answer_s = one_s + _STOP_WAIT_S
        return connection

    def end_read(self, connection: MonitoredConnection) -> None:
        self._end(self._readers, connection, "ROLLBACK")

    @contextmanager
    def writing(
        self,
        *,
        durable: bool,
        wait: bool,
        wrote: Callable[[str], None] | None = None,
    ) -> Iterator[WriteTransaction]:
        """A connection in a write transaction, without locks yet."""
        begin = ["BEGIN ISOLATION LEVEL READ COMMITTED"]
        if wait:
            begin.append(f"SET LOCAL lock_timeout = {round(BUSY_WAIT_S * 1000)}")
        begin += self._local(_SILENCE_MS, self._limit_ms(self._answer_s))
        begin += self._commits if durable else ["SET LOCAL synchronous_commit = off"]
        if self._spread:
            begin.append(_ONE_CONNECTION)
        connection = self._begin(self._writers, begin)
        assert connection is not None
        # The server stops a statement that takes too long; if it does not, we do.
        connection.answer_s = self._answer_s + _STOP_WAIT_S
        try:
            writing = WriteTransaction(connection)
            yield writing
            position = self._commit(writing, durable=durable)
            if wrote is not None:
                wrote(position)
        except psycopg.errors.QueryCanceled as error:
            raise write_cancelled(error, self._address) from None
        finally:
            self._end(self._writers, connection, "ROLLBACK")

    def _local(self, silence_ms: int, limit_ms: int) -> list[str]:
        """The settings of every transaction. Those after _ALL_NODES reach every node; the others
        are about this connection. Hub 0 is for records that belong to no hub."""
        return [
            f"SET LOCAL search_path = {self._search_path}",
            f"SET LOCAL idle_in_transaction_session_timeout = {silence_ms}",
            f"SET LOCAL statement_timeout = {limit_ms}",
            *([_ALL_NODES] if self._spread else []),
            "SET LOCAL holdfast.hubs = '0'",
        ]

    def _limit_ms(self, seconds: float) -> int:
        """A statement_timeout: no longer than that of the role, and not 0, which is no limit."""
        wanted = max(1, round(seconds * 1000))
        return min(wanted, self._timeout_ms) if self._timeout_ms else wanted

    def _begin(
        self, pool: Pool, begin: Sequence[str], only_if: str = "", *, within_s: float | None = None
    ) -> MonitoredConnection | None:
        """A connection on which the transaction has begun. A dead one is replaced and BEGIN sent
        again, which is safe because nothing else was sent yet."""
        began = time.monotonic()
        for nap_s in backoff(self._wait_s or self._away_s(within_s)):
            limits = self._wait_limits(pool, within_s, time.monotonic() - began)
            connection = pool.take(limits)
            connection.spread, connection.ends = self._spread, None
            connection.answer_s = _STANDBY_WAIT_S
            if self._wait_s is None:
                # Half of the time; the other half is for a new connection.
                connection.answer_s = self._silent_s(within_s) / 2
            try:
                if only_if and connection.execute(only_if).fetchone() != (True,):
                    pool.give_back(connection)
                    return None
                send_together(connection, begin)
                connection.answer_s = None
                return connection
            except psycopg.Error as error:
                pool.give_back(connection)
                if not connection_lost(error):
                    raise
                last = error
            except BaseException:
                # Interrupted: the process may go on, as in a notebook.
                pool.give_back(connection)
                raise
            if isinstance(last, NoAnswer):
                pool.drop_idle()
                if time.monotonic() - began >= self._silent_s(within_s):
                    break
            if not was_idle(last):
                time.sleep(nap_s)
        raise last

    def _wait_limits(self, pool: Pool, within_s: float | None, waited_s: float) -> WaitLimits:
        if self._wait_s is not None:
            return WaitLimits(*[self._wait_s] * 3)
        return WaitLimits(
            busy_s=BUSY_WAIT_S if pool is self._writers else RECONNECT_WAIT_S,
            away_s=max(0.0, self._away_s(within_s) - waited_s),
            silent_s=max(0.0, self._silent_s(within_s) - waited_s),
        )

    def _away_s(self, within_s: float | None) -> float:
        """How long to wait for a server that is down. A read with a deadline has a caller that
        waits; a write waits for another primary."""
        return _bounded(RECONNECT_WAIT_S, within_s)

    def _silent_s(self, within_s: float | None) -> float:
        """How long a server that does not answer is given until a transaction has begun."""
        return _bounded(_BEGIN_WAIT_S, within_s)

    def _end(self, pool: Pool, connection: MonitoredConnection, how: str) -> None:
        connection.answer_s, connection.ends = _END_WAIT_S, None
        try:
            with suppress(psycopg.Error):
                if connection.info.transaction_status not in (
                    TransactionStatus.IDLE,
                    TransactionStatus.UNKNOWN,
                ):
                    connection.execute(how)
            connection.close_scans()
        finally:
            pool.give_back(connection)

    def _commit(self, writing: WriteTransaction, *, durable: bool) -> str:
        """Commits; returns the position of the server's log after it."""
        connection = writing.connection
        if connection.info.transaction_status == TransactionStatus.INERROR:
            # The server would treat COMMIT as ROLLBACK, without an error.
            raise transaction_failed()
        if not durable:
            return _last(send_together(connection, ["COMMIT", f"SELECT {POSITION}"]))
        mark = Mark(writing.hub, *self._next_mark(), writing.transaction)
        connection.add_notice_handler(writing.on_notice)
        try:
            tidy = mark.hub not in self._tidied
            ended = [*mark.written(tidy=tidy), "COMMIT", f"SELECT {POSITION}"]
            position = _last(send_together(connection, ended))
        except psycopg.Error as error:
            if not connection_lost(error):
                raise
            # On a new connection: a pooled one may be as dead as this one.
            local = self._local(_SILENCE_MS, self._limit_ms(_ANSWER_WAIT_S))
            position = was_committed(
                mark, self._connect_beside, local, self._address, _ANSWER_WAIT_S
            )
            if not position:
                raise
            # The server that confirmed it has waited for its standbys.
            writing.warned = False
        finally:
            connection.remove_notice_handler(writing.on_notice)
        if writing.warned:
            raise not_replicated(self._address)
        self._tidied.add(mark.hub)
        return position

    def _connect_beside(self) -> MonitoredConnection:
        connection = connect(self._url)
        connection.spread = self._spread
        return connection

    def _next_mark(self) -> tuple[str, int]:
        """The place of this thread's marks, and the number of its next mark."""
        mine = self._thread
        if not hasattr(mine, "place"):
            mine.place, mine.marks = f"{self._run}x{next(self._threads)}", 0
        mine.marks += 1
        return mine.place, mine.marks

    def close(self) -> None:
        for pool in (self._readers, self._writers):
            pool.close()


def _bounded(wait_s: float, within_s: float | None) -> float:
    """At most the deadline of a read, where it has one."""
    return wait_s if within_s is None else min(wait_s, max(_BEGIN_WAIT_LEAST_S, within_s))


def _last(cursor: psycopg.Cursor[Any]) -> str:
    """The value that the last of several statements returned."""
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    assert row is not None
    return str(row[0])


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

    def written(self, *, tidy: bool) -> list[str]:
        """The statements that write the mark; with `tidy`, also delete old ones of the hub."""
        old = f"DELETE FROM commits WHERE hub_id = {self.hub} AND at < now() - interval '{_OLD}'"
        mark = (
            "INSERT INTO commits (hub_id, place, mark, at)"
            f" VALUES ({self.hub}, '{self.place}', {self.number}, now())"
            " ON CONFLICT (hub_id, place) DO UPDATE SET mark = excluded.mark, at = excluded.at"
        )
        return [old, mark] if tidy else [mark]


def backoff(wait_s: float) -> Iterator[float]:
    """Pauses between attempts to connect to PostgreSQL, until the time is up."""
    return _BACKOFF.pauses(wait_s)


def send_together(connection: Connection, statements: Sequence[str]) -> psycopg.Cursor[Any]:
    """Sends several statements to PostgreSQL in one round trip; returns the cursor of the last.

    On Citus each is a message of its own: for every SET, Citus repeats the whole message of the
    client on its nodes. Elsewhere they are one message, which costs the server less."""
    if not getattr(connection, "spread", False):
        return connection.execute("; ".join(statements))
    with connection.pipeline():
        cursors = [connection.execute(one, prepare=False) for one in statements]
    return cursors[-1]


def was_committed(
    mark: Mark,
    connect: Callable[[], MonitoredConnection],
    local: Sequence[str],
    address: str,
    wait_s: float,
) -> str:
    """The position of PostgreSQL's log if the write was committed, and '' if it was not; raises
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
    """Whether the server gave up waiting for its standbys: it commits all the same, with a warning.

    Other warnings say nothing about standbys. The message may be in any language, so the function
    of the server that sent it decides; Citus passes on the message of a node under another."""
    if notice.severity_nonlocalized != "WARNING":
        return False
    message = notice.message_primary or ""
    return notice.source_function == "SyncRepWaitForLSN" or "synchronous replication" in message


def _found(connection: Connection, mark: Mark, local: Sequence[str]) -> str:
    warned: list[bool] = []
    connection.add_notice_handler(lambda notice: warned.append(gave_up_on_standbys(notice)))
    send_together(
        connection,
        [
            *("BEGIN", f"SET LOCAL lock_timeout = {_LOCK_WAIT_MS}", *local),
            f"SET LOCAL holdfast.hubs = '0,{mark.hub}'",
        ],
    )
    # An INSERT, so that it waits for a transaction that writes the same row and has not ended: on
    # Citus a node may have prepared it, and learn a minute later that it was committed.
    row = connection.execute(
        "INSERT INTO commits AS c (hub_id, place, mark, at) VALUES (%s, %s, 0, now())"
        " ON CONFLICT (hub_id, place) DO UPDATE SET at = excluded.at RETURNING c.mark",
        (mark.hub, mark.place),
    ).fetchone()
    done = row is not None and row[0] == mark.number
    position = connection.execute(f"SELECT {POSITION}").fetchone() if done else None
    connection.execute("COMMIT")
    if any(warned):
        # No standby may have it yet: asked again.
        raise psycopg.OperationalError("the server gave up waiting for its standbys")
    return "" if position is None else str(position[0])


def in_doubt(address: str) -> ServerUnreachable:
    """The error for a write to PostgreSQL with an unknown outcome."""
    return ServerUnreachable(
        f"The connection to {address} was cut, or fell silent, while a write was being committed,"
        " and no server could be asked since; it is not known whether it was written.",
        hint="Look before you write it again.",
        in_doubt=True,
    )


def not_replicated(address: str) -> ServerUnreachable:
    """The error for a write that only the primary has, because its wait for standbys was
    stopped."""
    return ServerUnreachable(
        f"{address} has written it, and was stopped while it waited for a standby; if that server"
        " is lost now, the write may be too.",
        hint="Look before you write it again.",
        in_doubt=True,
    )
