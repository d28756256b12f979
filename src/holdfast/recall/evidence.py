"""One memory on its way to being a hit: what speaks for it, part by part."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Passage
from holdfast.recall.weights import LEXICAL_HALF, LEXICAL_WEIGHT
from holdfast.store.base import Candidate


class Found(NamedTuple):
    """A passage with what was measured of it."""

    candidate: Candidate
    cosine: float = 0.0
    words: float = 0.0

    @property
    def evidence(self) -> float:
        return self.cosine + saturated(self.words)


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
            "words": saturated(max(one.words for one in found)),
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


def saturated(words: float) -> float:
    """A word score in units of cosine: half its weight at LEXICAL_HALF, never all of it."""
    return LEXICAL_WEIGHT * words / (words + LEXICAL_HALF)
