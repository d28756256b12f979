"""Questions that agents put to people, over REST; and what a text holds that came from us."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from pydantic import Field

from holdfast.domain.review import Decision
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory
from holdfast.edges.http.shapes import DecisionOut, HeardOut, Many, One

router = APIRouter(tags=["decisions"])


class Question(Body):
    question: str
    options: list[str]
    context: str = ""
    trust: str = "agent"
    source: str = "api"
    source_agent: str | None = None


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


@router.get("/decisions", response_model=Many[DecisionOut])
def decisions(call: Calling, every: bool = False) -> Any:
    """Open questions, oldest first; with `every`, also those decided or withdrawn."""
    return {"data": [_plain(one) for one in call.hub().decisions(every=every)]}


@router.post("/decisions", status_code=201, response_model=One[DecisionOut])
def request_decision(
    call: Calling, asked: Question, response: Response, key: IdempotencyKey = None
) -> Any:
    """Asks a person to decide."""

    def work() -> tuple[int, Any]:
        fields: dict[str, Any] = asked.model_dump()
        return 201, {"data": _plain(call.hub("write").request_decision(**fields))}

    return once(call, key, asked, response, work)


@router.post("/decisions/decide", response_model=One[DecisionOut])
def decide(call: Calling, answer: Answer, response: Response, key: IdempotencyKey = None) -> Any:
    """A person's answer; it becomes a memory."""

    def work() -> tuple[int, Any]:
        fields: dict[str, Any] = answer.model_dump()
        return 200, {"data": _plain(call.hub("write").decide(**fields))}

    return once(call, key, answer, response, work)


@router.post("/decisions/withdraw", response_model=One[DecisionOut])
def withdraw(
    call: Calling, what: Withdrawal, response: Response, key: IdempotencyKey = None
) -> Any:
    """Takes a question back without an answer."""

    def work() -> tuple[int, Any]:
        done = call.hub("write").withdraw_decision(what.reference, note=what.note)
        return 200, {"data": _plain(done)}

    return once(call, key, what, response, work)


@router.post("/heard", response_model=One[HeardOut])
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


def _plain(decision: Decision) -> dict[str, Any]:
    return {**decision._asdict(), "memory": plain_memory(decision.memory)}
