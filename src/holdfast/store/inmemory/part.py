"""What each part of a reader stands on: a hub as its viewer sees it, and the time that is left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.domain.clock import EPOCH
from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory
from holdfast.domain.names import NOBODY
from holdfast.errors import DeadlineExceeded
from holdfast.store.inmemory.state import HubContents, State

if TYPE_CHECKING:
    from holdfast.domain.viewer import Viewer


class Part:
    """One state, which no write changes any more, for one viewer."""

    def __init__(
        self, state: State, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> None:
        self._state = state
        self._viewer = viewer
        self._seconds = deadline_s
        self._ends = None if deadline_s is None else time.monotonic() + deadline_s

    def _in_time(self) -> None:
        if self._ends is not None and time.monotonic() > self._ends:
            raise DeadlineExceeded(
                f"The read was stopped after {self._seconds:g} s; this is not an empty answer.",
                hint="Narrow the query, or raise recall.deadline_s.",
            )

    def _whole(self, hub_id: str) -> HubContents:
        """The hub as it is."""
        self._in_time()
        hub = self._state.hubs.get(hub_id)
        return HubContents(Hub(hub_id, "", NOBODY, EPOCH)) if hub is None else hub

    def _hub(self, hub_id: str) -> HubContents:
        """The hub as the viewer sees it."""
        hub = self._whole(hub_id)
        return hub if self._viewer is None else hub.seen_by(self._viewer)

    def _ordered(self, hub_id: str) -> list[Memory]:
        return sorted(self._hub(hub_id).memories.values(), key=lambda memory: memory.number)
