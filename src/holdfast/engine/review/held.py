"""Which memories an operation left waiting for review, so that every edge can say so.

The memory rows are the truth; this log only carries the news from the engine to whoever answers
the caller, however deep in the operation a memory was held.
"""

from __future__ import annotations

import threading

from holdfast.domain.memory import Memory
from holdfast.domain.review import AWAITS


class HeldLog:
    """Collects held memories for each thread until `take` is called."""

    def __init__(self) -> None:
        self._mine = threading.local()

    def note(self, memory: Memory) -> None:
        """Notes a memory that is held; a question for a person has a list of its own."""
        if memory.quarantine and memory.quarantine != AWAITS:
            self._held()[memory.id] = memory

    def take(self) -> list[Memory]:
        """The memories that this thread has noted since the last call, each once."""
        held = list(self._held().values())
        self._mine.held = {}
        return held

    def _held(self) -> dict[str, Memory]:
        held: dict[str, Memory] | None = getattr(self._mine, "held", None)
        if held is None:
            held = self._mine.held = {}
        return held
