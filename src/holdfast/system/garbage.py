"""Collecting garbage less often, while many objects are made that are kept."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# An import makes a batch of some thousand values before it lets go of any, and the collector, which
# looks at the newest objects after every 700, finds nothing to collect.
_OBJECTS = 50_000

_lock = threading.Lock()
_users = 0
_usual = (0, 0, 0)


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Raises the number of new objects after which this process collects garbage. A program that
    collects none, or more seldom than this, is left alone."""
    global _users, _usual
    with _lock:
        if not _users:
            _usual = gc.get_threshold()
            if 0 < _usual[0] < _OBJECTS:
                gc.set_threshold(_OBJECTS, *_usual[1:])
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            # The program may have set another one meanwhile.
            if not _users and gc.get_threshold()[0] == _OBJECTS:
                gc.set_threshold(*_usual)
