"""The past of a hub over REST: what differs between versions, what a change touched, what was
purged, and the whole hub as lines."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import Field

from holdfast.domain.records import field_to_plain
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.line_stream import stream_lines
from holdfast.edges.http.plain import plain_memory, plain_receipt
from holdfast.edges.http.shapes import DiffOut, Many, MemoryOut, One, ReceiptOut

router = APIRouter(tags=["past"])


@router.get("/memories/{memory_id}/diff", response_model=Many[DiffOut])
def diff(
    call: Calling,
    memory_id: str,
    old: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
    new: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
) -> Any:
    """What differs between two versions; by default the last change."""
    found = call.hub().diff(memory_id, old=old, new=new)
    return {
        "data": [
            {
                "field": one.field,
                "old": field_to_plain(one.field, one.old),
                "new": field_to_plain(one.field, one.new),
                "lines": list(one.lines),
            }
            for one in found
        ]
    }


class Changes(Body):
    """Change sets, by id."""

    changes: list[str] = Field(max_length=200)


@router.post("/changes/touched", response_model=One[dict[str, list[MemoryOut]]])
def touched(call: Calling, asked: Changes) -> Any:
    """The memories that each change set touched, as they are now."""
    found = call.hub().touched(asked.changes)
    return {
        "data": {
            change: [plain_memory(memory) for memory in memories]
            for change, memories in found.items()
        }
    }


@router.get("/receipts", response_model=Many[ReceiptOut])
def receipts(call: Calling) -> Any:
    """What was purged, for members; nothing of what it said, and why only to who did it."""
    return {"data": [plain_receipt(receipt) for receipt in call.hub_of_members().receipts()]}


@router.get("/export", response_class=StreamingResponse)
def export(call: Calling) -> StreamingResponse:
    """The hub as lines of JSON, as far as the one who asks may see it; for its members."""
    return stream_lines(call.request, call.hub_of_members(lasting=True).export())
