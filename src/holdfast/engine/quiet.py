"""Background work waits for a quiet moment.

Python runs one thread at a time and takes up to 5 ms to hand over to another, so a thread that
works while the program makes calls would slow each of them. Threads of the library therefore begin
a step only when no operation is running or has just ended. Work that has waited for some seconds,
or is hurried, waits no longer until all of it is done.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.core import Core

# The pause after the end of an operation: longer than a program takes between two calls, and too
# short for a person to notice.
QUIET_S = 0.05
# The pause after the beginning of an operation: background work does not wait longer for a slow
# one, such as an import.
CALL_S = 1.0
# Work is not delayed for longer: it would pile up in a program that makes calls all the time.
PUT_OFF_S = 5.0


class Quiet:
    """Tells one background thread when the library is idle, so that it may go on. Other threads ask
    for its work."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._hurried = threading.Event()
        self._late_at: float | None = None
        self._is_put_off = False

    def asked(self) -> None:
        """Called when there is work, before the thread is started or woken."""
        if self._late_at is None:
            self._is_put_off = True
            self._late_at = monotonic() + PUT_OFF_S

    def wait(self) -> None:
        """Called by the thread before each step; returns when the step may begin."""
        self._is_put_off = True
        late_at = self._late_at = self._late_at or monotonic() + PUT_OFF_S
        while not self._hurried.is_set():
            wait_s = min(self._core.quiet_at, late_at) - monotonic()
            if wait_s <= 0:
                break
            # An operation that ends meanwhile shortens the wait.
            self._hurried.wait(min(wait_s, QUIET_S))
        self._is_put_off = False

    def done(self) -> None:
        """Called by the thread when nothing is left to do."""
        self._late_at = None
        self._is_put_off = False
        self._hurried.clear()

    def hurry(self) -> bool:
        """Suspends the waiting until all work is done; returns whether work was delayed."""
        if self._late_at is not None:
            self._hurried.set()
        return self._is_put_off
