"""The content of a block: standing facts, which an agent should know whatever is asked; the text of
a hit (all of it, or the sentences of a long text nearest to the question); whether a turn says
something that was superseded; why a memory may not be in the block; and which memories of an
earlier block have changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.domain.query import Recalled
from holdfast.domain.records import is_own_word
from holdfast.engine.core import Core, Scope
from holdfast.engine.traces import Withheld
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import terms
from holdfast.text.sentences import sentence_spans

if TYPE_CHECKING:
    from holdfast.domain.query import Hit
    from holdfast.domain.records import Turn
    from holdfast.store.base import Reader


# Who a person is, what they want and do regularly, and what is true of their project; in this order
# if there is not enough room.
CATEGORIES = ("core", "preference", "routine", "person", "project", "decision")


# The output of a tool may be recalled, but is not injected unasked.
ASKED_ONLY = "tool"


def reason_to_omit(core: Core, memory: Memory, now: datetime, *, asked: bool = False) -> str:
    """The reason why a memory may not be in the block, unasked or as an answer; empty if it may."""
    if memory.superseded_by is not None:
        return "something newer took its place"
    if not memory.current(now):
        return "it no longer holds"
    if memory.trust == ASKED_ONLY and not asked:
        return "a tool said it, so it is shown only when a question asks for it"
    if is_others_private(core, memory):
        return "it is private to somebody else"
    return ""


def is_others_private(core: Core, memory: Memory) -> bool:
    """Whether a memory is private to somebody else."""
    return memory.boundary == "private" and memory.owner != core.actor


def is_standing(memory: Memory) -> bool:
    """Whether a memory is shown even in a block for a question that it does not answer."""
    return (
        memory.pinned
        or memory.category in CATEGORIES
        or memory.kind == "procedural"
        or _is_about_the_person(memory)
    )


def _is_about_the_person(memory: Memory) -> bool:
    """Whether it is a long-term memory made from a turn, about the person: a name, a home, work,
    health."""
    return memory.category == "fact" and memory.origin is not None


def by_weight(memories: Iterable[Memory]) -> list[Memory]:
    """Items of a block sorted by importance, most important first; otherwise the order is kept."""
    return sorted(filter(is_standing, memories), key=_weight)


def _weight(memory: Memory) -> int:
    if memory.pinned:
        return -1
    if memory.category in CATEGORIES:
        return CATEGORIES.index(memory.category)
    return CATEGORIES.index("core" if _is_about_the_person(memory) else "routine")


# The number of facts that always apply, who the person is and what they instruct, before those
# closest to the question.
_ALWAYS_FIRST = 2


def closest_first(
    standing: Sequence[Memory], asked: Sequence[str], cosines: Mapping[str, float]
) -> list[Memory]:
    """Standing facts for the block of a question: pinned ones and two that always apply, then those
    closest to the question by their cosines and their words. Otherwise the order is kept.

    A diet is relevant to 'What could I cook tonight?', but recall cannot be sure that it answers
    the question. Of the facts about the person, it is still the closest to it.
    """
    wanted = set(asked)

    def closeness(memory: Memory) -> tuple[float, int]:
        return cosines.get(memory.id, 0.0), len(wanted.intersection(terms(memory.content)))

    pinned = [one for one in standing if one.pinned]
    always = [one for one in standing if one.category == "core" or one.kind == "procedural"]
    first = pinned + [one for one in always if not one.pinned][:_ALWAYS_FIRST]
    ids = {one.id for one in first}
    others = [one for one in standing if one.id not in ids]
    return first + sorted(others, key=closeness, reverse=True)


# The smallest limit of a line, however small the budget: a sentence or two.
CHARS_LEAST = 160
# The largest limit of a line: about what one vector covers.
CHARS_MOST = 360
# A block has about this many lines that answer.
_LINES = 9
_CUT = "…"


def line_chars(limit: int) -> int:
    """The largest length of a quotation in a block of this many characters."""
    return min(CHARS_MOST, max(CHARS_LEAST, limit // _LINES))


def quoted(hit: Hit, asked: Sequence[str], chars: int) -> str:
    """The passage of a hit on one line of a block if it is short; else the window that is nearest
    to the question, and of that the sentences with most of the question's words."""
    content = hit.memory.content
    start, end = hit.passage.start, hit.passage.end
    if end - start > chars and hit.window is not None:
        start, end = hit.window
    if end - start > chars:
        start, end = _best_sentences(content, start, end, set(asked), chars)
    text = " ".join(content[start:end].split())
    before = _CUT if content[:start].strip() else ""
    after = _CUT if content[end:].strip() else ""
    return f"{before}{text}{after}"


