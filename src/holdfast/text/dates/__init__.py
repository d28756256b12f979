"""Find dates in English words, such as 'last Tuesday' or 'in May', as windows of time.

Each mention is a half-open window [since, until) in UTC, worked out in the reader's zone against
a clock that is passed in. Memories look back, so a date without a year is the latest one that has
begun. Weeks begin on Monday; seasons are those of the northern half of the earth, in whole months.
Words that only look like a date ('may I', 'the sun', '2000 people') are left alone, and so is
05/06/2024, which two readers read as two days. English only; no holidays, no birthdays.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from holdfast.errors import InvalidInput

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


_ISO_NUMBERS = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")


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
_DATE_WORDS = frozenset(
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
_WORD = re.compile("[a-z]+")
_NUMBERS = re.compile(r"(?:19|20)\d\d|\d{4}-\d|\d/\d")


def _may_have_date(text: str) -> bool:
    if not _DATE_WORDS.isdisjoint(_WORD.findall(text.lower())):
        return True
    return _NUMBERS.search(text) is not None
