"""Time and chance held still, and a memory opened with them."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.api.memory import Holdfast
    from holdfast.domain.clock import Clock
    from holdfast.domain.ids import Ids
    from holdfast.embed.base import Embedder
    from holdfast.llm.base import Model
    from holdfast.store.base import Store

# A Wednesday, at noon, far from any change of the clocks.
START = datetime(2026, 1, 14, 12, tzinfo=UTC)


class FixedClock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def now(self) -> datetime:
        return self._now

    def tick(self, **span: float) -> datetime:
        """Moves on by a second, or by days, hours, minutes …; returns the new time."""
        self._now += timedelta(**(span or {"seconds": 1}))
        return self._now


class CountedIds:
    """Identifiers that count up for each prefix: `mem_00000001`, `mem_00000002`, …"""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, prefix: str) -> str:
        with self._lock:
            self._last[prefix] = self._last.get(prefix, 0) + 1
            return f"{prefix}_{self._last[prefix]:08d}"


def open_for_tests(
    where: str | os.PathLike[str],
    *,
    store: Store | None = None,
    clock: Clock | None = None,
    ids: Ids | None = None,
    embedder: Embedder | None = None,
    model: Model | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Holdfast:
    """A memory in a folder, with a clock that stands still, counted ids and no models.

    Whatever is handed in takes the place of these.
    """
    from holdfast.api.memory import open as open_memory

    held = {"actor": "tester", "embed.model": "none", "time_zone": "UTC"}
    return open_memory(
        where,
        store=store,
        clock=clock or FixedClock(),
        ids=ids or CountedIds(),
        embedder=embedder,
        model=model,
        settings={**held, **(settings or {})},
    )
