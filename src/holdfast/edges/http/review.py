"""What waits for a person over REST: the review inbox, and decisions that agents ask for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.shapes import (
    DecisionOut,
    HeardOut,
    Many,
    ManyMemories,
    MemoryOut,
    One,
    ResponseModel,
)

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
    return data(call.hub().review(kind=kind, source=source, limit=limit))


@router.get("/count", response_model=One[CountOut])
def review_count(call: Calling) -> Any:
    """How many items wait."""
    return {"data": {"count": call.hub().review_count()}}


@writes(router, "/approve", ManyMemories)
def approve(call: Calling, what: Approval) -> Any:
    """Shows items, as one change set; answers with the memories that say it now."""
    return call.hub("write").approve(**what.model_dump())


@writes(router, "/reject", ManyMemories)
def reject(call: Calling, what: Chosen) -> Any:
    """Archives items, hidden as they are, as one change set."""
    return call.hub("write").reject(**what.model_dump())


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
    return data(call.hub().decisions(every=every))


@writes(decisions_router, "/decisions", One[DecisionOut], status=201)
def request_decision(call: Calling, asked: Question) -> Any:
    """Asks a person to decide."""
    return call.hub("write").request_decision(**asked.model_dump())


@writes(decisions_router, "/decisions/decide", One[DecisionOut])
def decide(call: Calling, answer: Answer) -> Any:
    """A person's answer; it becomes a memory."""
    return call.hub("write").decide(**answer.model_dump())


@writes(decisions_router, "/decisions/withdraw", One[DecisionOut])
def withdraw(call: Calling, what: Withdrawal) -> Any:
    """Takes a question back without an answer."""
    return call.hub("write").withdraw_decision(what.reference, note=what.note)


@decisions_router.post("/heard", response_model=One[HeardOut])
def heard(call: Calling, said: Said) -> Any:
    """A text without what this hub has handed out itself; `memories` are those that came back."""
    return data(call.hub().heard(said.text))
