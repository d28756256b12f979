"""Values of the domain as JSON for clients: memories, hits, hubs. The fields of a memory are those
of the library, times in ISO 8601 with UTC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.codec import memory_to_plain

if TYPE_CHECKING:
    from holdfast.domain.access import Standing
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit


def plain_memory(memory: Memory) -> dict[str, Any]:
    return memory_to_plain(memory)


def plain_hit(hit: Hit) -> dict[str, Any]:
    return {
        "memory": plain_memory(hit.memory),
        "passage": {
            "text": hit.passage.text,
            "start": hit.passage.start,
            "end": hit.passage.end,
            "headings": list(hit.passage.headings),
        },
        "score": hit.score,
        "why": list(hit.why),
    }


def plain_hub(hub: Hub, standing: Standing) -> dict[str, Any]:
    return {
        "id": hub.id,
        "name": hub.name,
        "owner": hub.owner,
        "created_at": hub.created_at.isoformat(),
        "role": standing.role,
        "delete_policy": standing.delete_policy,
    }
