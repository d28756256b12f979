"""Ranking: evidence from context, priors, outdated memories, near duplicates, and the cut-off.

Pure functions. A question without an answer should get few or no hits, not five unrelated ones. A
memory replaces the turn of the conversation log that it was made from, and ranks before a turn that
says the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence, Set
from datetime import datetime, timedelta
from itertools import compress, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from holdfast.domain.memory import TURN, Memory, made_from
from holdfast.recall import weights
from holdfast.recall.analyse import Analysis
from holdfast.recall.evidence import Evidence
from holdfast.recall.voice import ROLES, Voice, speaker_in_text, speaks
from holdfast.text.sentences import SPACES

if TYPE_CHECKING:
    from holdfast.recall.lexical import Coverage

# Takes pairs of memories, or pairs of turns, of one session each, and returns whether nothing lies
# between the two.
Adjacent = Callable[[Sequence[tuple[Memory, Memory]]], list[bool]]


def add_missing_vectors(items: Sequence[Evidence], covered: Callable[[Evidence], float]) -> None:
    """Estimates a cosine for items without a vector (new ones and past texts) from their words.

    Otherwise they would rank after every item that has a vector, however unrelated.
    """
    without = [item for item in items if not item.parts["vector"]]
    if not 0 < len(without) < len(items):
        return
    near = [item.parts["vector"] for item in items if item.parts["vector"]]
    least, best = min(near), max(near)
    for item in without:
        guess = least + (best - least) * covered(item)
        item.add("guessed", guess)
        item.own += guess


def add_keywords(
    items: Sequence[Evidence], covered: Callable[[Evidence], float], *, asked: bool
) -> None:
    """Ranks memories that contain the words first, in a query of one or two words. The words count
    for less if `asked` is set: the query ends with a question mark."""
    weight = weights.KEYWORDS_ASKED_WEIGHT if asked else weights.KEYWORDS_WEIGHT
    for item in items:
        item.add("keywords", weight * covered(item))


def add_surroundings(
    items: Sequence[Evidence],
    voice: Voice,
    covered: Coverage,
    adjacent: Adjacent,
    adjacent_turns: Adjacent,
    session_weight: float = weights.SESSION_WEIGHT,
) -> None:
    """Adds evidence from neighbouring turns, the session and the speaker to each memory."""
    sessions, chats, alone = _by_session(items)
    speakers = {item.memory.speaker for item in items}
    people = {name for name in speakers if _is_person(name)}
    floor = _floor(items)
    _add_stored_together(alone, session_weight)
    of_sessions, of_chats = _with_most_evidence(sessions), _with_most_evidence(chats)
    _add_neighbours(of_sessions, floor, people, adjacent)
    # The log is of a person and an agent, not between people.
    _add_neighbours(of_chats, floor, set(), adjacent_turns)
    if voice.in_text:
        _add_text_neighbours(items, floor)
    if people:
        # Turns of the log have no numbers from which those around them could be found.
        _add_words_around(sessions.values(), people, covered, only_people=people == speakers)
    for turns, most in (*of_sessions, *of_chats):
        for turn in turns:
            turn.add("session", session_weight * most)
    _add_voice(items, voice)


_Sessions = dict[str, list[Evidence]]


def _by_session(items: Sequence[Evidence]) -> tuple[_Sessions, _Sessions, list[Evidence]]:
    """Returns the memories of each session, the turns of each session, and the items without one,
    each in order: memories of a session and the turns said in it are treated separately."""
    sessions: _Sessions = {}
    chats: _Sessions = {}
    alone: list[Evidence] = []
    for item in sorted(items, key=attrgetter("memory.number")):
        memory = item.memory
        session = memory.session
        if session is None:
            alone.append(item)
            continue
        found = chats if memory.layer == TURN else sessions
        if session in found:
            found[session].append(item)
        else:
            found[session] = [item]
    for turns in chats.values():
        # Turns have no number; their ids sort by the time of logging.
        turns.sort(key=attrgetter("memory.id"))
    return sessions, chats, alone


def _with_most_evidence(sessions: _Sessions) -> list[tuple[Sequence[Evidence], float]]:
    """Returns the turns of each session, with the evidence of the one that has the most."""
    return [(turns, max([turn.own for turn in turns])) for turns in sessions.values()]


def _add_voice(items: Sequence[Evidence], voice: Voice) -> None:
    # Cached by speaker and trust, because few speakers have many turns.
    known: dict[tuple[str | None, str], tuple[bool, bool]] = {}
    for item in items:
        memory = item.memory
        if voice.in_text and memory.speaker is None:
            name = next((name for name in voice.about if speaks(memory.content, name)), None)
            memory = memory._replace(speaker=name or speaker_in_text(memory.content))
        key = memory.speaker, memory.trust
        if (found := known.get(key)) is None:
            found = known[key] = voice.speaks(memory), _is_person(memory.speaker)
        is_asked_about, is_person = found
        if is_asked_about:
            why = f"said by {memory.speaker}" if voice.about else ""
            item.add("voice", weights.VOICE_WEIGHT, why)
        # Among people, a turn that asks a question answers little. A user's question to an agent
        # is not ranked lower: it is often what the query is about.
        if is_person and "?" in memory.content:
            item.add("asks", weights.ASKS_WEIGHT * _share_of_questions(memory.content))


def _is_person(speaker: str | None) -> bool:
    """Whether this is a person's name, not a role."""
    return speaker is not None and speaker.casefold() not in ROLES


