"""Memories over REST: take in, read, list, change, take away, bring back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import Origin
from holdfast.domain.results import Duplicate, Updated
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import (
    etag,
    plain_entry,
    plain_hit,
    plain_memory,
    plain_receipt,
    plain_result,
)
from holdfast.edges.http.shapes import (
    Deleted,
    EntryOut,
    Many,
    ManyDeleted,
    ManyMemories,
    MemoryPage,
    One,
    OneMemory,
    Pushed,
    RelatedOut,
)
from holdfast.errors import Conflict

router = APIRouter(prefix="/memories", tags=["memories"])

# As many as one request may take away or move: each is looked up, and all go in one transaction.
_BATCH_MAX = 100
_PAGE_MAX = 100


class NewMemory(
    body_of(  # type: ignore[misc]
        HubMemory.remember,
        without=("ttl",),
        fields={
            "content": (str | None, None),
            "pinned": (bool, False),
            "trust": (str, "user"),
            "source": (str, "api"),
            "fetch": (bool, False),
            "owner_id": (str | None, None),
        },
    )
):
    """A memory to be taken in. Whatever is not given is picked by the rules."""

    def fields(self) -> dict[str, Any]:
        """What was given, as the library takes it."""
        given: dict[str, Any] = self.model_dump(exclude={"origin", "owner_id"}, exclude_none=True)
        if self.origin is not None:
            given["origin"] = Origin(**self.origin.model_dump())
        return given


class Changes(
    body_of(  # type: ignore[misc]
        HubMemory.update,
        without=("reference", "expected_version"),
        fields={"owner_id": (str | None, None)},
    )
):
    """Fields to be set; those not given stay. `owner_id` may be sent back as it was received."""


class Batch(Body):
    """Several memories, by id, number or key."""

    ids: list[str] = Field(min_length=1, max_length=_BATCH_MAX)
    reason: str = ""


class Move(Batch):
    """Several memories, and the hub they are to be in."""

    hub: str


@router.post("", response_model=Pushed, responses={201: {"model": Pushed}})
def push(call: Calling, new: NewMemory, response: Response, key: IdempotencyKey = None) -> Any:
    """Takes a memory in: 201 where it is new, 200 where it was there or is a new version."""
    if not (new.content or "").strip():
        raise Refused(400, "missing_content", "There is no content.", hint="Send `content`.")

    def work() -> tuple[int, Any]:
        hub = call.hub("write")
        _refuse_other_owner(new.owner_id, hub.core.actor)
        result = hub.remember(**new.fields())
        status = 200 if isinstance(result, Duplicate | Updated) else 201
        return status, plain_result(result)

    # The same text again is a duplicate, and the same key a new version with nothing new.
    return once(call, key, new, response, work, harmless=True)


@router.get("", response_model=MemoryPage)
def list_memories(
    call: Calling,
    limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 20,
    cursor: str | None = None,
    order: str = "newest",
    category: str | None = None,
    kind: str | None = None,
    state: str | None = None,
    stability: str | None = None,
    layer: str | None = None,
    source: str | None = None,
    tag: Annotated[list[str] | None, Query()] = None,
    session: str | None = None,
    pinned: bool | None = None,
    since: str | None = None,
    until: str | None = None,
    where: str | None = None,
    as_of: str | None = None,
    forgotten: bool = False,
    quarantined: bool = False,
) -> Any:
    """Memories in an order, a page at a time; the cursor of a page fetches the next one. `where`
    holds conditions on metadata and fields, as a line of text or a JSON object."""
    page = call.hub().list(
        limit=limit,
        cursor=cursor,
        order=order,
        category=category,
        kind=kind,
        state=state,
        stability=stability,
        layer=layer,
        source=source,
        tags=tag,
        session=session,
        pinned=pinned,
        since=since,
        until=until,
        where=where,
        as_of=as_of,
        forgotten=forgotten,
        quarantined=quarantined,
    )
    return {"data": [plain_memory(memory) for memory in page], "next_cursor": page.cursor}


@router.get("/search", response_model=ManyMemories)
def search(
    call: Calling,
    q: Annotated[str, Query(min_length=1)],
    limit: Annotated[int, Query(ge=1, le=_PAGE_MAX)] = 20,
    category: str | None = None,
    layer: str | None = None,
    order: str = "newest",
    words: bool = True,
) -> Any:
    """Memories that hold a text or, with `words`, all of its words; nothing in it is syntax."""
    found = call.hub(soon=True).search_text(
        q, words=words, category=category, layer=layer, order=order, limit=limit
    )
    return {"data": [plain_memory(memory) for memory in found]}


@router.post("/batch-delete", response_model=One[ManyDeleted])
def batch_delete(
    call: Calling, batch: Batch, response: Response, key: IdempotencyKey = None
) -> Any:
    """Removes several for good, or none of them."""

    def work() -> tuple[int, Any]:
        receipts = call.hub().purge_many(batch.ids, reason=batch.reason)
        told = [plain_receipt(receipt) for receipt in receipts]
        deleted = [receipt.memory_id for receipt in receipts]
        return 200, {"data": {"deleted": deleted, "receipts": told}}

    return once(call, key, batch, response, work)


@router.post("/batch-move", response_model=ManyMemories)
def batch_move(call: Calling, move: Move, response: Response, key: IdempotencyKey = None) -> Any:
    """Takes several to another hub. They are there before they are forgotten here, where their
    history stays and a restore brings them back."""

    def work() -> tuple[int, Any]:
        moved = call.hub().move_many(move.ids, call.caller.hub(move.hub, "write"))
        return 200, {"data": [plain_memory(memory) for memory in moved]}

    return once(call, key, move, response, work, harmless=True)


@router.get("/{memory_id}", response_model=OneMemory)
def get(call: Calling, memory_id: str, response: Response, as_of: str | None = None) -> Any:
    """One memory by id, number or key; its ETag is its version."""
    memory = call.hub().get(memory_id, as_of=as_of)
    response.headers["ETag"] = etag(memory)
    return {"data": plain_memory(memory)}


@router.patch("/{memory_id}", response_model=OneMemory)
def patch(
    call: Calling,
    memory_id: str,
    changes: Changes,
    response: Response,
    if_match: Annotated[str | None, Header()] = None,
    key: IdempotencyKey = None,
) -> Any:
    """Sets fields. With `If-Match`, only where the memory is still at that version (else 412)."""
    fields = changes.model_dump(exclude_unset=True, exclude={"reason", "owner_id"})

    def work() -> tuple[int, Any]:
        hub = call.hub("write")
        if changes.owner_id is not None:
            _refuse_other_owner(changes.owner_id, hub.get(memory_id).owner)
        try:
            memory = hub.update(
                memory_id,
                expected_version=_version(if_match),
                reason=changes.reason,
                **fields,
            )
        except Conflict as error:
            raise Refused(412, "version_mismatch", error.message, hint=error.hint) from None
        response.headers["ETag"] = etag(memory)
        return 200, {"data": plain_memory(memory)}

    return once(call, key, changes, response, work)


def _refuse_other_owner(given: str | None, owner: str) -> None:
    """The owner is who pushed it, and cannot be set to somebody else."""
    if given is not None and given != owner:
        raise Refused(
            400,
            "invalid_input",
            "The owner of a memory cannot be set: it belongs to who pushed it.",
            hint="Leave `owner_id` out.",
        )


def _version(header: str | None) -> int | None:
    if header is None or header.strip() == "*":
        return None
    plain = header.strip().removeprefix("W/").strip('"')
    if not plain.isascii() or not plain.isdigit():
        raise Refused(
            400, "invalid_input", "If-Match must be an ETag that was given.", hint='Such as "3".'
        )
    return int(plain[:18])


@router.delete("/{memory_id}", response_model=One[Deleted])
def delete(call: Calling, memory_id: str, response: Response, key: IdempotencyKey = None) -> Any:
    """Removes it and its whole history, for good; only a receipt without content stays."""

    def work() -> tuple[int, Any]:
        return 200, {"data": {"deleted": call.hub().purge(memory_id).memory_id}}

    return once(call, key, None, response, work)


@router.post("/{memory_id}/forget", response_model=OneMemory)
def forget(
    call: Calling,
    memory_id: str,
    response: Response,
    reason: str = "",
    key: IdempotencyKey = None,
) -> Any:
    """Hides it; a restore brings it back."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub().forget(memory_id, reason=reason))}

    return once(call, key, None, response, work)


