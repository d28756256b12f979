"""Making the next thing ready while the one before is being written: a store that is waited for
leaves the processor free."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Raw = TypeVar("Raw")
Ready = TypeVar("Ready")


def ahead(make: Callable[[Raw], Ready], raw: Iterable[Raw]) -> Iterator[Ready]:
    """Each of them made ready, in order. `make` runs in a thread of its own, one step ahead of who
    takes what is ready; what is raw is taken from where it comes in the caller's own thread."""
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="holdfast-ahead") as pool:
        before: Future[Ready] | None = None
        for one in raw:
            coming = pool.submit(make, one)
            if before is not None:
                yield before.result()
            before = coming
        if before is not None:
            yield before.result()
