"""Memories in the form of mem0's `get_all` and of its export."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import md5
from typing import Any

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.exporters import Exporter

_IDS = ("user_id", "agent_id", "run_id", "role", "actor_id")


def _mem0(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    yield "", '{"results": ['
    before = "\n"
    for memory in memories:
        yield "", before + json.dumps(item(memory, hub), ensure_ascii=False)
        before = ",\n"
    yield "", "\n]}\n"


def item(memory: Memory, hub: str) -> dict[str, Any]:
    """One entry. What came from mem0 has its id, ids and metadata of there again."""
    metadata = dict(memory.metadata)
    origin = metadata.pop("imported", {})
    own = metadata.pop("mem0", None)
    from_mem0 = isinstance(origin, dict) and origin.get("from") == "mem0"
    ids = {name: metadata.pop(name) for name in _IDS if metadata.get(name)}
    if not {"user_id", "agent_id", "run_id"} & ids.keys():
        # mem0 keeps nothing that is nobody's.
        ids["user_id"] = hub
    given = {**metadata, **(own if isinstance(own, dict) else {})}
    created = memory.occurred_at or memory.valid_from or memory.created_at
    return {
        "id": origin["id"] if from_mem0 else memory.id,
        "memory": memory.content,
        # The hash that mem0 compares texts by.
        "hash": md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": given or None,
        "categories": list(memory.tags) or None,
        "created_at": to_text(created),
        "updated_at": to_text(memory.updated_at),
        **ids,
    }


MEM0 = Exporter("mem0", "JSON as mem0's get_all answers", _mem0)
