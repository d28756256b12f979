"""The review inbox over REST, and decisions that agents request from a person."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.edges.http.call import Calling
from holdfast.edges.http.operations import Routes, body_of
from holdfast.edges.http.shapes import One, ResponseModel

router = Routes(prefix="/review", tags=["review"])

# More than a person reviews one by one; `every` means all of them.
_REFERENCES: tuple[Any, Any] = (list[str], Field(default=[], max_length=1_000))


class Chosen(
    body_of(HubMemory.reject, fields={"references": _REFERENCES})  # type: ignore[misc]
):
    """The items to decide: those named, or all of them, of a kind, from a source."""


class Approval(
    body_of(HubMemory.approve, fields={"references": _REFERENCES})  # type: ignore[misc]
):
    """The items to approve. `text` changes one item; with `keep_both`, nothing is replaced."""


class CountOut(ResponseModel):
    count: int


router.serves("GET", "", HubMemory.review)


@router.get("/count", response_model=One[CountOut])
def review_count(call: Calling) -> Any:
    """Counts the items that wait for review."""
    return {"data": {"count": call.hub().review_count()}}


router.serves("POST", "/approve", HubMemory.approve, body=Approval)
router.serves("POST", "/reject", HubMemory.reject, body=Chosen)


decisions_router = Routes(tags=["decisions"])


class Question(
    body_of(  # type: ignore[misc]
        HubMemory.request_decision, fields={"trust": (str, "agent"), "source": (str, "api")}
    )
):
    """A question for a person, with 2 to 4 options."""


class Answer(
    body_of(  # type: ignore[misc]
        HubMemory.decide,
        fields={
            "reference": (str, ...),
            "option": (str | int, Field(union_mode="left_to_right")),
            "source": (str, "api"),
        },
    )
):
    """A decision: an option by its words or its number."""


decisions_router.serves("GET", "/decisions", HubMemory.decisions)
decisions_router.serves("POST", "/decisions", HubMemory.request_decision, body=Question, status=201)
decisions_router.serves("POST", "/decisions/decide", HubMemory.decide, body=Answer)
decisions_router.serves(
    "POST",
    "/decisions/withdraw",
    HubMemory.withdraw_decision,
    body="Withdrawal",
    name="withdraw",
)
decisions_router.serves("POST", "/heard", HubMemory.heard, body="Said")
