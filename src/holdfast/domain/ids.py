"""Names for things that sort by the time they were made: `mem_…`, `hub_…`, `chg_…`."""

import os
import threading
from typing import Protocol

from holdfast.domain.clock import Clock, to_micros

# Crockford's alphabet in lower case: sorts like the numbers it writes, and has no i, l, o or u
# that a person could misread.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 11  # 55 bits of microseconds: good until the year 3111
_RANDOM_DIGITS = 9  # 45 bits: two processes in one microsecond do not collide in practice


class Ids(Protocol):
    """Makes identifiers; injected, so that a test can foresee them."""

    def next(self, prefix: str) -> str: ...


class TimeIds:
    """Identifiers from a clock and chance, strictly rising within a process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._lock = threading.Lock()

    def next(self, prefix: str) -> str:
        with self._lock:
            self._last = max(self._last + 1, to_micros(self._clock.now()))
            micros = self._last
        chance = int.from_bytes(os.urandom(6)) >> 3
        return f"{prefix}_{_digits(micros, _TIME_DIGITS)}{_digits(chance, _RANDOM_DIGITS)}"


def _digits(value: int, width: int) -> str:
    out = []
    for _ in range(width):
        out.append(_ALPHABET[value & 31])
        value >>= 5
    return "".join(reversed(out))
