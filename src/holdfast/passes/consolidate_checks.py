"""Whether a step may be done. What any plan must keep to is `misfit`; what a model proposes must in
addition be grounded in its sources, hold no orders and no secrets, and be no more than its sources
allow: `unsupported`. Pure, and it refuses in half a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from holdfast.domain.memory import Memory
from holdfast.passes.consolidate_near import Near, audience, said_at
from holdfast.passes.consolidate_plan import Step
from holdfast.passes.consolidate_rules import (
    PROMOTED_CHARS_MAX,
    Material,
    is_settled,
    may_replace,
    unfit,
)
from holdfast.text.guard import instruction_shaped
from holdfast.text.sameness import words_key
from holdfast.text.secrets import placeholders
from holdfast.text.slots.compare import compare

# What no longer holds, or something newer speaks against: the only reasons to retire a memory.
_AGAINST = ("replaces", "contradicts")
_THE_USER = re.compile(r"(?:^|(?<=[.;\n] ))(?:the )?user (\w)", re.IGNORECASE)
_STATEMENT_ENDS = re.compile(r"(?<=[.!?])\s+|[;\n]")


def misfit(step: Step, memories: Mapping[int, Memory], now: datetime) -> str:
    """Why a step cannot be done with these memories, whoever wants it; empty where it can."""
    missing = [number for number in step.named if number not in memories]
    if not step.sources:
        return "it names no source"
    if missing:
        return f"there is no #{missing[0]}"
    if len(set(step.named)) < len(step.named):
        return "it names a memory twice"
    named = [memories[number] for number in step.named]
    for memory in named:
        if why := _hidden(memory):
            return f"#{memory.number} {why}"
    if len({audience(memory) for memory in named}) > 1:
        return "its sources are not for the same people"
    if step.kind == "promote":
        return _promote_misfit(step, memories)
    if step.kind == "merge":
        return _merge_misfit(step, memories, now)
    return _retire_misfit(step, memories)


def _hidden(memory: Memory) -> str:
    if memory.forgotten_at is not None:
        return "was forgotten"
    if memory.quarantine:
        return "waits for review"
    if memory.superseded_by is not None:
        return "was replaced by another memory"
    return "is archived" if memory.state == "archived" else ""


def _promote_misfit(step: Step, memories: Mapping[int, Memory]) -> str:
    for number in step.sources:
        if memories[number].layer != "journal":
            return f"#{number} is no line of a journal"
    if not step.text.strip():
        return "it says nothing"
    if step.replaces is not None:
        return _leaving_misfit(memories[step.replaces])
    return ""


def _merge_misfit(step: Step, memories: Mapping[int, Memory], now: datetime) -> str:
    if len(step.sources) < 2:
        return "it takes two to merge"
    if not step.text.strip():
        return "it says nothing"
    sources = [memories[number] for number in step.sources]
    stays = survivor(step, sources)
    for memory in sources:
        if memory.layer != "long_term":
            return f"#{memory.number} is not in long-term memory"
        if not memory.current(now):
            return f"#{memory.number} no longer holds"
        if memory is not stays and (why := _leaving_misfit(memory)):
            return why
        if memory is not stays and (memory.key or memory.source_path):
            return f"#{memory.number} is asked for by its key or its path"
    return ""


def survivor(step: Step, sources: Sequence[Memory]) -> Memory | None:
    """Of memories that are merged, the one that says what the step says; None where the text is a
    new one."""
    said = words_key(step.text)
    return next((memory for memory in sources if words_key(memory.content) == said), None)


def _retire_misfit(step: Step, memories: Mapping[int, Memory]) -> str:
    for number in step.sources:
        if why := _leaving_misfit(memories[number]):
            return why
    if step.replaced_by is not None and memories[step.replaced_by].layer != "long_term":
        return f"#{step.replaced_by} is not in long-term memory; promote it in its place"
    return ""


def _leaving_misfit(memory: Memory) -> str:
    if memory.layer != "long_term":
        return f"#{memory.number} is not in long-term memory"
    return f"#{memory.number} is pinned" if memory.pinned else ""


# What a model proposes


def unsupported(step: Step, material: Material, near: Near, redacted: Callable[[str], str]) -> str:
    """Why a step that fits is not done when a model proposes it; empty where it is. `near` finds
    what else there is about the same, `redacted` is a text without its secrets."""
    if is_settled(step, material):
        return "it was taken back, or out of a plan, before"
    memories = material.memories
    sources = [memories[number] for number in step.sources]
    if step.kind == "retire":
        return _unretirable(step, sources, material)
    if len(step.text) > PROMOTED_CHARS_MAX:
        return f"it has more than {PROMOTED_CHARS_MAX} characters"
    if placeholders(step.text) or redacted(step.text) != step.text:
        return "it holds a secret"
    if order := instruction_shaped(step.text, in_conversation=True):
        return f"it is shaped like orders to a model: {order}"
    if step.kind == "promote":
        for memory in sources:
            if why := unfit(memory, material):
                return f"{why} (#{memory.number})"
    if why := _known(step, sources, material, near):
        return why
    if why := _ungrounded(step.text, sources):
        return why
    if step.replaces is not None:
        return _irreplaceable(step, sources, material)
    return ""


def _ungrounded(text: str, sources: Sequence[Memory]) -> str:
    """Each statement of a text is supported by one of its sources whole: words of several that are
    put together can say what none of them says."""
    # Only what a model says needs it.
    from holdfast.text.grounding import Span, ground

    if any(words_key(one.content) == words_key(text) for one in sources):
        return ""
    for part in filter(str.strip, _STATEMENT_ENDS.split(text)):
        claim = _unnamed(part.strip())
        found = [ground(claim, _unnamed(one.content), at=said_at(one)) for one in sources]
        reasons = [one.reason for one in found if not isinstance(one, Span)]
        if len(reasons) == len(found):
            return f"its sources do not say so ({reasons[0]})"
    return ""


def _unnamed(text: str) -> str:
    """The text with nobody named where the user is: 'User prefers tabs' and 'Prefers tabs' are the
    same in a memory, which is the user's."""
    return _THE_USER.sub(lambda found: found[1].upper(), text)


