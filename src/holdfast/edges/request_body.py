"""Reading the body of a request whole, before anything works on it: up to a size, within a time,
and within a budget of memory that all bodies of one caller and of the server share."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message, Receive

# Bodies up to this size are read whatever the budget says: small calls go on while large ones wait.
SMALL_BYTES = 65_536


class BodyTooLarge(Exception):
    """The body has more bytes than it may have."""


class BodyTooSlow(Exception):
    """The body did not arrive in time."""


class BodyBudgetSpent(Exception):
    """Bodies that are arriving take all the memory there is for them."""


class BodyBudget:
    """Bytes of bodies in memory that have not been handed on yet."""

    def __init__(self, total: int, per_caller: int) -> None:
        self._total = total
        self._per_caller = per_caller
        self._held = Counter[str]()
        self._sum = 0

    def take(self, caller: str, size: int) -> None:
        """Counts bytes as held; BodyBudgetSpent where that is too much."""
        if self._sum + size > self._total or self._held[caller] + size > self._per_caller:
            raise BodyBudgetSpent
        self._sum += size
        self._held[caller] += size

    def give_back(self, caller: str, size: int) -> None:
        self._sum -= size
        self._held[caller] -= size
        if not self._held[caller]:
            del self._held[caller]


async def read_body(
    receive: Receive,
    *,
    bytes_max: int,
    seconds: float,
    budget: BodyBudget | None = None,
    caller: str = "",
) -> Receive:
    """Reads all messages of a body; returns a `receive` that yields them again, in one piece."""
    pieces: list[bytes] = []
    size = taken = 0
    last: Message = {"type": "http.request"}
    try:
        async with asyncio.timeout(seconds):
            while True:
                last = await receive()
                piece = last.get("body", b"")
                pieces.append(piece)
                size += len(piece)
                if size > bytes_max:
                    raise BodyTooLarge
                if budget is not None and size > SMALL_BYTES:
                    budget.take(caller, size - taken)
                    taken = size
                if last["type"] != "http.request" or not last.get("more_body", False):
                    break
    except TimeoutError:
        raise BodyTooSlow from None
    finally:
        if budget is not None and taken:
            budget.give_back(caller, taken)
    waiting: list[Message] = [{"type": "http.request", "body": b"".join(pieces)}]
    if last["type"] != "http.request":
        waiting = [last]

    async def replay() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return replay
