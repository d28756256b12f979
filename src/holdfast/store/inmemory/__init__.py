"""The store contract in plain Python: the reference that tests compare other stores with.

A write copies the state, changes the copy and replaces the state at the end, so that a reader's
snapshot is the state it started with. Each write takes time in proportion to the whole store, which
is right for a reference and for tests, and wrong for anything large.
"""

from __future__ import annotations

from holdfast.store.inmemory.reader import HubContents, IndexedPassage, InMemoryReader, State
from holdfast.store.inmemory.store import InMemoryStore, InMemoryWriter, open_store

__all__ = [
    "HubContents",
    "InMemoryReader",
    "InMemoryStore",
    "InMemoryWriter",
    "IndexedPassage",
    "State",
    "open_store",
]