def _share_of_questions(text: str) -> float:
    """Returns the share of sentences that are questions."""
    sentences = SPACES.split(text.strip())
    return len([one for one in sentences if one.endswith("?")]) / len(sentences)


def _add_stored_together(in_order: Sequence[Evidence], session_weight: float) -> None:
    """Adds session evidence to memories without a session, from those stored just before and after
    them at the same time: the lines of a conversation, the notes of one import."""
    best = [item.own for item in in_order]
    for step in range(1, weights.TOGETHER_NUMBERS + 1):
        for at, (one, two) in enumerate(zip(in_order, in_order[step:], strict=False)):
            if _stored_together(one.memory, two.memory):
                best[at] = max(best[at], two.own)
                best[at + step] = max(best[at + step], one.own)
    for item, own in zip(in_order, best, strict=True):
        item.add("session", session_weight * own)


def _stored_together(one: Memory, two: Memory) -> bool:
    if two.number - one.number > weights.TOGETHER_NUMBERS or TURN in (one.layer, two.layer):
        return False  # turns have no numbers
    return abs(one.created_at - two.created_at) <= timedelta(hours=weights.TOGETHER_HOURS)


def _floor(items: Sequence[Evidence]) -> float:
    cosines = sorted([item.parts["vector"] for item in items], reverse=True)
    return cosines[min(weights.FLOOR_RANK, len(cosines)) - 1]


def _add_neighbours(
    sessions: Iterable[tuple[Sequence[Evidence], float]],
    floor: float,
    people: Set[str | None],
    adjacent: Adjacent,
) -> None:
    pairs: list[tuple[Evidence, Evidence]] = []
    for turns, most in sessions:  # see `_with_most_evidence`
        # What is not above the floor adds nothing to its neighbours.
        if len(turns) == 1 or most <= floor:
            continue
        # Only turns with a speaker: adjacent notes of a session do not answer each other.
        spoken = [
            turn
            for turn in turns
            if turn.memory.speaker and len(turn.memory.content) <= weights.NEIGHBOUR_CHARS_MAX
        ]
        pairs += [(a, b) for a, b in pairwise(spoken) if a.own > floor or b.own > floor]
    if not pairs:
        return
    follows = adjacent([(one.memory, two.memory) for one, two in pairs])
    for one, two in compress(pairs, follows):
        _share_evidence(one, two, floor, people=one.memory.speaker in people)


def _add_text_neighbours(items: Sequence[Evidence], floor: float) -> None:
    """Adds evidence from neighbours to consecutive lines of a transcript stored as plain texts."""
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
            _share_evidence(one, two, floor)


