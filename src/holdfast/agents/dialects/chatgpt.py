"""The two tools that ChatGPT's connectors ask for: search and fetch, as JSON."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from holdfast.agents import ToolContext
from holdfast.agents.dialects import read_dialect
from holdfast.agents.wording import origin

_LIMIT = 10  # A page of results; what is needed is fetched by id.


def address(hub: str, memory_id: str) -> str:
    """The URI of a memory as an MCP resource."""
    return f"memory://{quote(hub, safe='')}/{memory_id}"


def _search(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    found = ctx.hub.recall(given["query"], limit=_LIMIT, zone=ctx.zone, turns=False)
    results = [
        {
            "id": hit.memory.id,
            "title": hit.memory.title,
            "url": address(ctx.hub.name, hit.memory.id),
        }
        for hit in found
    ]
    answer: dict[str, Any] = {"results": results}
    if found.degraded:
        answer["notes"] = list(found.degraded)
    return answer


def _fetch(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    memory = ctx.hub.access(given["id"])
    return {
        "id": memory.id,
        "title": memory.title,
        "text": memory.content,
        "url": address(ctx.hub.name, memory.id),
        "metadata": {
            "number": str(memory.number),
            "category": memory.category,
            "created_at": memory.created_at.isoformat(),
            "source": origin(memory).removeprefix("from "),
        },
    }


DIALECT = read_dialect("chatgpt", {"search": _search, "fetch": _fetch})
