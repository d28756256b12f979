"""A candidate memory and the parts of its score; loading the memories and turns that passages
belong to; and substitutions: the fact that superseded a memory, and the reply to a turn that asks
the same question as the query."""

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
    """A passage with its cosine and its word score; both are in units of cosine."""

    candidate: Candidate
    cosine: float = 0.0
    words: float = 0.0

    @property
    def evidence(self) -> float:
        return self.cosine + self.words


class Evidence:
    """A candidate memory, its best passage, and the parts of its score."""

    __slots__ = ("_best", "memory", "own", "parts", "probability", "score", "why")

    def __init__(self, memory: Memory, found: Sequence[tuple[Candidate, float, float]]) -> None:
        """`found` are the fields of ScoredPassages as plain tuples."""
        self.memory = memory
        self._best = found[0]
        _, cosine, words = self._best
        if len(found) > 1:
            self._best = max(found, key=lambda one: (one[1] + one[2], -one[0].ordinal))
            # The best cosine and the best word score may come from different passages.
            cosine, words = max(one[1] for one in found), max(one[2] for one in found)
        self.parts: dict[str, float] = {"vector": cosine, "words": words}
        # `own` is the evidence of the memory itself, without its context; `score` sums all parts.
        self.own = self.score = cosine + words
        # The probability that it answers the question; set once all parts are known.
        self.probability = 1.0
        self.why: tuple[str, ...] = ()

    @property
    def best(self) -> ScoredPassage:
        # Built on access: of the two hundred memories that are ranked, few are read.
        return ScoredPassage._make(self._best)

    @property
    def candidate(self) -> Candidate:
        """The best passage."""
        return self._best[0]

    def add(self, part: str, amount: float, why: str = "") -> None:
        if not amount:
            return
        parts = self.parts
        if part in parts:
            parts[part] += amount
            self.score = sum(parts.values())
        else:
            parts[part] = amount
            self.score += amount
        if why:
            self.why += (why,)

    @property
    def passage(self) -> Passage:
        one = self.candidate
        return Passage(self.memory.content[one.start : one.end], one.start, one.end, one.headings)


def corrected(cosine: float, windows: int) -> float:
    """Returns the best cosine of a passage's windows, minus a penalty that grows with their number,
    because the maximum of many cosines is high by chance."""
    if windows <= 1 or not cosine:
        return cosine
    return cosine - weights.WINDOWS_PENALTY * math.log2(min(windows, weights.WINDOWS_COUNTED))


def owners_by_id(reader: Reader, hub_id: str, ids: Sequence[str]) -> dict[str, Memory]:
    """Returns the memories and turns with these ids, in this order; missing ids are left out."""
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
    """For each superseded item, adds its newest successor to the items, or raises its score.

    In a query about the past, `past` maps changed memories to their state at that time.
    """
    replaced = [item for item in items if item.memory.superseded_by is not None]
    if not replaced:
        return
    by_id = {item.memory.id: item for item in items}
    # Of several that the same memory took the place of, the best counts.
    best: dict[str, tuple[Memory, Evidence]] = {}
    for item in replaced:
        newest = _newest(reader, hub_id, item.memory, past)
        if newest is not None and (newest.id not in best or item.own > best[newest.id][1].own):
            best[newest.id] = newest, item
    share = weights.SUCCESSOR_SHARE
    for newest, item in best.values():
        heir = by_id.get(newest.id)
        why = f"took the place of #{item.memory.number}"
        if heir is not None:
            heir.add("successor", max(0.0, item.own * share - heir.own), why)
            continue
        passages = reader.passages(hub_id, [newest.id])
        if not passages or not admits(newest, passages[0]):
            continue
        cosine, words = item.parts["vector"] * share, item.parts["words"] * share
        heir = Evidence(newest, [ScoredPassage(passages[0], cosine, words)])
        heir.why += (why,)
        items.append(heir)


def _newest(
    reader: Reader, hub_id: str, memory: Memory, past: Mapping[str, Memory | None]
) -> Memory | None:
    """Returns the last memory of the chain of successors that begins with this memory, if any."""
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


# Turns that ask the same question. Every question is logged, and would rank first when it is asked
# again, although only its reply can answer it.

# A turn that is one question and nothing else; any other text in it may be an answer. This and the
# next pattern are compiled on use, because every command loads this module.
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
# Replies longer than this say more than that they do not know.
_NOTHING_CHARS = 300


def replace_by_replies(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    understood: Understood,
    covered: Coverage,
    admits: Admits,
) -> list[Evidence]:
    """Removes turns that ask the same question from the items, and returns them. The reply to each
    gets the evidence of its question, but ranks behind newer statements on the subject. A reply
    that only says it does not know gets nothing."""
    turns = [item for item in items if item.memory.layer == TURN]
    if not turns:
        return []
    turns.sort(key=lambda item: -item.own)
    asked = _words_of(understood)
    repeated = [
        item for item in turns[: weights.TURNS_COMPARED] if _asks_the_same(item, asked, covered)
    ]
    # The newest first: its reply may have superseded the older ones.
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
    """Returns the terms of the question and of their alternatives, with question words such as
    `why` that are not searched for."""
    others = (one for found in understood.alternatives.values() for one in found)
    looked_for = frozenset(understood.query.terms)
    return looked_for.union(terms(understood.text), *(one.terms for one in others))


def _asks_the_same(item: Evidence, asked: frozenset[str], covered: Coverage) -> bool:
    """Whether the item is a question that has most of its words in common with the query."""
    if not re.fullmatch(_ONE_QUESTION, item.memory.content.strip()):
        return False
    if covered(item) < weights.ASKED_BEFORE_COVERAGE:
        return False
    said = {term for term in terms(item.memory.content) if not is_stop(term)}
    return len(said & asked) >= weights.ASKED_BEFORE_COVERAGE * len(said)


def says_nothing(reply: str) -> bool:
    """Whether a reply says nothing but that it does not know."""
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
    """Adds a reply to the items, with the evidence of its question but not more than `most`."""
    known = next((item for item in items if item.memory.id == reply.id), None)
    passages = [known.candidate] if known else reader.passages(hub_id, [reply.id])
    if not passages or not admits(reply, passages[0]):
        return
    asked, said = question.best, passages[0]
    # Question and reply are matched as one text: a reply rarely repeats the words of its question.
    both = said._replace(body=f"{asked.candidate.body} {said.body}")
    share = min(1.0, most / max(asked.evidence, 1e-9))
    answer = Evidence(reply, [ScoredPassage(both, asked.cosine * share, asked.words * share)])
    answer.why = ("the reply to the same question, asked before",)
    if known is None:
        items.append(answer)
    elif known.own < answer.own:
        items[items.index(known)] = answer