def _share_evidence(one: Evidence, two: Evidence, floor: float, *, people: bool = False) -> None:
    """Adds to each of two neighbours a share of the other's evidence above the floor."""
    weight = weights.NEIGHBOUR_PEOPLE_WEIGHT if people else weights.NEIGHBOUR_WEIGHT
    for turn, other in ((one, two), (two, one)):
        if other.own > floor:
            named = "a turn" if other.memory.layer == TURN else f"#{other.memory.number}"
            turn.add("neighbour", weight * (other.own - floor), f"beside {named}, which fits")


def _add_words_around(
    sessions: Iterable[Sequence[Evidence]],
    people: Set[str | None],
    covered: Coverage,
    *,
    only_people: bool,
) -> None:
    """Adds evidence from the question's words in neighbouring turns: in a conversation between
    people they are spread over several turns. `only_people` says that all turns are of people."""
    reach = weights.WORDS_AROUND_TURNS
    for turns in sessions:
        # Turns that were not found by words contain none of them.
        holding = [turn for turn in turns if turn.parts["words"]]
        if not holding or not (only_people or any(turn.memory.speaker in people for turn in turns)):
            continue
        around = dict.fromkeys([turn.memory.number for turn in turns], 0)
        for turn in holding:
            number, held = turn.memory.number, covered.held(turn)
            for near in range(number - reach, number + reach + 1):
                if near in around:
                    around[near] |= held
        for turn in turns:
            if together := around[turn.memory.number]:
                turn.add("around", weights.WORDS_AROUND_WEIGHT * covered.share(together))


def add_priors(
    items: Sequence[Evidence], analysis: Analysis, now: datetime, project: str = ""
) -> None:
    """Adds the priors: properties of the memory itself (pinned, stability, age, use), and whether
    it matches the question's time, kind and project."""
    _add_asked_for(items, analysis, now, project)
    _add_known(items, now)


def _add_asked_for(
    items: Sequence[Evidence], analysis: Analysis, now: datetime, project: str
) -> None:
    if window := analysis.window:
        for item in items:
            if _in_window(item.memory, window.since, window.until):
                item.add("window", weights.WINDOW_WEIGHT, f"of the time asked for ({window.words})")
    if analysis.is_prompt:
        for item in items:
            if item.memory.speaker is None:
                item.add("recent", _recent(item.memory, now))
    if analysis.kind is not None:
        for item in items:
            if item.memory.kind == analysis.kind:
                item.add("kind", weights.KIND_WEIGHT, item.memory.kind)
    if project:
        for item in items:
            if _of_project(item.memory, project):
                item.add("project", weights.PROJECT_WEIGHT, "of this project")


def _add_known(items: Sequence[Evidence], now: datetime) -> None:
    by_stability: dict[str, tuple[float, float | None]] = {
        name: (worth, weights.DECAY_HALF_LIFE_DAYS.get(name))
        for name, worth in weights.STABILITY_WEIGHT.items()
    }
    for item in items:
        memory = item.memory
        pinned, count, state = memory.pinned, memory.access_count, memory.state
        worth, half_life = by_stability[memory.stability]
        if pinned:
            item.add("pinned", weights.PINNED_WEIGHT, "pinned")
        if worth:
            item.add("stability", worth)
        if count:
            item.add("access", weights.ACCESS_WEIGHT * count / (count + 3))
        if half_life is not None and not pinned:
            # What is used is forgotten later; log1p(0) is 0, and most were never accessed.
            longer = half_life * (1 + math.log1p(count)) if count else half_life
            item.add("decay", -_decay(memory, now, longer))
        if state == "cooling":
            item.add("state", weights.COOLING_WEIGHT, "cooling")
        elif state == "archived":
            item.add("state", weights.ARCHIVED_WEIGHT, "archived")
        # Most memories have no end; checking that inline saves a call for each.
        ends = memory.superseded_by or memory.expires_at or memory.valid_until
        if ends is not None and not memory.current(now):
            why = "superseded" if memory.superseded_by else "no longer valid"
            item.add("not_current", weights.NOT_CURRENT_WEIGHT, why)


