"""The model's part of a consolidation: its prompt, and its proposals. It has three tools that write
nothing; each proposal is checked at once, so that the model learns why one is refused and can
correct it. Only steps that pass the checks are returned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.errors import HoldfastError, InvalidInput
from holdfast.llm import ModelTool
from holdfast.llm.tool_loop import Limits, talk
from holdfast.passes import prompt
from holdfast.passes.consolidation import SOURCES_MAX, STEP_KINDS, Refused, Step, StepKind
from holdfast.passes.consolidation.checks import unsupported, why_not_applicable
from holdfast.passes.consolidation.material import Material, RelatedMemories, day_of
from holdfast.passes.consolidation.rules import why_not_promoted
from holdfast.text.clean import clean_category

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.llm import Model


# A model that proposes more than this for a week is not selective.
PROPOSALS_MAX = 50
_REASON_CHARS_MAX = 200


_IDS = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": SOURCES_MAX}
_TEXT = {"type": "string", "description": "one short sentence, in the words of the sources"}
_REASON = {"type": "string", "description": "why, in a few words"}
_CATEGORY = {"type": "string", "description": "preference, person, decision, fact …"}
_ID = {"type": "integer"}


def _tool(
    name: StepKind, description: str, required: Sequence[str], **properties: Any
) -> ModelTool:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ModelTool(name, description, schema)


TOOLS = (
    _tool(
        "promote",
        "Propose that lines of the journal become a long-term memory.",
        ("sources", "text"),
        sources=_IDS,
        text=_TEXT,
        category=_CATEGORY,
        replaces=_ID,
        reason=_REASON,
    ),
    _tool(
        "merge",
        "Propose that long-term memories that say the same become one.",
        ("sources", "text"),
        sources=_IDS,
        text=_TEXT,
        category=_CATEGORY,
        reason=_REASON,
    ),
    _tool(
        "retire",
        "Propose that a long-term memory leaves, because a newer one contradicts it.",
        ("sources",),
        sources=_IDS,
        replaced_by=_ID,
        reason=_REASON,
    ),
)


class Proposals(NamedTuple):
    """The accepted and the refused proposals of a model for consolidation, and the course of the
    conversation."""

    steps: list[Step]
    refused: list[Refused]
    notes: list[str]


def ask_model(
    model: Model, material: Material, limits: Limits, redacted: Callable[[str], str]
) -> Proposals:
    """Asks a model for steps of consolidation. Raises ModelError if it cannot be reached."""
    hearing = _Hearing(material, redacted)
    tools = {tool.name: (tool, partial(hearing.take, tool.name)) for tool in TOOLS}
    ended = talk(model, prompt("consolidate"), prompt_of(material), tools, limits)
    if not hearing.heard:
        # Small models write tool calls as text instead of making them.
        for proposed in written_down(ended.text):
            hearing.take(proposed.pop("kind", ""), proposed)
    notes = [] if ended.ended == "done" else [f"The model was stopped: {_STOPPED[ended.ended]}."]
    return Proposals(hearing.steps, hearing.refused, notes)


_STOPPED = {
    "rounds": "it had as many rounds as it gets",
    "requests": "it had as many requests as it gets",
    "tokens": "it used as many tokens as it gets",
    "time": "it took too long",
}


class _Hearing:
    """Checks proposals one at a time, and answers each with its result."""

    def __init__(self, material: Material, redacted: Callable[[str], str]) -> None:
        self._material, self._redacted = material, redacted
        lines = [line for line in material.journal if not why_not_promoted(line, material)]
        self._near = RelatedMemories([*material.long_term, *lines])
        self.steps: list[Step] = []
        self.refused: list[Refused] = []
        self.heard = 0

    def take(self, kind: str, arguments: dict[str, Any]) -> str:
        self.heard += 1
        if self.heard > PROPOSALS_MAX:
            return f"Refused: {PROPOSALS_MAX} proposals are enough."
        try:
            step = step_of(kind, arguments, self._material)
        except HoldfastError as error:
            return f"Refused: {error}"
        why = why_not_applicable(step, self._material.memories, self._material.now)
        why = why or unsupported(step, self._material, self._near, self._redacted)
        if why:
            # Secrets in the text are redacted.
            self.refused.append(Refused(step._replace(text=self._redacted(step.text)), why))
            return f"Refused: {why}."
        self.steps.append(step)
        return "Noted."


def step_of(kind: str, arguments: dict[str, Any], material: Material) -> Step:
    """The step of consolidation that the model's arguments describe; raises InvalidInput if they
    describe none."""
    if kind not in STEP_KINDS:
        raise InvalidInput(f"`{str(kind)[:40]}` is none of {', '.join(STEP_KINDS)}.")
    sources = arguments.get("sources")
    if not isinstance(sources, list) or not 0 < len(sources) <= SOURCES_MAX:
        raise InvalidInput("The sources must be a list of ids.")
    numbers = tuple(dict.fromkeys(_number(one, material) for one in sources))
    text = _word(arguments, "text")
    first = material.memories.get(numbers[0])
    category = _word(arguments, "category") or (first.category if first else "fact")
    reason = " ".join(_word(arguments, "reason").split())[:_REASON_CHARS_MAX]
    said = "proposed by the model" + (f": {reason}" if reason else "")
    if kind == "retire":
        kept = "\n".join(material.memories[n].content for n in numbers if n in material.memories)
        by = _optional(arguments.get("replaced_by"), material)
        return Step("retire", numbers, kept, replaced_by=by, reason=said)
    replaces = _optional(arguments.get("replaces"), material) if kind == "promote" else None
    category = clean_category(category)
    return Step(kind, numbers, text, category, replaces, reason=said)


def _word(arguments: dict[str, Any], name: str) -> str:
    value = arguments.get(name)
    return value.strip() if isinstance(value, str) else ""


def _optional(value: Any, material: Material) -> int | None:
    # Small models write null, 0 or nothing for none.
    return None if value in (None, "", 0, "0", "null", "none") else _number(value, material)


def _number(value: Any, material: Material) -> int:
    """The number of a memory in any form that models use: 12, "12", "#12", or its long id."""
    if type(value) is int:
        return value
    if isinstance(value, str):
        plain = value.strip().removeprefix("#")
        if plain.isascii() and plain.isdigit() and len(plain) < 16:
            return int(plain)
        for memory in (*material.journal, *material.long_term):
            if memory.id == plain:
                return memory.number
    raise InvalidInput(f"{str(value)[:40]!r} is none of the ids.")


# The prompt


def prompt_of(material: Material) -> str:
    """The prompt for consolidation: long-term memory, then the journals, newest day first."""
    room = material.chars_max
    shown: list[Memory] = []
    for memory in sorted(material.long_term, key=lambda one: one.last_use, reverse=True):
        room -= len(memory.content)
        if room < 0:
            break
        shown.append(memory)
    shown.sort(key=lambda memory: memory.number)
    journal = [_line(memory, material) for memory in material.journal if not memory.quarantine]
    return "\n".join(
        [
            "Long-term memory:",
            *(_line(memory, material) for memory in shown),
            "",
            "Journals, newest day first:",
            *journal,
        ]
    )


def _line(memory: Memory, material: Material) -> str:
    row: dict[str, Any] = {"id": memory.number, "day": day_of(memory).isoformat()}
    row["said_by"] = "assistant" if memory.id in material.by_assistant else memory.trust
    row["category"] = memory.category
    if memory.mention_count > 1:
        row["times"] = memory.mention_count
    if memory.pinned:
        row["pinned"] = True
    row["text"] = memory.content
    # JSON on one line, so that nothing in the text can imitate another object.
    return json.dumps(row, ensure_ascii=False)


# Proposals in the text of the answer

_FENCED = re.compile(r"```(?:json)?\s*+(.*?)```", re.DOTALL)
_ANSWER_CHARS_MAX = 100_000


def written_down(text: str) -> Iterable[dict[str, Any]]:
    """The steps of consolidation in a model's JSON answer: a list of steps, or an object that has
    one."""
    text = text[:_ANSWER_CHARS_MAX]
    fenced = _FENCED.search(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, dict):
        value = value.get("steps", [value])
    if not isinstance(value, list):
        return
    for one in value[: PROPOSALS_MAX + 1]:
        if isinstance(one, dict):
            kind = one.get("kind") or one.get("action") or one.get("tool") or ""
            yield {**one, "kind": str(kind)}
