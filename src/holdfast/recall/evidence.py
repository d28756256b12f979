"""One memory on its way to being a hit: what speaks for it, part by part; the memories and turns
that passages belong to; and what answers in place of a found one: facts that have replaced it, and
replies where it is a turn that asks the very question which is asked now."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.domain.memory import TURN, Memory
from holdfast.domain.query import Passage
from holdfast.domain.records import Turn, as_memory
from holdfast.recall import weights
from holdfast.store.values import Candidate
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import is_stop, terms

if TYPE_CHECKING:
    from holdfast.recall.expand import Understood
    from holdfast.recall.lexical import Coverage
    from holdfast.store.base import Reader


class ScoredPassage(NamedTuple):
    """A passage with what was measured of it, in units of cosine."""

    candidate: Candidate
    cosine: float = 0.0
    words: float = 0.0

    @property
    def evidence(self) -> float:
        return self.cosine + self.words


class Evidence:
    """A memory, its best passage, and the parts of its score."""

    __slots__ = ("_best", "memory", "own", "parts", "probability", "score", "why")

    def __init__(self, memory: Memory, found: Sequence[tuple[Candidate, float, float]]) -> None:
        """`found` are passages with their cosines and word scores: what a ScoredPassage holds."""
        self.memory = memory
        self._best = best = found[0]
        _, cosine, words = best
        # Most memories have one passage.
        for one in found[1:] if len(found) > 1 else ():
            if (one[1] + one[2], -one[0].ordinal) > (best[1] + best[2], -best[0].ordinal):
                self._best = best = one
            # The best of each kind may come from two passages of one document.
            cosine, words = max(cosine, one[1]), max(words, one[2])
        self.parts: dict[str, float] = {"vector": cosine, "words": words}
        # What the memory itself says to the question, without its surroundings; and all parts.
        self.own = self.score = cosine + words
        # How likely it answers the question; estimated once all parts are known.
        self.probability = 1.0
        self.why: tuple[str, ...] = ()

    @property
    def best(self) -> ScoredPassage:
        # Made when it is asked for: of two hundred memories that are ranked, few are read.
        return ScoredPassage._make(self._best)

    @property
    def candidate(self) -> Candidate:
        """The best passage."""
        return self._best[0]

    def add(self, part: str, amount: float, why: str = "") -> None:
        if amount:
            before = self.parts.get(part)
            if before is None:
                self.parts[part] = amount
                self.score += amount
            else:
                self.parts[part] = before + amount
                self.score = sum(self.parts.values())
            if why:
                self.why += (why,)

    @property
    def passage(self) -> Passage:
        one = self.candidate
        return Passage(self.memory.content[one.start : one.end], one.start, one.end, one.headings)


def corrected(cosine: float, windows: int) -> float:
    """The best cosine of a memory's windows, less what the best of so many has by chance."""
    if windows <= 1 or not cosine:
        return cosine
    return cosine - weights.WINDOWS_PENALTY * math.log2(min(windows, weights.WINDOWS_COUNTED))


def owners_by_id(reader: Reader, hub_id: str, ids: Sequence[str]) -> dict[str, Memory]:
    """Those that are there, in the order in which they are asked for."""
    found = reader.memories_by_id(hub_id, ids)
    if len(found) == len(ids):
        return found
    turns = reader.turns_by_id(hub_id, [one for one in ids if one not in found])
    if not turns:
        return found
    found |= {one: as_memory(turn) for one, turn in turns.items()}
    return {one: found[one] for one in ids if one in found}


Admits = Callable[[Memory, Candidate], bool]


def bring_successors(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    past: Mapping[str, Memory | None],
    admits: Admits,
) -> None:
    """Adds to the items, or lifts among them, what has replaced one of them since.

    `past` has changed memories as they were at the time that is asked about, where that is not now.
    """
    replaced = [item for item in items if item.memory.superseded_by is not None]
    if not replaced:
        return
    by_id = {item.memory.id: item for item in items}
    for item in replaced:
        newest = _newest(reader, hub_id, item.memory, past)
        if newest is None:
            continue
        heir = by_id.get(newest.id)
        if heir is None:
            passages = reader.passages(hub_id, [newest.id])
            if not passages or not admits(newest, passages[0]):
                continue
            heir = by_id[newest.id] = Evidence(newest, [ScoredPassage(passages[0])])
            items.append(heir)
        gain = item.own * weights.SUCCESSOR_SHARE - heir.own
        if gain > 0:
            heir.add("successor", gain, f"took the place of #{item.memory.number}")


def _newest(
    reader: Reader, hub_id: str, memory: Memory, past: Mapping[str, Memory | None]
) -> Memory | None:
    """The end of the chain of replacements that begins with this memory, if there is one."""
    found: Memory | None = None
    newer = memory.superseded_by
    for _ in range(weights.SUCCESSORS_MAX):
        if newer is None:
            return found
        found = past[newer] if newer in past else reader.memory(hub_id, newer)
        if found is None:
            return None
        newer = found.superseded_by
    return None


