"""Journals over REST, consolidation from journals to long-term memory, the lifecycle of memories,
and what language models cost."""

from __future__ import annotations

from typing import Any

from holdfast.api.hub import HubMemory
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.operations import Body, Routes, body_of
from holdfast.edges.http.shapes import JournalOut, Many, MemoryOut, One, OneMemory, ResponseModel
from holdfast.passes.consolidation import from_plain, to_plain

journal_router = Routes(prefix="/journal", tags=["journal"])


journal_router.serves(
    "POST",
    "",
    HubMemory.journal_add,
    OneMemory,
    body="NewEntry",
    name="add",
    status=201,
    source=(str, "api"),
)


@journal_router.get("", response_model=JournalOut)
def read(call: Calling, when: str = "today") -> Any:
    """The journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27; newest
    day first."""
    found = call.hub().journal(when)
    return {**data(found), "notes": found.notes}


consolidation_router = Routes(prefix="/consolidation", tags=["consolidation"])


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


@writes(consolidation_router, "", One[ConsolidatedOut])
def consolidate(call: Calling, wanted: Wanted) -> Any:
    """Moves what lasts from the journals to long-term memory, as one change set."""
    given = from_plain(wanted.plan) if isinstance(wanted.plan, dict) else wanted.plan
    done = call.hub("manage", lasting=True).consolidate(given, dry_run=wanted.dry_run)
    return {
        "plan": to_plain(done.plan),
        "done": done.done,
        "refused": done.refused,
        "change": done.change,
        "skipped": done.skipped,
        "diff": done.diff,
        "notes": done.notes,
    }


lifecycle_router = Routes(prefix="/lifecycle", tags=["lifecycle"])


class MoveOut(ResponseModel):
    """One memory, the state that it moved to, and why."""

    memory: MemoryOut
    to: str
    reason: str


class LifecycleOut(ResponseModel):
    """What moved, or would move; `change` is what undo takes back."""

    dry_run: bool
    moves: list[MoveOut]
    change: str | None


class LifecycleRequest(
    body_of(HubMemory.lifecycle)  # type: ignore[misc]
):
    """What to run: everything that is due, or what is due of one category."""


@writes(lifecycle_router, "", One[LifecycleOut], harmless=True)
def lifecycle(call: Calling, request: LifecycleRequest) -> Any:
    """Cools and archives what is due by the rules, as one change set. With `dry_run`, says what
    would move and why, and writes nothing."""
    hub = call.hub("manage", lasting=True)
    moves = hub.lifecycle(dry_run=request.dry_run, category=request.category)
    return {"dry_run": request.dry_run, "moves": moves, "change": moves.change}


usage_router = Routes(tags=["models"])


class ModelUsageOut(ResponseModel):
    """What one pass spent with one model on one day (UTC)."""

    day: str
    work: str
    model: str
    requests: int
    failed: int
    tokens_in: int
    tokens_out: int


usage_router.serves("GET", "/model-usage", HubMemory.usage, Many[ModelUsageOut], name="model_usage")
