"""Change sets over REST: what they are, what they touched, and taking them back; what was purged,
and the whole hub as lines."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.idempotency import IdempotencyKey, once
from holdfast.edges.http.line_stream import stream_lines
from holdfast.edges.http.shapes import (
    ChangeOut,
    Many,
    MemoryOut,
    One,
    ReceiptOut,
    UndoneOut,
)
from holdfast.edges.http.to_json import plain_change, plain_memory, plain_receipt

router = APIRouter(tags=["changes"])


@router.get("/changes", response_model=Many[ChangeOut])
def changes(
    call: Calling, limit: Annotated[int, Query(ge=1, le=200)] = 50, before: str | None = None
) -> Any:
    """Change sets, newest first."""
    found = call.hub().changes(limit=limit, before=before)
    return {"data": [plain_change(change) for change in found]}


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


class Undo(
    body_of(HubMemory.undo)  # type: ignore[misc]
):
    """Which change set to take back; none: the last one."""


@router.post("/undo", response_model=One[UndoneOut])
def undo(call: Calling, what: Undo, response: Response, key: IdempotencyKey = None) -> Any:
    """Takes back a change set; undoing an undo brings it back."""

    def work() -> tuple[int, Any]:
        undone = call.hub("write").undo(what.change, force=what.force)
        data = {
            "change": plain_change(undone.change),
            "undone": plain_change(undone.undone),
            "memories": [plain_memory(memory) for memory in undone.memories],
        }
        return 200, {"data": data}

    return once(call, key, what, response, work)


@router.get("/receipts", response_model=Many[ReceiptOut])
def receipts(call: Calling) -> Any:
    """What was purged, for members; nothing of what it said, and why only to who did it."""
    return {"data": [plain_receipt(receipt) for receipt in call.hub_of_members().receipts()]}


@router.get("/export", response_class=StreamingResponse)
def export(call: Calling) -> StreamingResponse:
    """The hub as lines of JSON, as far as the caller may see it; for its members."""
    return stream_lines(call.request, call.hub_of_members(lasting=True).export())
