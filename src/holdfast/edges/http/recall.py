"""Recall over REST, the context block for a prompt, and the topics of a hub."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from holdfast.api.hub import HubMemory
from holdfast.domain.clock import zone_named
from holdfast.edges.http.call import Calling, data
from holdfast.edges.http.operations import Routes, body_of
from holdfast.edges.http.shapes import Many, One, RecalledOut, TextOut, TopicOut
from holdfast.edges.to_json import recalled_to_json
from holdfast.text import clean

router = Routes(tags=["recall"])


class Question(
    body_of(  # type: ignore[misc]
        HubMemory.recall,
        fields={
            # Null: the limit of the server's settings.
            "limit": (int | None, Field(default=5, ge=1, le=1_000)),
            "around": (int, Field(default=0, ge=0, le=10)),
            "caution": (float | None, Field(default=None, ge=0, le=5)),
        },
    )
):
    """A question. `now` and `zone` are the time of the question and the caller's time zone, for
    words such as `yesterday`."""


@router.post("/recall", response_model=RecalledOut)
def recall(call: Calling, question: Question) -> Any:
    """Finds memories and turns that answer a question, best first, each with its reasons."""
    fields = question.model_dump(exclude={"query", "now", "zone"})
    zone = None if question.zone is None else zone_named(question.zone)
    now = clean.clean_time(question.now)
    found = call.hub(soon=True).recall(question.query, now=now, zone=zone, **fields)
    return recalled_to_json(found)


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
    """Returns the context block for an agent's prompt; with `explain`, also what is in it, what is
    not, and why."""
    hub = call.hub()
    asked: dict[str, Any] = {"budget": budget, "style": style, "unit": unit}
    if not explain:
        return data({"text": hub.context(query, count_tokens=count_tokens, **asked)})
    return data(hub.context(query, count_tokens=count_tokens, explain=True, **asked))


router.serves(
    "GET",
    "/usage",
    HubMemory.statistics,
    name="usage",
    about="Counts what is in the hub: `statistics` of the library. The cost of language models is"
    " at `/model-usage`.",
)


@router.get("/topics", response_model=Many[TopicOut])
def topics(call: Calling) -> Any:
    """Lists the topics of a hub: its categories, with the number of memories in each."""
    counts = call.hub().statistics().by_category
    return data([{"name": name, "count": count} for name, count in counts.items()])
