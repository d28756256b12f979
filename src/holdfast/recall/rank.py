"""From evidence to an order: surroundings, priors, what no longer holds, what says the same, and
where answers end. Pure: everything it needs is handed in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from holdfast.domain.memory import TURN, Memory, made_from
from holdfast.recall import weights
from holdfast.recall.analyse import Analysis
from holdfast.recall.evidence import Evidence
from holdfast.recall.transcripts import speaker_in_text, speaks
from holdfast.recall.voice import Voice

# For each two memories, or two turns, of one session: do they follow each other?
Adjacent = Callable[[Sequence[tuple[Memory, Memory]]], list[bool]]


def add_missing_vectors(items: Sequence[Evidence], covered: Callable[[Evidence], float]) -> None:
    """What has no vector yet, or is a past text, is held to be as near as its words say.

    Otherwise it would stand behind everything that has one, however unrelated.
    """
    near = [item.parts["vector"] for item in items if item.parts["vector"]]
    if not near:
        return
    least, best = min(near), max(near)
    for item in items:
        if not item.parts["vector"]:
            guess = least + (best - least) * covered(item)
            item.add("guessed", guess)
            item.own += guess


def add_keywords(
    items: Sequence[Evidence], covered: Callable[[Evidence], float], terms: int
) -> None:
    """One or two words are a search for those words: who holds them comes first."""
    if terms <= weights.KEYWORDS_MAX:
        for item in items:
            item.add("keywords", weights.KEYWORDS_WEIGHT * covered(item))


def add_surroundings(items: Sequence[Evidence], voice: Voice, adjacent: Adjacent) -> None:
    """What the turns around it, its session and its speaker say for each memory."""
    # What was remembered of a session, and what was said in it, are told apart.
    sessions: dict[tuple[str, bool], list[Evidence]] = {}
    for item in items:
        if item.memory.session is None:
            # On its own it is its own session, or it would stand behind every conversation.
            item.add("session", weights.SESSION_WEIGHT * item.own)
        else:
            key = item.memory.session, item.memory.layer == TURN
            sessions.setdefault(key, []).append(item)
    _add_neighbours(sessions, _floor(items), adjacent)
    if voice.in_text:
        _add_lines(items, _floor(items))
    for turns in sessions.values():
        best = max(turn.own for turn in turns)
        for turn in turns:
            turn.add("session", weights.SESSION_WEIGHT * best)
    for item in items:
        memory = item.memory
        if voice.in_text and memory.speaker is None:
            name = next((name for name in voice.about if speaks(memory.content, name)), None)
            memory = memory._replace(speaker=name or speaker_in_text(memory.content))
        if voice.speaks(memory):
            why = f"said by {memory.speaker}" if voice.about else ""
            item.add("voice", weights.VOICE_WEIGHT, why)


def _floor(items: Sequence[Evidence]) -> float:
    cosines = sorted((item.parts["vector"] for item in items), reverse=True)
    return cosines[min(weights.FLOOR_RANK, len(cosines)) - 1]


def _add_neighbours(
    sessions: dict[tuple[str, bool], list[Evidence]], floor: float, adjacent: Adjacent
) -> None:
    pairs: list[tuple[Evidence, Evidence]] = []
    for turns in sessions.values():
        short = [
            t
            for t in turns
            # Notes of one session stand beside each other without answering each other.
            if t.memory.speaker and len(t.memory.content) <= weights.NEIGHBOUR_CHARS_MAX
        ]
        # Turns have no number; their ids sort by the time they were logged.
        short.sort(key=lambda turn: (turn.memory.number, turn.memory.id))
        # Where neither is above the floor, neither has anything to give.
        pairs += [(a, b) for a, b in pairwise(short) if max(a.own, b.own) > floor]
    asked = [(a.memory, b.memory) for a, b in pairs]
    for pair, follows in zip(pairs, adjacent(asked), strict=True):
        if follows:
            _lend(*pair, floor)


def _add_lines(items: Sequence[Evidence], floor: float) -> None:
    """The same for lines of a transcript that are kept as texts, one after the other."""
    lines = [
        item
        for item in items
        if item.memory.speaker is None
        and item.memory.session is None
        and len(item.memory.content) <= weights.NEIGHBOUR_CHARS_MAX
        and speaker_in_text(item.memory.content)
    ]
    lines.sort(key=lambda line: line.memory.number)
    for one, two in pairwise(lines):
        if two.memory.number == one.memory.number + 1:
            _lend(one, two, floor)


def _lend(one: Evidence, two: Evidence, floor: float) -> None:
    """Neighbours count for a share of what each other has above the floor."""
    for turn, other in ((one, two), (two, one)):
        excess = max(0.0, other.own - floor)
        named = "a turn" if other.memory.layer == TURN else f"#{other.memory.number}"
        turn.add("neighbour", weights.NEIGHBOUR_WEIGHT * excess, f"beside {named}, which fits")


def add_priors(
    items: Sequence[Evidence], analysis: Analysis, now: datetime, project: str = ""
) -> None:
    """What is known of a memory whatever the question; and the question's time, kind, project."""
    for item in items:
        memory = item.memory
        window = analysis.window
        if window is not None and _in_window(memory, window.since, window.until):
            item.add("window", weights.WINDOW_WEIGHT, f"of the time asked for ({window.words})")
        if analysis.is_prompt and memory.speaker is None:
            item.add("recent", _recent(memory, now))
        if analysis.kind is not None and memory.kind == analysis.kind:
            item.add("kind", weights.KIND_WEIGHT, memory.kind)
        if project and _of_project(memory, project):
            item.add("project", weights.PROJECT_WEIGHT, "of this project")
        if memory.pinned:
            item.add("pinned", weights.PINNED_WEIGHT, "pinned")
        item.add("stability", weights.STABILITY_WEIGHT[memory.stability])
        item.add("access", weights.ACCESS_WEIGHT * memory.access_count / (memory.access_count + 3))
        item.add("decay", -_decay(memory, now))
        if memory.state == "cooling":
            item.add("state", weights.COOLING_WEIGHT, "cooling")
        elif memory.state == "archived":
            item.add("state", weights.ARCHIVED_WEIGHT, "archived")
        if not memory.current(now):
            why = "superseded" if memory.superseded_by else "no longer valid"
            item.add("not_current", weights.NOT_CURRENT_WEIGHT, why)


