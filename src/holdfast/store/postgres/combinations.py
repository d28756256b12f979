"""Which of a question's terms a passage must hold to be among the best.

A question of common words matches a third of a large hub, and ranking reads a row for each match.
But nearly all of these hold one of the words, and stand behind those that hold several. So the
index, which combines posting lists without reading rows, is asked for the weightiest combinations
alone: those that would give enough passages if words were spread by chance. Words of one subject
come together, so there are mostly more; where there are fewer, who searches lowers the bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

# Combinations are made of so many of the rarest terms; the others only add to the merit. Eight
# have 256 combinations, which are weighed in a tenth of a millisecond.
TERMS_MAX = 8
# Sums of the same weights in another order may differ in the last digits.
_HAIR = 1e-9


class Weighed(NamedTuple):
    """A term as a query, what holding it is worth, and how many passages do."""

    query: str
    weight: float
    passages: int


def weightiest(terms: Sequence[Weighed], passages: int, wanted: int) -> str:
    """A query that about so many passages of the hub fulfil, those with the most weight; empty
    where any of the terms is enough."""
    if sum(term.passages for term in terms) <= wanted:
        return ""
    best = sorted(terms, key=lambda term: -term.weight)[:TERMS_MAX]
    least = _bar(best, max(passages, 1), wanted)
    if least <= min(term.weight for term in terms) + _HAIR:
        return ""
    return _holding(best, least) or ""


def _bar(terms: Sequence[Weighed], passages: int, wanted: int) -> float:
    """The weight that so many passages reach."""
    combinations = [(0.0, float(passages))]
    for term in terms:
        share = min(1.0, term.passages / passages)
        combinations = [
            either
            for weight, count in combinations
            for either in ((weight + term.weight, count * share), (weight, count * (1 - share)))
        ]
    found = 0.0
    for weight, count in sorted(combinations, reverse=True):
        found += count
        if found >= wanted:
            return weight
    return 0.0


def _holding(terms: Sequence[Weighed], least: float) -> str | None:
    """A query for terms of at least this weight together; None where all of them are too light."""
    if sum(term.weight for term in terms) < least - _HAIR:
        return None
    first, rest = terms[0], terms[1:]
    missing = least - first.weight
    parts = []
    if missing <= _HAIR:
        parts.append(first.query)
    elif with_first := _holding(rest, missing):
        parts.append(f"{first.query} & ({with_first})")
    if without_first := _holding(rest, least):
        parts.append(without_first)
    return " | ".join(parts)
