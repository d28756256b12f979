"""The review inbox over REST: what waits for a person, and what they say of it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.domain.review import Item
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory
from holdfast.edges.http.shapes import Many, ManyMemories, MemoryOut, One, Told

router = APIRouter(prefix="/review", tags=["review"])

# More than anybody looks at one by one; `every` takes all of them.
_REFERENCES_MAX = 1_000
_ITEMS_MAX = 1_000


class Chosen(Body):
    """Which items are meant: those named, or all of them, of a kind, from a source."""

    references: list[str] = Field(default=[], max_length=_REFERENCES_MAX)
    every: bool = False
    kind: str | None = None
    source: str | None = None
    reason: str = ""


class Approval(Chosen):
    """With another text for one item; with `keep_both`, nothing is replaced."""

    text: str | None = None
    keep_both: bool = False


class ItemOut(Told):
    """Something that waits: why, what approving it would replace, and when it goes by itself."""

    memory: MemoryOut
    kind: str
    why: str
    about: MemoryOut | None
    expires_at: str


class CountOut(Told):
    count: int


@router.get("", response_model=Many[ItemOut])
def review(
    call: Calling,
    kind: str | None = None,
    source: str | None = None,
    limit: Annotated[int | None, Query(ge=1, le=_ITEMS_MAX)] = None,
) -> Any:
    """What is kept and hidden until a person has looked at it, oldest first."""
    found = call.hub().review(kind=kind, source=source, limit=limit)
    return {"data": [_plain(item) for item in found]}


@router.get("/count", response_model=One[CountOut])
def review_count(call: Calling) -> Any:
    """How many items wait."""
    return {"data": {"count": call.hub().review_count()}}


@router.post("/approve", response_model=ManyMemories)
def approve(call: Calling, what: Approval, response: Response, key: IdempotencyKey = None) -> Any:
    """Shows items, as one change set; answers with the memories that say it now."""

    def work() -> tuple[int, Any]:
        done = call.hub("write").approve(**what.model_dump())
        return 200, {"data": [plain_memory(memory) for memory in done]}

    return once(call, key, what, response, work)


@router.post("/reject", response_model=ManyMemories)
def reject(call: Calling, what: Chosen, response: Response, key: IdempotencyKey = None) -> Any:
    """Archives items, hidden as they are, as one change set."""

    def work() -> tuple[int, Any]:
        done = call.hub("write").reject(**what.model_dump())
        return 200, {"data": [plain_memory(memory) for memory in done]}

    return once(call, key, what, response, work)


def _plain(item: Item) -> dict[str, Any]:
    return {
        "memory": plain_memory(item.memory),
        "kind": item.kind,
        "why": item.why,
        "about": None if item.about is None else plain_memory(item.about),
        "expires_at": item.expires_at.isoformat(),
    }
