"""Memories over REST: take in, read, find, change, take back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from holdfast.domain.results import Duplicate, Updated
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Calling
from holdfast.edges.http.plain import plain_memory

router = APIRouter(prefix="/memories", tags=["memories"])


class NewMemory(BaseModel):
    """A memory to be taken in."""

    content: str | None = None
    title: str | None = None
    key: str | None = None
    category: str | None = None
    tags: list[str] | None = None
    kind: str | None = None
    stability: str | None = None
    boundary: str | None = None
    content_type: str | None = None
    source_path: str | None = None
    pinned: bool = False


@router.post("")
def push(call: Calling, new: NewMemory, response: Response) -> dict[str, Any]:
    """Takes a memory in: 201 where it is new, 200 where it was there or is a new version."""
    if not (new.content or "").strip():
        raise Refused(400, "missing_content", "There is no content.", hint="Send `content`.")
    fields = new.model_dump(exclude={"content"})
    result = call.hub("write").remember(new.content or "", source="api", **fields)
    response.status_code = 200 if isinstance(result, Duplicate | Updated) else 201
    return {"data": plain_memory(result.memory)}


@router.get("/{memory_id}")
def get(call: Calling, memory_id: str) -> dict[str, Any]:
    """One memory by id, number or key."""
    return {"data": plain_memory(call.hub().get(memory_id))}
