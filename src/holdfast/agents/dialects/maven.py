"""The tools of Maven: a journal a day that is added to, searched and read. Its words are a
contract, to the letter. Long-term memory is MEMORY.md, in the prompt (`context(style="maven")`).

What read-only sources have to say about a search comes after the journal's own entries.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from holdfast import sources
from holdfast.agents import ToolContext, held_sentence
from holdfast.agents.dialects import read_dialect
from holdfast.api.hub import HubMemory
from holdfast.errors import InvalidInput
from holdfast.text.analysis.spans import snippet

SNIPPET_CHARS = 500


def _remember(ctx: ToolContext, given: dict[str, Any]) -> str:
    content = given["content"].strip()
    if not content:
        raise InvalidInput(_required(["content"]))
    heard = ctx.hub.heard(content)
    if not heard.nothing_new:
        ctx.hub.journal_add(
            heard.text, trust=ctx.trust, source=ctx.source, source_agent=ctx.agent, once=True
        )
    return "Remembered."


def _search(ctx: ToolContext, given: dict[str, Any]) -> str:
    query, limit = given["query"].strip(), given["limit"]
    if not query:
        raise InvalidInput(_required(["query"]))
    asked = sources.begin(ctx.hub, query, limit=limit)
    found = ctx.hub.search_text(query, layer="journal", order="happened", limit=limit)
    beside = asked.answers()
    hits = [
        f"## {one.dated:%Y-%m-%d}\n\n{snippet(one.content, query, SNIPPET_CHARS)}" for one in found
    ]
    if not hits and not beside.excerpts:
        hits = [_no_entries(ctx.hub, query)]
    return "\n\n".join([*hits, beside.text()] if beside else hits)


def _no_entries(hub: HubMemory, query: str) -> str:
    if hub.list(layer="journal", limit=1):
        return f'No journal entries matching "{query}".'
    return "No memory journal files found."


def _get(ctx: ToolContext, given: dict[str, Any]) -> str:
    day = _day(given["date"], ctx.now().date())
    days = ctx.hub.journal(day)
    if days:
        return f"## {day}\n\n{days[0].text.strip()}"
    # A file that is there and cannot be read is not 'no entry'.
    notes = [f"Note: {note}" for note in days.notes if f"{day}.md" in note]
    return "\n".join([f"No journal entry for {day}.", *notes])


def _day(text: str, today: date) -> date:
    word = text.strip().lower()
    if word in ("today", "yesterday"):
        return today - timedelta(days=word == "yesterday")
    try:
        # `fromisoformat` alone also takes weeks and dates without dashes.
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", word, re.ASCII):
            return date.fromisoformat(word)
    except ValueError:
        pass
    raise InvalidInput(
        f"memory_get: {text[:40]!r} is not a date.",
        hint="Use today, yesterday or a date such as 2026-05-27.",
    )


def long_term(hub: HubMemory) -> str:
    """The output of `/memory`: MEMORY.md, as in the prompt."""
    return hub.context(style="maven") or "No long-term memory yet."


def _required(names: Sequence[str]) -> str:
    """Each tool has one argument that it cannot do without."""
    tools = {parameter.name: tool.name for tool in DIALECT.tools for parameter in tool.parameters}
    return " ".join(f"{tools[name]}: {name} is required" for name in names)


DIALECT = read_dialect(
    "maven",
    {
        "remember": _remember,
        "memory_search": _search,
        "memory_get": _get,
        "memory": lambda ctx, given: long_term(ctx.hub),
    },
    missing=_required,
    held=lambda answer, held: held_sentence(held),
)
