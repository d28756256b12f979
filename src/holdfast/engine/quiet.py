"""Background work waits for a quiet moment.

Python runs one thread at a time and takes up to 5 ms to hand over to another, so a thread that
works while the program makes calls would slow each of them. Threads of the library therefore begin
a step only when no operation is under way or has just ended. What has waited for some seconds, or
is hurried, does not wait any longer, until all of it is done.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.engine.core import Core

# After the end of an operation: longer than a program takes from one call to the next, and too
# short for a person to notice.
QUIET_S = 0.05
# After its beginning: background work does not wait longer for one that takes its time, such as an
# import.
CALL_S = 1.0
# Work is not put off for longer: a program that makes calls all the time would let it pile up.
PUT_OFF_S = 5.0


class Quiet:
    """Tells one background thread when to go on. Its work is asked for by other threads."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._hurried = threading.Event()
        self._late_at: float | None = None
        self._is_put_off = False

    def asked(self) -> None:
        """Called when there is work, before the thread is begun or woken."""
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
            # Operations that end meanwhile make the moment come sooner.
            self._hurried.wait(min(wait_s, QUIET_S))
        self._is_put_off = False

    def done(self) -> None:
        """Called by the thread when nothing is left to do."""
        self._late_at = None
        self._is_put_off = False
        self._hurried.clear()

    def hurry(self) -> bool:
        """Ends the waiting until all is done; returns whether work was put off."""
        if self._late_at is not None:
            self._hurried.set()
        return self._is_put_off
