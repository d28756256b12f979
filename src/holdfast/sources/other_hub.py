"""A hub of another Holdfast, or another hub of this one, as a source. Its store is opened for
reading only: nothing is counted, migrated or taken in there.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.domain.hub import DEFAULT_HUB
from holdfast.domain.query import Filter
from holdfast.engine.core import Scope
from holdfast.engine.hubs import find_hub
from holdfast.engine.reading.recall import recall_memories
from holdfast.errors import EmbedderError, NotFound
from holdfast.sources.registry import Excerpt, Excerpts
from holdfast.wiring import build_for_reading

if TYPE_CHECKING:
    from holdfast.engine.core import Core


class HoldfastSource:
    """One hub below one home folder. The caller provides the clock and the embedding model."""

    primary = False

    def __init__(
        self,
        name: str,
        home: str,
        hub: str,
        *,
        asking: Core,
        asking_hub: str,
    ) -> None:
        self.name = name
        self.home = home
        self.hub = hub or DEFAULT_HUB
        self._asking = asking
        self._asking_hub = asking_hub
        self._core: Core | None = None
        self._is_loaded = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<source {self.name}: hub {self.hub} of {self.home}>"

    @property
    def place(self) -> str:
        return f"{self.home}#{self.hub}"

    def prepare(self) -> None:
        """Opens the store and loads the caller's embedding model."""
        embedder = self._opened().embedder
        if embedder is not None and not self._is_loaded:
            self._is_loaded = True
            with suppress(EmbedderError):  # `search` says what is missing.
                embedder.embed_query("a")

    def search(self, query: str, limit: int) -> Excerpts:
        """What recall finds there, best first."""
        core = self._opened()
        hub = find_hub(core, self.hub)
        if hub.id == self._asking_hub and self._is_own(core):
            # It was asked already, as the primary memory.
            return Excerpts()
        meaning = core.embedder is not None
        found = recall_memories(
            Scope(core, hub.id, hub.name), query, Filter(), limit=limit, meaning=meaning, plain=True
        )
        excerpts = [
            Excerpt(
                hit.passage.text,
                f"#{hit.memory.number} of hub {hub.name}",
                hit.memory.occurred_at or hit.memory.created_at,
            )
            for hit in found
        ]
        return Excerpts(excerpts, [f"it may miss something: {why}." for why in found.degraded])

    def state(self) -> str:
        """What is in it, in a few words."""
        core = self._opened()
        hub = find_hub(core, self.hub)
        with core.read() as reader:
            count = reader.statistics(hub.id).visible
        return "1 memory." if count == 1 else f"{count:,} memories."

    def close(self) -> None:
        with self._lock:
            if self._core is not None:
                self._core.store.close()
                self._core = None

    def _opened(self) -> Core:
        with self._lock:
            if self._core is None:
                if not os.path.isdir(self.home):
                    raise NotFound(f"There is no folder {self.home}.", hint="Check the name.")
                asking = self._asking
                self._core = build_for_reading(
                    self.home,
                    actor=asking.actor,
                    clock=asking.clock,
                    find_embedder=lambda: asking.embedder,
                )
            return self._core

    def _is_own(self, core: Core) -> bool:
        """Whether it is the caller's own store; a copy of it is another one."""
        own, this = (getattr(one.store, "path", "") for one in (self._asking, core))
        if own and this:
            return os.path.exists(own) and os.path.samefile(own, this)
        own, this = (getattr(one.store, "address", "") for one in (self._asking, core))
        return bool(own) and own == this
