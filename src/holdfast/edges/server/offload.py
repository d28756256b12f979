"""The one bridge from async edges to the synchronous core: a call runs in one of a bounded number
of threads, what it reports comes back as progress, and a cancelled caller reaches it.

It handles threads and cancellation only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias, TypeVar

import anyio
from anyio import CapacityLimiter, from_thread, to_thread

from holdfast.errors import CallCancelled

# The store has one writer and a few readers: more threads would only wait for each other, and each
# keeps a model's working memory.
THREADS_MAX = 8
# A person sees ten steps a second as movement; more would only cost messages.
_PAUSE_S = 0.1

T = TypeVar("T")
Report: TypeAlias = Callable[[int, int | None, str], None]
Send: TypeAlias = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]


class Offload:
    """Threads for the calls that an asynchronous server makes to the synchronous core."""

    def __init__(self, threads_max: int = THREADS_MAX) -> None:
        self._limiter = CapacityLimiter(threads_max)

    async def run(self, work: Callable[[Report], T], *, send: Send | None = None) -> T:
        """Runs `work` in a thread and returns its result. `send` gets its progress.

        If the waiting task is cancelled, the next report of `work` raises CallCancelled, and this
        waits until `work` has ended, so that no write goes on in a server that seems idle.
        """
        report = _reporter(send, anyio.get_cancelled_exc_class())
        try:
            return await to_thread.run_sync(work, report, limiter=self._limiter)
        except CallCancelled:
            # It stopped because this task was cancelled, which now takes its course.
            await anyio.lowlevel.checkpoint_if_cancelled()
            raise


def _reporter(send: Send | None, cancelled: type[BaseException]) -> Report:
    """The object that `work` reports to, in its own thread."""
    sent_at = float("-inf")

    def report(done: int, total: int | None = None, note: str = "") -> None:
        nonlocal sent_at
        try:
            from_thread.check_cancelled()
            last = total is not None and done >= total
            if send is not None and (last or time.monotonic() - sent_at >= _PAUSE_S):
                sent_at = time.monotonic()
                from_thread.run(send, done, total, note or None)
        except cancelled:
            raise CallCancelled("The call was cancelled by the one who made it.") from None

    return report
