"""The dialect `minion`: one MEMORY.md that a model reads, adds to and rewrites.

A rewrite is a difference: what stays keeps its history, what is dropped is archived. How that is
done belongs to the hub; here are the two tools and their answers.
"""

from __future__ import annotations

from typing import Any

from holdfast.agents.tool import Dialect, Parameter, Tool, ToolContext

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


DIALECT = Dialect(
    "minion",
    "One MEMORY.md that the model reads and updates; it is in the prompt of every call.",
    (
        Tool(
            "memory_read",
            "Read memory",
            "Reads the whole of MEMORY.md. It is already in your instructions, so you rarely need"
            " this; use it before you rewrite.",
            (),
            _read,
            reads=True,
            repeats=True,
        ),
        Tool(
            "memory_update",
            "Update memory",
            "Updates MEMORY.md. `append` adds what is new as you write it: below the `## Heading`"
            " that you give, or at the end; what is known is not added twice. `rewrite`"
            " replaces the whole file: give all of the new text, because a line you leave out is"
            " archived. Keep only what will matter in three months and changes what you do. The"
            " file has a size limit; when an append is refused, rewrite it with a shorter text.",
            (
                Parameter(
                    "action",
                    "text",
                    "append adds to the file; rewrite replaces its whole text.",
                    required=True,
                    choices=("append", "rewrite"),
                ),
                Parameter(
                    "content",
                    "text",
                    "Markdown: what to add, or the whole new text.",
                    required=True,
                ),
            ),
            _update,
            destroys=True,
        ),
    ),
    "You have a memory file, MEMORY.md; it is part of your instructions. When you learn something"
    " that will still matter in three months and changes what you do (who the user is, how they"
    " want things done, what must not happen), add it with memory_update, action append. When"
    " something there is no longer true, or the file is too long, rewrite it. Never store secrets.",
)