def _of_project(memory: Memory, project: str) -> bool:
    """Whether the memory belongs to a project, by its path, a tag, or its metadata."""
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
    """Returns the bonus for recent memories in a prompt, which usually continues recent work."""
    days = max(0.0, (now - (memory.occurred_at or memory.created_at)).total_seconds() / 86_400)
    return float(weights.RECENT_WEIGHT * 2 ** (-days / weights.RECENT_HALF_LIFE_DAYS))


def _decay(memory: Memory, now: datetime, half_life: float) -> float:
    used, changed = memory.accessed_at or memory.created_at, memory.updated_at
    # Of most memories, which were never used nor changed, both are one object.
    last = changed if changed is used or changed > used else used
    days = (now - last).total_seconds() / 86_400
    return weights.DECAY_WEIGHT * (1 - 2 ** (-days / half_life)) if days > 0 else 0.0


def lift_consolidated(items: Sequence[Evidence]) -> None:
    """Raises a memory that was made from others, and repeats them, to at least their score."""
    families = _families(items)
    if not families:
        return
    by_id = {item.memory.id: item for item in items}
    for source, made in families.items():
        gain = by_id[source].score - by_id[made].score
        if gain > 0 and not by_id[made].parts.get("not_current"):
            by_id[made].add("sources", gain, f"says what #{by_id[source].memory.number} says")


def ordered(items: Sequence[Evidence]) -> list[Evidence]:
    """Returns the items, best first; ties with the newer first."""
    out = sorted(items, key=attrgetter("score"), reverse=True)
    if len({item.score for item in out}) < len(out):
        out.sort(key=lambda item: (-item.score, -item.memory.number, item.memory.id))
    return out


def collapsed(items: Sequence[Evidence], *, keep: int) -> tuple[list[Evidence], list[Evidence]]:
    """Returns the first `keep` distinct items, and the near duplicates found between them.

    The same words in another session, or about another day, are not a duplicate: that was another
    event. Nor is a memory with a key, which must stay findable by that key. A memory that was made
    from others, and says much of what they say, counts as a duplicate of them.
    """
    one_with = _families(items)
    out: list[Evidence] = []
    families: set[str] = set()
    seen: dict[tuple[object, ...], list[frozenset[str]]] = {}
    echoes: list[Evidence] = []
    for item in items:
        if len(out) == keep:
            break
        said = frozenset(item.candidate.body.split())
        memory = item.memory
        event = (memory.session, memory.speaker, memory.occurred_at and memory.event_at)
        others = seen.setdefault(event, [])
        family = one_with.get(item.memory.id)
        if item.memory.key is None and (
            family in families or any(_overlaps(said, other) for other in others)
        ):
            echoes.append(item)
            continue
        if family is not None:
            families.add(family)
        out.append(item)
        others.append(said)
    return out, echoes


def _families(items: Sequence[Evidence]) -> dict[str, str]:
    """Maps memories that were made from others, and those others, to the id of the memory that was
    made, if they say much the same."""
    made = [item for item in items if item.memory.metadata and made_from(item.memory)]
    if not made:
        return {}
    by_id = {item.memory.id: item for item in items}
    out: dict[str, str] = {}
    for item in made:
        for source in made_from(item.memory):
            other = by_id.get(source)
            if other is None:
                continue
            said = frozenset(item.candidate.body.split())
            if _overlaps(said, frozenset(other.candidate.body.split()), weights.MADE_FROM_ALIKE):
                out[source] = out[item.memory.id] = item.memory.id
    return out


def _overlaps(
    one: frozenset[str], two: frozenset[str], least: float = weights.NEAR_IDENTICAL
) -> bool:
    if not one or not two:
        return False
    return len(one & two) >= least * len(one | two)


