"""Journals over REST, and consolidation from journals to long-term memory."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import Memory
from holdfast.edges.http.bodies import Body, body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.idempotency import IdempotencyKey, once
from holdfast.edges.http.shapes import JournalOut, MemoryOut, One, OneMemory, ResponseModel
from holdfast.edges.http.to_json import plain_memory
from holdfast.passes.consolidation.plan import (
    Consolidated,
    from_plain,
    plain_refused,
    plain_step,
    to_plain,
)

router = APIRouter(prefix="/journal", tags=["journal"])


class NewEntry(
    body_of(HubMemory.journal_add, fields={"source": (str, "api")})  # type: ignore[misc]
):
    """What is to be written down; without a time, it is now."""


@router.post("", status_code=201, response_model=OneMemory)
def add(call: Calling, new: NewEntry, response: Response, key: IdempotencyKey = None) -> Any:
    """Adds an entry to the journal of its UTC day."""

    def work() -> tuple[int, Any]:
        fields = new.model_dump(exclude={"text"})
        return 201, {"data": plain_memory(call.hub("write").journal_add(new.text, **fields))}

    return once(call, key, new, response, work)


@router.get("", response_model=JournalOut)
def read(call: Calling, when: str = "today") -> Any:
    """The journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27; newest
    day first."""
    found = call.hub().journal(when)
    days = [
        {
            "date": day.date.isoformat(),
            "text": day.text,
            "entries": [_entry(e.time, e.text, e.memory) for e in day.entries],
        }
        for day in found
    ]
    return {"data": days, "notes": found.notes}


def _entry(at: str, text: str, memory: Memory | None) -> dict[str, Any]:
    return {
        "time": at,
        "text": text,
        "memory": None if memory is None else plain_memory(memory),
    }


consolidation_router = APIRouter(prefix="/consolidation", tags=["consolidation"])


class StepOut(ResponseModel):
    """One thing to do: promote, merge or retire. Memories are named by their numbers."""

    kind: str
    sources: list[int]
    text: str
    category: str
    replaces: int | None
    replaced_by: int | None
    reason: str


class RefusedOut(ResponseModel):
    """A step that is not done, and why."""

    step: StepOut
    reason: str


class PlanOut(ResponseModel):
    """What a consolidation would do; `sources` are the memories its steps speak of."""

    hub: str
    made_at: str
    by: str
    steps: list[StepOut]
    refused: list[RefusedOut]
    sources: list[dict[str, Any]]
    notes: list[str]


class DoneOut(ResponseModel):
    """A step that was done, and the memory that it made or changed."""

    step: StepOut
    memory: MemoryOut


class ConsolidatedOut(ResponseModel):
    """What a consolidation did; `change` is what undo takes back, `skipped` why nothing was
    done."""

    plan: PlanOut
    done: list[DoneOut]
    refused: list[RefusedOut]
    change: str | None
    skipped: str
    diff: list[str]
    notes: list[str]


class Wanted(Body):
    """A plan to do, as `POST /consolidation/plan` gives it or as text; without one, one is made."""

    plan: dict[str, Any] | str | None = None
    dry_run: bool = False


@consolidation_router.post("/plan", response_model=One[PlanOut])
def plan(call: Calling) -> Any:
    """What a consolidation would promote, merge and retire, and what it refuses. Writes nothing."""
    return {"data": to_plain(call.hub("manage", lasting=True).plan_consolidation())}


@consolidation_router.post("", response_model=One[ConsolidatedOut])
def consolidate(
    call: Calling, wanted: Wanted, response: Response, key: IdempotencyKey = None
) -> Any:
    """Moves what lasts from the journals to long-term memory, as one change set."""

    def work() -> tuple[int, Any]:
        given = from_plain(wanted.plan) if isinstance(wanted.plan, dict) else wanted.plan
        done = call.hub("manage", lasting=True).consolidate(given, dry_run=wanted.dry_run)
        return 200, {"data": _plain(done)}

    return once(call, key, wanted, response, work)


def _plain(done: Consolidated) -> dict[str, Any]:
    return {
        "plan": to_plain(done.plan),
        "done": [
            {"step": plain_step(one.step), "memory": plain_memory(one.memory)} for one in done.done
        ],
        "refused": [plain_refused(one) for one in done.refused],
        "change": done.change,
        "skipped": done.skipped,
        "diff": list(done.diff),
        "notes": list(done.notes),
    }
