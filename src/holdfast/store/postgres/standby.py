"""Reads from a standby, where it has everything that this process has written or seen.

A standby lags behind its primary. After each write, and after each read from the primary, the
position of the primary's log is noted; a read goes to the standby if it has replayed the log up to
there, and to the primary otherwise. So a process reads its own writes, and never sees an older
state than before. Writes of other processes are seen when they are replayed. A standby that does
not answer, or is a copy of another store, is not used for a while, and a warning is logged.
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
from holdfast.store.postgres.connections import (
    Connection,
    Connections,
    configure,
    connect,
)
from holdfast.store.postgres.errors import connection_lost, to_store_error
from holdfast.store.postgres.pool import MonitoredConnection
from holdfast.store.postgres.session import POSITION
from holdfast.store.postgres.tables import SCHEMA
from holdfast.store.postgres.urls import address_of, complete

# A standby is used for speed, so one that makes readers wait is no help. A new connection takes
# less than this, also to another city.
_PATIENCE_S = 0.3
# How long a standby that does not answer is not used.
_SUSPENDED_S = 10.0
# Defaults where the URL names several servers.
_ANY = {"target_session_attrs": "prefer-standby", "connect_timeout": "3"}

# When the tables were created: the same on a primary and its standbys, and nowhere else. This and
# the next query run with the search_path of the role, so every name is qualified.
CREATED_AT = (
    "SELECT extract(epoch FROM at)::pg_catalog.text"
    f" FROM {SCHEMA}.migrations ORDER BY version LIMIT 1"
)
_FAR_ENOUGH = (
    f"SELECT ({POSITION})::pg_catalog.pg_lsn OPERATOR(pg_catalog.>=) '{{}}'::pg_catalog.pg_lsn"
)


class Behind(Exception):
    """The standby has not replayed far enough, or does not answer."""


class Standby:
    """Connections to a standby of the store that was created at `made`, and the position that it
    must have replayed."""

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
        # Why it is not used; '' where it is.
        self.trouble = ""

    def _greet(self, connection: Connection) -> None:
        configure(connection)
        row = connection.execute(CREATED_AT).fetchone()
        if row is None or row[0] != self._made:
            self._suspend("it is a copy of another store")
            raise psycopg.OperationalError("a copy of another store")

    def note_position(self, position: str) -> None:
        """Notes the position of the primary's log when this process wrote or read."""
        with self._lock:
            if _number(position) > _number(self._position):
                self._position = position

    @contextmanager
    def reading(self, deadline_s: float | None) -> Iterator[Connection]:
        """A connection in a transaction; raises Behind before it begins."""
        connection = self._begin(deadline_s)
        try:
            yield connection
        except psycopg.Error as error:
            # Lost, or cancelled by a recovery conflict: the next attempt goes to the primary.
            if connection_lost(error) or (error.sqlstate or "").startswith("40"):
                self._suspend("it broke off a read")
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
        self._resume()
        if connection is None:
            raise Behind
        return connection

    def diagnose(self) -> str:
        """Why the standby cannot be used now; '' where it can. Waits longer than a read would."""
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
        self._resume()
        return "" if far else f"it has not come to {position} yet"

    def _note(self, error: psycopg.Error | StoreError) -> None:
        """Suspends the standby for this error, unless a better reason is known already."""
        if time.monotonic() >= self._asked_again_at:
            known = error if isinstance(error, StoreError) else to_store_error(error, self.address)
            self._suspend(_without_address(known.message, self.address))

    def _suspend(self, why: str) -> None:
        self._asked_again_at = time.monotonic() + _SUSPENDED_S
        if why != self.trouble:
            self.trouble = why
            self._tell(f"reads go to the primary and not to {self.address}: {why}")

    def _resume(self) -> None:
        if self.trouble:
            self.trouble = ""
            self._tell(f"reads go to {self.address} again")

    def _tell(self, what: str) -> None:
        logger = logging.getLogger("holdfast.store")
        if not logger.handlers:
            # Only for programs that configure logging, not for every terminal.
            logger.addHandler(logging.NullHandler())
        logger.warning(what)

    def close(self) -> None:
        self._connections.close()


def _without_address(message: str, address: str) -> str:
    """The message with `it` in place of the address, which the sentence names already."""
    for named in (f"The PostgreSQL server of {address}", f"the server of {address}", address):
        message = re.sub(re.escape(named), "it", message, flags=re.IGNORECASE)
    return message.removesuffix(".")


def _number(position: str) -> int:
    """A position in the log as a number: two hexadecimal numbers of 32 bits."""
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
