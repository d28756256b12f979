"""Decides whether a claim is supported by the turn it was taken from: every name, number, date and
content word was said, about the same person, with the same negation and tense, as a statement of
the speaker.

Precision comes first. A claim that a reader would accept but these rules do not recognise is
dropped: what is missed is still in the log, and what is made up would be shown to an agent on every
turn. The rules are English; in other languages only words, numbers, names and negations are
compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from holdfast.text.analysis.terms import fold
from holdfast.text.analysis.word_forms import base_form, tense
from holdfast.text.dates import DateMention, find_dates
from holdfast.text.grounding.claims import (
    CAPITAL,
    ClaimPart,
    differs_in_negation,
    is_attributed,
    names_agree,
    normalise_dislikes,
    parts_of,
    same_certainty,
    same_subject,
    same_verb,
)
from holdfast.text.grounding.clauses import Clause, clauses_of
from holdfast.text.grounding.words import (
    content_words,
    limits_kept,
    missing_in,
    missing_kind,
    numbers_agree,
    same_direction,
    same_links,
    same_tense,
    words_of,
)
from holdfast.text.tables import Patterns, lazy

_PATTERNS = Patterns("grounding/patterns.txt")

# Dates


# A date without a year is the last one there was, or the next one.
_YEARS = (-1, 0, 1)
_RELATIVE = frozenset(
    "last next this ago yesterday today tomorrow tonight past coming week weekend".split()  # noqa: SIM905
)
_DAY = timedelta(days=1)
_YEAR = timedelta(days=366)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Dated(NamedTuple):
    """Whether the dates agree, and both texts with the dates removed."""

    supported: bool
    found: bool
    claim: str
    said: str


def dates_supported(claim: str, said: str, at: datetime | None) -> Dated:
    """Compares the dates of a claim with those of what was said at a time."""
    if at is None:
        return Dated(True, False, claim, said)
    mentioned = [_widened(claim, one) for one in find_dates(claim, now=at)]
    wanted = [one for one in mentioned if one.words.lower() not in said.lower()]
    if not wanted:
        return Dated(True, bool(mentioned), claim, said)
    given = find_dates(said, now=at)
    past = _is_past(said)
    supported = all(any(_date_within(one, other, at, past) for other in given) for one in wanted)
    if not supported:
        supported = all(_is_weekday(one, said, at) or _is_vague(one, said, at) for one in wanted)
    return Dated(supported, True, _without(claim, wanted), _without(said, given))


def _date_within(claimed: DateMention, given: DateMention, at: datetime, past: bool) -> bool:
    """Whether the date that was said lies within the claimed one: 'on 3 March' supports 'in March'.
    A date with an open end, such as 'since 2011', supports only itself."""
    if _is_open(claimed) or _is_open(given):
        return (claimed.since, claimed.until) == (given.since, given.until)
    about = claimed.words.lower().startswith(_APPROXIMATE)
    for years in (0,) if _is_exact(given) else _YEARS:
        since, until = _shifted(given.since, years), _shifted(given.until, years)
        # People name the year of a date that is more than a year away.
        near = _is_exact(given) or (abs(at - since) <= _YEAR and (since <= at or not past))
        if near and claimed.since <= since and until <= claimed.until:
            return True
        if near and about and since < claimed.until and claimed.since < until:
            return True
    # 'Next weekend' is the coming one to some, and the one after it to others.
    week = 7 * _DAY
    return given.words.lower().startswith("next ") and any(
        claimed.since <= given.since + week * step and given.until + week * step <= claimed.until
        for step in (-1, 1)
    )


_APPROXIMATE = ("around", "about")


def _is_past(said: str) -> bool:
    """Whether a text is in the past tense: 'have got' is not, nor is something moved to a day."""
    plain = re.sub(r"(?:have|'ve|has|'s) got\b", "have", fold(said))
    if re.search(
        r"\b(?:to|until|for|by) (?:the )?(?:\d{1,2}(?:st|nd|rd"
        r"|th)? )?[a-z]+(?: \d+)?$",
        plain,
    ):
        return False
    if re.search(r"\b(?:decided|agreed|planned|going|want|wanted|need|have|has) to\b", plain):
        return False
    return any(tense(word) == "past" for word in plain.split())


_WEEK_OF = lazy(r"(?i)\b(?:in|on|during) the (week(?:end)?) of (?:the )?$")


def _widened(claim: str, mention: DateMention) -> DateMention:
    """'In the week of 2 November' is that week, from its Monday on, and 'on the weekend of' the two
    days at its end."""
    if mention.words.lower().startswith(_APPROXIMATE):
        # Give or take one of its own unit.
        slack = mention.until - mention.since
        slack = max(slack, 7 * _DAY)
        return mention._replace(since=mention.since - slack, until=mention.until + slack)
    match = _WEEK_OF.search(claim[: mention.start])
    if match is None:
        return mention
    monday = mention.since - mention.since.weekday() * _DAY
    first = monday if match[1].lower() == "week" else monday + 5 * _DAY
    words = claim[match.start() : mention.end]
    return mention._replace(start=match.start(), since=first, until=monday + 7 * _DAY, words=words)


# The most days that 'a few' of a unit can mean.
_VAGUE_DAYS_MAX = {"year": 6 * 366, "month": 340, "week": 60}


def _is_vague(claimed: DateMention, said: str, at: datetime) -> bool:
    """'Around 2023' of 'a few years ago'."""
    match = _PATTERNS["vague"].search(said)
    if match is None or not claimed.words.lower().startswith(_APPROXIMATE):
        return False
    days = _VAGUE_DAYS_MAX[match[1].lower().rstrip("s")]
    return claimed.since < at and at - claimed.until <= timedelta(days=days)


_OPEN_ENDED = ("since", "before", "prior", "until", "till", "up to", "after", "from")


def _is_open(mention: DateMention) -> bool:
    return mention.words.lower().startswith(_OPEN_ENDED)


def _is_exact(mention: DateMention) -> bool:
    """Whether the year is known: it is named, or the words count from when they were said."""
    words = mention.words.lower().replace("-", " ").split()
    return bool(_RELATIVE.intersection(words)) or any(
        word.strip(",.").isdigit() and len(word.strip(",.")) == 4 for word in words
    )


def _shifted(when: datetime, years: int) -> datetime:
    try:
        return when.replace(year=when.year + years)
    except ValueError:
        # The 29th of February.
        return when.replace(year=when.year + years, day=28)


def _is_weekday(claimed: DateMention, said: str, at: datetime) -> bool:
    """'By Friday' means the one of this week or the next."""
    if claimed.until - claimed.since > _DAY:
        return False
    name = _WEEKDAYS[claimed.since.astimezone(UTC).weekday()]
    return name in said.lower() and abs(claimed.since - at) <= 8 * _DAY


def _without(text: str, mentions: Sequence[DateMention]) -> str:
    for mention in reversed(mentions):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


# Claims


class Span(NamedTuple):
    """The characters of the turn that support a claim."""

    start: int
    end: int


class Unsupported(NamedTuple):
    """Why a claim is not supported, in a word."""

    reason: str


# A claim is a sentence or two. A longer one is a summary, which cannot be checked this way.
_CLAIM_CHARS_MAX = 600
# 'I have a dog. He is three. His name is Rex.' is as far as people carry a thought.
_CLAUSES_TOGETHER = 3
# A longer turn was pasted.
_CLAUSES_MAX = 200
# The forms of a word begin with the same letters.
_FRONT = 3


def ground(
    claim: str, said: str, *, at: datetime | None = None, quote: str = "", speaker: str = ""
) -> Span | Unsupported:
    """The part of a turn that supports a claim, or why none does. `at` is when the turn was said;
    `quote` is the part that a model says it relies on; it must be in the turn word for word;
    `speaker` is the name that the claim may use for the person who said it."""
    claim = " ".join(claim.split())
    if not claim or len(claim) > _CLAIM_CHARS_MAX or claim.endswith(("?", "？")):
        return Unsupported("words")
    there = _find_quote(quote, said) if quote.strip() else Span(0, len(said))
    if there is None:
        return Unsupported("quote")
    units = [one for one in clauses_of(said) if one.start < there.end and one.end > there.start]
    units = _relevant(claim, units)
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


def _relevant(claim: str, units: Sequence[Clause]) -> list[Clause]:
    """The clauses that share words with a claim, and their neighbours; at most the first
    `_CLAUSES_MAX`."""
    fronts = {word[:_FRONT] for word in content_words(words_of(normalise_dislikes(claim)))}
    if len(units) <= _CLAUSES_MAX or not fronts:
        return [*units[:_CLAUSES_MAX]]
    near: set[int] = set()
    for at, one in enumerate(units):
        if any(word[:_FRONT] in fronts for word in words_of(one.text)):
            near.update(range(max(0, at - _CLAUSES_TOGETHER), at + _CLAUSES_TOGETHER + 1))
    return [one for at, one in enumerate(units) if at in near][:_CLAUSES_MAX]


def _find_quote(quote: str, said: str) -> Span | None:
    """The position of a quotation; only white space and the form of quote marks may differ."""
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


# Support of one clause


def _ground_part(
    part: ClaimPart, units: Sequence[Clause], at: datetime | None
) -> Span | Unsupported:
    best: tuple[float, str] = (-1.0, "words")
    for together in _clause_runs(part, units):
        reason, merit = _mismatch(part, together, units, at)
        if not reason:
            return Span(together[0].start, together[-1].end)
        best = max(best, (merit, reason), key=lambda pair: pair[0])
    return Unsupported(best[1])


def _clause_runs(part: ClaimPart, units: Sequence[Clause]) -> Iterator[Sequence[Clause]]:
    """Single clauses first, then runs of clauses in which each refers to the one before."""
    for one in units:
        yield [one]
    for size in range(2, _CLAUSES_TOGETHER + 1):
        for first in range(len(units) - size + 1):
            run = units[first : first + size]
            if all(one.refers for one in run[1:]) and _continues(part, run):
                yield run


def _continues(part: ClaimPart, run: Sequence[Clause]) -> bool:
    """Whether each clause continues the last topic of the one before, and the claim is about that
    topic: 'I have a dog. His name is Rex.' Not so 'his cousin', who is somebody else."""
    known = {base_form(word) for word in part.words}
    for before, after in pairwise(run):
        last = content_words(words_of(before.text))[-1:]
        if last and base_form(last[0]) not in known:
            return False
        words = words_of(after.text)
        if words[:1] and words[0] in _POSSESSIVES:
            if base_form(words[1] if len(words) > 1 else "") not in known:
                return False
        elif words[:1] and words[0] not in _PRONOUNS:
            # It has a verb of its own: 'bought a bike for 50 and sold a car for 500'.
            verb = content_words(words)[:1]
            if verb and base_form(verb[0]) not in known:
                return False
    return True


_PRONOUNS = frozenset(["he", "she", "they", "it", "this", "that", "there", "these", "those"])
_POSSESSIVES = frozenset(["his", "her", "their", "its"])


def _mismatch(
    part: ClaimPart, run: Sequence[Clause], units: Sequence[Clause], at: datetime | None
) -> tuple[str, float]:
    """Why these clauses do not support the claim ('' if they do), and a score of how close they
    come."""
    text = " ".join(one.text for one in run)
    dated = dates_supported(part.text, text, at)
    if not dated.supported:
        # A date applies to its whole sentence.
        within = {one.sentence for one in run}
        whole = " ".join(one.text for one in units if one.sentence in within)
        dated = dates_supported(part.text, whole, at)._replace(said=dated.said)
    claim_words = content_words(words_of(normalise_dislikes(dated.claim)))
    said_words = words_of(normalise_dislikes(text))
    missing = missing_in(claim_words, said_words)
    merit = 1 - len(missing) / max(len(claim_words), 1)
    if any(one.asked for one in run):
        return "question", merit
    if missing:
        return missing_kind(missing, part.text), merit
    merit += 1
    checks = (
        ("words", not claim_words and not dated.found),
        ("date", not dated.supported),
        ("number", not numbers_agree(dated.claim, dated.said)),
        ("quoted", any(one.reported for one in run) and not is_attributed(part.text)),
        ("hypothetical", not same_certainty(part, run)),
        ("negation", differs_in_negation(part, run)),
        ("name", not same_subject(part, run, said_words)),
        ("name", not names_agree(part, run)),
        ("words", not same_direction(part.words, said_words)),
        ("words", not same_links(words_of(normalise_dislikes(part.text)), said_words)),
        ("words", not limits_kept(claim_words, said_words)),
        ("words", not same_verb(part, run)),
        ("tense", not same_tense(part.words, said_words)),
    )
    return next(((reason, merit) for reason, wrong in checks if wrong), ("", merit))
