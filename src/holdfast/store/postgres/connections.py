"""Connections: two pools, how a transaction begins, and how it ends when the line is cut.

Readers and writers have pools of their own: writers that wait for their turn must not take the
connections that readers need. Whatever a transaction needs to be told is told inside it (SET
LOCAL), so that a pooler between us and the server may hand out another connection each time.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8Dumper

from holdfast.errors import ServerUnreachable
from holdfast.store.postgres.advisory_lock import LOCK_CLASS, WHOLE_STORE
from holdfast.store.postgres.commit_marks import (
    POSITION,
    Mark,
    backoff,
    gave_up_on_standbys,
    not_replicated,
    was_committed,
)
from holdfast.store.postgres.errors import (
    busy,
    comes_back,
    lay_idle,
    lost,
    passed_over,
    refused,
    stopped_writing,
)
from holdfast.store.postgres.keepalive import MonitoredConnection, NoAnswer, configured
from holdfast.store.postgres.pool import Patience, Pool

Connection = psycopg.Connection[Any]

# The driver and its pool tell of attempts that fail, and of what else fails after them. What comes
# of it is raised here, in a sentence. (The driver's own level, unless somebody chose one, is
# WARNING.)
for _log in (logging.getLogger("psycopg"), logging.getLogger("psycopg.pool")):
    if _log.level in (logging.NOTSET, logging.WARNING):
        _log.setLevel(logging.ERROR)

# The oldest server that has everything that the store uses.
SERVER_FROM = 140000
READERS_MAX = 10
# Writers of a hub take turns; more connections than hubs that are written at once are idle.
WRITERS_MAX = 4
# A writer holds its turn for milliseconds; a minute means that something is stuck.
BUSY_WAIT_S = 60.0
# A writer that says nothing for so long has died without the line being cut; its turn ends. That is
# our own limit, and not the server's: a writer thinks between two statements, for longer than a
# server may be set to wait (idle_in_transaction_session_timeout); but others wait for its turn.
_SILENCE_MS = 300_000
# A reader waits for whoever it reads for: an export may go to a slow line, or to a pager. Nobody
# waits for a reader, but the server clears nothing away that it could still see.
_READER_SILENCE_MS = 3_600_000
# A connection that is not there at once is tried again, with growing pauses, for so long: a server
# that restarts, or a standby that takes over, is back by then.
RECONNECT_WAIT_S = 15.0
# To begin a transaction takes a server no time. One that is there and has not answered by then, on
# a connection that was there and on a new one, is stuck. (A pooler in between may let us wait.)
_BEGIN_WAIT_S = 20.0
# The same for a read with a deadline, where that is shorter, and for a server that is away; but a
# busy one is not stuck yet, and one that restarts takes a second or two.
_BEGIN_WAIT_LEAST_S = 2.0
_STANDBY_WAIT_S = 1.0
# A read that is stopped at its deadline is stopped by the server; one that is not, by us.
_STOP_WAIT_S = 2.0
# One statement of a write may take a while: a large hub is dropped in minutes. A server that is
# gone is noticed long before (see `answering`); this is for one that lets us in and says nothing.
ANSWER_S = 600.0
# A connection on which the end of a transaction is not heard so soon is closed, which ends it too.
_END_WAIT_S = 1.0
# Who has lost the line while a write was being committed wants to know what became of it: for as
# long as a cluster may take to choose another primary.
_ANSWER_WAIT_S = 30.0
# Where nobody listens when a store is opened: a server takes a second or two to restart, and an
# address that is wrong should not keep anybody waiting for long.
REFUSED_WAIT_S = 2.0

# On Citus a node sees of a transaction only what it is told, and by itself it is told nothing: then
# the wall would hide every row there.
_ALL_NODES = "SET LOCAL citus.propagate_set_commands = 'local'"


def connect(url: str) -> MonitoredConnection:
    """A connection of its own, outside the pools."""
    connection = configured(MonitoredConnection.connect(url, autocommit=True), configure)
    connection.answer_s = None
    return connection


def connect_to_stay(url: str) -> MonitoredConnection:
    """The same for who lies idle while another connection works, however long that takes."""
    connection = connect(url)
    # With a pooler in between, what lies idle is the pooler's, and so are its limits; a server that
    # is too old has none, and is refused later.
    limited = connection.info.server_version >= SERVER_FROM
    if connection.prepare_threshold is not None and limited:
        connection.execute("SET idle_session_timeout = 0")
    return connection


def connect_patiently(url: str) -> MonitoredConnection:
    """The same, where a server that is about to come back is waited for."""
    began = time.monotonic()
    for nap_s in backoff(RECONNECT_WAIT_S):
        try:
            return connect(url)
        except psycopg.OperationalError as error:
            wait_s = min(REFUSED_WAIT_S, RECONNECT_WAIT_S) if refused(error) else RECONNECT_WAIT_S
            if not (refused(error) or comes_back(error)) or time.monotonic() > began + wait_s:
                raise
        time.sleep(nap_s)
    return connect(url)


def configure(connection: Connection) -> None:
    """Whole numbers go as bigint whatever their size, so that a statement is prepared once; where a
    pooler stands in between, none is."""
    connection.adapters.register_dumper(int, Int8Dumper)
    row = connection.execute("SELECT pg_catalog.pg_backend_pid()").fetchone()
    if row is None or row[0] != connection.info.backend_pid:
        # Who answers is not who let us in. The next transaction may be on another connection,
        # where a statement of that name is missing, or is somebody else's.
        connection.prepare_threshold = None


class Writing:
    """A transaction that is being written: where, and for which hub (0: for none, or for all)."""

    def __init__(self, connection: Connection, transaction: str) -> None:
        self.connection, self.transaction = connection, transaction
        self.hub = 0
        self.warned = False

    def heed(self, notice: psycopg.errors.Diagnostic) -> None:
        self.warned = self.warned or gave_up_on_standbys(notice)


class Connections:
    """The pools of one store."""

    def __init__(
        self,
        url: str,
        address: str,
        search_path: str,
        *,
        answer_s: float = ANSWER_S,
        async_commit: bool = False,
        spread: bool = False,
        patience_s: float | None = None,
        greet: Callable[[Connection], None] = configure,
    ) -> None:
        self._url, self._address, self._search_path = url, address, search_path
        self._answer_s, self._patience_s = answer_s, patience_s
        self._spread = spread
        # Marks: whose they are, and which hubs have had theirs cleared away.
        self._run, self._threads, self._thread = os.urandom(8).hex(), count(1), threading.local()
        self._tidied: set[int] = set()
        # A server that is set to acknowledge too early is told not to; one that waits for its
        # standbys is left as it is.
        self._commits = "; SET LOCAL synchronous_commit = on" if async_commit else ""
        self._readers = Pool(url, address, name="readers", size=READERS_MAX, greet=greet)
        self._writers = Pool(url, address, name="writers", size=WRITERS_MAX, greet=greet)

    @contextmanager
    def reading(self, deadline_s: float | None) -> Iterator[Connection]:
        """A connection in a transaction that sees one moment."""
        connection = self.begin_read(deadline_s)
        assert connection is not None
        try:
            yield connection
        finally:
            self.end_read(connection)

    def begin_read(self, deadline_s: float | None, only_if: str = "") -> MonitoredConnection | None:
        """A connection in a transaction that sees one moment; None where what `only_if` asks,
        before the transaction begins, is not true."""
        begin = (
            f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self._local(_READER_SILENCE_MS)}"
        )
        if deadline_s is not None:
            # Nothing at all would mean: no limit.
            begin += f"; SET LOCAL statement_timeout = {max(1, round(deadline_s * 1000))}"
        try:
            connection = self._begin(self._readers, begin, only_if, within_s=deadline_s)
        except (NoAnswer, ServerUnreachable) as error:
            # There is no time for another attempt; a write whose request ends much later has some.
            error.late = deadline_s is not None and deadline_s < RECONNECT_WAIT_S
            raise
        if connection is not None and deadline_s is not None:
            # From now: the time in which a server came back was not the read's.
            connection.ends = time.monotonic() + deadline_s + _STOP_WAIT_S
        return connection

    def end_read(self, connection: MonitoredConnection) -> None:
        self._end(self._readers, connection, "ROLLBACK")

    @contextmanager
    def writing(
        self,
        *,
        durable: bool,
        wait: bool,
        whole: bool,
        wrote: Callable[[str], None] | None = None,
    ) -> Iterator[Writing]:
        """A connection in a transaction of its own, with the writer's turn: the whole store's, or
        a place beside the writers of other hubs."""
        begin = f"BEGIN ISOLATION LEVEL READ COMMITTED; {self._local(_SILENCE_MS)}"
        begin += self._commits if durable else "; SET LOCAL synchronous_commit = off"
        connection = self._begin(self._writers, begin)
        assert connection is not None
        connection.answer_s = self._answer_s
        try:
            transaction = self._take_turn(connection, wait=wait, whole=whole)
            writing = Writing(connection, transaction)
            yield writing
            position = self._commit(writing, durable=durable)
            if wrote is not None:
                wrote(position)
        except psycopg.errors.QueryCanceled as error:
            raise stopped_writing(error, self._address) from None
        finally:
            self._end(self._writers, connection, "ROLLBACK")

    def _local(self, silence_ms: int = _SILENCE_MS) -> str:
        """What every transaction is told. Hub 0 is that of what belongs to no hub."""
        told = (
            f"SET LOCAL search_path = {self._search_path}; SET LOCAL holdfast.hubs = '0';"
            f" SET LOCAL idle_in_transaction_session_timeout = {silence_ms}"
        )
        return f"{_ALL_NODES}; {told}" if self._spread else told

    def _take_turn(self, connection: Connection, *, wait: bool, whole: bool) -> str:
        """Waits for the writers before; returns the number of the transaction."""
        if wait:
            connection.execute(f"SET LOCAL lock_timeout = {round(BUSY_WAIT_S * 1000)}")
        lock = f"pg{'' if wait else '_try'}_advisory_xact_lock{'' if whole else '_shared'}"
        row = connection.execute(
            f"SELECT {lock}(%s::int, %s::int), pg_current_xact_id()::text",
            (LOCK_CLASS, WHOLE_STORE),
        ).fetchone()
        assert row is not None
        # One that waits comes back with nothing, one that tries with whether it got it.
        if row[0] is False:
            raise busy(self._address)
        return str(row[1])

    def _begin(
        self, pool: Pool, begin: str, only_if: str = "", *, within_s: float | None = None
    ) -> MonitoredConnection | None:
        """A connection on which the transaction has begun. One that turns out to be dead is put
        away and another tried: nothing was asked of it yet."""
        began = time.monotonic()
        for nap_s in backoff(self._patience_s or self._away_s(within_s)):
            patience = self._patience(pool, within_s, time.monotonic() - began)
            connection = pool.take(patience)
            connection.spread, connection.ends = self._spread, None
            connection.answer_s = _STANDBY_WAIT_S
            if self._patience_s is None:
                # Half of the time: the other half is for a new connection.
                connection.answer_s = self._silent_s(within_s) / 2
            try:
                if only_if and connection.execute(only_if).fetchone() != (True,):
                    pool.give_back(connection)
                    return None
                connection.execute(begin)
                connection.answer_s = None
                return connection
            except psycopg.Error as error:
                pool.give_back(connection)
                if not lost(error):
                    raise
                last = error
            if isinstance(last, NoAnswer):
                pool.forget_idle()
                if time.monotonic() - began >= self._silent_s(within_s):
                    break
            if not lay_idle(last):
                time.sleep(nap_s)
        raise last

    def _patience(self, pool: Pool, within_s: float | None, waited_s: float) -> Patience:
        if self._patience_s is not None:
            return Patience(*[self._patience_s] * 3)
        return Patience(
            busy_s=BUSY_WAIT_S if pool is self._writers else RECONNECT_WAIT_S,
            away_s=max(0.0, self._away_s(within_s) - waited_s),
            silent_s=max(0.0, self._silent_s(within_s) - waited_s),
        )

    def _away_s(self, within_s: float | None) -> float:
        """How long a server that is away is given to come back. Who has a deadline has somebody
        who waits for the answer; what is written waits for another primary."""
        return _bounded(RECONNECT_WAIT_S, within_s)

    def _silent_s(self, within_s: float | None) -> float:
        """How long a server that says nothing is given until a transaction has begun."""
        return _bounded(_BEGIN_WAIT_S, within_s)

    def _end(self, pool: Pool, connection: MonitoredConnection, how: str) -> None:
        connection.answer_s, connection.ends = _END_WAIT_S, None
        with suppress(psycopg.Error):
            if connection.info.transaction_status not in (
                TransactionStatus.IDLE,
                TransactionStatus.UNKNOWN,
            ):
                connection.execute(how)
        pool.give_back(connection)

    def _commit(self, writing: Writing, *, durable: bool) -> str:
        """Ends the transaction; returns where the server's log is by then."""
        connection = writing.connection
        if connection.info.transaction_status == TransactionStatus.INERROR:
            # The server would take COMMIT for ROLLBACK, and say nothing.
            raise passed_over()
        if not durable:
            return _last(connection.execute(f"COMMIT; SELECT {POSITION}"))
        mark = Mark(writing.hub, *self._next_mark(), writing.transaction)
        connection.add_notice_handler(writing.heed)
        try:
            tidy = mark.hub not in self._tidied
            ended = f"{mark.written(tidy=tidy)}COMMIT; SELECT {POSITION}"
            position = _last(connection.execute(ended))
        except psycopg.Error as error:
            if not lost(error):
                raise
            # Asked on a connection of its own: one of the pool may be as dead as this one.
            position = was_committed(
                mark, lambda: connect(self._url), self._local(), self._address, _ANSWER_WAIT_S
            )
            if not position:
                raise
            # Whoever said so has waited for its standbys.
            writing.warned = False
        finally:
            connection.remove_notice_handler(writing.heed)
        if writing.warned:
            raise not_replicated(self._address)
        self._tidied.add(mark.hub)
        return position

    def _next_mark(self) -> tuple[str, int]:
        """The place of this thread's marks, and how many it has left there."""
        mine = self._thread
        if not hasattr(mine, "place"):
            mine.place, mine.marks = f"{self._run}x{next(self._threads)}", 0
        mine.marks += 1
        return mine.place, mine.marks

    def close(self) -> None:
        for pool in (self._readers, self._writers):
            pool.close()


def _bounded(wait_s: float, within_s: float | None) -> float:
    """No longer than a read's deadline, where it has one."""
    return wait_s if within_s is None else min(wait_s, max(_BEGIN_WAIT_LEAST_S, within_s))


def _last(cursor: psycopg.Cursor[Any]) -> str:
    """The value that the last of several statements answered with."""
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    assert row is not None
    return str(row[0])
