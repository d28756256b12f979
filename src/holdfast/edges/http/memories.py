"""Memories over REST: store, read, list, change, remove, restore; one or several at once.
A batch runs as a whole, as one change set.

The routes of one memory come last: otherwise `find` would be taken for a memory's name."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

from fastapi import Header, Query, Response
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import Memory, Origin
from holdfast.domain.records import field_to_plain
from holdfast.domain.results import Duplicate, Traces, Updated
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Calling, IdempotencyKey, data, once, writes
from holdfast.edges.http.operations import Body, Routes, body_of, query_of
from holdfast.edges.http.shapes import (
    Deleted,
    ManyDeleted,
    ManyMemories,
    ManyPushed,
    MemoryPage,
    One,
    OneMemory,
    Pushed,
    RelatedOut,
    answer,
)
from holdfast.edges.to_json import result_to_json, to_json
from holdfast.engine.history import FieldDiff
from holdfast.errors import Conflict

router = Routes(prefix="/memories", tags=["memories"])

# The most memories that one request may remove or move: each is looked up, and all go in one
# transaction.
_BATCH_MAX = 100
_PAGE_MAX = 100
# The most memories of one transaction that others do not notice; the size of the body is bounded
# too.
_PUSH_MAX = 500
_SCAN_MAX = 500


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
    """A memory to store. Rules choose the fields that are not given."""

    def fields(self) -> dict[str, Any]:
        """The given fields as arguments of the library."""
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
    """Fields to set; the others stay. `owner_id` may be sent back as it was received."""


class Batch(Body):
    """Several memories, by id, number or key."""

    ids: list[str] = Field(min_length=1, max_length=_BATCH_MAX)
    reason: str = ""


class Purge(Batch):
    """Several memories, and whether other copies of their words are removed too."""

    everywhere: bool = False


class Move(Batch):
    """Several memories, and the hub to move them to."""

    hub: str


class Pushes(Body):
    """Memories to store, all of them or none; `first_is_parent`: the others are its parts."""

    items: list[NewMemory] = Field(max_length=_PUSH_MAX)
    first_is_parent: bool = False


@router.post("", response_model=Pushed, responses={201: {"model": Pushed}})
def push(call: Calling, new: NewMemory, response: Response, key: IdempotencyKey = None) -> Any:
    """Stores a memory: 201 if it is new, 200 if it exists already or is a new version."""
    if not (new.content or "").strip():
        raise Refused(400, "missing_content", "There is no content.", hint="Send `content`.")

    def work() -> tuple[int, Any]:
        hub = call.hub("write")
        _refuse_other_owner(new.owner_id, hub.core.actor)
        result = hub.remember(**new.fields())
        status = 200 if isinstance(result, Duplicate | Updated) else 201
        return status, result_to_json(result)

    # The same text again is a duplicate, and the same key a new version with nothing new.
    return once(call, key, new, response, work, harmless=True)


class Listing(
    query_of(  # type: ignore[misc]
        HubMemory.list,
        fields={
            "limit": (int, Field(default=20, ge=1, le=_PAGE_MAX)),
            "tags": (list[str] | None, Field(default=None, alias="tag")),
            "where": (str | None, None),
        },
    )
):
    """The filters, the order and the page of a list of memories."""


@router.get("", response_model=MemoryPage)
def list_memories(call: Calling, wanted: Annotated[Listing, Query()]) -> Any:
    """Lists memories in an order, a page at a time; the cursor of a page fetches the next one.
    `where` holds conditions on metadata and fields, as a line of text or a JSON object."""
    page = call.hub().list(**wanted.model_dump())
    return {**data(page), "next_cursor": page.cursor}


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
    """Finds memories that contain a text or, with `words`, all of its words; nothing in it is
    syntax."""
    hub = call.hub(soon=True)
    asked: dict[str, Any] = {"category": category, "layer": layer, "order": order}
    return data(hub.search_text(q, words=words, limit=limit, **asked))


@writes(router, "/batch-delete", One[ManyDeleted])
def batch_delete(call: Calling, batch: Purge) -> Any:
    """Removes several memories permanently, or none of them; with `everywhere`, also what their
    traces name."""
    receipts = call.hub().purge_many(batch.ids, reason=batch.reason, everywhere=batch.everywhere)
    return {"deleted": [receipt.memory_id for receipt in receipts], "receipts": receipts}


@writes(router, "/batch-move", ManyMemories, harmless=True)
def batch_move(call: Calling, move: Move) -> Any:
    """Moves several memories to another hub. They are stored there before they are forgotten here,
    where their history stays and a restore brings them back."""
    return call.hub().move_many(move.ids, call.caller.hub(move.hub, "write"))


router.serves("GET", "/find", HubMemory.find)


@router.get("/scan", response_model=ManyMemories)
def scan(
    call: Calling,
    after: Annotated[int, Query(ge=0, lt=2**62)] = 0,
    limit: Annotated[int, Query(ge=1, le=_SCAN_MAX)] = _SCAN_MAX,
) -> Any:
    """Lists every visible memory by number, also archived and expired ones; `after` is the number
    of the last one that was seen."""
    return data(list(islice(call.hub().scan(after=after), limit)))


@writes(router, "/batch", ManyPushed, harmless=True)
def push_many(call: Calling, pushes: Pushes) -> Any:
    """Stores all memories or none, as one change set."""
    results = call.hub("write").remember_many(
        [item.fields() for item in pushes.items], first_is_parent=pushes.first_is_parent
    )
    return [result_to_json(result) for result in results]


@writes(router, "/batch-forget", ManyMemories)
def forget_many(call: Calling, batch: Batch) -> Any:
    """Hides several memories, or none of them; a restore brings them back."""
    return call.hub().forget_many(batch.ids, reason=batch.reason)


@writes(router, "/batch-restore", ManyMemories)
def restore_many(call: Calling, batch: Batch) -> Any:
    """Restores several memories, or none of them."""
    return call.hub("write").restore_many(batch.ids, reason=batch.reason)


@writes(router, "/batch-archive", ManyMemories)
def archive_many(call: Calling, batch: Batch) -> Any:
    """Hides several memories from recall and lists, and keeps them."""
    said = {"reason": batch.reason} if batch.reason else {}
    return call.hub("write").archive_many(batch.ids, **said)


@writes(router, "/batch-access", ManyMemories)
def access_many(call: Calling, batch: Batch) -> Any:
    """Records that all of them were used, at the same moment."""
    return call.hub().access_many(batch.ids)


@router.get("/{memory_id}", response_model=OneMemory)
def get(call: Calling, memory_id: str, response: Response, as_of: str | None = None) -> Any:
    """Returns one memory by id, number or key; its ETag is its version."""
    memory = call.hub().get(memory_id, as_of=as_of)
    response.headers["ETag"] = etag(memory)
    return data(memory)


@writes(router, "/{memory_id}", OneMemory, method="PATCH")
def patch(
    call: Calling,
    memory_id: str,
    changes: Changes,
    response: Response,
    if_match: Annotated[str | None, Header()] = None,
) -> Any:
    """Sets fields. With `If-Match`, only if the memory is still at that version (else 412)."""
    fields = changes.model_dump(exclude_unset=True, exclude={"reason", "owner_id"})
    hub = call.hub("write")
    if changes.owner_id is not None:
        _refuse_other_owner(changes.owner_id, hub.get(memory_id).owner)
    version = _version(if_match)
    try:
        memory = hub.update(memory_id, expected_version=version, reason=changes.reason, **fields)
    except Conflict as error:
        raise Refused(412, "version_mismatch", error.message, hint=error.hint) from None
    response.headers["ETag"] = etag(memory)
    return memory


def etag(memory: Memory) -> str:
    """The version of a memory as an ETag."""
    return f'"{memory.version}"'


def _refuse_other_owner(given: str | None, owner: str) -> None:
    """Raises an error for another owner: a memory belongs to the caller who stored it."""
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


@writes(router, "/{memory_id}", One[Deleted], method="DELETE")
def delete(call: Calling, memory_id: str, everywhere: bool = False) -> Any:
    """Removes a memory and its whole history permanently; only a receipt without content stays.
    With `everywhere`, also what its traces name."""
    return {"deleted": call.hub().purge(memory_id, everywhere=everywhere).memory_id}


@router.get("/{memory_id}/traces", response_model=answer(Traces))
def traces(call: Calling, memory_id: str) -> Any:
    """Lists what else contains its words: the same text in another layer, and turns of the log. Of
    a forgotten memory, what was hidden with it."""
    return data(call.hub().traces([memory_id]))


router.serves("POST", "/{memory_id}/forget", HubMemory.forget)
router.serves("POST", "/{memory_id}/restore", HubMemory.restore)
router.serves("POST", "/{memory_id}/archive", HubMemory.archive)
router.serves("POST", "/{memory_id}/pin", HubMemory.pin)
router.serves("POST", "/{memory_id}/unpin", HubMemory.unpin)
router.serves("POST", "/{memory_id}/access", HubMemory.access)


@router.get("/{memory_id}/related", response_model=RelatedOut)
def related(call: Calling, memory_id: str, limit: Annotated[int, Query(ge=1, le=50)] = 5) -> Any:
    """Finds memories similar to a memory."""
    found = call.hub().related(memory_id, limit=limit)
    memories = [hit.memory for hit in found]
    return {**data(memories), "hits": to_json(found), "degraded": list(found.degraded)}


router.serves("GET", "/{memory_id}/history", HubMemory.history)


@router.get("/{memory_id}/diff", response_model=answer(list[FieldDiff]))
def diff(
    call: Calling,
    memory_id: str,
    old: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
    new: Annotated[int | None, Query(ge=1, lt=2**62)] = None,
) -> Any:
    """Compares two versions; by default, the last change."""
    return data(
        [
            one._replace(
                old=field_to_plain(one.field, one.old), new=field_to_plain(one.field, one.new)
            )
            for one in call.hub().diff(memory_id, old=old, new=new)
        ]
    )
