"""Long-term memory for AI agents: local, offline, nothing lost, everything can be undone.

import holdfast

with holdfast.open() as memory:
    hub = memory.hub()
    hub.remember("Prefers tabs over spaces")
    for hit in hub.recall("tabs or spaces?"):
        print(hit.memory.content)
"""

from __future__ import annotations

# As in `typing`, which takes 3 ms to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.agents.toolset import Reply, Toolset, tools
    from holdfast.api.asynchronous import AsyncHoldfast, AsyncHub, aopen
    from holdfast.api.hub import HubMemory
    from holdfast.api.memory import Holdfast, open
    from holdfast.client import Client, RemoteHub
    from holdfast.domain.change import Change, Entry, Receipt, Revision
    from holdfast.domain.hub import Hub, Statistics
    from holdfast.domain.memory import Draft, Memory, Origin
    from holdfast.domain.query import Hit, Page, Passage, Recalled
    from holdfast.domain.records import Turn
    from holdfast.domain.results import (
        Duplicate,
        LifecycleMove,
        LifecycleMoves,
        Quarantined,
        Remembered,
        Stored,
        Superseded,
        Updated,
        UsageRow,
    )
    from holdfast.errors import (
        AlreadyExists,
        CallCancelled,
        Conflict,
        DeadlineExceeded,
        EmbedderError,
        Forbidden,
        HoldfastError,
        HubFull,
        InvalidInput,
        InvalidSetting,
        ModelError,
        NotFound,
        ServerUnreachable,
        StoreBusy,
        StoreClosed,
        StoreDamaged,
        StoreError,
        StoreFull,
        StoreReadOnly,
        StoreTooNew,
        TooLarge,
    )

__version__ = "0.2.0"

# Where each public name lives. It is imported when it is first asked for: a hook that starts on
# every turn of an agent must not pay for what it does not use.
_PLACES = {
    "agents.toolset": "Reply Toolset tools",
    "client": "Client RemoteHub",
    "domain.change": "Change Entry Receipt Revision",
    "domain.hub": "Hub Statistics",
    "domain.memory": "Draft Memory Origin",
    "domain.query": "Hit Page Passage Recalled",
    "domain.results": "Duplicate LifecycleMove LifecycleMoves Quarantined Remembered Stored"
    " Superseded Updated UsageRow",
    "domain.records": "Turn",
    "errors": "AlreadyExists CallCancelled Conflict DeadlineExceeded EmbedderError Forbidden"
    " HoldfastError HubFull InvalidInput InvalidSetting ModelError NotFound ServerUnreachable"
    " StoreBusy StoreClosed StoreDamaged StoreError StoreFull StoreReadOnly StoreTooNew TooLarge",
    "api.asynchronous": "AsyncHoldfast AsyncHub aopen",
    "api.hub": "HubMemory",
    "api.memory": "Holdfast open",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    for module, names in _PLACES.items():
        if name in names.split():
            value = getattr(import_module(f"holdfast.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'holdfast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "AlreadyExists",
    "AsyncHoldfast",
    "AsyncHub",
    "CallCancelled",
    "Change",
    "Client",
    "Conflict",
    "DeadlineExceeded",
    "Draft",
    "Duplicate",
    "EmbedderError",
    "Entry",
    "Forbidden",
    "Hit",
    "Holdfast",
    "HoldfastError",
    "Hub",
    "HubFull",
    "HubMemory",
    "InvalidInput",
    "InvalidSetting",
    "LifecycleMove",
    "LifecycleMoves",
    "Memory",
    "ModelError",
    "NotFound",
    "Origin",
    "Page",
    "Passage",
    "Quarantined",
    "Recalled",
    "Receipt",
    "Remembered",
    "RemoteHub",
    "Reply",
    "Revision",
    "ServerUnreachable",
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
    "TooLarge",
    "Toolset",
    "Turn",
    "Updated",
    "UsageRow",
    "__version__",
    "aopen",
    "open",
    "tools",
]
