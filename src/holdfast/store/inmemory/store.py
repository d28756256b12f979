"""The in-memory store: gives its state to readers, and replaces it with that of a writer."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import StoreClosed, StoreError
from holdfast.store.inmemory.reader import InMemoryReader
from holdfast.store.inmemory.state import State
from holdfast.store.inmemory.writer import InMemoryWriter
from holdfast.store.single_writer import StoreDefaults
from holdfast.store.values import Capability, Problem, Progress, Rescued

if TYPE_CHECKING:
    from holdfast.domain.access import Viewer
    from holdfast.store.base import Store


def open_store(url: str) -> Store:
    """A store that is gone when it is closed."""
    return InMemoryStore()


class InMemoryStore(StoreDefaults):
    """A store in this process's memory."""

    capabilities = frozenset({Capability.DEADLINES, Capability.SNAPSHOT, Capability.VECTORS})

    def __init__(self) -> None:
        self._state = State()
        self._lock = threading.RLock()
        self._writing = False
        self._closed = False

    def _ready(self) -> None:
        if self._closed:
            raise StoreClosed("The store is closed.", hint="Open it again with holdfast.open().")

    @contextmanager
    def read(
        self, *, deadline_s: float | None = None, viewer: Viewer | None = None
    ) -> Iterator[InMemoryReader]:
        self._ready()
        yield InMemoryReader(self._state, deadline_s, viewer)

    @contextmanager
    def write(
        self,
        *,
        durable: bool = True,
        viewer: Viewer | None = None,
        hub: str | None = None,
        wait: bool = True,
    ) -> Iterator[InMemoryWriter]:
        self._ready()
        with self._lock:
            self._ready()
            if self._writing:
                raise StoreError("A write was begun inside another write of the same thread.")
            self._writing = True
            try:
                state = self._state.copy()
                yield InMemoryWriter(state, viewer=viewer)
                self.keep(state)
                self._state = state
            finally:
                self._writing = False

    def keep(self, state: State) -> None:
        """Called with the state after a write, before anyone sees it. A store that extends this one
        saves it here; an error discards the write."""

    def check(self) -> list[Problem]:
        self._ready()
        out = []
        for hub in self._state.hubs.values():
            indexed = {passage.memory_id for passage in hub.passages.values()}
            for memory in hub.memories.values():
                if (memory.forgotten_at is None) != (memory.id in indexed):
                    what = f"the search index is wrong about memory #{memory.number}"
                    out.append(Problem(what, True, memory.id, hub.hub.id))
        return out

    def notes(self) -> list[str]:
        return []

    def rescue(self) -> Rescued:
        raise StoreError("A store in memory has nothing to be rescued from.")

    def settle(self) -> None:
        """Does nothing: removed rows are gone."""
        self._ready()

    def backup(self, path: str, progress: Progress | None = None) -> None:
        raise StoreError(
            "A store in memory has no file to back up.", hint="Use `export` to write it out."
        )

    def close(self) -> None:
        self._closed = True