def _best_sentences(
    text: str, start: int, end: int, asked: set[str], chars: int
) -> tuple[int, int]:
    """The run of whole sentences within this many characters that has most of the words; the first
    of equals. A single sentence that is too long is cut."""
    spans = [(start + first, start + last) for first, last in sentence_spans(text[start:end])]
    held = [asked & set(terms(text[first:last])) for first, last in spans]
    best, best_merit = (start, min(end, start + chars)), (-1, 0)
    for one in range(len(spans)):
        words: set[str] = set()
        for two in range(one, len(spans)):
            length = spans[two][1] - spans[one][0]
            if length > chars and two > one:
                break
            words |= held[two]
            # Of runs with the same words, the longer one is better.
            merit = (len(words), min(length, chars))
            if merit > best_merit:
                best_merit = merit
                best = (spans[one][0], min(spans[two][1], spans[one][0] + chars))
    return best


# The share of a fact's words that a turn must contain; the noted fact may be worded slightly
# differently.
_HELD = 0.75
# The same turn in the logs of two hubs has not quite the same time.
_SAME_MOMENT = timedelta(seconds=5)
MARK = "since corrected"
# The note on a turn that a later one may be meant to replace.
MAYBE_OLD = "perhaps outdated"


class CorrectedFact(NamedTuple):
    """A superseded fact: its words, and when it was corrected."""

    words: tuple[str, ...]
    turn: str
    until: datetime


def corrected_in(scope: Scope, found: Recalled) -> list[CorrectedFact]:
    """The superseded facts for a block, that match its question."""
    old = found.superseded
    if not old:
        return []
    with scope.core.read() as reader:
        ids = [memory.superseded_by or "" for memory in old]
        newer = reader.memories_by_id(scope.hub_id, ids)
        said = reader.turns_by_id(
            scope.hub_id, [one.origin.turn for one in newer.values() if one.origin is not None]
        )
    out = []
    for memory in old:
        successor = newer.get(memory.superseded_by or "")
        if successor is None:
            continue
        turn = said.get(successor.origin.turn) if successor.origin is not None else None
        until = successor.created_at if turn is None else turn.at
        origin = "" if memory.origin is None else memory.origin.turn
        if turn is not None and turn.id == origin:
            # The memory made from the turn was itself changed.
            until = successor.updated_at
        out.append(CorrectedFact(tuple(sorted(set(terms(memory.content)))), origin, until))
    return out


def is_corrected(turn: Turn, outdated: Sequence[CorrectedFact]) -> bool:
    """Whether a turn in a block says something that was corrected after it."""
    earlier = [one for one in outdated if turn.at + _SAME_MOMENT < one.until]
    if not earlier:
        return False
    words = frozenset(terms(turn.content))
    return any(
        one.turn == turn.id
        or (one.words and len(words.intersection(one.words)) >= _HELD * len(one.words))
        for one in earlier
    )


def day_named(scope: Scope, turn: Turn, text: str) -> str:
    """A note with the day that a line of a turn names relative to when it was said. Who reads it
    later would have to know the day of the week."""
    from holdfast.text.dates import relative_day

    event = relative_day(text, at=scope.core.local_clock(turn.at))
    if event is None:
        return ""
    first, last = event.since.date(), (event.until - timedelta(days=1)).date()
    return f"event {first}" if first >= last else f"event {first} to {last}"


def joined_notes(*notes: str) -> str:
    return ", ".join(filter(None, notes))


def turned_down_by(reader: Reader, scope: Scope, turn: Turn) -> Turn | None:
    """What the person said next where it turns down this reply of the agent, as 'no, use uv, not
    pip' does."""
    if turn.role != "assistant":
        return None
    from holdfast.text.capture.requests import turns_down

    withheld = Withheld(reader, scope)
    for said in reader.turns_around(scope.hub_id, turn.id, before=0, after=1):
        is_shown = is_own_word(said) and not withheld.parts(said)
        if is_shown and turns_down(said.content, turn.content):
            return said
    return None


# Turns of the log have no versions.
TURN_VERSION = 0


def outdated(scope: Scope, versions: Mapping[str, int]) -> set[str]:
    """The ids of the memories and turns, of those shown in these versions of a block, that have
    been changed, superseded, forgotten, held for review, deleted or withheld since."""
    turns = [name for name, version in versions.items() if version == TURN_VERSION]
    with scope.core.read() as reader:
        memories = reader.memories_by_id(
            scope.hub_id, [one for one in versions if one not in turns]
        )
        hidden = Withheld(reader, scope)
        known_turns = [
            turn.id
            for turn in reader.turns_by_id(scope.hub_id, turns).values()
            if not hidden.parts(turn)
        ]
    now = scope.now()
    current = {
        one.id for one in memories.values() if one.version == versions[one.id] and one.in_force(now)
    }
    return set(versions) - current - set(known_turns)
