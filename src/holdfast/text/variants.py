"""Words that mean the same: a table of abbreviations, definitions in text, spellings of numbers.

A variant is a tuple of index terms, since 'pr' stands for two words. Knows no hub and no ranking.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from holdfast.text.terms import phrase_terms

Variant: TypeAlias = tuple[str, ...]
# The longest variant of the table, and of a definition.
VARIANT_TERMS_MAX = 5


class Row(NamedTuple):
    """A row of the table: words for the same thing, and an example that needs them."""

    variants: tuple[str, ...]
    question: str
    memory: str


@cache
def rows() -> tuple[Row, ...]:
    """The table, as it is in the file."""
    # `importlib.resources` would take 8 ms of the start of a command.
    with open(os.path.join(os.path.dirname(__file__), "variants.tsv"), encoding="utf-8") as file:
        text = file.read()
    lines = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return tuple(Row(tuple(one[0].split(", ")), one[1], one[2]) for one in lines)


@cache
def _table() -> dict[Variant, tuple[Variant, ...]]:
    found: dict[Variant, dict[Variant, None]] = {}
    for row in rows():
        variants = [tuple(phrase_terms(variant)) for variant in row.variants]
        for one in variants:
            others = found.setdefault(one, {})
            others.update((other, None) for other in variants if other != one)
    return {one: tuple(others) for one, others in found.items()}


@cache
def _surfaces() -> dict[Variant, str]:
    return {tuple(phrase_terms(one)): one for row in reversed(rows()) for one in row.variants}


def spelled_out(text: str, instead: Mapping[str, Variant]) -> str:
    """The text with abbreviations, by their term, in the words of the table."""

    def word(match: re.Match[str]) -> str:
        terms = phrase_terms(match[0])
        other = instead.get(terms[0]) if len(terms) == 1 else None
        return _surfaces().get(other, match[0]) if other else match[0]

    return _TOKEN.sub(word, text) if instead else text


_TOKEN = re.compile(r"\w+")


def find_variants(words: Sequence[str]) -> dict[Variant, tuple[Variant, ...]]:
    """For each run of a question's terms that the table knows: what else it is called."""
    table = _table()
    found: dict[Variant, tuple[Variant, ...]] = {}
    for start in range(len(words)):
        for end in range(start + 1, min(start + VARIANT_TERMS_MAX, len(words)) + 1):
            run = tuple(words[start:end])
            others = table.get(run)
            if others:
                found[run] = others
    return found


# ── numbers ──────────────────────────────────────────────────────────────────────────────────

_NUMBER = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d{4,15}|\d{1,3}k)(?![\w])", re.I
)


def number_variants(text: str) -> dict[Variant, tuple[Variant, ...]]:
    """Other spellings of the large numbers in a question: 10,000, 10000 and 10k."""
    found: dict[Variant, tuple[Variant, ...]] = {}
    for match in _NUMBER.finditer(text):
        said = match[0]
        digits = re.sub(r"\D", "", said) + ("000" if said[-1] in "kK" else "")
        spellings = [digits, f"{int(digits):,}"]
        if digits.endswith("000"):
            spellings.append(f"{digits[:-3]}k")
        own = tuple(phrase_terms(said))
        others = dict.fromkeys(tuple(phrase_terms(one)) for one in spellings)
        others.pop(own, None)
        found[own] = tuple(others)
    return found


# ── definitions ──────────────────────────────────────────────────────────────────────────────

# 'PostgreSQL (pg)', 'pg (PostgreSQL)', 'Error Budget Policy (EBP)'.
_IN_BRACKETS = re.compile(
    r"((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+) \((?:also |aka |a\.k\.a\. |short: )?"
    r"((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+)\)"
)
# 'pg is short for PostgreSQL', 'pg stands for PostgreSQL', 'PostgreSQL, pg for short'.
_IN_WORDS = re.compile(
    r"([\w+#.-]{1,12}),? (?:is short for|stands for|is an abbreviation of|means|aka|a\.k\.a\.) "
    r"((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+)",
)
_SHORT_CHARS_MAX = 8


def definitions(text: str) -> Iterator[tuple[Variant, Variant]]:
    """Pairs of a short form and what it stands for, where a text introduces one."""
    if "(" in text:
        for one, two in _IN_BRACKETS.findall(text):
            short, front = two, one
            if len(two) > len(one.split(" ")[-1]):
                short, front = one.split(" ")[-1], two
            if pair := _spelled_out(short, front):
                yield pair
    if any(cue in text for cue in (" short for ", " stands for ", " abbreviation of ", " aka ")):
        for short, front in _IN_WORDS.findall(text):
            if pair := _spelled_out(short, front, from_start=True):
                yield pair


# In the index, a passage that introduces a short form has this term, and it before the first term
# of both sides: so that a hub without definitions is known by one lookup.
DEFINES = "≡"


def definition_marks(text: str) -> list[str]:
    """Index terms for a passage, so that its definitions are found."""
    firsts = {side[0] for pair in definitions(text) for side in pair if side}
    return [DEFINES, *(DEFINES + first for first in sorted(firsts))] if firsts else []


def _spelled_out(
    short: str, words: str, *, from_start: bool = False
) -> tuple[Variant, Variant] | None:
    """The run of words at the end (or start) that the short form abbreviates."""
    letters = re.sub(r"[^a-z]", "", short.lower())
    if not 1 < len(short) <= _SHORT_CHARS_MAX or not letters or " " in short:
        return None
    parts = words.split(" ")
    for count in range(1, len(parts) + 1):
        some = parts[:count] if from_start else parts[-count:]
        joined = "".join(some).lower()
        if len(joined) > len(short) and joined[0] == letters[0] and _in_order(letters, joined):
            # Every further word begins with a letter of the short form, or it is no part of it.
            if len(some) > 1 and sum(one[0].lower() in letters for one in some) < len(some) - 1:
                continue
            return tuple(phrase_terms(short)), tuple(phrase_terms(" ".join(some)))
    return None


def _in_order(letters: str, text: str) -> bool:
    place = -1
    for letter in letters:
        place = text.find(letter, place + 1)
        if place < 0:
            return False
    return True
