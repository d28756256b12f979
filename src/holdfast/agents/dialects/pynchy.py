"""The tools of Pynchy: memories with keys, in the categories core, daily and conversation.

A group is a hub. Memories that came another way are seen too: under their id where they have no
key, and with the category they have. The group's own files are taken in before a search. It puts
arguments into calls of the hub and results into the shapes that Pynchy's agents know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.agents import MissingArguments, Parameter, ToolContext
from holdfast.agents.dialects import read_dialect
from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.domain.query import Hit
from holdfast.domain.results import Stored, Updated
from holdfast.errors import CallCancelled, Conflict, HoldfastError, NotFound

CATEGORIES = ("core", "daily", "conversation")
_RECALL_MAX = 1_000
# A model reads the list of keys; with more keys, it asks by category or recalls.
_LIST_MAX = 1_000
# A note is given whole. Of a longer text, such as a file, the part that matched is the answer.
_CONTENT_CHARS_MAX = 8_000


def _save(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    _require("save_memory", given, "key", "content")
    heard = ctx.hub.heard(given["content"])
    if heard.nothing_new:
        raise Conflict(heard.sentence)
    result = ctx.hub.remember(
        heard.text,
        key=given["key"],
        category=given["category"],
        trust=ctx.trust,
        source=ctx.source,
        source_agent=ctx.agent,
    )
    if reason := result.memory.quarantine:
        raise Conflict(
            f"It is kept as {result.memory.id}, without the key, and hidden until a person approves"
            f" it: it {reason}."
        )
    key = result.memory.key
    # A memory with the same text has got the key, and is new to a caller who uses keys.
    adopted = isinstance(result, Updated) and result.previous.key != key
    created = isinstance(result, Stored) or adopted
    return {"key": key, "status": "created" if created else "updated"}


def _recall(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    _require("recall_memories", given, "query")
    notes = _take_in_files(ctx)
    over = _daily_over(ctx)
    recalled = ctx.hub.recall(
        given["query"],
        limit=min(given["limit"] + len(over), _RECALL_MAX),
        category=given["category"],
        zone=ctx.zone,
        plain=True,
        # To the letter: words, and where they find nothing, the exact text. By meaning there
        # would always be something, and an agent could not tell what is not known.
        meaning=False,
        turns=False,
    )
    found = [hit for hit in recalled if hit.memory.id not in over][: given["limit"]]
    answer: dict[str, Any] = {"memories": [_hit(hit) for hit in found], "count": len(found)}
    if notes := [*recalled.degraded, *notes]:
        answer["degraded"] = notes
    return answer


def _forget(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    _require("forget_memory", given, "key")
    key = given["key"].strip()
    if key.removeprefix("#").isdecimal():
        # No key looks like this, and a memory of that number is not what was meant.
        return {"removed": False}
    try:
        ctx.hub.forget(key)
    except NotFound:
        return {"removed": False}
    return {"removed": True}


def _list(ctx: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    notes = _take_in_files(ctx)
    over = _daily_over(ctx)
    found = ctx.hub.list(category=given["category"], order="updated", limit=_LIST_MAX)
    memories = [
        {"key": _name(memory), "category": memory.category, "updated_at": _updated(memory)}
        for memory in found
        if memory.id not in over
    ]
    answer: dict[str, Any] = {"memories": memories, "count": len(memories)}
    if found.cursor is not None:
        notes.append(f"There are more; these are the newest {_LIST_MAX}.")
    if notes:
        answer["notes"] = notes
    return answer


def _daily_over(ctx: ToolContext) -> set[str]:
    """The daily notes that the next run of the lifecycle will archive. They have expired, so they
    are neither found nor listed, though nothing is written here."""
    moves = ctx.hub.lifecycle(dry_run=True, category="daily")
    return {move.memory.id for move in moves if move.to == "archived"}


def _require(tool: str, given: dict[str, Any], *names: str) -> None:
    """An argument of nothing but spaces is missing too."""
    if blank := [name for name in names if not given[name].strip()]:
        raise MissingArguments(tool, blank)


def _take_in_files(ctx: ToolContext) -> list[str]:
    """Reads what is new in the group's files; one that cannot be read does not make the call
    fail."""
    try:
        ctx.hub.index_files(progress=ctx.progress)
    except CallCancelled:
        raise
    except (HoldfastError, OSError) as error:
        return [f"the group's files could not be taken in: {error}"]
    return []


def _hit(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    whole = len(memory.content) <= _CONTENT_CHARS_MAX
    return {
        "key": _name(memory),
        "content": memory.content if whole else hit.passage.text,
        "category": memory.category,
        "metadata": {**({"source": "auto"} if memory.is_auto else {}), **memory.metadata},
        "updated_at": _updated(memory),
        "score": hit.score,
    }


def _name(memory: Memory) -> str:
    return memory.key or memory.id


def _updated(memory: Memory) -> str:
    return to_text(memory.updated_at)


def _failure(error: HoldfastError) -> str:
    return f"Error: {error}"


def _missing(names: Sequence[str]) -> str:
    return f"Error: Missing required fields: {', '.join(names)}"


_ANY_CATEGORY = Parameter(
    "category",
    "text",
    "Only of this category: core, daily, conversation, or another label that memories have.",
)

DIALECT = read_dialect(
    "pynchy",
    {
        "save_memory": _save,
        "recall_memories": _recall,
        "forget_memory": _forget,
        "list_memories": _list,
    },
    {"RECALL_MAX": _RECALL_MAX, "ANY_CATEGORY": _ANY_CATEGORY},
    failure=_failure,
    missing=_missing,
)