# Turns that ask the same. Every question ends up in the log, and comes first when it is asked
# again, but answers nothing; its reply may.

# One question and nothing else: what is said around it may be an answer. Both patterns are compiled
# where they are used, as every command loads this module.
_ONE_QUESTION = r"[^.!?。！？\n]{3,200}[?？]+"
_SAYS_NOTHING = (
    r"\b(?:(?:do|did|could|can|does)(?:n['’]t| not)|cannot) "
    r"(?:know|have|find|see|recall|remember)\b"
    r"|\bno (?:information|record|memory|memories|mention|details?)\b|\bnot sure\b"
    r"|\b(?:haven['’]t|have not) (?:told|mentioned|said|shared)\b"
    r"|\bnothing (?:about|on) (?:that|this|it)\b"
    r"|\bweiß (?:ich )?(?:es )?nicht\b|\bkeine (?:Information|Angabe|Ahnung)"
    r"|\bno (?:lo )?sé\b|\bno tengo\b|\bne sais pas\b|\baucune information\b"
    r"|\bnon (?:lo )?so\b|\bnão sei\b|\bweet (?:het )?niet\b|不知道|わかりません|知りません"
)
# Replies longer than this say something beside what they do not know.
_NOTHING_CHARS = 300


def replace_by_replies(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    understood: Understood,
    covered: Coverage,
    admits: Admits,
) -> list[Evidence]:
    """Takes the turns that ask the same out of the items, and returns them. The reply to each has
    the evidence of its question, but ranks behind what was said about it since; one that says it
    does not know is left as it was found."""
    turns = [item for item in items if item.memory.layer == TURN]
    if not turns:
        return []
    turns.sort(key=lambda item: -item.own)
    asked = _words_of(understood)
    repeated = [
        item for item in turns[: weights.TURNS_COMPARED] if _asks_the_same(item, asked, covered)
    ]
    # The newest first: its reply may have replaced the others.
    repeated.sort(key=lambda item: item.memory.created_at, reverse=True)
    for question in repeated:
        items.remove(question)
        if reply := _reply(reader, hub_id, question.memory):
            newer = [
                item.own
                for item in items
                if item.memory.created_at > reply.at and covered(item) >= weights.NEWER_COVERAGE
            ]
            most = max(newer, default=math.inf) * weights.SUCCESSOR_SHARE
            _put(reader, hub_id, items, question, as_memory(reply), most, admits)
    return repeated


def _words_of(understood: Understood) -> frozenset[str]:
    """The words of the question, and others for them. Those that only say what is asked for, such
    as `why`, are not looked for, but belong to it."""
    others = (one for found in understood.alternatives.values() for one in found)
    looked_for = frozenset(understood.query.terms)
    return looked_for.union(terms(understood.text), *(one.terms for one in others))


def _asks_the_same(item: Evidence, asked: frozenset[str], covered: Coverage) -> bool:
    """Whether it is a question with no other word than the one that is asked now, or with few."""
    if not re.fullmatch(_ONE_QUESTION, item.memory.content.strip()):
        return False
    if covered(item) < weights.ASKED_BEFORE_COVERAGE:
        return False
    said = {term for term in terms(item.memory.content) if not is_stop(term)}
    return len(said & asked) >= weights.ASKED_BEFORE_COVERAGE * len(said)


def says_nothing(reply: str) -> bool:
    """Whether all that a reply says is that it does not know."""
    return len(reply) <= _NOTHING_CHARS and bool(re.search(_SAYS_NOTHING, reply, re.IGNORECASE))


def _reply(reader: Reader, hub_id: str, question: Memory) -> Turn | None:
    for turn in reader.turns_around(hub_id, question.id, before=0, after=1):
        if turn.role == "assistant" and not says_nothing(turn.content):
            return turn
    return None


def _put(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    question: Evidence,
    reply: Memory,
    most: float,
    admits: Admits,
) -> None:
    """Puts a reply among the items, with at most so much evidence."""
    known = next((item for item in items if item.memory.id == reply.id), None)
    passages = [known.candidate] if known else reader.passages(hub_id, [reply.id])
    if not passages or not admits(reply, passages[0]):
        return
    asked, said = question.best, passages[0]
    # Read together: the words that the question has are not said again.
    both = said._replace(body=f"{asked.candidate.body} {said.body}")
    share = min(1.0, most / max(asked.evidence, 1e-9))
    answer = Evidence(reply, [ScoredPassage(both, asked.cosine * share, asked.words * share)])
    answer.why = ("the reply to the same question, asked before",)
    if known is None:
        items.append(answer)
    elif known.own < answer.own:
        items[items.index(known)] = answer