def _of_project(memory: Memory, project: str) -> bool:
    """Whether it belongs to a project: by its path, a tag, or what its metadata says."""
    folder = project.rstrip("/")
    path = memory.source_path or ""
    return (
        path == folder
        or path.startswith(folder + "/")
        or project.casefold() in memory.tags
        or memory.metadata.get("project") == project
    )


def _in_window(memory: Memory, since: datetime, until: datetime) -> bool:
    begins = memory.occurred_at or memory.created_at
    ends = memory.occurred_until or begins
    before = timedelta(days=weights.WINDOW_DAYS_BEFORE)
    after = timedelta(days=weights.WINDOW_DAYS_AFTER)
    return begins < until + after and ends >= since - before


def _recent(memory: Memory, now: datetime) -> float:
    """A prompt goes on with what was worked on lately."""
    days = max(0.0, (now - (memory.occurred_at or memory.created_at)).total_seconds() / 86_400)
    return float(weights.RECENT_WEIGHT * 2 ** (-days / weights.RECENT_HALF_LIFE_DAYS))


def _decay(memory: Memory, now: datetime) -> float:
    half_life = weights.DECAY_HALF_LIFE_DAYS.get(memory.stability)
    if half_life is None or memory.pinned:
        return 0.0
    used = max(memory.accessed_at or memory.created_at, memory.updated_at)
    days = max(0.0, (now - used).total_seconds() / 86_400)
    longer = half_life * (1 + math.log1p(memory.access_count))
    return weights.DECAY_WEIGHT * (1 - 2 ** (-days / longer))


def lift_consolidated(items: Sequence[Evidence]) -> None:
    """A memory that was made from others, and repeats them, ranks at least as high as they do."""
    by_id = {item.memory.id: item for item in items}
    for source, made in _families(items).items():
        gain = by_id[source].score - by_id[made].score
        if gain > 0 and not by_id[made].parts.get("not_current"):
            by_id[made].add("sources", gain, f"says what #{by_id[source].memory.number} says")


def ordered(items: Sequence[Evidence]) -> list[Evidence]:
    """Best first; among equals, the newer."""
    return sorted(items, key=lambda item: (-item.score, -item.memory.number, item.memory.id))


def collapsed(items: Sequence[Evidence], *, keep: int) -> tuple[list[Evidence], list[Evidence]]:
    """The first `keep` items that say something of their own, and the echoes between them.

    The same words in another session, or of another day, are no echo: that was another event.
    Nor is what has a key: whoever gave it one wants to find it under that. A memory that was made
    from others, and says much of what they say, is one with them.
    """
    one_with = _families(items)
    out: list[Evidence] = []
    families: set[str] = set()
    seen: dict[tuple[object, ...], list[frozenset[str]]] = {}
    echoes: list[Evidence] = []
    for item in items:
        if len(out) == keep:
            break
        said = frozenset(item.best.candidate.body.split())
        event = (item.memory.session, item.memory.speaker, item.memory.occurred_at)
        others = seen.setdefault(event, [])
        family = one_with.get(item.memory.id)
        if item.memory.key is None and (
            family in families or any(_alike(said, other) for other in others)
        ):
            echoes.append(item)
            continue
        if family is not None:
            families.add(family)
        out.append(item)
        others.append(said)
    return out, echoes


def _families(items: Sequence[Evidence]) -> dict[str, str]:
    """For memories that were made from others, and for those others: which of them are one."""
    by_id = {item.memory.id: item for item in items}
    out: dict[str, str] = {}
    for item in items:
        for source in made_from(item.memory):
            other = by_id.get(source)
            if other is None:
                continue
            said = frozenset(item.best.candidate.body.split())
            if _alike(said, frozenset(other.best.candidate.body.split()), weights.MADE_FROM_ALIKE):
                out[source] = out[item.memory.id] = item.memory.id
    return out


def _alike(one: frozenset[str], two: frozenset[str], least: float = weights.NEAR_IDENTICAL) -> bool:
    if not one or not two:
        return False
    return len(one & two) >= least * len(one | two)