@router.post("/{memory_id}/restore", response_model=OneMemory)
def restore(
    call: Calling,
    memory_id: str,
    response: Response,
    reason: str = "",
    key: IdempotencyKey = None,
) -> Any:
    """Brings back what was forgotten or archived."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub("write").restore(memory_id, reason=reason))}

    return once(call, key, None, response, work)


@router.post("/{memory_id}/archive", response_model=OneMemory)
def archive(call: Calling, memory_id: str, response: Response, key: IdempotencyKey = None) -> Any:
    """Hides it from recall and lists, and keeps it."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub("write").archive(memory_id))}

    return once(call, key, None, response, work)


@router.post("/{memory_id}/access", response_model=OneMemory)
def access(call: Calling, memory_id: str, response: Response, key: IdempotencyKey = None) -> Any:
    """Notes that it was really used."""

    def work() -> tuple[int, Any]:
        return 200, {"data": plain_memory(call.hub().access(memory_id))}

    return once(call, key, None, response, work)


@router.get("/{memory_id}/related", response_model=RelatedOut)
def related(call: Calling, memory_id: str, limit: Annotated[int, Query(ge=1, le=50)] = 5) -> Any:
    """Memories near a memory."""
    found = call.hub().related(memory_id, limit=limit)
    return {
        "data": [plain_memory(hit.memory) for hit in found],
        "hits": [plain_hit(hit) for hit in found],
        "degraded": list(found.degraded),
    }


@router.get("/{memory_id}/history", response_model=Many[EntryOut])
def history(call: Calling, memory_id: str) -> Any:
    """Everything that happened to it, oldest first."""
    return {"data": [plain_entry(entry) for entry in call.hub().history(memory_id)]}
