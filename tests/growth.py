"""How the time of something grows with a text, measured so that a busy machine does not count."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import thread_time

# The shortest of so many is what the work takes; the long text is tried again only where it took
# too long.
_TRIES = 2


def assert_time_grows(
    act: Callable[[str], object], short: str, long: str, *, allowed_s: Callable[[float], float]
) -> None:
    """It takes no longer for the long text than is allowed for what it takes for the short one."""
    # Collecting garbage takes as long as all that other tests have left behind.
    gc.disable()
    try:
        short_s = min(_seconds(act, short) for _ in range(_TRIES))
        long_s = float("inf")
        for _ in range(_TRIES):
            long_s = min(long_s, _seconds(act, long))
            if long_s < allowed_s(short_s):
                return
    finally:
        gc.enable()
    raise AssertionError(
        f"{len(short)} characters took {short_s:.4f} s, {len(long)} took {long_s:.4f} s"
    )


def _seconds(act: Callable[[str], object], text: str) -> float:
    # This thread's own time.
    began = thread_time()
    act(text)
    return thread_time() - began