def _known(step: Step, sources: Sequence[Memory], material: Material, near: Near) -> str:
    said = words_key(step.text)
    own = {memory.number for memory in sources}
    newest = max(sources, key=said_at)
    for memory in near.to(newest, step.text):
        if memory.number in own or not memory.current(material.now):
            continue
        verdict = compare(step.text, memory.content)
        if memory.layer == "long_term" and verdict.relation == "same":
            return f"#{memory.number} says so already"
        if verdict.relation == "contradicts" and memory.number != step.replaces:
            return f"it may contradict #{memory.number}: {verdict.reason}"
    later = near.overtaken(newest, step.text)
    if later is not None and later.current(material.now):
        return f"#{later.number} says otherwise since"
    away = material.unwanted.get(said)
    if step.kind != "promote" or away is None or any(said_at(one) > away for one in sources):
        return ""
    return "it was taken out of long-term memory, and not said again since"


def _irreplaceable(step: Step, sources: Sequence[Memory], material: Material) -> str:
    assert step.replaces is not None, "only asked where something is replaced"
    old = material.memories[step.replaces]
    newest = max(sources, key=said_at)
    if said_at(newest) <= said_at(old):
        return f"#{old.number} is newer than its sources"
    if compare(step.text, old.content).relation not in _AGAINST:
        return f"it does not speak against #{old.number}"
    return may_replace(newest, old, material)


def _unretirable(step: Step, sources: Sequence[Memory], material: Material) -> str:
    newer = None if step.replaced_by is None else material.memories[step.replaced_by]
    for memory in sources:
        if not memory.current(material.now):
            continue
        if newer is None:
            return f"#{memory.number} still holds, and nothing newer is named"
        if said_at(newer) <= said_at(memory):
            return f"#{newer.number} is not newer than #{memory.number}"
        if compare(newer.content, memory.content).relation not in _AGAINST:
            return f"#{newer.number} does not speak against #{memory.number}"
        if why := may_replace(newer, memory, material):
            return why
    return ""
