"""One memory on its way to being a hit: what speaks for it, part by part."""

from __future__ import annotations

import math
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Passage
from holdfast.recall.weights import LEXICAL_HALF_PER_LOG, LEXICAL_WEIGHT, WINDOWS_PENALTY
from holdfast.store.base import Candidate


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

    __slots__ = ("best", "found", "memory", "parts", "why")

    def __init__(self, memory: Memory, found: list[Found]) -> None:
        self.memory = memory
        self.found = found
        self.best = max(found, key=lambda one: (one.evidence, -one.candidate.ordinal))
        # The best of each kind may come from two passages of one document.
        self.parts: dict[str, float] = {
            "vector": max(one.cosine for one in found),
            "words": max(one.words for one in found),
        }
        self.why: list[str] = []

    @property
    def own(self) -> float:
        """What the memory itself says to the question, without its surroundings."""
        return self.parts["vector"] + self.parts["words"] + self.parts.get("substring", 0.0)

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


def saturated(score: float, passages: int) -> float:
    """A word score in units of cosine: it nears its weight and never reaches it."""
    half = LEXICAL_HALF_PER_LOG * math.log(passages + 1)
    return LEXICAL_WEIGHT * score / (score + half)


def corrected(cosine: float, windows: int) -> float:
    """The best cosine of a memory's windows, less what the best of so many has by chance."""
    return cosine - WINDOWS_PENALTY * math.log2(windows) if cosine else 0.0
