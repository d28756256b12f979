"""Whether the dates of a claim are those of what was said: 'in March 2026' of 'last month', told in
April. What has no clock is compared by its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.text.dates import DateMention, find_dates

# A year that nobody named may be the one before or after the one that was guessed.
_YEARS = (-1, 0, 1)
_DAY = timedelta(days=1)
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
    wanted = [one for one in find_dates(claim, now=at) if one.words.lower() not in said.lower()]
    if not wanted:
        return Dated(True, bool(find_dates(claim, now=at)), claim, said)
    given = find_dates(said, now=at)
    supported = all(any(_within(one, other, said) for other in given) for one in wanted)
    if not supported:
        supported = all(_is_weekday(one, said, at) for one in wanted)
    return Dated(supported, True, _without(claim, wanted), _without(said, given))


def _within(claimed: DateMention, given: DateMention, said: str) -> bool:
    """Whether what was said lies in what is claimed: 'in March' holds for 'on 3 March'."""
    for years in _YEARS if not _has_year(given) else (0,):
        since, until = _shifted(given.since, years), _shifted(given.until, years)
        if claimed.since <= since and until <= claimed.until:
            return True
    return False


def _has_year(mention: DateMention) -> bool:
    return any(
        part.isdigit() and len(part) == 4 for part in mention.words.replace("-", " ").split()
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
