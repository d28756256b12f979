"""Whether the dates of a claim are those of what was said: 'in March 2026' of 'last month', told in
April. What has no clock is compared by its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.text.dates import DateMention, find_dates
from holdfast.text.terms import fold
from holdfast.text.word_forms import tense

# A date without a year is the last one there was, or the next one.
_YEARS = (-1, 0, 1)
_RELATIVE = frozenset(
    "last next this ago yesterday today tomorrow tonight past coming week weekend".split()  # noqa: SIM905
)
_DAY = timedelta(days=1)
_YEAR = timedelta(days=366)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Dated(NamedTuple):
    """Whether the dates agree, and both texts without them."""

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
    supported = all(any(_within(one, other, at, past) for other in given) for one in wanted)
    if not supported:
        supported = all(_is_weekday(one, said, at) or _is_vague(one, said, at) for one in wanted)
    return Dated(supported, True, _without(claim, wanted), _without(said, given))


def _within(claimed: DateMention, given: DateMention, at: datetime, past: bool) -> bool:
    """Whether what was said lies in what is claimed: 'in March' holds for 'on 3 March'. A time with
    an open end, such as 'since 2011', holds for itself alone."""
    if _is_open(claimed) or _is_open(given):
        return (claimed.since, claimed.until) == (given.since, given.until)
    about = claimed.words.lower().startswith(_ABOUT)
    for years in (0,) if _is_exact(given) else _YEARS:
        since, until = _shifted(given.since, years), _shifted(given.until, years)
        # Of what is more than a year away, people name the year.
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


_ABOUT = ("around", "about")


def _is_past(said: str) -> bool:
    """Whether it is told as over: 'got' in 'have got' is not, nor is what was moved to a day."""
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


_OF = re.compile(r"(?i)\b(?:in|on|during) the (week(?:end)?) of (?:the )?$")


def _widened(claim: str, mention: DateMention) -> DateMention:
    """'In the week of 2 November' is that week, from its Monday on, and 'on the weekend of' the two
    days at its end."""
    if mention.words.lower().startswith(_ABOUT):
        # Give or take one of what it is said in.
        slack = mention.until - mention.since
        slack = max(slack, 7 * _DAY)
        return mention._replace(since=mention.since - slack, until=mention.until + slack)
    match = _OF.search(claim[: mention.start])
    if match is None:
        return mention
    monday = mention.since - mention.since.weekday() * _DAY
    first = monday if match[1].lower() == "week" else monday + 5 * _DAY
    words = claim[match.start() : mention.end]
    return mention._replace(start=match.start(), since=first, until=monday + 7 * _DAY, words=words)


_SOME = re.compile(
    r"(?i)\b(?:few|several|couple of|some|many|about an?|around an?) (years?|months?"
    r"|weeks?) (?:ago|back)\b"
)
# 'A few' of them is no more than this many days.
_SOME_DAYS_MAX = {"year": 6 * 366, "month": 340, "week": 60}


def _is_vague(claimed: DateMention, said: str, at: datetime) -> bool:
    """'Around 2023' of 'a few years ago'."""
    match = _SOME.search(said)
    if match is None or not claimed.words.lower().startswith(_ABOUT):
        return False
    days = _SOME_DAYS_MAX[match[1].lower().rstrip("s")]
    return claimed.since < at and at - claimed.until <= timedelta(days=days)


_OPEN = ("since", "before", "prior", "until", "till", "up to", "after", "from")


def _is_open(mention: DateMention) -> bool:
    return mention.words.lower().startswith(_OPEN)


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
