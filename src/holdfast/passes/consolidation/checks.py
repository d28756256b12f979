"""Decides whether a step may be done. Every step must pass `why_not_applicable`. A model's
proposals must also pass `unsupported`: they must be grounded in their sources and contain no
instructions or secrets. `bounded` limits the number of promotions and keeps long-term memory within
its cap. Pure functions; a refusal is a short phrase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from holdfast.domain.memory import Memory
from holdfast.passes.consolidation import Refused, Step
from holdfast.passes.consolidation.material import Material, RelatedMemories, audience, said_at
from holdfast.passes.consolidation.rules import (
    PROMOTED_CHARS_MAX,
    Proposed,
    is_settled,
    may_replace,
    retire,
    touches,
    why_not_promoted,
)
from holdfast.text.facts.statements import words_key
from holdfast.text.guard import instruction_shaped
from holdfast.text.secrets import placeholders
from holdfast.text.slots.compare import compare

# Single steps


# The only reasons to retire a memory: it is outdated, or a newer one contradicts it.
_AGAINST = ("replaces", "contradicts")
_THE_USER = re.compile(r"(?:^|(?<=[.;\n] ))(?:the )?user (\w)", re.IGNORECASE)
_STATEMENT_ENDS = re.compile(r"(?<=[.!?])\s+|[;\n]")


def why_not_applicable(step: Step, memories: Mapping[int, Memory], now: datetime) -> str:
    """The reason why a step of consolidation cannot be applied to these memories, proposed by rules
    or a model; empty if it can."""
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
        return _promote_problem(step, memories)
    if step.kind == "merge":
        return _merge_problem(step, memories, now)
    return _retire_problem(step, memories)


def _hidden(memory: Memory) -> str:
    if memory.forgotten_at is not None:
        return "was forgotten"
    if memory.quarantine:
        return "waits for review"
    if memory.superseded_by is not None:
        return "was replaced by another memory"
    return "is archived" if memory.state == "archived" else ""


def _promote_problem(step: Step, memories: Mapping[int, Memory]) -> str:
    for number in step.sources:
        if memories[number].layer != "journal":
            return f"#{number} is no line of a journal"
    if not step.text.strip():
        return "it says nothing"
    if step.replaces is not None:
        return _why_kept(memories[step.replaces])
    return ""


def _merge_problem(step: Step, memories: Mapping[int, Memory], now: datetime) -> str:
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
        if memory is not stays and (why := _why_kept(memory)):
            return why
        if memory is not stays and (memory.key or memory.source_path):
            return f"#{memory.number} is asked for by its key or its path"
    return ""


def survivor(step: Step, sources: Sequence[Memory]) -> Memory | None:
    """Of the memories that a step of consolidation merges, the one with the text of the step; None
    if the text is new."""
    said = words_key(step.text)
    return next((memory for memory in sources if words_key(memory.content) == said), None)


def _retire_problem(step: Step, memories: Mapping[int, Memory]) -> str:
    for number in step.sources:
        if why := _why_kept(memories[number]):
            return why
    if step.replaced_by is not None and memories[step.replaced_by].layer != "long_term":
        return f"#{step.replaced_by} is not in long-term memory; promote it in its place"
    return ""


def _why_kept(memory: Memory) -> str:
    if memory.layer != "long_term":
        return f"#{memory.number} is not in long-term memory"
    return f"#{memory.number} is pinned" if memory.pinned else ""


# What a model proposes


def unsupported(
    step: Step, material: Material, near: RelatedMemories, redacted: Callable[[str], str]
) -> str:
    """The reason why a possible step of consolidation is refused if a model proposes it; empty if
    it is accepted. `near` finds related memories, `redacted` removes secrets from a text."""
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
            if why := why_not_promoted(memory, material):
                return f"{why} (#{memory.number})"
    if why := _known(step, sources, material, near):
        return why
    if why := _ungrounded(step.text, sources):
        return why
    if step.replaces is not None:
        return _irreplaceable(step, sources, material)
    return ""


def _ungrounded(text: str, sources: Sequence[Memory]) -> str:
    """Whether each statement of a text is supported by a single source: words of several sources
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
    """The text without the word 'user': 'User prefers tabs' and 'Prefers tabs' are the same in a
    memory, which is about the user."""
    return _THE_USER.sub(lambda found: found[1].upper(), text)


