"""Values as JSON can hold them; the same for every command that shows one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_text
from holdfast.domain.codec import memory_to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.change import Change, Entry, Receipt
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit, Recalled


def plain_memory(memory: Memory, hub: str) -> dict[str, Any]:
    """A memory with all its fields, and the name of its hub."""
    return {"hub": hub, **memory_to_plain(memory)}


def plain_hit(hit: Hit, hub: str) -> dict[str, Any]:
    return {
        "memory": plain_memory(hit.memory, hub),
        "passage": {**hit.passage._asdict(), "headings": list(hit.passage.headings)},
        "score": hit.score,
        "why": list(hit.why),
        "parts": hit.parts,
    }


def plain_recalled(found: Recalled, hub: str) -> dict[str, Any]:
    return {
        "hits": [plain_hit(hit, hub) for hit in found],
        "degraded": list(found.degraded),
        "filtered": found.filtered,
        "left_out": [
            {"memory": plain_memory(item.memory, hub)}
            | {"reason": item.reason, "score": item.score}
            for item in found.left_out
        ],
    }


def plain_change(change: Change) -> dict[str, Any]:
    return {**change._asdict(), "at": to_text(change.at)}


def plain_entry(entry: Entry, hub: str) -> dict[str, Any]:
    from holdfast.domain.codec import fields_to_plain

    return {
        "version": entry.revision.version,
        "at": to_text(entry.revision.at),
        "change": plain_change(entry.change),
        "fields": fields_to_plain(entry.revision.fields),
        "memory": plain_memory(entry.after, hub),
    }


def plain_receipt(receipt: Receipt) -> dict[str, Any]:
    return {**receipt._asdict(), "at": to_text(receipt.at)}


def plain_hub(hub: Hub, *, used: str) -> dict[str, Any]:
    return {
        **hub._asdict(),
        "created_at": to_text(hub.created_at),
        "used": hub.name == used,
    }


def named(memories: Sequence[Memory]) -> str:
    """What a command takes to name these again: `12 13`."""
    return " ".join(str(memory.number) for memory in memories)
