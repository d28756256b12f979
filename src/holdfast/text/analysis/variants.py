"""Words that mean the same: a table of abbreviations, definitions in text, spellings of numbers,
British and American spellings, one word for two; and how many single mistakes lie between two.

A variant is a tuple of index terms, since 'pr' means two words. Knows no hub and no ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import is_stop, phrase_terms
from holdfast.text.tables import lazy, read_table

Variant: TypeAlias = tuple[str, ...]
# The longest variant of the table, and of a definition.
VARIANT_TERMS_MAX = 5


class Row(NamedTuple):
    """A row of the table of other words for the same thing, and an example that needs them."""

    variants: tuple[str, ...]
    question: str
    memory: str


@cache
def rows() -> tuple[Row, ...]:
    """The rows of the table of other spellings and abbreviations."""
    return tuple(
        Row(tuple(words.split(", ")), question, memory)
        for words, question, memory in read_table("analysis/variants.tsv")
    )


@cache
def _rows_by_letter() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows():
        for letter in {variant[0].lower() for variant in row.variants}:
            found.setdefault(letter, []).append(row)
    return found


@cache
def _table(letter: str) -> dict[Variant, tuple[Variant, ...]]:
    """The variants that begin with a letter, and what else they are called. A stem begins as its
    word does, and stemming all words of the table would take milliseconds of a question."""
    found: dict[Variant, dict[Variant, None]] = {}
    for row in _rows_by_letter()[letter]:
        variants = _variants_of(row)
        for one in variants:
            if one[0][0] == letter:
                others = found.setdefault(one, {})
                others.update((other, None) for other in variants if other != one)
    return {one: tuple(others) for one, others in found.items()}


@cache
def _variants_of(row: Row) -> list[Variant]:
    return [tuple(phrase_terms(variant)) for variant in row.variants]


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


_TOKEN = lazy(r"\w+")


def load_variants() -> None:
    """Makes the tables of all letters, for a process that is forked for each question."""
    for row in rows():
        find_variants([word for variant in _variants_of(row) for word in variant])


def find_variants(words: Sequence[str]) -> dict[Variant, tuple[Variant, ...]]:
    """For each run of a question's terms that the table knows: what else it is called."""
    found: dict[Variant, tuple[Variant, ...]] = {}
    for start, word in enumerate(words):
        if word[0] not in _rows_by_letter():
            continue
        table = _table(word[0])
        for end in range(start + 1, min(start + VARIANT_TERMS_MAX, len(words)) + 1):
            run = tuple(words[start:end])
            others = table.get(run)
            if others:
                found[run] = others
    return found


# ── numbers ──────────────────────────────────────────────────────────────────────────────────

_NUMBER = lazy(r"(?<![\w.,])(\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d{4,15}|\d{1,3}k)(?![\w])", re.I)


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


# ── spellings ────────────────────────────────────────────────────────────────────────────────

# British and American endings. A spelling that no one uses does no harm: the hub does not have it.
_ENDINGS = (
    (r"(?<=[a-z]{3})is(?=(?:e|es|ed|er|ers|ing|ation|ations|able)$)", "iz"),
    (r"(?<=[a-z]{3})iz(?=(?:e|es|ed|er|ers|ing|ation|ations|able)$)", "is"),
    (r"(?<=l)ys(?=(?:e|es|ed|er|ers|ing)$)", "yz"),
    (r"(?<=l)yz(?=(?:e|es|ed|er|ers|ing)$)", "ys"),
    (r"(?<=[a-z]{3})our(?=(?:s|ed|ing|ite|ites|able|al|hood)?$)", "or"),
    (r"(?<=[a-z]{2}[ibdlpv])or(?=(?:s|ed|ing|ite|ites|able|al|hood)?$)", "our"),
    (r"(?<=neighb)or(?=(?:s|ed|ing|hood)?$)", "our"),
    (r"(?<=[a-z]{2}[bt])re(?=s?$)", "er"),
    (r"(?<=[a-z]{2}[bt])er(?=s?$)", "re"),
    (r"(?<=[a-z]{2}al)og(?=s?$)", "ogue"),
    (r"(?<=[a-z]{2}al)ogue(?=s?$)", "og"),
    (r"(?<=[a-z]{3})nce$", "nse"),
    (r"(?<=[a-z]{3})nse$", "nce"),
    (r"(?<=[aeiou])ll(?=(?:ed|er|ers|ing)$)", "l"),
    (r"(?<=[a-z]{2}[ae])l(?=(?:ed|er|ers|ing)$)", "ll"),
)


@cache
def _endings() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), other) for pattern, other in _ENDINGS)


