"""The contract in plain Python: the model that tests hold other stores against.

A write copies the state, changes the copy and puts it in place at the end, so a reader's snapshot
is simply the state it started with. That costs time in proportion to the store at every write:
right for a model and for tests, wrong for anything large.
"""

from __future__ import annotations

from holdfast.store.inmemory.reader import InMemoryReader
from holdfast.store.inmemory.state import HubContents, IndexedPassage, State
from holdfast.store.inmemory.store import InMemoryStore, open_store
from holdfast.store.inmemory.writer import InMemoryWriter

__all__ = [
    "HubContents",
    "InMemoryReader",
    "InMemoryStore",
    "InMemoryWriter",
    "IndexedPassage",
    "State",
    "open_store",
]
