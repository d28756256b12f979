"""The dialect `minion`: one MEMORY.md that a model reads, adds to and rewrites.

A rewrite is a difference: what stays keeps its history, what is dropped is archived. How that is
done belongs to the hub; here are the two tools and their answers.
"""

from __future__ import annotations

from typing import Any

from holdfast.agents import ToolContext
from holdfast.agents.dialects import read_dialect

MISSING = "(MEMORY.md does not exist yet)"


def _read(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    text = ctx.hub.read_memory_md(source_agent=ctx.agent)
    return {"content": MISSING if text is None else text}


def _update(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = {
        "chars_max": ctx.hub.core.settings["minion.chars_max"],
        "trust": ctx.trust,
        "source": ctx.source,
        "source_agent": ctx.agent,
    }
    if given["action"] == "append":
        # A rewrite brings back what was read, and is meant to; an addition is what is new.
        heard = ctx.hub.heard(given["content"])
        if heard.nothing_new:
            return {"success": True, "note": heard.sentence}
        notes = ctx.hub.append_memory_md(heard.text, **options).notes
    else:
        notes = ctx.hub.rewrite_memory_md(given["content"], **options).notes
    ctx.take_held()  # The notes say what is held.
    return {"success": True, **({"note": " ".join(notes)} if notes else {})}


DIALECT = read_dialect("minion", {"memory_read": _read, "memory_update": _update})
