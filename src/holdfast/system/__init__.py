"""For every layer, access to the operating system and the network: atomic file writes
(`atomic_file`), and here pauses between attempts: exponential, with jitter. Everything that tries
again takes its pauses from here: servers of models, the client, locks of files, the stores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from holdfast.system.named_tuple import NamedTuple

T = TypeVar("T")

# Doubling more often than this changes nothing: the longest pause is reached long before.
_DOUBLINGS_MAX = 30


class Backoff(NamedTuple):
    """The first pause, the longest one, and how many attempts there are in all. With `jitter` a
    pause is between half and all of its length, so that those who failed together do not come back
    together."""

    first_s: float
    longest_s: float
    attempts: int = 1
    jitter: bool = True

    def pause_s(self, attempt: int) -> float:
        """The pause after an attempt, counted from 1; each is twice as long as the one before."""
        doubled: float = self.first_s * 2 ** min(attempt - 1, _DOUBLINGS_MAX)
        pause_s = min(self.longest_s, doubled)
        # A random byte; the module `random` takes longer to import than a pause lasts.
        return pause_s * (0.5 + os.urandom(1)[0] / 510) if self.jitter else pause_s

    def pauses(self, wait_s: float) -> Iterator[float]:
        """The pauses after each attempt, until the time is up."""
        ends = time.monotonic() + wait_s
        attempt = 1
        while time.monotonic() < ends:
            yield self.pause_s(attempt)
            attempt += 1


# For a server that serves models: one that fails three times in a row is down. The pauses are long
# enough for a proxy that restarts, and short for a person who waits.
MODEL_SERVER = Backoff(first_s=0.5, longest_s=2.0, attempts=3, jitter=False)


class Failed(NamedTuple):
    """An attempt that failed: why, whether another one may help, and how long to wait where the
    server said so."""

    fault: Any
    again: bool
    wait_s: float | None = None


def retry(
    attempt: Callable[[], T | Failed],
    backoff: Backoff,
    *,
    until: float,
    wait: Callable[[float], object] = time.sleep,
) -> tuple[T | Failed, int]:
    """The result of the last attempt, and how many there were. No attempt begins after `until`, a
    time of the monotonic clock."""
    number = 1
    while True:
        came = attempt()
        if not isinstance(came, Failed):
            return came, number
        pause_s = backoff.pause_s(number) if came.wait_s is None else came.wait_s
        late = time.monotonic() + pause_s >= until
        if late or not came.again or number == backoff.attempts:
            return came, number
        wait(pause_s)
        number += 1


def retry_after_s(header: str) -> float | None:
    """The seconds of a `Retry-After` header; None if it is a date or anything else."""
    text = header.strip()
    # Six digits are longer than anybody waits, however many there are.
    return float(text[:6]) if text.isascii() and text.isdigit() else None
