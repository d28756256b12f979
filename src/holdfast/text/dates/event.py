"""When what a statement tells of happens: 'a dentist appointment yesterday' is the day before it
was said. Only a single time that is relative or lacks its year is read: a full date says itself
what it means, and what happens again and again happens at no single time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from holdfast.text.analysis.word_forms import numbers_in
from holdfast.text.dates import DateMention, find_dates
from holdfast.text.tables import Patterns

_PATTERNS = Patterns("dates/patterns.txt")

# A longer text tells of several things.
TEXT_CHARS_MAX = 240
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# An open end is no time at which something happens.
_OPEN = re.compile(r"(?i)(?:since|before|prior to|until|till|up to|after|from|for|within)\b")
_OPEN_BEFORE = re.compile(r"(?i)\b(?:since|until|till|before|after) *$")
_IN_SOME_DAYS = re.compile(r"(?i)\bin (?P<count>\d{1,3}|[a-z]+) (?P<unit>day|week)s?(?: time)?\b")
_WAS = re.compile(r"(?i)\b(?:was|were|had|went)\b")


# Days by their distance from today, in eight languages beside English.
_DAYS_AWAY = {
    -2: r"vorgestern|avant-hier|anteayer|antes de ayer|l'altro ieri|anteontem|eergisteren|前天"
    r"|一昨日|おととい",
    -1: r"gestern|hier|ayer|ieri|ontem|gisteren|昨天|昨日|きのう",
    1: r"demain|domani|amanhã|明天|明日|あした",
    2: r"übermorgen|après-demain|pasado mañana|dopodomani|depois de amanhã|overmorgen|后天|後天"
    r"|明後日|あさって",
}


class Event(NamedTuple):
    """The half-open window [since, until) in which something happens."""

    since: datetime
    until: datetime


def event_in(text: str, *, at: datetime) -> Event | None:
    """The time that a statement names in words, as it was meant when it was said."""
    if len(text) > TEXT_CHARS_MAX or "\n" in text.strip() or _PATTERNS["repeated"].search(text):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    found = find_dates(text, now=at, zone=at.tzinfo)
    if not found and (ahead := _IN_SOME_DAYS.search(text)) is not None:
        return _in_some_days(ahead, at)
    if not found and (days := _days_away(text)) is not None:
        day = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)
        return Event(day, day + timedelta(days=1))
    if len(found) != 1 or _OPEN.match(found[0].words):
        return None
    mention = found[0]
    if _YEAR.search(mention.words) or _OPEN_BEFORE.search(text[: mention.start]):
        return None
    if (
        not _PATTERNS["fixed"].search(mention.words)
        and _is_ahead(text, mention)
        and mention.until <= at
    ):
        return _next(mention)
    return Event(mention.since, mention.until)


def _days_away(text: str) -> int | None:
    """How far the one day is that a statement names in another language; None where it names none,
    or several."""
    # The longer words come first: 'avant-hier' has 'hier' in it, and 'depois de amanhã' 'amanhã'.
    rest = text
    found: list[int] = []
    for days in (-2, 2, -1, 1):
        words = _DAYS_AWAY[days]
        pattern = re.compile(rf"(?i)(?<![^\W㐀-鿿぀-ヿ])(?:{words})(?![a-zà-ÿ-])")
        found += [
            days
            for match in pattern.finditer(rest)
            if match[0].lower() != "hier" or _PATTERNS["french"].search(text)
        ]
        rest = pattern.sub(" ", rest)
    return found[0] if len(found) == 1 else None


def _is_ahead(text: str, mention: DateMention) -> bool:
    """Whether a date without a year is the next one, and not the last."""
    before = text[: mention.start]
    if _WAS.search(text):
        return False
    if _PATTERNS["ahead"].search(before):
        return re.search(r"(?i)\bborn\b", before) is None
    return _PATTERNS["past"].search(text) is None


def _in_some_days(found: re.Match[str], at: datetime) -> Event | None:
    """'In two weeks' is the day two weeks later."""
    numbers = numbers_in(found["count"])
    if len(numbers) != 1 or not numbers[0].value.isdigit():
        return None
    days = int(numbers[0].value) * (7 if found["unit"].lower() == "week" else 1)
    day = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)
    return Event(day, day + timedelta(days=1))


def _next(mention: DateMention) -> Event | None:
    if mention.until - mention.since <= timedelta(days=1) and re.search(
        r"(?i)\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b", mention.words
    ):
        week = timedelta(days=7)
        return Event(mention.since + week, mention.until + week)
    try:
        return Event(
            mention.since.replace(year=mention.since.year + 1),
            mention.until.replace(year=mention.until.year + 1),
        )
    except ValueError:  # a 29 February
        return None
