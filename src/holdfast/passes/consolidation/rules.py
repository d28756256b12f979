"""The rules of consolidation, without a model: which journal lines are promoted, which long-term
memories say the same, and which are outdated. Pure functions from memories to steps.

A line is promoted when it has enough points:

| what | points |
| --- | --- |
| each further day it was said on, or each further mention, at most 3 | 2 |
| it says that it matters ('important', 'always'), or somebody asked to remember it | 3 |
| it is pinned | 3 |
| each access, at most 3 | 1 |
| a preference, a person, a decision that somebody wrote down, and no event | 3 |
| one that was only noticed in a conversation, or a routine | 1 |
| a passing event: episodic, or filed as daily or conversation | -2 |

Three are enough. So a preference that an agent or a person wrote into the journal is promoted at
once, a captured one when it is said again, a fact when it is said a third time, and anything that
somebody calls important at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple, TypeAlias

from holdfast.domain.memory import TRUSTS, Memory, made_from
from holdfast.engine.upkeep.lifecycle import ranked, replaceable, sameness
from holdfast.engine.writing.supersede import is_news_of_old
from holdfast.passes.consolidation import Refused, Step
from holdfast.passes.consolidation.material import (
    Material,
    RelatedMemories,
    audience,
    day_of,
    said_at,
    voice,
)
from holdfast.text.facts.statements import words_key
from holdfast.text.slots.compare import compare

POINTS_ENOUGH = 3
_POINTS_SAID_AGAIN = 2
_POINTS_WEIGHTY = 3
_POINTS_PASSING = -2
# Correcting long-term memory is more important than any addition: more points than others can have.
_POINTS_REPLACES = 1_000
_AGAIN_MAX = 3
# Categories that last longer than events: who a person is, what they like, do and have decided.
_LASTING = frozenset({"preference", "person", "decision", "routine", "core"})
# For these, one written line is enough; captured ones must be said again.
_STANDING = frozenset({"preference", "person", "decision", "core"})
_PASSING = frozenset({"daily", "conversation"})
_WEIGHTY_TAGS = frozenset({"important", "remember"})
# 'Remember to buy milk' is a task, and over when it is done.
_WEIGHTY = re.compile(
    r"\b(?:important(?:ly)?|always|never|remember(?! to\b)|don'?t forget(?! to\b)|keep in mind"
    r"|from now on|note well)\b",
    re.IGNORECASE,
)
# A memory is a line or two; a longer text is a report, which stays in the journal.
PROMOTED_CHARS_MAX = 500


class Proposed(NamedTuple):
    """Proposed steps of consolidation, steps that the rules refuse, and notes."""

    steps: list[Step]
    refused: list[Refused]
    notes: list[str]


def propose(material: Material) -> Proposed:
    """The steps of consolidation that the rules propose, the safest first."""
    held = [memory for memory in material.long_term if memory.current(material.now)]
    near = RelatedMemories(held)
    steps = [*_ended(material), *_merges(held, near)]
    refused: list[Refused] = []
    # Of merged memories, the first one stays.
    gone = {n for step in steps for n in step.sources[1 if step.kind == "merge" else 0 :]}
    left = [memory for memory in held if memory.number not in gone]
    if gone:
        near = RelatedMemories(left)
    for found in (_replaced(left, near, material), _promotions(left, near, material)):
        steps += [one for one in found if isinstance(one, Step)]
        refused += [one for one in found if isinstance(one, Refused)]
    steps = [step for step in steps if not is_settled(step, material)]
    return Proposed(once_each(steps, material.memories), refused, [])


def is_settled(step: Step, material: Material) -> bool:
    """Whether a step of consolidation was undone before, or removed from a plan, and so is not
    wanted."""
    sources = frozenset(step.sources)
    return (step.kind, sources) in material.settled or sources <= material.declined


def once_each(steps: Iterable[Step], memories: Mapping[int, Memory]) -> list[Step]:
    """The steps that the rules of consolidation propose, without duplicates, and without steps
    about a long-term memory that an earlier step removes."""
    out: list[Step] = []
    taken: set[int] = set()
    said: set[tuple[object, ...]] = set()
    for step in steps:
        touched = set(touches(step))
        if touched & taken:
            continue
        if step.kind == "promote":
            words = (words_key(step.text), voice(memories[step.sources[0]]))
            if words in said:
                continue
            said.add(words)
        taken |= touched
        out.append(step)
    return out


def touches(step: Step) -> tuple[int, ...]:
    """The long-term memories that a step of consolidation changes."""
    if step.kind == "promote":
        return () if step.replaces is None else (step.replaces,)
    return step.named


# Retirements


def _ended(material: Material) -> list[Step]:
    """Retires memories that say in words that they are over."""
    out = []
    for memory in material.long_term:
        ends = [end for end in (memory.valid_until, memory.expires_at) if end is not None]
        if memory.pinned or not ends or min(ends) > material.now:
            continue
        reason = f"it held until {min(ends):%Y-%m-%d}"
        out.append(retire(memory, reason))
    return out


def retire(memory: Memory, reason: str, by: int | None = None) -> Step:
    return Step("retire", (memory.number,), memory.content, replaced_by=by, reason=reason)


def _replaced(
    held: Sequence[Memory], near: RelatedMemories, material: Material
) -> list[Step | Refused]:
    """Long-term memories that a newer one supersedes."""
    out: list[Step | Refused] = []
    for old in held:
        for new in near.to(old):
            if said_at(new) <= said_at(old):
                continue
            verdict = compare(new.content, old.content)
            if verdict.relation != "replaces":
                continue
            step = retire(old, verdict.reason, new.number)
            why = may_replace(new, old, material)
            out.append(Refused(step, why) if why else step)
            break
    return out


def may_replace(new: Memory, old: Memory, material: Material) -> str:
    """The reason why consolidation may not let one memory supersede another; empty if it may."""
    if old.pinned:
        return f"#{old.number} is pinned"
    if audience(new) != audience(old):
        return f"#{new.number} and #{old.number} are not for the same people"
    if new.id in material.by_assistant:
        return f"only the assistant said #{new.number}"
    if TRUSTS.index(new.trust) > TRUSTS.index(old.trust) and new.origin is None:
        return f"#{old.number} was said by a more trusted voice"
    if is_news_of_old(new, old):
        return f"#{old.number} was learnt later than what #{new.number} tells of"
    return ""


# Merges


def _merges(held: Sequence[Memory], near: RelatedMemories) -> list[Step]:
    """Long-term memories with the same words, as in `compact`, or with the same meaning."""
    key_of = {memory.number: sameness(memory) for memory in held}
    group_of: dict[_Key, list[Memory]] = {}
    for memory in held:
        group_of.setdefault(key_of[memory.number], []).append(memory)
    _join_reworded(group_of, key_of, near)
    out = []
    for group in group_of.values():
        stays, *_ = order = ranked(group)
        others = [memory for memory in replaceable(order) if not memory.pinned]
        if others:
            numbers = (stays.number, *(memory.number for memory in others))
            reason = "they say the same"
            out.append(Step("merge", numbers, stays.content, stays.category, reason=reason))
    return sorted(out, key=lambda step: step.sources)


_Key: TypeAlias = tuple[object, ...]


def _join_reworded(
    group_of: dict[_Key, list[Memory]], key_of: Mapping[int, _Key], near: RelatedMemories
) -> None:
    """Merges groups if their first memories say the same in other words."""
    for key, first in {key: group[0] for key, group in group_of.items()}.items():
        for other in near.to(first):
            # Everything except the words must be equal: the speaker, the times, the audience.
            there = key_of[other.number]
            if other.number > first.number or there not in group_of or there[1:] != key[1:]:
                continue
            if compare(first.content, other.content).relation == "same":
                group_of[there] += group_of.pop(key)
                break


# Promotions


class Group(NamedTuple):
    """Journal lines that say the same, for the rules of consolidation; the first is the one to
    quote."""

    lines: tuple[Memory, ...]

    @property
    def best(self) -> Memory:
        return self.lines[0]

    @property
    def newest(self) -> Memory:
        return max(self.lines, key=said_at)

    @property
    def days(self) -> list[date]:
        return sorted({day_of(memory) for memory in self.lines})


def grouped(lines: Iterable[Memory]) -> list[Group]:
    """Groups journal lines that say the same, the most trusted and newest of each first."""
    groups: dict[tuple[object, ...], list[Memory]] = {}
    for memory in lines:
        key = (words_key(memory.content), voice(memory))
        groups.setdefault(key, []).append(memory)

    def order(memory: Memory) -> tuple[int, int]:
        return TRUSTS.index(memory.trust), -memory.number

    return [Group(tuple(sorted(group, key=order))) for group in groups.values()]


def _promotions(
    held: Sequence[Memory], near: RelatedMemories, material: Material
) -> list[Step | Refused]:
    fit = [line for line in material.journal if not why_not_promoted(line, material)]
    # A line that is not promoted itself may still contradict an older one.
    lines = RelatedMemories(fit)
    used = {source for memory in held for source in made_from(memory)}
    weighed: list[tuple[int, int, Step]] = []
    out: list[Step | Refused] = []
    for group in grouped(line for line in fit if _counts(line, material)):
        # It was promoted before, perhaps in other words, or is outdated.
        newest = group.newest
        if any(line.id in used for line in group.lines):
            continue
        if lines.replacement_of(newest) or near.replacement_of(newest):
            continue
        found = _promotion(group, near, material)
        if isinstance(found, Refused):
            out.append(found)
        elif found is not None:
            points, step = found
            weighed.append((-points, -group.best.number, step))
    return [*out, *(step for _, _, step in sorted(weighed, key=lambda one: one[:2]))]


def _counts(line: Memory, material: Material) -> bool:
    if len(line.content) > PROMOTED_CHARS_MAX:
        return False
    away = material.unwanted.get(words_key(line.content))
    return away is None or said_at(line) > away


def _promotion(
    group: Group, near: RelatedMemories, material: Material
) -> tuple[int, Step] | Refused | None:
    """The step for a group, and its points; None if it has too few, or if long-term memory has it
    already."""
    line = group.best
    points, why = weight(group)
    numbers = tuple(memory.number for memory in group.lines)
    step = Step("promote", numbers, line.content.strip(), line.category, reason="; ".join(why))
    verdicts = [(old, compare(line.content, old.content)) for old in near.to(line)]
    if any(verdict.relation == "same" for _, verdict in verdicts):
        return None
    for old, verdict in verdicts:
        if verdict.relation == "contradicts" and points >= POINTS_ENOUGH:
            # The step as a person would confirm it: superseding the older memory.
            doubted = step._replace(replaces=None if old.pinned else old.number)
            return Refused(doubted, f"it may contradict #{old.number}: {verdict.reason}")
        if verdict.relation == "replaces" and said_at(group.newest) > said_at(old):
            reason = "; ".join((verdict.reason, *why))
            instead = step._replace(replaces=old.number, reason=reason)
            refusal = may_replace(group.best, old, material)
            return Refused(instead, refusal) if refusal else (_POINTS_REPLACES, instead)
    return (points, step) if points >= POINTS_ENOUGH else None


UNTRUSTED = frozenset({"tool", "import"})


def why_not_promoted(memory: Memory, material: Material) -> str:
    """The reason why a journal line is not promoted automatically; empty if it may be."""
    if not memory.visible:
        return "it waits for review" if memory.quarantine else "it is forgotten"
    if not memory.current(material.now):
        return "it no longer holds"
    if memory.state not in ("active", "cooling"):
        return f"it is {memory.state}"
    if memory.trust in UNTRUSTED:
        return f"its words came from {'a tool' if memory.trust == 'tool' else 'an import'}"
    if memory.id in material.by_assistant:
        return "only the assistant said it"
    return ""


def weight(group: Group) -> tuple[int, tuple[str, ...]]:
    """The points of a group of journal lines towards promotion, and the reasons for them."""
    lines, best = group.lines, group.best
    points, why = 0, []
    days = len(group.days)
    mentions = max(len(lines), *(memory.mention_count for memory in lines))
    again = min(_AGAIN_MAX, max(days, mentions) - 1)
    if again > 0:
        points += _POINTS_SAID_AGAIN * again
        why.append(f"said on {days} days" if days > 1 else f"said {mentions} times")
    if any(map(_is_weighty, lines)):
        points += _POINTS_WEIGHTY
        why.append("it says that it matters")
    if any(memory.pinned for memory in lines):
        points += _POINTS_WEIGHTY
        why.append("pinned")
    if used := min(_AGAIN_MAX, max(memory.access_count for memory in lines)):
        points += used
        why.append("it was used")
    if best.category in _STANDING and best.source != "extraction" and best.kind != "episodic":
        points += _POINTS_WEIGHTY
        why.append(f"a {best.category} that somebody wrote down")
    elif best.category in _LASTING:
        points += 1
        why.append(f"a {best.category}")
    if best.kind == "episodic" or best.category in _PASSING:
        points += _POINTS_PASSING
    return points, tuple(why)


def _is_weighty(memory: Memory) -> bool:
    """Whether somebody called it important, or asked to remember it."""
    if memory.metadata.get("explicit") is True or _WEIGHTY_TAGS & set(memory.tags):
        return True
    return _WEIGHTY.search(memory.content) is not None
