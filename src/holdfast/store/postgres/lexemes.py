"""Index terms and trigrams as PostgreSQL keeps them.

Terms come analysed from `holdfast.text.terms`; no dictionary of the server touches them. Every one
is written with its hub's number in front ('12·tab'), so that posting lists belong to one hub: a
search reads its own hub's postings alone, however many hubs share the index. Word order is not in
the index: a phrase is looked for in the passage's own terms, which knows no bound on positions.

Trigrams are numbers of 32 bits, made from hub and text alike. Two that meet by chance only mean
that one more text is looked at: what is found is checked against the text itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

_MARK = "·"
# PostgreSQL keeps at most 1 MB of lexemes a row, each with 4 bytes of its own.
_LEXEME_BYTES_MAX = 1_000_000
# Substring search asks for at most this many of a long needle's trigrams; the text itself is
# checked afterwards, so fewer only means a few more texts to look at.
_GRAMS_ASKED_MAX = 24
# Numbers of trigrams that are kept, about 10 MB; a language has about 20,000 that are common.
_NUMBERS_MAX = 100_000


def kept(hub: int, terms: Iterable[str]) -> list[str]:
    """The distinct terms that fit into one row; what does not is left out."""
    distinct = list(dict.fromkeys(terms))
    front_bytes = len(f"{hub}{_MARK}".encode()) + 4
    # No character takes more than four bytes, so that most rows need not be counted.
    if len("".join(distinct)) * 4 + len(distinct) * front_bytes <= _LEXEME_BYTES_MAX:
        return distinct
    room = _LEXEME_BYTES_MAX
    for at, term in enumerate(distinct):
        room -= len(term.encode()) + front_bytes
        if room < 0:
            return distinct[:at]
    return distinct


def marked(hub: int, terms: Iterable[str]) -> list[str]:
    """The distinct terms as they are indexed, as far as they fit into one row."""
    return written(hub, kept(hub, terms))


def written(hub: int, terms: Iterable[str]) -> list[str]:
    """Terms that are known to fit, as they are indexed."""
    front = f"{hub}{_MARK}"
    return [front + term for term in terms]


def unmarked(lexeme: str) -> str:
    """The term of a lexeme."""
    return lexeme.partition(_MARK)[2]


def quoted(hub: int, term: str) -> str:
    """The term as a query; everything in it is text, nothing is syntax."""
    escaped = term.replace("\\", "\\\\").replace("'", "''")
    return f"'{hub}{_MARK}{escaped}'"


def either(hub: int, terms: Iterable[str], prefixes: Iterable[str] = ()) -> str:
    """A query for any of these terms, or for words that begin with one of the prefixes."""
    parts = [quoted(hub, term) for term in terms]
    parts += [f"{quoted(hub, front)}:*" for front in prefixes]
    return " | ".join(parts)


def every(hub: int, terms: Iterable[str]) -> str:
    """A query for all of these terms."""
    return " & ".join(quoted(hub, term) for term in dict.fromkeys(terms))


def grams(hub: int, text: str) -> list[int]:
    """Every run of three characters, as a number that belongs to the hub."""
    number_of = _numbers_of(hub).__getitem__
    return sorted(set(map(number_of, map("".join, zip(text, text[1:], text[2:], strict=False)))))


def grams_asked(hub: int, needle: str) -> list[int]:
    """Numbers that every text holding the needle has; none where it is too short."""
    found = sorted({needle[at : at + 3] for at in range(len(needle) - 2)})
    step = max(1, len(found) // _GRAMS_ASKED_MAX)
    return sorted(set(map(_numbers_of(hub).__getitem__, found[::step])))


class _Numbers(dict[str, int]):
    """The number of each run, of one hub; filled on demand, since texts share most of theirs."""

    def __init__(self, hub: int) -> None:
        super().__init__()
        self.hub = hub
        self._front = crc32(str(hub).encode())

    def __missing__(self, run: str) -> int:
        if len(self) >= _NUMBERS_MAX:
            self.clear()
        # As a signed number of 32 bits, which is what an integer of the database is.
        number = (crc32(run.encode(), self._front) ^ 0x80000000) - 0x80000000
        self[run] = number
        return number


# Those of the hub that was asked for last: texts come in batches of one hub.
_LAST = [_Numbers(0)]


def _numbers_of(hub: int) -> _Numbers:
    last = _LAST[0]
    if last.hub != hub:
        _LAST[0] = last = _Numbers(hub)
    return last


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
