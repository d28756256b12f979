"""What waits for a person over REST: the review inbox, and decisions that agents ask for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.domain.review import Decision, Item
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.idempotency import IdempotencyKey, once
from holdfast.edges.http.shapes import (
    DecisionOut,
    HeardOut,
    Many,
    ManyMemories,
    MemoryOut,
    One,
    ResponseModel,
)
from holdfast.edges.http.to_json import plain_memory

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


class ItemOut(ResponseModel):
    """Something that waits: why, what approving it would replace, and when it goes by itself."""

    memory: MemoryOut
    kind: str
    why: str
    about: MemoryOut | None
    expires_at: str


class CountOut(ResponseModel):
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


decisions_router = APIRouter(tags=["decisions"])


class Question(
    body_of(  # type: ignore[misc]
        HubMemory.request_decision, fields={"trust": (str, "agent"), "source": (str, "api")}
    )
):
    """A question for a person, with 2 to 4 options."""


class Answer(Body):
    """An option by its words or its number."""

    reference: str
    option: str | int = Field(union_mode="left_to_right")
    note: str = ""
    source: str = "api"


class Withdrawal(Body):
    reference: str
    note: str = ""


class Said(Body):
    text: str


@decisions_router.get("/decisions", response_model=Many[DecisionOut])
def decisions(call: Calling, every: bool = False) -> Any:
    """Open questions, oldest first; with `every`, also those decided or withdrawn."""
    return {"data": [_plain_decision(one) for one in call.hub().decisions(every=every)]}


@decisions_router.post("/decisions", status_code=201, response_model=One[DecisionOut])
def request_decision(
    call: Calling, asked: Question, response: Response, key: IdempotencyKey = None
) -> Any:
    """Asks a person to decide."""

    def work() -> tuple[int, Any]:
        fields: dict[str, Any] = asked.model_dump()
        return 201, {"data": _plain_decision(call.hub("write").request_decision(**fields))}

    return once(call, key, asked, response, work)


@decisions_router.post("/decisions/decide", response_model=One[DecisionOut])
def decide(call: Calling, answer: Answer, response: Response, key: IdempotencyKey = None) -> Any:
    """A person's answer; it becomes a memory."""

    def work() -> tuple[int, Any]:
        fields: dict[str, Any] = answer.model_dump()
        return 200, {"data": _plain_decision(call.hub("write").decide(**fields))}

    return once(call, key, answer, response, work)


@decisions_router.post("/decisions/withdraw", response_model=One[DecisionOut])
def withdraw(
    call: Calling, what: Withdrawal, response: Response, key: IdempotencyKey = None
) -> Any:
    """Takes a question back without an answer."""

    def work() -> tuple[int, Any]:
        done = call.hub("write").withdraw_decision(what.reference, note=what.note)
        return 200, {"data": _plain_decision(done)}

    return once(call, key, what, response, work)


@decisions_router.post("/heard", response_model=One[HeardOut])
def heard(call: Calling, said: Said) -> Any:
    """A text without what this hub has handed out itself; `memories` are those that came back."""
    found = call.hub().heard(said.text)
    return {
        "data": {
            "text": found.text,
            "echoes": [echo._asdict() for echo in found.echoes],
            "memories": [plain_memory(memory) for memory in found.memories],
        }
    }


def _plain_decision(decision: Decision) -> dict[str, Any]:
    return {**decision._asdict(), "memory": plain_memory(decision.memory)}
