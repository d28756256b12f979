"""Splits a text into clauses: the subject of each, and whether it is negated, a question, a
supposition, or reported speech. English; of other languages, only negations are recognised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from holdfast.text.analysis.terms import STOP_WORDS, fold
from holdfast.text.analysis.word_forms import tense
from holdfast.text.facts.statements import VERBS, long_forms
from holdfast.text.sentences import sentence_spans
from holdfast.text.tables import Patterns, lazy, read_table

_PATTERNS = Patterns("grounding/patterns.txt")


class Clause(NamedTuple):
    """A piece of a text. The subject is 'self', 'you', a pronoun, or folded words; '' if it is
    that of the clause before it."""

    start: int
    end: int
    text: str
    subject: str
    asked: bool = False
    supposed: frozenset[str] = frozenset()
    reported: bool = False
    refers: bool = False
    sentence: int = 0


_FENCE = lazy(r"(?ms)^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[ \t]*$|\Z)|^[ \t]*[>|].*?$")
_SENTENCE = lazy(r"(?<=[.!?…。！？])[\"')\]”’]*(?:\s+|(?<=[。！？]))|\n+")

_RELATIVE = lazy(r"(?i)\b(?:who|which)\b")

# At the front, they are about all that follows.
_PERHAPS = lazy(r"(?i)(?:maybe|perhaps|possibly|probably|apparently|supposedly)\b")
_OWN_WORDS = lazy(r"(?i)^(?:i|we)\s+(?:\w+\s+)?(?:said|told|mentioned|wrote|think|believe)\b")


def clauses_of(said: str) -> tuple[Clause, ...]:
    """The clauses of a text in order."""
    return _clauses(said)


@lru_cache(maxsize=64)
def _clauses(said: str) -> tuple[Clause, ...]:
    blanked = _blank(said)
    out: list[Clause] = []
    given = False
    for number, (start, end) in enumerate(_sentences(blanked)):
        found = _of_sentence(blanked, start, end, number)
        orders = _PATTERNS["order text"].match(blanked[start:end])
        if given or orders:
            # What is to be written or translated is nobody's statement, and neither is the text
            # below such an order.
            found = [one._replace(supposed=one.supposed | {"if"}) for one in found]
            given = given or ":" in blanked[start:end]
        out += found
    return tuple(out)


def _blank(said: str) -> str:
    """The text with code, quoted lines and what others said word for word taken out; everything
    keeps its place."""
    blank = _FENCE.sub(lambda found: " " * len(found[0]), said)
    whole = said.strip()

    def unless_name(found: re.Match[str]) -> str:
        # A title or a name in quotes is no speech; a turn that is one quotation is its own.
        if len(found[0].split()) <= 4 or found[0] == whole:
            return found[0]
        return " " * len(found[0])

    return _PATTERNS["quoted"].sub(unless_name, blank)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    def goes_on(_: int, end: re.Match[str]) -> bool:
        before = text[max(0, end.start() - 12) : end.end()]
        return "\n" not in end[0] and _PATTERNS["abbreviation"].search(before) is not None

    return sentence_spans(text, _SENTENCE, goes_on=goes_on)


def _of_sentence(text: str, start: int, end: int, number: int) -> list[Clause]:
    whole = text[start:end]
    asking = whole.rstrip("\"')]”’* ").endswith(("?", "？")) and not _PATTERNS["request"].match(
        whole
    )
    asked_if = _PATTERNS["asked if"].search(_PATTERNS["requested if"].sub(_same_length, whole))
    always = _unreal_forms(
        long_forms(_PATTERNS["asked if"].sub("", _PATTERNS["requested if"].sub("", whole)))
    ) & {"if"}
    if _PERHAPS.match(_PATTERNS["opener"].sub("", whole.strip())):
        always.add("may")
    cuts = [(mark.start(), mark.end()) for mark in _PATTERNS["split"].finditer(whole)]
    starts = [0, *(stop for _, stop in cuts)]
    ends = [*(begin for begin, _ in cuts), len(whole)]
    links = ["", *(whole[begin:stop] for begin, stop in cuts)]
    pieces = [
        (start + a, start + b, whole[a:b], link)
        for a, b, link in zip(starts, ends, links, strict=True)
        if whole[a:b].strip(" .,!?")
    ]
    stated = _stated([(piece[2], piece[3]) for piece in pieces]) if asking else range(0)
    out: list[Clause] = []
    reported = False
    for at, (begin, stop, raw, link) in enumerate(pieces):
        plain = _PATTERNS["opener"].sub("", raw.strip(" .,!?*-"))
        subject = _subject(plain)
        refers = subject in _PRONOUNS
        if not subject:
            # The subject of the clause before it; after 'who', somebody named in it.
            refers = bool(out)
            subject = out[-1].subject if out else ""
            if _RELATIVE.search(link):
                subject = "that"
        # 'I hate that he lost his job' does not carry on with the speaker.
        refers = refers and link.strip() != "that"
        reported = reported or (
            bool(_PATTERNS["told"].search(plain)) and not _OWN_WORDS.match(plain)
        )
        full = long_forms(plain)
        supposed = always | _unreal_forms(full)
        if asked_if and begin > start + asked_if.start():
            supposed.add("if")
        asked = asking and at not in stated
        held = frozenset(supposed)
        out.append(Clause(begin, stop, plain, subject, asked, held, reported, refers, number))
    return out


def _same_length(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _unreal_forms(text: str) -> set[str]:
    return {name for name, pattern in _unreal_patterns() if pattern.search(text)}


@cache
def _unreal_patterns() -> list[tuple[str, re.Pattern[str]]]:
    rows = read_table("grounding/supposed.txt")
    return [(name, re.compile(pattern, re.IGNORECASE)) for name, _, pattern in rows]


def _stated(pieces: list[tuple[str, str]]) -> range:
    """Which parts of a question are stated, of each what is said and the words before it: those
    before the question in 'I moved, can you note that?', and the last in 'What can I cook, I'm
    vegan?'"""
    said = [_PATTERNS["opener"].sub("", one.strip()) for one, _ in pieces]
    last = len(pieces) - 1
    if last < 1:
        return range(0)
    if _PATTERNS["asks"].match(said[0]):
        is_last = _PATTERNS["open question"].match(said[0]) and _BESIDE.fullmatch(pieces[-1][1])
        return range(
            last, last + 1 if is_last and _PATTERNS["statement behind"].match(said[-1]) else last
        )
    end = said[-1].strip(" ,")
    if _PATTERNS["asks"].match(end):
        return range(0 if _PATTERNS["tag"].match(end) else last)
    asking = (at for at in range(1, last + 1) if _WHICH.fullmatch(pieces[at][1]))
    return range(next(asking, 0))


