"""What language models cost a hub, over REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from holdfast.edges.http.call import Calling
from holdfast.edges.http.shapes import Many, Told
from holdfast.engine.upkeep.model_usage import KEPT_DAYS

router = APIRouter(tags=["models"])


class ModelUsageOut(Told):
    """What one pass spent with one model on one day (UTC)."""

    day: str
    work: str
    model: str
    requests: int
    failed: int
    tokens_in: int
    tokens_out: int


@router.get("/model-usage", response_model=Many[ModelUsageOut])
def model_usage(call: Calling, days: Annotated[int, Query(ge=1, le=KEPT_DAYS)] = 30) -> Any:
    """What language models cost in the last days, by day, pass and model; for members."""
    rows = call.hub_of_members().usage(days=days)
    return {"data": [{**row._asdict(), "day": row.day.isoformat()} for row in rows]}
