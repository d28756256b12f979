"""The lifecycle of memories over REST, and what language models cost."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.api.hub import HubMemory
from holdfast.domain.results import LifecycleMoves
from holdfast.edges.http.bodies import body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.idempotency import IdempotencyKey, once
from holdfast.edges.http.shapes import Many, MemoryOut, One, ResponseModel
from holdfast.edges.http.to_json import plain_memory
from holdfast.engine.upkeep.model_usage import KEPT_DAYS

router = APIRouter(prefix="/lifecycle", tags=["lifecycle"])


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


@router.post("", response_model=One[LifecycleOut])
def lifecycle(
    call: Calling, request: LifecycleRequest, response: Response, key: IdempotencyKey = None
) -> Any:
    """Cools and archives what is due by the rules, as one change set. With `dry_run`, says what
    would move and why, and writes nothing."""

    def work() -> tuple[int, Any]:
        hub = call.hub("manage", lasting=True)
        moves = hub.lifecycle(dry_run=request.dry_run, category=request.category)
        return 200, {"data": _plain(moves, dry_run=request.dry_run)}

    return once(call, key, request, response, work, harmless=True)


def _plain(moves: LifecycleMoves, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "moves": [
            {"memory": plain_memory(move.memory), "to": move.to, "reason": move.reason}
            for move in moves
        ],
        "change": moves.change,
    }


usage_router = APIRouter(tags=["models"])


class ModelUsageOut(ResponseModel):
    """What one pass spent with one model on one day (UTC)."""

    day: str
    work: str
    model: str
    requests: int
    failed: int
    tokens_in: int
    tokens_out: int


@usage_router.get("/model-usage", response_model=Many[ModelUsageOut])
def model_usage(call: Calling, days: Annotated[int, Query(ge=1, le=KEPT_DAYS)] = 30) -> Any:
    """What language models cost in the last days, by day, pass and model; for members."""
    rows = call.hub_of_members().usage(days=days)
    return {"data": [{**row._asdict(), "day": row.day.isoformat()} for row in rows]}