# Between two parts that say something by themselves.
_BESIDE = lazy(r"\s*(?:[,;]|[-–—])\s*")
_WHICH = lazy(r"(?i),?\s+which\s+")


# A verb that is not known: the first word after 'my' is what it is about.
_OWN_THING = lazy(r"(?i)^(?:my|our)\s+([\w'-]+)")
_PRONOUNS = frozenset(
    "he she they it this that there his her their its these those".split()  # noqa: SIM905
)


def _may_be_name(word: str) -> bool:
    """Whether a word at the beginning, with a capital for that, may be a name."""
    if word in VERBS or word in STOP_WORDS or word.endswith("ly"):
        return False
    return tense(word) == "present"


def _subject(plain: str) -> str:
    """The subject of a clause; empty if it has none."""
    bare = _PATTERNS["adverbs"].sub("", _PATTERNS["link"].sub("", plain))
    if _PATTERNS["self"].match(bare) or _PATTERNS["call me"].match(bare):
        return "self"
    if match := _PATTERNS["owned"].match(bare) or _OWN_THING.match(bare):
        return f"my {fold(match[1])}"
    if match := _PATTERNS["pronoun"].match(bare):
        return match[1].lower()
    if match := _PATTERNS["turned"].match(bare):
        return f"my {fold(match[1])}"
    if (match := _PATTERNS["named"].match(bare)) and _may_be_name(match[1].split()[0].lower()):
        return fold(match[1])
    if match := _PATTERNS["noun"].match(bare):
        return fold(match[1])
    return ""
