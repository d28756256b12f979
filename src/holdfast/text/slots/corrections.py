"""Recognises what corrects, takes back or changes something that the same person said shortly
before: 'sorry, it's stage4', 'scratch that', 'they moved it to Friday'.

In a session people correct themselves in words that mean nothing alone; only what they follow says
what they are about. The English rows are in `patterns.txt`, those of eight other languages in
`corrections.txt`. This module compares two texts, and knows no session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.spans import fold_in_place
from holdfast.text.analysis.terms import is_stop, terms
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns, lazy, read_table, read_words

_PATTERNS = Patterns("slots/patterns.txt")
_WORDS = read_words("slots/words.txt")

Manner: TypeAlias = Literal["taken back", "corrects", "denies", "may correct", "changed"]

# A longer text is pasted, or a task of its own.
CHARS_MAX = 400
# People correct themselves at the beginning of what they say.
_SENTENCES = 2
# So many words may be a correction that names nothing of what it corrects.
_SHORT_WORDS = 12
# Fewer words behind 'scratch that' say nothing, such as 'please'.
_MORE_WORDS = 3
# A change is told in a short sentence.
_TOLD_CHARS = 120
# Words that say which statement is meant, and nothing of what it says.
_POINTS = frozenset("what i said you told that this the my one thing all".split())  # noqa: SIM905


class Correction(NamedTuple):
    """How a text corrects what was said before it. `begin` and `end` are the place of the sentence
    that does, and `start` where what is new begins in it. `about` is what it names of the earlier
    text; with `points`, it means that by 'it' or the like. `language` is empty for English."""

    manner: Manner
    begin: int
    start: int
    end: int
    about: str = ""
    points: bool = False
    language: str = ""


class Row(NamedTuple):
    """A way of correcting or taking back in another language than English."""

    language: str
    manner: str
    example: str
    pattern: str


@cache
def rows() -> tuple[Row, ...]:
    """The rows of the table of other languages."""
    return tuple(Row(*cells) for cells in read_table("slots/corrections.txt"))


@lru_cache(maxsize=256)
def read(said: str) -> Correction | None:
    """How a text corrects what was said before it; None if nothing in it does."""
    text = said.strip()
    if not text or len(text) > CHARS_MAX or "\n" in text:
        return None
    lead = len(said) - len(said.lstrip())
    folded = fold_in_place(said)
    spans = list(sentence_spans(folded, start=lead))
    if all(folded[:end].rstrip().endswith(("?", "？")) for _, end in spans):
        return None
    if (elsewhere := _in_another_language(folded, spans)) is not None:
        return elsewhere
    for start, end in spans[:_SENTENCES]:
        one = folded[start:end]
        if one.rstrip().endswith("?"):
            continue
        if found := _PATTERNS["taken back"].match(one):
            about = next((group for group in found.groups() if group), "")
            return Correction("taken back", start, start + found.end(), end, about)
    first, end = spans[0]
    for manner in _OPENINGS:
        if found := _PATTERNS[manner].match(folded[first:end]):
            start = first + found.end()
            points = _IT_IS.match(folded, start) is not None
            # 'Not Beate, Renate' is about what names Beate.
            was = next((group for group in found.groups() if group), "")
            return Correction(manner, first, start, end, was, points)
    for start, end in spans:
        one = folded[start:end]
        is_told = len(one) <= _TOLD_CHARS and not one.rstrip().endswith("?")
        if is_told and _PATTERNS["changed"].search(one):
            # 'The venue double-booked us... it will be the 29th.'
            ends = [last for _, last in spans if end <= last <= start + _TOLD_CHARS]
            return Correction("changed", start, start, max(ends))
    return None


def _in_another_language(folded: str, spans: list[tuple[int, int]]) -> Correction | None:
    """The same by the rows of other languages, most of which are only tried where a text begins
    with one of their words."""
    for start, end in spans[:_SENTENCES]:
        one = folded[start:end]
        if one.rstrip().endswith(("?", "？")):
            continue
        manners = _MANNERS if start == spans[0][0] else _MANNERS[:1]
        languages = tuple(_languages_of(one))
        for manner in manners if languages else ():
            read_as = ((code, row.match(one)) for code, row in _rows_of(manner, languages))
            matches = [(code, match) for code, match in read_as if match]
            if matches:
                # 'Nee' is German too, and 'nee wacht' only Dutch.
                language, found = max(matches, key=lambda match: match[1].end())
                about = next((group for group in found.groups() if group), "").strip()
                return Correction(manner, start, start + found.end(), end, about, language=language)
    for start, end in spans:
        one = folded[start:end]
        is_told = len(one) <= _TOLD_CHARS and not one.rstrip().endswith(("?", "？"))
        if is_told and not _WORDS["changed elsewhere"].isdisjoint(_LETTERS.findall(one)):
            return Correction("changed", start, start, end, language="any")
    return None


_MANNERS: tuple[Manner, ...] = ("taken back", "corrects", "denies", "may correct")
_LANGUAGES = ("de", "fr", "es", "it", "pt", "nl")
_LETTERS = lazy(r"[^\W\d_]+")
_KANA = lazy(r"[぀-ヿ]")
_HAN = lazy(r"[㐀-鿿]")
# 'April, nicht März' begins with what is new.
_OLD_BEHIND = lazy(r", (?:\w{1,3} )?(nicht|pas|non|no|não|niet) ")
_DENIAL = {"nicht": "de", "pas": "fr", "non": "fr it", "no": "es", "não": "pt", "niet": "nl"}


def _languages_of(sentence: str) -> Iterator[str]:
    """The languages in which a sentence may correct something, by its first word."""
    first = _LETTERS.search(sentence)
    if first is None:
        return
    if not first[0].isascii() and (_KANA.search(sentence) or _HAN.search(sentence)):
        yield "ja" if _KANA.search(sentence) else "zh"
        return
    behind = _OLD_BEHIND.search(sentence) if ", " in sentence else None
    denied = _DENIAL[behind[1]].split() if behind else ()
    said = set(_LETTERS.findall(sentence[:_OPENING_CHARS]))
    for language in _LANGUAGES:
        words = _WORDS[f"corrects {language}"]
        if language in denied or (first[0] in words and not said.isdisjoint(_own_words(language))):
            yield language


# 'No', 'sorry' and 'oh' begin English sentences too, and most have no other of these words behind.
_OPENING_CHARS = 40


@cache
def _own_words(language: str) -> frozenset[str]:
    return _WORDS[f"corrects {language}"] - _WORDS["corrects in english"]


def _rows_of(manner: Manner, languages: tuple[str, ...]) -> Iterator[tuple[str, re.Pattern[str]]]:
    compiled = _compiled()
    for language in languages:
        if (language, manner) in compiled:
            yield language, compiled[language, manner]


@cache
def _compiled() -> dict[tuple[str, str], re.Pattern[str]]:
    """The patterns, each compiled when it is first used."""
    return {(row.language, row.manner): lazy(row.pattern) for row in rows()}


_IT_IS = lazy(
    r"[\s,.!:…-]*(?:(?:it|that|they|he|she|those)(?:'s|'re| is| are| was| were)"
    r"|use|we use|rather)\b"
)
_OPENINGS: tuple[Manner, ...] = ("corrects", "denies", "may correct")


def corrects(later: str, earlier: str, *, is_next: bool, reply: str = "") -> Manner | None:
    """How a text corrects, changes or takes back what the same person said before in the session;
    None if it does not. `is_next` if they said nothing in between, and `reply` is what the agent
    said before the later text, which that may answer or turn down instead."""
    found = read(later)
    if found is None or _asks(earlier):
        # What was asked is not corrected.
        return None
    manner = found.manner
    if found.about:
        return manner if names(found.about, earlier) else None
    if is_next and manner in ("taken back", "corrects"):
        return manner
    said = later[found.begin : found.end] if manner == "changed" else later
    if manner == "may correct" and _asks(reply):
        return None
    if shares_a_thing(said, earlier, is_english=not found.language):
        return manner
    is_short = later.count(" ") < _SHORT_WORDS
    if manner != "may correct" or not is_next or not is_short:
        return None
    # 'No' behind a reply turns that down.
    return None if reply and _NO.match(later) else manner


_NO = lazy(
    r"(?i)\W*(?:(?:no|nope|nah|nein|nee|neen|non|não)\b(?!\W+(?:wait|sorry|actually|hang on|hold on"
    r"|warte?|moment|attends|attendez|pardon|espera|espere|perdón|aspetta|scusa|desculpa|wacht)\b)"
    r"|不(?:是|对)?[,，。]|(?:いや|いえ|いいえ)[、。])"
)


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "？"))


def says_more(said: str) -> bool:
    """Whether a text says anything behind the words that correct: 'scratch that' does not."""
    found = read(said)
    return found is None or len(said[found.start :].strip(" ,.;:!–-").split()) >= _MORE_WORDS


def names(about: str, earlier: str) -> bool:
    """Whether an earlier text has all words with which a correction names it."""
    wanted = {term for term in terms(about) if not is_stop(term)} - _POINTS
    return bool(wanted) and wanted <= set(terms(earlier))


def shares_a_thing(one: str, other: str, *, is_english: bool = True) -> bool:
    """Whether a correction and an earlier text have a word in common that is neither a time nor a
    verb of change, nor a function word."""
    from holdfast.text.slots.frames import without_times
    from holdfast.text.slots.values_in import function_terms

    shared = set(terms(one)).intersection(terms(other))
    things = {term for term in without_times(shared) if not is_stop(term)} - _change_terms()
    # In Japanese these are particles and the ends of verbs.
    things = {term for term in things if not _HIRAGANA.fullmatch(term)}
    return bool(things if is_english else things - function_terms())


_HIRAGANA = lazy(r"[぀-ゟ]+")


@lru_cache(maxsize=1)
def _change_terms() -> frozenset[str]:
    return frozenset(terms("moved move pushed push changed change switched switch cancelled now"))
