"""Journals over REST, consolidation from journals to long-term memory, the lifecycle of memories,
and the cost of language models."""

from __future__ import annotations

from typing import Any

from holdfast.api.hub import HubMemory
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.operations import Body, Routes, body_of
from holdfast.edges.http.shapes import JournalOut, LifecycleOut, One, answer
from holdfast.passes.consolidation import Consolidated, Plan, from_plain, to_plain

journal_router = Routes(prefix="/journal", tags=["journal"])


journal_router.serves(
    "POST",
    "",
    HubMemory.journal_add,
    body="NewEntry",
    name="add",
    status=201,
    source=(str, "api"),
)


@journal_router.get("", response_model=JournalOut)
def read(call: Calling, when: str = "today") -> Any:
    """Returns the journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27;
    newest day first."""
    found = call.hub().journal(when)
    return {**data(found), "notes": found.notes}


consolidation_router = Routes(prefix="/consolidation", tags=["consolidation"])


class Wanted(Body):
    """A plan, as returned by `POST /consolidation/plan` or as text; without it, a new one is
    made."""

    plan: dict[str, Any] | str | None = None
    dry_run: bool = False


@consolidation_router.post("/plan", response_model=answer(Plan))
def plan(call: Calling) -> Any:
    """Plans a consolidation: what it would promote, merge and retire, and what it refuses. Writes
    nothing."""
    return {"data": to_plain(call.hub("manage", lasting=True).plan_consolidation())}


@writes(consolidation_router, "", answer(Consolidated))
def consolidate(call: Calling, wanted: Wanted) -> Any:
    """Moves lasting facts from the journals to long-term memory, as one change set."""
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


class LifecycleRequest(
    body_of(HubMemory.lifecycle)  # type: ignore[misc]
):
    """The scope of a run: every memory that is due, or those of one category."""


@writes(lifecycle_router, "", One[LifecycleOut], harmless=True)
def lifecycle(call: Calling, request: LifecycleRequest) -> Any:
    """Cools and archives memories that are due by the rules, as one change set. With `dry_run`,
    says what would move and why, and writes nothing."""
    hub = call.hub("manage", lasting=True)
    moves = hub.lifecycle(dry_run=request.dry_run, category=request.category)
    return {"dry_run": request.dry_run, "moves": moves, "change": moves.change}


usage_router = Routes(tags=["models"])


usage_router.serves("GET", "/model-usage", HubMemory.usage, name="model_usage")