def cut(
    ordered: Sequence[Evidence],
    covered: Callable[[Evidence], float],
    confidence: float,
    *,
    least: float,
    looked_up: bool,
    held_words: float = 0.0,
    past: bool = False,
    session_weight: float = weights.SESSION_WEIGHT,
) -> tuple[list[Evidence], list[Evidence], str]:
    """Returns the hits that are answers, those that are not, both best first, and the reason why
    not.

    Nothing is shown if the confidence is below `least`; otherwise everything that is not far
    behind the best. Literal matches are always answers, and so are memories with the one or two
    words of a keyword query. `held_words` is an extra weight for words of the question that counts
    here and not in the score. Queries about the past (`past`) are not cut for low confidence,
    because word rarity is only known for the present.
    """
    if not ordered:
        return [], [], ""
    best, behind = ordered[0], weights.CUT_BELOW_BEST

    strengths = [item.score for item in ordered]
    if held_words:
        strengths = [item.score + held_words * covered(item) for item in ordered]
    lowest = max(strengths) - behind
    strong = zip(ordered, strengths, strict=True)
    near = [
        item
        for item, strength in strong
        if strength >= lowest
        and (
            item.memory.session is not None
            or strength - _shared_evidence(item, session_weight) >= lowest
        )
    ]
    holds = looked_up and _holds_keywords(best, covered)
    if holds:
        # The keywords were found, so items that are only similar are not what was meant.
        behind = weights.CUT_BELOW_KEYWORDS
        lowest = best.score - behind
        near = [
            item
            for item in near
            if item.score - _shared_evidence(item, session_weight) >= lowest
            or _holds_keywords(item, covered)
        ]
    reason = f"its own score is more than {behind:g} behind the best"
    if not past and confidence < least and not holds:
        near = [item for item in near if "substring" in item.parts]
        reason = (
            f"an answer is too unlikely (confidence {confidence:g}, at least {least:.2g} needed)"
        )
    shown = set(near)
    return near, [item for item in ordered if item not in shown], reason


def _shared_evidence(item: Evidence, session_weight: float) -> float:
    """Returns the evidence that a memory without a session got from those stored beside it. It
    counts in the ranking, but not in the cut-off."""
    if item.memory.session is not None:
        return 0.0
    return item.parts.get("session", 0.0) - session_weight * item.own


def _holds_keywords(item: Evidence, covered: Callable[[Evidence], float]) -> bool:
    return "keywords" in item.parts and covered(item) > 1 - weights.CUT_COVERAGE


def merge_turns(items: Sequence[Evidence]) -> tuple[list[Evidence], list[Evidence]]:
    """Returns the items without the turns that a memory was made from, and those turns. The memory
    ranks at least as high as its turn did.

    Only the best items are compared; the others are not shown anyway.
    """
    turns = _best([item for item in items if item.memory.layer == TURN])
    if not turns:
        return list(items), []
    memories = _best([item for item in items if item.memory.layer != TURN])
    merged: dict[str, Evidence] = {}
    heard = [(turn, frozenset(turn.candidate.body.split())) for turn in turns]
    for memory in memories:
        said = frozenset(memory.candidate.body.split())
        for turn, words in heard:
            if turn.memory.id in merged or not (
                _is_origin(memory, turn) or _shares_most_terms(said, words)
            ):
                continue
            merged[turn.memory.id] = turn
            gain = turn.score - memory.score
            # An outdated memory must not be raised above current ones by its turn.
            if gain > 0 and "not_current" not in memory.parts:
                memory.add("turn", gain, "said in a turn that fits")
    return [item for item in items if item.memory.id not in merged], list(merged.values())


def _best(items: list[Evidence]) -> list[Evidence]:
    return sorted(items, key=lambda item: -item.score)[: weights.TURNS_COMPARED]


def _is_origin(memory: Evidence, turn: Evidence) -> bool:
    """Whether the memory was made from most of the passage that was found in the turn."""
    origin, found = memory.memory.origin, turn.candidate
    if origin is None or origin.turn != turn.memory.id:
        return False
    covered = min(origin.end, found.end) - max(origin.start, found.start)
    return covered >= weights.MADE_FROM_ALIKE * (found.end - found.start)


def _shares_most_terms(said: frozenset[str], heard: frozenset[str]) -> bool:
    # A cheap check first: most pairs differ in length.
    least, most = sorted((len(said), len(heard)))
    if not least or least < weights.MADE_FROM_ALIKE * most:
        return False
    return len(said & heard) >= weights.MADE_FROM_ALIKE * len(said | heard)
