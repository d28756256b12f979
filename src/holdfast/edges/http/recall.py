"""Recall over REST, the block to inject, and what can be undone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_change, plain_memory, plain_recalled
from holdfast.edges.http.shapes import (
    ChangeOut,
    Many,
    One,
    RecalledOut,
    TextOut,
    TopicOut,
    UndoneOut,
    UsageOut,
)
from holdfast.text import normalise
from holdfast.text.zones import zone_named

router = APIRouter(tags=["recall"])


class Question(
    body_of(  # type: ignore[misc]
        HubMemory.recall,
        fields={
            # Null: as many as the server's settings say.
            "limit": (int | None, Field(default=5, ge=1, le=1_000)),
            "around": (int, Field(default=0, ge=0, le=10)),
        },
    )
):
    """What is asked. `now` and `zone` are the moment of the question and the zone of who asks, for
    words such as `yesterday`."""


@router.post("/recall", response_model=RecalledOut)
def recall(call: Calling, question: Question) -> Any:
    """What answers a question, best first, each with its reasons."""
    fields = question.model_dump(exclude={"query", "now", "zone"})
    zone = None if question.zone is None else zone_named(question.zone)
    now = normalise.clean_time(question.now)
    found = call.hub(soon=True).recall(question.query, now=now, zone=zone, **fields)
    return plain_recalled(found)


@router.get("/context", response_model=One[TextOut])
def context(
    call: Calling,
    query: str | None = None,
    budget: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
    style: str = "plain",
    unit: str = "chars",
    count_tokens: str | None = None,
    explain: bool = False,
) -> Any:
    """The block to put into an agent's prompt; with `explain`, also what is in, what is not, and
    why."""
    hub = call.hub()
    asked: dict[str, Any] = {"budget": budget, "style": style, "unit": unit}
    if not explain:
        return {"data": {"text": hub.context(query, count_tokens=count_tokens, **asked)}}
    built = hub.context(query, count_tokens=count_tokens, explain=True, **asked)
    told = built._asdict() | {
        "included": [plain_memory(memory) for memory in built.included],
        "left_out": [
            {**absent._asdict(), "memory": plain_memory(absent.memory)} for absent in built.left_out
        ],
    }
    return {"data": told}


@router.get("/changes", response_model=Many[ChangeOut])
def changes(
    call: Calling, limit: Annotated[int, Query(ge=1, le=200)] = 50, before: str | None = None
) -> Any:
    """Change sets, newest first."""
    found = call.hub().changes(limit=limit, before=before)
    return {"data": [plain_change(change) for change in found]}


class Undo(Body):
    """Which change set to take back; none: the last one."""

    change: str | None = None
    force: bool = False


@router.post("/undo", response_model=One[UndoneOut])
def undo(call: Calling, what: Undo, response: Response, key: IdempotencyKey = None) -> Any:
    """Takes back a change set; undoing an undo brings it back."""

    def work() -> tuple[int, Any]:
        undone = call.hub("write").undo(what.change, force=what.force)
        told = {
            "change": plain_change(undone.change),
            "undone": plain_change(undone.undone),
            "memories": [plain_memory(memory) for memory in undone.memories],
        }
        return 200, {"data": told}

    return once(call, key, what, response, work)


@router.get("/usage", response_model=One[UsageOut])
def usage(call: Calling) -> Any:
    """What is in the hub, counted."""
    told = call.hub().statistics()._asdict()
    for name in ("oldest", "newest", "lifecycle_at"):
        told[name] = None if told[name] is None else told[name].isoformat()
    return {"data": told}


@router.get("/topics", response_model=Many[TopicOut])
def topics(call: Calling) -> Any:
    """What the hub is about: its categories, with how many memories each has."""
    told = call.hub().statistics()
    data = [{"name": name, "count": count} for name, count in told.by_category.items()]
    return {"data": data}
