"""Another attempt at an operation whose store was lost under it, where nothing of it was written.

A transaction cannot be run again by the store: it is a `with` block of somebody else's. An
operation can, because it is a function; and it may be, if none of its transactions was committed.
That is counted here, for each thread. How a store is lost and found is the store's business: its
error says whether another attempt may help (`again`), and whether there is time for one (`late`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from holdfast.errors import StoreError

T = TypeVar("T")

# No attempt at a read begins after so long. A store that is gone is waited for in the attempt
# itself, so a caller waits for about twice as long at most.
_BEGUN_WITHIN_S = 15.0
# What is written is waited for longer: a cluster that has lost its primary chooses another only
# when the lease of the lost one is over, which takes 20 to 30 seconds.
_WRITES_BEGUN_WITHIN_S = 30.0
# A fixed pause, as the store itself backs off while it is away. It only keeps two operations that
# were in each other's way from meeting again at once.
_NAP_S = 0.05

_MINE = threading.local()


def note_commit() -> None:
    """Told by whoever has just committed a transaction in this thread."""
    _MINE.commits = _commits() + 1


def _commits() -> int:
    return getattr(_MINE, "commits", 0)


def persist(work: Callable[[], T], *, writes: bool = False) -> T:
    """What `work` returns, done again as long as the store was lost before it wrote anything."""
    ends = time.monotonic() + (_WRITES_BEGUN_WITHIN_S if writes else _BEGUN_WITHIN_S)
    while True:
        before = _commits()
        try:
            return work()
        except StoreError as error:
            if not error.again or error.late:
                raise
            if _commits() != before:
                error.again = False
                error.command = ""
                error.hint = "A part of it was written before; look before you do it again."
                raise
            if time.monotonic() > ends:
                raise
        time.sleep(_NAP_S)
