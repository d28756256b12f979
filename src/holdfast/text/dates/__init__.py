"""Find dates in English words, such as 'last Tuesday' or 'in May', as windows of time.

Each mention is a half-open window [since, until) in UTC, worked out in the reader's zone against
a clock that is passed in. Memories look back, so a date without a year is the latest one that has
begun. Weeks begin on Monday; seasons are those of the northern half of the earth, in whole months.
Words that only look like a date ('may I', 'the sun', '2000 people') are left alone, and so is
05/06/2024, which two readers read as two days. English only; no holidays, no birthdays.

`event_in` gives the day of the event in a statement: 'a dentist appointment yesterday' is the day
before it was said. Only a single time that is relative or lacks its year is read: a full date needs
no interpretation, and a recurring event has no single time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache

from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.word_forms import numbers_in
from holdfast.text.dates import other_languages
from holdfast.text.tables import Patterns, lazy

# The open ends of 'before June' and 'after 2030': beyond any memory, and far enough from the
# ends of the calendar that no zone can push them over.
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


class DateMention(NamedTuple):
    """Words that name a time, and the half-open window [since, until) they mean."""

    start: int
    end: int
    since: datetime
    until: datetime
    words: str


def find_dates(text: str, *, now: datetime, zone: tzinfo | None = UTC) -> list[DateMention]:
    """The times a text names, in order and without overlap."""
    if not _may_have_date(text):
        return []
    from holdfast.text.dates.context import read_mentions

    return read_mentions(text, now, zone or UTC, bare=False)


def parse_when(
    text: str, *, now: datetime, zone: tzinfo | None = UTC, end: bool = False
) -> datetime:
    """The moment a date, a time or a phrase means: its beginning, or with `end` its end.

    A date and time is that moment either way. InvalidInput when it is none of these.
    """
    said = text.strip()
    if said.lower() == "now":
        return now.astimezone(UTC)
    numbers = _ISO_NUMBERS.match(said)
    if numbers:
        _check_exists(said, *map(int, numbers.groups()))
    mentions: list[DateMention] = []
    try:
        if numbers and len(said) > len(numbers.group()):
            when = datetime.fromisoformat(said)
            return (when if when.tzinfo else when.replace(tzinfo=zone or UTC)).astimezone(UTC)
        # A phrase of more words than this is a sentence, and its date would be a guess.
        if len(said) <= 80:
            from holdfast.text.dates.context import read_mentions

            mentions = read_mentions(said, now, zone or UTC, bare=True)
    except (ValueError, OverflowError):
        mentions = []
    if len(mentions) == 1 and (mentions[0].start, mentions[0].end) == (0, len(said)):
        return mentions[0].until if end else mentions[0].since
    raise InvalidInput(
        f"'{said[:80]}' is not a date or time that Holdfast can read.",
        hint="Write a date (2026-05-27), a time (2026-05-27T14:30), a month (2026-05) "
        "or a phrase such as yesterday, last Tuesday, two weeks ago, in May 2024.",
    )


_ISO_NUMBERS = lazy(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")


def _check_exists(said: str, year: int, month: int, day: int) -> None:
    from holdfast.text.dates.expressions import month_length

    if not year or not 1 <= month <= 12:
        reason = f"there is no month {month}" if year else "there is no year 0"
    elif not 1 <= day <= month_length(year, month):
        reason = f"{year:04}-{month:02} has {month_length(year, month)} days"
    else:
        return
    raise InvalidInput(
        f"The date {said[:80]} does not exist: {reason}.", hint="Write it as year-month-day."
    )


# Every date has one of these words, a year, or digits with a dash or a slash between them. Most
# texts have none (8443 is no year), and then the large pattern of `expressions` is neither compiled
# (some milliseconds, once) nor run.
DATE_WORDS = frozenset(
    """
    today yesterday tomorrow tonight morning afternoon evening night day days week weeks weekend
    month months year years quarter quarters hour hours fortnight fortnights
    spring summer autumn fall winter
    jan january feb february mar march apr april may jun june jul july aug august
    sep sept september oct october nov november dec december
    mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday
    sun sunday
    """.split()  # noqa: SIM905 - a list of eighty quoted words is harder to read
)
_WORD = lazy("[a-z]+")
# Begins with a class of characters, which `search` skips to: a fourth of the time of `(?:19|20)`.
DATE_NUMBERS = lazy(r"\d(?:(?<=1)9\d\d|(?<=2)0\d\d|\d{3}-\d|/\d)")


def _may_have_date(text: str) -> bool:
    return has_date_word(text) or DATE_NUMBERS.search(text) is not None


def has_date_word(text: str) -> bool:
    """Whether a word of most dates is in it."""
    return not DATE_WORDS.isdisjoint(_WORD.findall(text.lower()))


_PATTERNS = Patterns("dates/patterns.txt")

# A longer text describes several events.
TEXT_CHARS_MAX = 240
_YEAR = lazy(r"(?<!\d)(?:19|20)\d\d(?!\d)")
# An open end is no time at which something happens.
_OPEN = lazy(r"(?i)(?:since|before|prior to|until|till|up to|after|from|for|within)\b")
_OPEN_BEFORE = lazy(r"(?i)\b(?:since|until|till|before|after) *$")
_IN_SOME_DAYS = lazy(r"(?i)\bin (?P<count>\d{1,3}|[a-z]+) (?P<unit>day|week)s?(?: time)?\b")
_WAS = lazy(r"(?i)\b(?:was|were|had|went)\b")


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


def may_have_event(text: str) -> bool:
    """Whether `event_in` may find a time in a text. Most texts name none."""
    if len(text) > TEXT_CHARS_MAX or "\n" in text.strip():
        return False
    words = _WORD.findall(text.lower())
    if not DATE_WORDS.isdisjoint(words) or DATE_NUMBERS.search(text) is not None:
        return True
    if text.isascii():
        # Its words are known, and of the days in other languages some have no other letters.
        return _may_name_a_day(text) or other_languages.is_needed(words)
    return _may_name_a_day(text) or other_languages.may_name_a_time(text)


def event_in(text: str, *, at: datetime) -> Event | None:
    """The time that a statement names in words, as meant when it was said."""
    if not may_have_event(text):
        return None
    if _PATTERNS["repeated"].search(text):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    found = find_dates(text, now=at, zone=at.tzinfo)
    if not found and (ahead := _IN_SOME_DAYS.search(text)) is not None:
        return _in_some_days(ahead, at)
    if not found and (named := in_another_language(text, at=at)) is not None:
        return named
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


def in_another_language(text: str, *, at: datetime) -> Event | None:
    """The time that a statement names in another language than English."""
    if (days := _days_away(text)) is not None:
        day = at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=days)
        return Event(day, day + timedelta(days=1))
    named = other_languages.time_in(text, at=at)
    return Event(named.since, named.until) if named else None


def relative_day(text: str, *, at: datetime) -> Event | None:
    """The day or week that a statement names relative to when it was said, such as 'last Friday'
    or 'in two weeks'; None for the day itself, for longer times and for days of a month, which may
    be of another year."""
    if has_date_word(text) and _RELATIVE.search(text) and _MONTHS.search(text) is None:
        event = event_in(text, at=at)
        if event is not None and event.until - event.since <= timedelta(days=7):
            is_today = event.since <= at < event.until
            return None if is_today else event
    return None


_RELATIVE = lazy(
    r"(?i)\b(?:yesterday|tomorrow|last|this|next|coming|ago|in (?:a|\d+|\w+) (?:day|week)s?)\b"
)
_MONTHS = lazy(
    r"(?i)\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
    r"|\bmay \d|\d(?:st|nd|rd|th)?(?: of)? may\b"
)


_DAY_WORDS = tuple(word for words in _DAYS_AWAY.values() for word in words.split("|"))


@cache
def _day_signs(*, is_ascii: bool) -> tuple[str, ...]:
    """Those that have no other one in them, as 'vorgestern' has 'gestern'."""
    signs = [
        word for word in _DAY_WORDS if not any(one in word for one in _DAY_WORDS if one != word)
    ]
    return tuple(filter(str.isascii, signs) if is_ascii else signs)


def _may_name_a_day(text: str) -> bool:
    """Whether a day may be named in another language."""
    lowered = text.lower()
    signs = _day_signs(is_ascii=lowered.isascii())
    return bool([word for word in signs if word in lowered])


def _days_away(text: str) -> int | None:
    """How far the one day is that a statement names in another language; None if it names none,
    or several."""
    if not _may_name_a_day(text):
        return None
    # The longer words come first: 'avant-hier' has 'hier' in it, and 'depois de amanhã' 'amanhã'.
    rest = text
    lowered = text.lower()
    found: list[int] = []
    for days in (-2, 2, -1, 1):
        words = _DAYS_AWAY[days]
        if not any(word in lowered for word in words.split("|")):
            continue
        # Compiling a range of Chinese characters without regard to case takes 2 ms.
        pattern = re.compile(rf"(?<![^\W㐀-鿿぀-ヿ])(?i:(?:{words})(?![a-zà-ÿ-]))")
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