@lru_cache(maxsize=4_096)
def spellings(word: str) -> tuple[str, ...]:
    """A folded English word as it is, or would be, spelled across the Atlantic."""
    found = dict.fromkeys([pattern.sub(other, word) for pattern, other in _endings()])
    found.pop(word, None)
    return tuple(found)


def spelling_variants(words: Sequence[str]) -> dict[Variant, tuple[Variant, ...]]:
    """For each of a question's words: its other spellings."""
    found: dict[Variant, tuple[Variant, ...]] = {}
    for word in words:
        if len(word) >= _SPELLING_CHARS_LEAST and (others := spellings(word)):
            found[tuple(phrase_terms(word))] = tuple(tuple(phrase_terms(one)) for one in others)
    return found


_SPELLING_CHARS_LEAST = 5
# What makes a verb a noun when the two are written as one: set up, log in, roll out.
_PARTICLES = frozenset(("up", "in", "out", "on", "off", "down", "over", "back", "away"))
_PART_CHARS_LEAST = 3
# Longer than the longest compounds that are written.
_SPLIT_CHARS_MAX = 80


def joined_variants(words: Sequence[str]) -> dict[Variant, tuple[Variant, ...]]:
    """For each two words beside each other: both as one word ('time zone', 'timezone')."""
    found: dict[Variant, tuple[Variant, ...]] = {}
    for one, two in pairwise(words):
        if _may_join(one, two):
            found[tuple(phrase_terms(f"{one} {two}"))] = (tuple(phrase_terms(one + two)),)
    return found


def split_words(word: str) -> list[tuple[str, str]]:
    """The two words that a word may be made of."""
    if len(word) > _SPLIT_CHARS_MAX:
        return []
    cuts = range(_PART_CHARS_LEAST, len(word) - 1)
    halves = [(word[:at], word[at:]) for at in cuts]
    return [(one, two) for one, two in halves if _may_join(one, two)]


def _may_join(one: str, two: str) -> bool:
    if len(one) < _PART_CHARS_LEAST or is_stop(one) or not (one + two).isalpha():
        return False
    return two in _PARTICLES or (len(two) >= _PART_CHARS_LEAST and not is_stop(two))


# ── definitions ──────────────────────────────────────────────────────────────────────────────

# 'PostgreSQL (pg)', 'pg (PostgreSQL)', 'Error Budget Policy (EBP)'.
_IN_BRACKETS = lazy(
    r"(?<![\w+#.-])((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+) \((?:also |aka |a\.k\.a\. |short: )?"
    r"((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+)\)"
)
# 'pg is short for PostgreSQL', 'pg stands for PostgreSQL', 'PostgreSQL, pg for short'.
_IN_WORDS = lazy(
    r"([\w+#.-]{1,12}),? (?:is short for|stands for|is an abbreviation of|means|aka|a\.k\.a\.) "
    r"((?:[\w+#.-]+[ ]){0,4}[\w+#.-]+)",
)
_SHORT_CHARS_MAX = 8
_DEFINING_WORDS = (" short for ", " stands for ", " abbreviation of ", " aka ")
# A text without brackets that defines something has one of these index terms.
DEFINING_TERMS = frozenset(phrase_terms("short stands abbreviation aka"))


def definitions(text: str) -> Iterator[tuple[Variant, Variant]]:
    """Pairs of a short form and its meaning, where a text introduces one."""
    if "(" in text:
        for one, two in _IN_BRACKETS.findall(text):
            short, front = two, one
            if len(two) > len(one.split(" ")[-1]):
                short, front = one.split(" ")[-1], two
            if pair := _spelled_out(short, front):
                yield pair
    if any(words in text for words in _DEFINING_WORDS):
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


def edits(one: str, two: str, most: int) -> int:
    """The number of edits that turn one word into the other; `most + 1` where there are more.

    A hub's vocabulary is compared word by word, so what the two have in common at both ends is
    taken off first: a single edit is then seen without a table.
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    if one == two:
        return 0
    start = _shared(one, two)
    one, two = one[start:], two[start:]
    end = _shared(one[::-1], two[::-1])
    if end:
        one, two = one[:-end], two[:-end]
    if not one or not two:
        return min(len(one) + len(two), most + 1)
    if len(one) == len(two) == 1 or (len(one) == 2 and one == two[::-1]):
        return min(1, most + 1)
    if most < 2:
        return most + 1
    # The first letters differ, so one of the edits changes one of them. For two edits this takes
    # half the time of a table.
    rests = [(one[1:], two[1:]), (one[1:], two), (one, two[1:])]
    if one[:2] == two[1::-1]:
        rests.append((one[2:], two[2:]))
    return 1 + min(edits(*rest, most - 1) for rest in rests)


def _shared(one: str, two: str) -> int:
    """The length of the common prefix."""
    for at, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return at
    return min(len(one), len(two))
