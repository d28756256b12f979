"""One memory on its way to being a hit: what speaks for it, part by part."""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Passage
from holdfast.recall import weights
from holdfast.store.values import Candidate


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

    __slots__ = ("best", "memory", "own", "parts", "probability", "why")

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
        # What the memory itself says to the question, without its surroundings.
        self.own = cosine + words
        # How likely it answers the question; estimated once all parts are known.
        self.probability = 1.0
        self.why: list[str] = []

    @property
    def score(self) -> float:
        return sum(self.parts.values())

    def add(self, part: str, amount: float, why: str = "") -> None:
        if amount:
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
