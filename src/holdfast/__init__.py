"""Long-term memory for AI agents: local, offline, nothing lost, everything can be undone.

import holdfast

with holdfast.open() as memory:
    hub = memory.hub()
    hub.remember("Prefers tabs over spaces")
    for hit in hub.recall("tabs or spaces?"):
        print(hit.memory.content)
"""

from __future__ import annotations

from holdfast.domain.change import Change, Entry, Receipt, Revision
from holdfast.domain.draft import Draft
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit, Page, Passage, Recalled
from holdfast.domain.results import (
    Duplicate,
    LifecycleMove,
    Quarantined,
    Remembered,
    Stored,
    Superseded,
    Updated,
)
from holdfast.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    EmbedderError,
    HoldfastError,
    InvalidInput,
    InvalidSetting,
    NotFound,
    StoreBusy,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
)
from holdfast.library import Holdfast, HubMemory, open

__version__ = "0.1.0"

__all__ = [
    "AlreadyExists",
    "Change",
    "Conflict",
    "DeadlineExceeded",
    "Draft",
    "Duplicate",
    "EmbedderError",
    "Entry",
    "Hit",
    "Holdfast",
    "HoldfastError",
    "Hub",
    "HubMemory",
    "InvalidInput",
    "InvalidSetting",
    "LifecycleMove",
    "Memory",
    "NotFound",
    "Page",
    "Passage",
    "Quarantined",
    "Recalled",
    "Receipt",
    "Remembered",
    "Revision",
    "Statistics",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreFull",
    "StoreReadOnly",
    "StoreTooNew",
    "Stored",
    "Superseded",
    "Updated",
    "__version__",
    "open",
]
