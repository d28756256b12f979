"""Whether a claim is supported by the turn it was taken from: every name, number, date and word
that carries sense, said of the same person, in the same polarity and tense, as a statement of the
speaker's own.

Precision comes first. A claim that a reader would pass and these rules do not know is dropped: what
is missed is still in the log, and what is made up would be told to an agent on every turn. The
rules are English; in other languages words, numbers, names and the words of denial are compared.
Where the claim came from is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from holdfast.text.clauses import Clause, clauses_of
from holdfast.text.grounding_claim import CAPITAL, Part, parts_of
from holdfast.text.grounding_dates import dates_supported
from holdfast.text.grounding_links import same_links
from holdfast.text.grounding_stance import as_sure, differs_in_denial, is_attributed, plain_stance
from holdfast.text.grounding_subject import names_agree, same_subject
from holdfast.text.grounding_verbs import same_verb
from holdfast.text.grounding_words import (
    as_large,
    kind_of,
    missing_in,
    numbers_agree,
    of_sense,
    same_direction,
    same_tense,
    words_of,
)
from holdfast.text.word_forms import base_form


class Span(NamedTuple):
    """The characters of the turn that support a claim."""

    start: int
    end: int


class Unsupported(NamedTuple):
    """Why a claim is not supported, in a word."""

    reason: str


# A claim is a sentence or two; a longer one is a summary, of which nobody can say what it rests on.
_CLAIM_CHARS_MAX = 600
# 'I have a dog. He is three. His name is Rex.' is as far as people carry a thought.
_CLAUSES_TOGETHER = 3
# Nobody says more in one turn; what is longer was pasted.
_CLAUSES_MAX = 200
# Letters by which the forms of a word begin alike.
_FRONT = 3


def ground(
    claim: str, said: str, *, at: datetime | None = None, quote: str = "", speaker: str = ""
) -> Span | Unsupported:
    """The part of a turn that supports a claim, or why none does. `at` is when the turn was said;
    `quote` is the part that a model says it relies on, and must stand in the turn word for word;
    `speaker` is the name by which the claim may call whoever said it."""
    claim = " ".join(claim.split())
    if not claim or len(claim) > _CLAIM_CHARS_MAX or claim.endswith(("?", "？")):
        return Unsupported("words")
    there = _find_quote(quote, said) if quote.strip() else Span(0, len(said))
    if there is None:
        return Unsupported("quote")
    units = [one for one in clauses_of(said) if one.start < there.end and one.end > there.start]
    units = _about(claim, units)
    spans: list[Span] = []
    for part in parts_of(claim, speaker, frozenset(CAPITAL.findall(said))):
        found = _ground_part(part, units, at)
        if isinstance(found, Unsupported):
            return found
        spans.append(found)
    if not spans:
        return Unsupported("words")
    if quote.strip():
        return there
    return _trimmed(said, min(span.start for span in spans), max(span.end for span in spans))


def _about(claim: str, units: Sequence[Clause]) -> list[Clause]:
    """The clauses that may have to do with a claim, and those around them; of a text that goes on
    and on, the first."""
    fronts = {word[:_FRONT] for word in of_sense(words_of(plain_stance(claim)))}
    if len(units) <= _CLAUSES_MAX or not fronts:
        return [*units[:_CLAUSES_MAX]]
    near: set[int] = set()
    for at, one in enumerate(units):
        if any(word[:_FRONT] in fronts for word in words_of(one.text)):
            near.update(range(max(0, at - _CLAUSES_TOGETHER), at + _CLAUSES_TOGETHER + 1))
    return [one for at, one in enumerate(units) if at in near][:_CLAUSES_MAX]


def _find_quote(quote: str, said: str) -> Span | None:
    """Where a quotation stands; only white space and the form of quote marks may differ."""
    marks = {"'": "['‘’ʼ]", '"': '["“”]'}
    words = quote.strip().strip('"“”').split()
    if not words:
        return None
    pattern = r"\s+".join(
        "".join(
            marks.get(char, re.escape(char)) for char in word.replace("’", "'").replace("‘", "'")
        )
        for word in words
    )
    match = re.search(pattern, said)
    return Span(match.start(), match.end()) if match else None


def _trimmed(said: str, start: int, end: int) -> Span:
    piece = said[start:end]
    return Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))


# Support


def _ground_part(part: Part, units: Sequence[Clause], at: datetime | None) -> Span | Unsupported:
    best: tuple[float, str] = (-1.0, "words")
    for together in _together(part, units):
        reason, merit = _why_not(part, together, units, at)
        if not reason:
            return Span(together[0].start, together[-1].end)
        best = max(best, (merit, reason), key=lambda pair: pair[0])
    return Unsupported(best[1])


def _together(part: Part, units: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """Single clauses first; then runs of them in which each refers to the one before."""
    for one in units:
        yield [one]
    for size in range(2, _CLAUSES_TOGETHER + 1):
        for first in range(len(units) - size + 1):
            run = units[first : first + size]
            if all(one.refers for one in run[1:]) and _carries_on(part, run):
                yield run


def _carries_on(part: Part, run: Sequence[Clause]) -> bool:
    """Whether each clause goes on with the last thing of the one before, and the claim speaks of
    that: 'I have a dog. His name is Rex.' And of whose: 'his cousin' is somebody else."""
    known = {base_form(word) for word in part.words}
    for before, after in pairwise(run):
        last = of_sense(words_of(before.text))[-1:]
        if last and base_form(last[0]) not in known:
            return False
        words = words_of(after.text)
        if words[:1] and words[0] in _POSSESSIVES:
            if base_form(words[1] if len(words) > 1 else "") not in known:
                return False
        elif words[:1] and words[0] not in _PRONOUNS:
            # It has a verb of its own: 'bought a bike for 50 and sold a car for 500'.
            verb = of_sense(words)[:1]
            if verb and base_form(verb[0]) not in known:
                return False
    return True


_PRONOUNS = frozenset(["he", "she", "they", "it", "this", "that", "there", "these", "those"])
_POSSESSIVES = frozenset(["his", "her", "their", "its"])


def _why_not(
    part: Part, run: Sequence[Clause], units: Sequence[Clause], at: datetime | None
) -> tuple[str, float]:
    """Why these clauses do not support the claim ('' where they do), and how near they come."""
    text = " ".join(one.text for one in run)
    dated = dates_supported(part.text, text, at)
    if not dated.supported:
        # A date holds for its whole sentence.
        within = {one.sentence for one in run}
        whole = " ".join(one.text for one in units if one.sentence in within)
        dated = dates_supported(part.text, whole, at)._replace(said=dated.said)
    claim_words = of_sense(words_of(plain_stance(dated.claim)))
    said_words = words_of(plain_stance(text))
    missing = missing_in(claim_words, said_words)
    merit = 1 - len(missing) / max(len(claim_words), 1)
    if any(one.asked for one in run):
        return "question", merit
    if missing:
        return kind_of(missing, part.text), merit
    merit += 1
    checks = (
        ("words", not claim_words and not dated.found),
        ("date", not dated.supported),
        ("number", not numbers_agree(dated.claim, dated.said)),
        ("quoted", any(one.told for one in run) and not is_attributed(part.text)),
        ("hypothetical", not as_sure(part, run)),
        ("negation", differs_in_denial(part, run)),
        ("name", not same_subject(part, run, said_words)),
        ("name", not names_agree(part, run)),
        ("words", not same_direction(part.words, said_words)),
        ("words", not same_links(words_of(plain_stance(part.text)), said_words)),
        ("words", not as_large(claim_words, said_words)),
        ("words", not same_verb(part, run)),
        ("tense", not same_tense(part.words, said_words)),
    )
    return next(((reason, merit) for reason, wrong in checks if wrong), ("", merit))
