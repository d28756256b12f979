"""Reading from a standby: only where it has what this process has written or seen.

A standby is behind its primary by a little, or by a lot. After each write, and after each read from
the primary, the primary's position is noted; a read goes to the standby if it has replayed the log
as far as that, and to the primary otherwise. So whoever writes reads what they wrote, and nobody
sees time go backwards. What other processes write is seen when it has come through. A standby that
does not answer, or is a copy of something else, is left alone for a while, which the log tells.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from holdfast.errors import StoreError
from holdfast.store.postgres.commit_marks import POSITION
from holdfast.store.postgres.connections import (
    Connection,
    Connections,
    configure,
    connect,
)
from holdfast.store.postgres.errors import fault, lost
from holdfast.store.postgres.keepalive import MonitoredConnection
from holdfast.store.postgres.tables import SCHEMA
from holdfast.store.postgres.urls import address_of, complete

# A standby is asked for speed; one that makes readers wait is no help. A new connection takes less,
# also to another city.
_PATIENCE_S = 0.3
# How long one that does not answer is left alone.
_LEFT_ALONE_S = 10.0
# Where several are named.
_ANY = {"target_session_attrs": "prefer-standby", "connect_timeout": "3"}

# When the tables were made: the same on a primary and its standbys, and nowhere else. This and the
# next are asked where the path of the role counts, so all names are whole.
MADE = (
    "SELECT extract(epoch FROM at)::pg_catalog.text"
    f" FROM {SCHEMA}.migrations ORDER BY version LIMIT 1"
)
_FAR_ENOUGH = (
    f"SELECT ({POSITION})::pg_catalog.pg_lsn OPERATOR(pg_catalog.>=) '{{}}'::pg_catalog.pg_lsn"
)


class Behind(Exception):
    """The standby does not have yet what was written, or does not answer."""


class Standby:
    """Connections to a standby of the store that was made at `made`, and how far it must be."""

    def __init__(self, url: str, search_path: str, made: str, *, spread: bool = False) -> None:
        self.address = address_of(url)
        self._made = made
        self._url = complete(url, wanted=_ANY)
        self._connections = Connections(
            self._url,
            self.address,
            search_path,
            spread=spread,
            patience_s=_PATIENCE_S,
            greet=self._greet,
        )
        self._position = "0/0"
        self._lock = threading.Lock()
        self._asked_again_at = 0.0
        # What is wrong with it; '' where nothing is.
        self.trouble = ""

    def _greet(self, connection: Connection) -> None:
        configure(connection)
        row = connection.execute(MADE).fetchone()
        if row is None or row[0] != self._made:
            self._leave_alone("it is a copy of another store")
            raise psycopg.OperationalError("a copy of another store")

    def has_come_to(self, position: str) -> None:
        """Notes where the primary's log was when this process wrote, or looked."""
        with self._lock:
            if _number(position) > _number(self._position):
                self._position = position

    @contextmanager
    def reading(self, deadline_s: float | None) -> Iterator[Connection]:
        """A connection in a transaction, or Behind before it begins."""
        connection = self._begin(deadline_s)
        try:
            yield connection
        except psycopg.Error as error:
            # Cut, or stopped because the standby had to go on: the next attempt asks the primary.
            if lost(error) or (error.sqlstate or "").startswith("40"):
                self._leave_alone("it broke off a read")
            raise
        finally:
            self._connections.end_read(connection)

    def _begin(self, deadline_s: float | None) -> MonitoredConnection:
        if time.monotonic() < self._asked_again_at:
            raise Behind
        with self._lock:
            position = self._position
        try:
            connection = self._connections.begin_read(deadline_s, _FAR_ENOUGH.format(position))
        except (psycopg.Error, StoreError) as error:
            self._note(error)
            raise Behind from None
        self._is_well()
        if connection is None:
            raise Behind
        return connection

    def look(self) -> str:
        """What is wrong with it, asked now, by who has more time than a read; '' where nothing
        is."""
        self._asked_again_at = 0.0
        with self._lock:
            position = self._position
        try:
            with connect(self._url) as connection:
                self._greet(connection)
                far = connection.execute(_FAR_ENOUGH.format(position)).fetchone() == (True,)
        except psycopg.Error as error:
            self._note(error)
            return self.trouble
        self._is_well()
        return "" if far else f"it has not come to {position} yet"

    def _note(self, error: psycopg.Error | StoreError) -> None:
        """Leaves it alone, for what it said, unless that is known better already."""
        if time.monotonic() >= self._asked_again_at:
            told = error if isinstance(error, StoreError) else fault(error, self.address)
            self._leave_alone(_of_it(told.message, self.address))

    def _leave_alone(self, why: str) -> None:
        self._asked_again_at = time.monotonic() + _LEFT_ALONE_S
        if why != self.trouble:
            self.trouble = why
            self._tell(f"reads go to the primary and not to {self.address}: {why}")

    def _is_well(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._tell(f"reads go to {self.address} again")

    def _tell(self, what: str) -> None:
        logger = logging.getLogger("holdfast.store")
        if not logger.handlers:
            # Said where somebody listens, and not on the terminal of everybody.
            logger.addHandler(logging.NullHandler())
        logger.warning(what)

    def close(self) -> None:
        self._connections.close()


def _of_it(message: str, address: str) -> str:
    """What was said of an address that has been named already."""
    for named in (f"The PostgreSQL server of {address}", f"the server of {address}", address):
        message = re.sub(re.escape(named), "it", message, flags=re.IGNORECASE)
    return message.removesuffix(".")


def _number(position: str) -> int:
    """A position in the log, to be compared: two hexadecimal numbers of 32 bits."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
