"""Values of the domain as JSON for clients: memories, hits, hubs; and a version as an ETag.

The fields of a memory are those of the library, times in ISO 8601 with UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.records import fields_to_plain, memory_to_plain

if TYPE_CHECKING:
    from holdfast.domain.access import Invite, Member, Standing
    from holdfast.domain.change import Change, Entry, Receipt
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.domain.query import Hit, Recalled
    from holdfast.domain.records import Turn
    from holdfast.domain.results import Remembered


def plain_memory(memory: Memory) -> dict[str, Any]:
    return {**memory_to_plain(memory), "owner_id": memory.owner_id}


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
        "probability": hit.probability,
        "why": list(hit.why),
        "parts": hit.parts,
        "turn": None if hit.turn is None else plain_turn(hit.turn),
        "around": [plain_turn(turn) for turn in hit.around],
    }


def plain_turn(turn: Turn) -> dict[str, Any]:
    return {**turn._asdict(), "at": turn.at.isoformat()}


def plain_recalled(found: Recalled) -> dict[str, Any]:
    return {
        "data": [plain_hit(hit) for hit in found],
        "confidence": found.confidence,
        "degraded": list(found.degraded),
        "filtered": found.filtered,
        "left_out": [
            {"memory": plain_memory(one.memory), "reason": one.reason, "score": one.score}
            for one in found.left_out
        ],
    }


def plain_result(result: Remembered) -> dict[str, Any]:
    """What became of a memory that was sent, beside the memory itself."""
    previous, close = getattr(result, "previous", None), getattr(result, "close_to", None)
    return {
        "data": plain_memory(result.memory),
        "result": type(result).__name__.lower(),
        "change": getattr(result, "change", None),
        "previous": None if previous is None else plain_memory(previous),
        "close_to": None if close is None else plain_memory(close),
        "reason": getattr(result, "reason", None),
    }


def plain_receipt(receipt: Receipt) -> dict[str, Any]:
    return {**receipt._asdict(), "at": receipt.at.isoformat()}


def etag(memory: Memory) -> str:
    """A memory's version, as HTTP names versions."""
    return f'"{memory.version}"'


def plain_entry(entry: Entry) -> dict[str, Any]:
    return {
        "version": entry.after.version,
        "at": entry.revision.at.isoformat(),
        "change": plain_change(entry.change),
        "fields": sorted(entry.revision.fields),
        "changed": fields_to_plain(entry.revision.fields),
        "sequence": entry.revision.sequence,
        "memory": plain_memory(entry.after),
    }


def plain_change(change: Change) -> dict[str, Any]:
    return {
        "id": change.id,
        "hub_id": change.hub_id,
        "at": change.at.isoformat(),
        "actor": change.actor,
        "action": change.action,
        "reason": change.reason,
        "undoes": change.undoes,
        "undone_by": change.undone_by,
    }


def plain_hub(hub: Hub, standing: Standing) -> dict[str, Any]:
    return {
        "id": hub.id,
        "name": hub.called,
        "owner": hub.owner,
        "created_at": hub.created_at.isoformat(),
        "role": standing.role,
        "delete_policy": standing.delete_policy,
    }


def plain_member(member: Member) -> dict[str, Any]:
    return {**member._asdict(), "since": member.since.isoformat()}


def plain_invite(invite: Invite) -> dict[str, Any]:
    return {
        "id": invite.id,
        "role": invite.role,
        "invited_by": invite.invited_by,
        "created_at": invite.at.isoformat(),
        "expires_at": invite.expires_at.isoformat(),
        "used_at": None if invite.used_at is None else invite.used_at.isoformat(),
        "used_by": invite.used_by,
    }
