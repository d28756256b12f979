"""Index terms and trigrams as PostgreSQL stores them, and queries for them.

Terms are analysed by `holdfast.text.analysis.terms`, not by a dictionary of the server. Each is
prefixed with its hub's number ('12·tab'), so that posting lists belong to one hub: a search reads
only the postings of its own hub. Positions are not indexed: a phrase is looked for in the passage's
own terms, which has no limit on positions.

Trigrams are 32-bit hashes of hub and text. A collision only means that one more text is checked.

A query of common words matches a third of a large hub, and ranking reads a row for each match. Most
of these contain one of the words and rank behind those that contain several. So the index, which
combines posting lists without reading rows, is asked for the combinations of terms with the most
weight: those that would return enough passages if words were independent (`weightiest`). Words of
one subject occur together, so there are mostly more; where there are fewer, the search lowers the
bar.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from holdfast.text.analysis.terms import trigrams

_SEPARATOR = "·"
# A tsvector has at most 1 MB of lexemes, with 4 bytes of overhead each.
_LEXEME_BYTES_MAX = 1_000_000
# Substring search asks for at most this many trigrams of a long needle. The text itself is checked
# afterwards, so fewer only means that a few more texts are checked.
_GRAMS_ASKED_MAX = 24
# Cached hashes of trigrams, about 10 MB; a language has about 20,000 common ones.
_HASHES_MAX = 100_000


def kept(hub: int, terms: Iterable[str]) -> list[str]:
    """The distinct terms that fit into one row; the rest is left out."""
    distinct = list(dict.fromkeys(terms))
    front_bytes = len(f"{hub}{_SEPARATOR}".encode()) + 4
    # No character takes more than four bytes, so most rows need no counting.
    if len("".join(distinct)) * 4 + len(distinct) * front_bytes <= _LEXEME_BYTES_MAX:
        return distinct
    room = _LEXEME_BYTES_MAX
    for at, term in enumerate(distinct):
        room -= len(term.encode()) + front_bytes
        if room < 0:
            return distinct[:at]
    return distinct


def marked(hub: int, terms: Iterable[str]) -> list[str]:
    """The distinct terms as lexemes, as far as they fit into one row."""
    return written(hub, kept(hub, terms))


def written(hub: int, terms: Iterable[str]) -> list[str]:
    """Terms that are known to fit, as lexemes."""
    front = f"{hub}{_SEPARATOR}"
    return [front + term for term in terms]


def unmarked(lexeme: str) -> str:
    """The term of a lexeme."""
    return lexeme.partition(_SEPARATOR)[2]


def quoted(hub: int, term: str) -> str:
    """The term as a tsquery operand; nothing in it is syntax."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{hub}{_SEPARATOR}{escaped}'"


def either(hub: int, terms: Iterable[str], prefixes: Iterable[str] = ()) -> str:
    """A tsquery for any of these terms, or for words that begin with one of the prefixes."""
    parts = [quoted(hub, term) for term in terms]
    parts += [f"{quoted(hub, front)}:*" for front in prefixes]
    return " | ".join(parts)


def every(hub: int, terms: Iterable[str]) -> str:
    """A tsquery for all of these terms."""
    return " & ".join(quoted(hub, term) for term in dict.fromkeys(terms))


def grams(hub: int, text: str) -> list[int]:
    """The hashes of all trigrams of a text, for a hub."""
    return sorted(set(map(_hashes_of(hub).__getitem__, trigrams(text))))


def grams_asked(hub: int, needle: str) -> list[int]:
    """Hashes that every text with the needle has; none where it is too short for a trigram."""
    found = sorted(trigrams(needle))
    step = max(1, len(found) // _GRAMS_ASKED_MAX)
    return sorted(set(map(_hashes_of(hub).__getitem__, found[::step])))


class _Hashes(dict[str, int]):
    """The hash of each trigram, for one hub; a cache, since texts share most of their trigrams."""

    def __init__(self, hub: int) -> None:
        super().__init__()
        self.hub = hub
        self._front = crc32(str(hub).encode())

    def __missing__(self, run: str) -> int:
        if len(self) >= _HASHES_MAX:
            self.clear()
        # A signed 32-bit integer, as in the database.
        number = (crc32(run.encode(), self._front) ^ 0x80000000) - 0x80000000
        self[run] = number
        return number


# The cache of the last hub: texts come in batches of one hub.
_LAST = [_Hashes(0)]


def _hashes_of(hub: int) -> _Hashes:
    last = _LAST[0]
    if last.hub != hub:
        _LAST[0] = last = _Hashes(hub)
    return last


# Combinations use this many of the rarest terms; the others only add to the rank. Eight have 256
# combinations, which are weighed in a tenth of a millisecond.
TERMS_MAX = 8
# Sums of the same weights in another order may differ by rounding.
_ROUNDING = 1e-9


class Weighed(NamedTuple):
    """A term as a tsquery, its weight, and the number of passages that contain it."""

    query: str
    weight: float
    passages: int


def weightiest(terms: Sequence[Weighed], passages: int, wanted: int) -> str:
    """A tsquery that about `wanted` passages of the hub match, those with the most weight; empty
    where any one term is enough."""
    if sum(term.passages for term in terms) <= wanted:
        return ""
    best = sorted(terms, key=lambda term: -term.weight)[:TERMS_MAX]
    least = _bar(best, max(passages, 1), wanted)
    if least <= min(term.weight for term in terms) + _ROUNDING:
        return ""
    return _with_weight(best, least) or ""


def _bar(terms: Sequence[Weighed], passages: int, wanted: int) -> float:
    """The weight that `wanted` passages are expected to reach."""
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


def _with_weight(terms: Sequence[Weighed], least: float) -> str | None:
    """A tsquery for terms with at least this weight together; None where all have less."""
    if sum(term.weight for term in terms) < least - _ROUNDING:
        return None
    first, rest = terms[0], terms[1:]
    missing = least - first.weight
    parts = []
    if missing <= _ROUNDING:
        parts.append(first.query)
    elif with_first := _with_weight(rest, missing):
        parts.append(f"{first.query} & ({with_first})")
    if without_first := _with_weight(rest, least):
        parts.append(without_first)
    return " | ".join(parts)
