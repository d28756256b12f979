"""Work on one connection that goes on while its owner does something else.

Sending many rows is mostly waiting for the server, and the processor is free to make the next ones
ready. One thread does what it is given, in order; whoever wants the connection waits for it first
(session.py), so that there is never more than one at it. Knows nothing of rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

from holdfast.store.postgres.faults import passed_over

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

# A server that is there hears at once that it should stop. Of one that is not, the connection
# itself finds out (answering.py).
_CANCEL_S = 5.0


class Meanwhile:
    """What one transaction has under way."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._pool: ThreadPoolExecutor | None = None
        self._last: Future[None] | None = None
        self._error: BaseException | None = None
        self._told = self._stopped = False
        self._thread = 0

    def do(self, act: Callable[[], None]) -> None:
        """Has this done after what is under way; what goes wrong is raised by `wait`."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, thread_name_prefix="holdfast-sending")
        self._last = self._pool.submit(self._do, act)

    def _do(self, act: Callable[[], None]) -> None:
        # After a fault the transaction is void, and nothing else of it is sent.
        if self._error is not None or self._stopped:
            return
        self._thread = threading.get_ident()
        try:
            act()
        except BaseException as error:
            self._error = error
            raise

    def is_here(self) -> bool:
        """Whether it is this work that asks."""
        return self._thread == threading.get_ident()

    def wait(self) -> None:
        """Until all of it is done; raises what went wrong, and whoever passes that over is refused
        from then on."""
        last = self._last
        if last is not None:
            last.exception()
            self._last = None
        if self._error is not None:
            if self._told:
                raise passed_over()
            self._told = True
            raise self._error

    def end(self) -> None:
        """Waits for all of it, and lets the thread go."""
        self.wait()
        if self._pool is not None:
            self._pool.shutdown()

    def stop(self) -> None:
        """Does not wait for what the server would still do: the transaction is given up."""
        self._stopped = True
        if self._pool is None:
            return
        if self._last is not None and not self._last.done():
            with suppress(psycopg.Error):
                self._connection.cancel_safe(timeout=_CANCEL_S)
        self._pool.shutdown()
