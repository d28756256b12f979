"""Several memories at once over REST, and what needs no more than a name: pin, find, scan. What a
batch does, it does as a whole, as one change set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.domain.memory import Memory
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.memories import Batch, NewMemory
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory, plain_result
from holdfast.edges.http.shapes import ManyMemories, ManyPushed, OneMemory

router = APIRouter(prefix="/memories", tags=["memories"])

# As many as one transaction may take without others noticing; the size of the body is bounded too.
_PUSH_MAX = 500
_SCAN_MAX = 500


class Pushes(Body):
    """Memories to be taken in, all of them or none; `first_is_parent`: the others are its parts."""

    items: list[NewMemory] = Field(max_length=_PUSH_MAX)
    first_is_parent: bool = False


@router.post("/batch", response_model=ManyPushed)
def push_many(call: Calling, pushes: Pushes, response: Response, key: IdempotencyKey = None) -> Any:
    """Takes in all of them or none, as one change set."""

    def work() -> tuple[int, Any]:
        results = call.hub("write").remember_many(
            [item.fields() for item in pushes.items], first_is_parent=pushes.first_is_parent
        )
        return 200, {"data": [plain_result(result) for result in results]}

    return once(call, key, pushes, response, work, harmless=True)


@router.post("/batch-forget", response_model=ManyMemories)
def forget_many(call: Calling, batch: Batch, response: Response, key: IdempotencyKey = None) -> Any:
    """Hides several, or none of them; a restore brings them back."""
    return _on_all(call, batch, response, key, lambda: call.hub().forget_many)


@router.post("/batch-restore", response_model=ManyMemories)
def restore_many(
    call: Calling, batch: Batch, response: Response, key: IdempotencyKey = None
) -> Any:
    """Brings several back, or none of them."""
    return _on_all(call, batch, response, key, lambda: call.hub("write").restore_many)


@router.post("/batch-archive", response_model=ManyMemories)
def archive_many(
    call: Calling, batch: Batch, response: Response, key: IdempotencyKey = None
) -> Any:
    """Hides several from recall and lists, and keeps them."""
    return _on_all(call, batch, response, key, lambda: call.hub("write").archive_many)


def _on_all(
    call: Call,
    batch: Batch,
    response: Response,
    key: str | None,
    operation: Callable[[], Callable[..., Sequence[Memory]]],
) -> Any:
    def work() -> tuple[int, Any]:
        said = {"reason": batch.reason} if batch.reason else {}
        done = operation()(batch.ids, **said)
        return 200, {"data": [plain_memory(memory) for memory in done]}

    return once(call, key, batch, response, work)


@router.post("/batch-access", response_model=ManyMemories)
def access_many(call: Calling, batch: Batch, response: Response, key: IdempotencyKey = None) -> Any:
    """Notes that all of them were really used, at the same moment."""

    def work() -> tuple[int, Any]:
        done = call.hub().access_many(batch.ids)
        return 200, {"data": [plain_memory(memory) for memory in done]}

    return once(call, key, batch, response, work)


@router.post("/{memory_id}/pin", response_model=OneMemory)
def pin(call: Calling, memory_id: str, response: Response, key: IdempotencyKey = None) -> Any:
    """Keeps it from ageing, and lets it rank a little higher."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub("write").pin(memory_id))}

    return once(call, key, None, response, work)


@router.post("/{memory_id}/unpin", response_model=OneMemory)
def unpin(call: Calling, memory_id: str, response: Response, key: IdempotencyKey = None) -> Any:
    """Lets it age again."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub("write").unpin(memory_id))}

    return once(call, key, None, response, work)


@router.get("/find", response_model=OneMemory)
def find(call: Calling, reference: str) -> Any:
    """One memory by id, number or key, also where it is forgotten, or where its key cannot stand
    in a path."""
    return {"data": plain_memory(call.hub().find(reference))}


@router.get("/scan", response_model=ManyMemories)
def scan(
    call: Calling,
    after: Annotated[int, Query(ge=0, lt=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=_SCAN_MAX)] = _SCAN_MAX,
) -> Any:
    """Every visible memory by number, archived and expired ones among them; `after` is the number
    of the last one that was seen."""
    found = islice(call.hub().scan(after=after), limit)
    return {"data": [plain_memory(memory) for memory in found]}