def _known(step: Step, sources: Sequence[Memory], material: Material, near: RelatedMemories) -> str:
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
    later = near.replacement_of(newest, step.text)
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


# Limits


# As many as a person can read in a minute. The others are promoted by later runs.
PROMOTIONS_MAX = 10
# If room is needed, memories that were not used for this long may be retired: as long as a memory
# cools before it is archived.
_UNUSED = timedelta(days=60)
# The bullet, and a share of its heading.
_LINE_CHARS = 4


def size(memories: Iterable[Memory]) -> int:
    """About how many characters the memories of a step take in MEMORY.md."""
    return sum(len(memory.content) + _LINE_CHARS for memory in memories)


def bounded(steps: Sequence[Step], material: Material) -> Proposed:
    """The steps of consolidation within the limits: a maximum of promotions, and the size of
    long-term memory. If that is exceeded, retiring unused memories is proposed first."""
    held = {one.number: one for one in material.long_term if one.current(material.now)}
    making = [step for step in steps if step.kind != "promote"]
    wanted = [step for step in steps if step.kind == "promote"]
    used = size(held.values()) - sum(_freed(step, held) for step in making)
    kept: list[Step] = []
    refused: list[Refused] = []
    over = False
    busy = {number for step in steps for number in touches(step)}
    unused = _unused(held, material, busy)
    notes: list[str] = []
    if used > material.chars_max:
        over = True
        used -= _make_room(used - material.chars_max, unused, making)
    for step in wanted:
        cost = len(step.text) + _LINE_CHARS - _freed(step, held)
        if len(kept) == PROMOTIONS_MAX:
            refused.append(Refused(step, f"a run promotes {PROMOTIONS_MAX} at most; the next may"))
            continue
        if used + cost > material.chars_max and cost > 0:
            over = True
            used -= _make_room(used + cost - material.chars_max, unused, making)
        if used + cost > material.chars_max and cost > 0:
            refused.append(Refused(step, "there is no room for it; merge or retire something"))
            continue
        used += cost
        kept.append(step)
    if over:
        notes.append(
            f"Long-term memory has {size(held.values()):,} of {material.chars_max:,} characters:"
            " merges and retirements come first, and what does not fit waits."
        )
    return Proposed([*making, *kept], refused, notes)


def _freed(step: Step, held: Mapping[int, Memory]) -> int:
    """The characters that a step removes from long-term memory, minus those that it adds."""
    gone = step.sources if step.kind != "promote" else ()
    if step.replaces is not None:
        gone = (step.replaces,)
    made = len(step.text) + _LINE_CHARS if step.kind == "merge" else 0
    return size(held[number] for number in gone if number in held) - made


def _unused(held: Mapping[int, Memory], material: Material, busy: set[int]) -> list[Memory]:
    """Memories that may be retired if room is needed, the longest unused last, as they are taken
    from the end."""
    found = [
        memory
        for memory in held.values()
        if not memory.pinned
        and memory.key is None
        and memory.number not in busy
        and memory.access_count == 0
        and memory.mention_count <= 1
        and memory.stability != "stable"
        and material.now - memory.last_use >= _UNUSED
        and not is_settled(retire(memory, ""), material)
    ]
    return sorted(found, key=lambda memory: (memory.last_use, memory.number), reverse=True)


def _make_room(needed: int, unused: list[Memory], making: list[Step]) -> int:
    freed = 0
    while unused and freed < needed:
        memory = unused.pop()
        freed += size([memory])
        days = f"{_UNUSED.days} days"
        making.append(retire(memory, f"room is needed, and it was not used for {days}"))
    return freed
