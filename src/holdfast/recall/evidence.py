"""One memory on its way to being a hit: what speaks for it, part by part; the memories and turns
that passages belong to; and the facts that have replaced a found one, which answer the same
questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Passage
from holdfast.domain.records import as_memory
from holdfast.recall import weights
from holdfast.store.values import Candidate

if TYPE_CHECKING:
    from holdfast.store.base import Reader


class Found(NamedTuple):
    """A passage with what was measured of it, in units of cosine."""

    candidate: Candidate
    cosine: float = 0.0
    words: float = 0.0

    @property
    def evidence(self) -> float:
        return self.cosine + self.words


class Evidence:
    """A memory, its best passage, and the parts of its score."""

    __slots__ = ("_score", "best", "memory", "own", "parts", "probability", "why")

    def __init__(self, memory: Memory, found: list[Found]) -> None:
        self.memory = memory
        self.best = best = found[0]
        cosine, words = best.cosine, best.words
        for one in found[1:]:
            if (one.evidence, -one.candidate.ordinal) > (best.evidence, -best.candidate.ordinal):
                self.best = best = one
            # The best of each kind may come from two passages of one document.
            cosine, words = max(cosine, one.cosine), max(words, one.words)
        self.parts: dict[str, float] = {"vector": cosine, "words": words}
        # The sum of the parts; None where it has to be computed anew.
        self._score: float | None = None
        # What the memory itself says to the question, without its surroundings.
        self.own = cosine + words
        # How likely it answers the question; estimated once all parts are known.
        self.probability = 1.0
        self.why: list[str] = []

    @property
    def score(self) -> float:
        if self._score is None:
            self._score = sum(self.parts.values())
        return self._score

    def add(self, part: str, amount: float, why: str = "") -> None:
        if amount:
            self._score = None
            self.parts[part] = self.parts.get(part, 0.0) + amount
            if why:
                self.why.append(why)

    @property
    def passage(self) -> Passage:
        one = self.best.candidate
        return Passage(self.memory.content[one.start : one.end], one.start, one.end, one.headings)


def corrected(cosine: float, windows: int) -> float:
    """The best cosine of a memory's windows, less what the best of so many has by chance."""
    if not cosine or windows <= 1:
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
    by_id = {item.memory.id: item for item in items}
    for item in list(items):
        newest = _newest(reader, hub_id, item.memory, past)
        if newest is None:
            continue
        heir = by_id.get(newest.id)
        if heir is None:
            passages = reader.passages(hub_id, [newest.id])
            if not passages or not admits(newest, passages[0]):
                continue
            heir = by_id[newest.id] = Evidence(newest, [Found(passages[0])])
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
