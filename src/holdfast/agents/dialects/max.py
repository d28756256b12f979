"""The tools of Max: numbered facts in six categories, remembered because the user said so or
because the agent noticed. Its words are a contract, to the letter.

What any dialect has written is found here. The reply has a line for a fact: of longer texts only
the beginning is printed, and their further lines are indented, so that none can pose as another.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from holdfast.agents import Answer, ToolContext, note_held, now_of
from holdfast.agents.dialects import read_dialect
from holdfast.api.hub import HubMemory
from holdfast.domain.memory import EXPLICIT, Memory, made_from
from holdfast.domain.results import Remembered, Stored, Superseded
from holdfast.engine.writing.drafts import reason_to_hold
from holdfast.errors import HoldfastError, NotFound
from holdfast.text.classify import LONG_TERM_CHARS_MAX

CATEGORIES = ("preference", "fact", "project", "person", "routine", "decision")
SOURCES = ("user", "auto")
LIMIT = 20
_REMEMBERED = "Remembered"
# The contract prints a content whole, and a fact is a sentence or two. Twenty documents or
# archived conversations, printed whole, would fill the model's context.
_CONTENT_CHARS_MAX = 2_000


def _remember(ctx: ToolContext, given: dict[str, Any]) -> str:
    heard = ctx.hub.heard(given["content"])
    known = [memory for memory in heard.memories if memory.visible]
    if heard.nothing_new and not known:
        return heard.sentence
    if heard.nothing_new:
        memory, replaced = known[0], ""
    else:
        given = given | {"content": heard.text}
        memory, replaced = (_remember_explicit if given["source"] == "user" else _remember_noticed)(
            ctx, given
        )
    said = f'{_REMEMBERED} (#{memory.number}, {memory.category}): "{_cut(memory.content)}"'
    return said + replaced


def _replaced(result: Remembered) -> str:
    """Which number no longer holds, or may not, for the end of the reply."""
    if isinstance(result, Superseded):
        return f" It replaces #{result.previous.number}."
    if isinstance(result, Stored) and (close := result.close_to) is not None:
        return f" Close to #{close.number}; forget #{close.number} if this replaces it."
    return ""


def _held(answer: Answer, held: Sequence[Memory]) -> Answer:
    """The answer where the fact is held: it does not claim to be remembered."""
    if isinstance(answer, str) and answer.startswith(_REMEMBERED):
        answer = f"Held for review{answer.removeprefix(_REMEMBERED)}"
    return note_held(answer, held)


def _remember_explicit(ctx: ToolContext, given: dict[str, Any]) -> tuple[Memory, str]:
    """What the user asked to be kept: it does not age, also where it had been noticed before.

    Only the agent says that the user asked for it. What tries to take the model over is therefore
    counted as the agent's, and held."""
    trust = "agent" if reason_to_hold(given["content"], "agent") else "user"
    result = ctx.hub.remember(
        given["content"],
        category=given["category"],
        layer=_layer(given["content"]),
        stability="stable",
        trust=trust,
        source=ctx.source,
        source_agent=ctx.agent,
    )
    memory = result.memory
    if memory.trust != trust == "user":
        memory = ctx.hub.update(memory.id, trust="user", reason="the user said so too")
    if trust == "user" and _is_auto(memory):
        asked = {**memory.metadata, EXPLICIT: True}
        memory = ctx.hub.update(memory.id, metadata=asked, reason="the user said so too")
    return memory, _replaced(result)


def _remember_noticed(ctx: ToolContext, given: dict[str, Any]) -> tuple[Memory, str]:
    """Facts that the agent noticed by itself, for which the lifecycle has a rule."""
    result = ctx.hub.remember(
        given["content"],
        category=given["category"],
        layer=_layer(given["content"]),
        trust="agent",
        source="extraction",
        source_agent=ctx.agent,
    )
    return result.memory, _replaced(result)


def _layer(content: str) -> str | None:
    """A fact is part of the summary, whatever it looks like; what is longer is filed by rule."""
    return "long_term" if len(content) <= LONG_TERM_CHARS_MAX else None


def _recall(ctx: ToolContext, given: dict[str, Any]) -> str:
    found = _last_used(ctx.hub, (given["keyword"] or "").strip(), given["category"])
    if not found:
        return "No matching memories found."
    # A full disk, or a memory that was forgotten meanwhile, must not turn an answer into an error.
    with suppress(HoldfastError):
        ctx.hub.access_many([memory.id for memory in found])
    count = f"Found {len(found)} {'memory' if len(found) == 1 else 'memories'}:"
    return "\n".join([count, *map(_line, found)])


def _last_used(hub: HubMemory, keyword: str, category: str | None) -> list[Memory]:
    """The memories that match, last used first; one that never was counts from its creation.

    The first of them are among the first by access or among the first by creation.
    """
    found: dict[str, Memory] = {}
    for order in ("accessed", "newest"):
        if keyword:
            some = hub.search_text(keyword, words=True, category=category, order=order, limit=LIMIT)
        else:
            some = _first(hub, category, order)
        found |= {memory.id: memory for memory in some}

    # Of a line of the journal and the memory made from it, that memory is enough.
    for memory in tuple(found.values()):
        for source in made_from(memory):
            found.pop(source, None)

    def last_use(memory: Memory) -> tuple[datetime, int]:
        return memory.accessed_at or memory.created_at, memory.number

    return sorted(found.values(), key=last_use, reverse=True)[:LIMIT]


def _first(hub: HubMemory, category: str | None, order: str) -> list[Memory]:
    """The first memories of a list that still hold."""
    now = now_of(hub)
    found: list[Memory] = []
    cursor = None
    while len(found) < LIMIT:
        page = hub.list(category=category, order=order, limit=LIMIT, cursor=cursor)
        found += [memory for memory in page if memory.current(now)]
        cursor = page.cursor
        if cursor is None:
            break
    return found[:LIMIT]


def _is_auto(memory: Memory) -> bool:
    """Whether an agent or the journaler noticed it, without being asked to remember it."""
    return memory.trust != "user" or memory.is_auto


def _line(memory: Memory) -> str:
    source = "auto" if _is_auto(memory) else "user"
    content = "\n  ".join(_cut(memory.content).splitlines())
    return (
        f"• #{memory.number} [{memory.category}] {content}"
        f" ({source}, {memory.created_at:%Y-%m-%d %H:%M:%S})"
    )


def _cut(content: str) -> str:
    if len(content) <= _CONTENT_CHARS_MAX:
        return content
    return content[: _CONTENT_CHARS_MAX - 1] + "…"


def _forget(ctx: ToolContext, given: dict[str, Any]) -> str:
    number = given["memory_id"]
    try:
        ctx.hub.forget(number)
    except NotFound:
        return f"Memory #{number} not found — it may have already been removed."
    return f"Memory #{number} forgotten."


DIALECT = read_dialect(
    "max",
    {"remember": _remember, "recall": _recall, "forget": _forget},
    {"CATEGORIES": CATEGORIES},
    held=_held,
    log_keep=200,
)
