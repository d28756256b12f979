"""The journaler's conversation with a model: one turn, two tools, at most two rounds.

`memory_search` works like the tool of that name; `remember` only proposes. Other output of the
model is ignored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.domain.query import Filter
from holdfast.engine.core import Scope
from holdfast.engine.upkeep.model_usage import limits_of
from holdfast.errors import InvalidInput
from holdfast.llm import ModelTool
from holdfast.llm.tool_loop import talk
from holdfast.passes import prompt
from holdfast.text.analysis.spans import snippet

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.llm import Model
    from holdfast.llm.tool_loop import Tools
    from holdfast.passes.journaler import Heard, Proposed


ROUNDS = 2
# A limit above all settings: a pass that takes longer would delay those behind it.
SECONDS_MAX = 60.0
SNIPPET_CHARS = 500
_HITS, _HITS_MAX = 5, 20
# A fact is a sentence; a longer text is a copy of the turn.
_FACT_CHARS_MAX = 500

_SEARCH = ModelTool(
    "memory_search",
    "Looks up whether something is known already, in today's journal and in memory.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for; a few words work best."},
            "limit": {"type": "integer", "minimum": 1, "maximum": _HITS_MAX},
        },
        "required": ["query"],
    },
)
_REMEMBER = ModelTool(
    "remember",
    "Proposes one fact for today's journal. It is kept only if the turn says so.",
    {
        "type": "object",
        "properties": {
            "content": {"type": "string", "description": "The fact, in one sentence."},
            "quote": {
                "type": "string",
                "description": "The words of the turn that say so, letter by letter.",
            },
        },
        "required": ["content"],
    },
)


def by_model(core: Core, hub: Hub, model: Model, proposed: Proposed) -> None:
    """Asks the model which facts of the turn are worth storing. Raises ModelError if it cannot be
    reached."""
    limits = limits_of(core, rounds=ROUNDS)
    limits = limits._replace(seconds=min(limits.seconds, SECONDS_MAX))
    talk(model, prompt("journal"), prompt_of(proposed.heard), _tools(core, hub, proposed), limits)


def prompt_of(heard: Heard) -> str:
    """The turn as JSON for the journaler's model, so that nothing in it can imitate its end."""
    date = f"{heard.read_at:%Y-%m-%d (%A)}"
    said = {"date": date, "user": heard.user, "assistant": heard.assistant}
    return "The turn:\n" + json.dumps(said, ensure_ascii=False, indent=1)


def _tools(core: Core, hub: Hub, proposed: Proposed) -> Tools:
    def search(given: dict[str, Any]) -> str:
        return _search(core, hub, given)

    def remember(given: dict[str, Any]) -> str:
        content = str(given["content"]).strip()
        if not content:
            raise InvalidInput("remember: content is required")
        if len(content) > _FACT_CHARS_MAX:
            raise InvalidInput(f"A fact has at most {_FACT_CHARS_MAX} characters.")
        why = proposed.add(content, quote=str(given.get("quote") or ""))
        return f"Not kept: the turn does not say so ({why})." if why else "Remembered."

    return {_SEARCH.name: (_SEARCH, search), _REMEMBER.name: (_REMEMBER, remember)}


def _search(core: Core, hub: Hub, given: dict[str, Any]) -> str:
    query = str(given["query"]).strip()
    if not query:
        raise InvalidInput("memory_search: query is required")
    limit = min(max(1, int(given.get("limit") or _HITS)), _HITS_MAX)
    found = engine.recall.recall_memories(
        Scope(core, hub.id, hub.name), query, Filter(), limit=limit, plain=True, count_shown=False
    )
    if not found:
        return f'No journal entries matching "{query}".'
    return "\n\n".join(_hit(hit.memory, query) for hit in found)


def _hit(memory: Memory, query: str) -> str:
    day = memory.occurred_at or memory.created_at
    return f"## {day:%Y-%m-%d}\n\n{snippet(memory.content, query, SNIPPET_CHARS)}"
