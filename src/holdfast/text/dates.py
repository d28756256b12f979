"""Find dates in English words, such as 'last Tuesday' or 'in May', as windows of time.

Each mention is a half-open window [since, until) in UTC, worked out in the reader's zone against
a clock that is passed in. Memories look back, so a date without a year is the latest one that has
begun. Weeks begin on Monday; seasons are those of the northern half of the earth, in whole months.
Words that only look like a date ('may I', 'the sun', '2000 people') are left alone, and so is
05/06/2024, which two readers read as two days. It knows English alone, no holidays and no
birthdays, and not what a window is worth.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.text.dates_atoms import Atom

# The open ends of 'before June' and 'after 2030': beyond any memory, and far enough from the
# ends of the calendar that no zone can push them over.
EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)
# A date stands within the first pages of a text, or there are so many that none is the point.
_MENTIONS_MAX = 200

_DAY = timedelta(days=1)


class DateMention(NamedTuple):
    """Words that name a time, and the half-open window [since, until) they mean."""

    start: int
    end: int
    since: datetime
    until: datetime
    words: str


def find_dates(text: str, *, now: datetime, zone: tzinfo | None = UTC) -> list[DateMention]:
    """The times a text names, in order and without overlap."""
    if not _MAYBE.search(text):
        return []
    return _Reader(text, now, zone or UTC).mentions(bare=False)


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
            mentions = _Reader(said, now, zone or UTC).mentions(bare=True)
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
    from holdfast.text.dates_atoms import month_length

    if not year or not 1 <= month <= 12:
        reason = f"there is no month {month}" if year else "there is no year 0"
    elif not 1 <= day <= month_length(year, month):
        reason = f"{year:04}-{month:02} has {month_length(year, month)} days"
    else:
        return
    raise InvalidInput(
        f"The date {said[:80]} does not exist: {reason}.", hint="Write it as year-month-day."
    )


# ── what stands around a date ────────────────────────────────────────────────────────────────

# Every date has one of these in it. Most questions have none, and then the large pattern of
# dates_atoms is neither compiled (some milliseconds, once) nor run.
_MAYBE = re.compile(
    r"\d{4}|\d/\d|days?\b|tomorrow|night|morning|evening|afternoon|week|month|year|quarter|hour|fortnight|\bago\b"
    r"|spring|summer|autumn|\bfall\b|winter"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|q[1-4])",
    re.IGNORECASE,
)
# What stands before a date and says how it is meant. 'by' and 'for' are missing on purpose: they
# also stand before April, June and May; 'from' counts only together with a 'to'.
_BEFORE = re.compile(
    r"(?<!\w)(?P<op>since|before|prior to|until|till|up to|after|between|from|starting|in|on|during"
    r"|around)\s(?:the\s)?(?:(?:early|late|mid|middle of|end of|start of|beginning of)[ -])?$",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    r"(?<!\w)(?:(?:start|beginning|middle|end) of|early|late|mid)[ -]$", re.IGNORECASE
)
_RANGE = re.compile(r"\s*(?:-|–|\b(?:to|until|till|through|and)\b)\s*(?:the\s)?", re.IGNORECASE)


class _Reader:
    """One text, one clock and one zone."""

    def __init__(self, text: str, now: datetime, zone: tzinfo) -> None:
        from holdfast.text.dates_atoms import AtomReader

        self.text = text
        self.zone = zone
        self.atoms = AtomReader(text, now, zone)

    def mentions(self, *, bare: bool) -> list[DateMention]:
        """Read the atoms with what stands before and between them; `bare` trusts weak ones."""
        atoms = self.atoms.read()
        found: list[DateMention] = []
        at = 0
        while at < len(atoms) and len(found) < _MENTIONS_MAX:
            atom = atoms[at]
            at += 1
            operator, start = self._operator(atom, found[-1].end if found else 0)
            if at < len(atoms) and (ranged := self._range(atom, atoms[at], operator)):
                at += 1
                found.append(self._mention(start, *ranged))
                continue
            if operator in ("between", "from"):
                operator, start = "", atom.start
            if not bare and not self._is_meant(atom, operator):
                continue
            since, until = self._applied(operator, atom.since, atom.until)
            found.append(self._mention(start, atom.end, since, until))
        return found

    def _operator(self, atom: Atom, floor: int) -> tuple[str, int]:
        """The word before a date that says how it is meant ('' for none), and where it begins."""
        # 32 characters hold the longest of them.
        lead = self.text[max(floor, atom.start - 32) : atom.start]
        if before := _BEFORE.search(lead):
            return before["op"].lower(), atom.start - len(lead) + before.start()
        if part := _PART_OF.search(lead):
            return "of", atom.start - len(lead) + part.start()
        return "", atom.start

    def _is_meant(self, atom: Atom, operator: str) -> bool:
        """Whether a date that is also a plain word, a name or a number is meant as a date."""
        if not atom.wants:
            return True
        if not operator or operator in {"in": ("on",), "on": ("in", "during")}[atom.wants]:
            return False
        return not atom.shy or operator in ("in", "since", "during")

    def _mention(self, start: int, end: int, since: datetime, until: datetime) -> DateMention:
        return DateMention(start, end, since, until, self.text[start:end])

    def _applied(
        self, operator: str, since: datetime, until: datetime
    ) -> tuple[datetime, datetime]:
        """The window that 'since', 'before', 'until' or 'after' make of a date."""
        tonight = self.atoms.moment(self.atoms.today + _DAY)
        if operator in ("since", "starting"):
            return since, tonight if tonight > since else LATEST
        if operator == "after":
            return until, tonight if tonight > until else LATEST
        if operator in ("before", "prior to"):
            return min(EARLIEST, since - _DAY), since
        if operator in ("until", "till", "up to"):
            return min(EARLIEST, since), until
        return since, until

    def _range(
        self, first: Atom, second: Atom, operator: str
    ) -> tuple[int, datetime, datetime] | None:
        """'between A and B', 'from A to B', 'A to B': from the start of A to the end of B."""
        gap = _RANGE.fullmatch(self.text, first.end, second.start)
        if not gap or ("and" in gap.group().lower()) != (operator == "between"):
            return None
        if first.wants and operator not in ("between", "from", "in", "on"):
            return None
        since, until = first.since, second.until
        if first.of_year and not second.of_year:
            # 'May 3 to May 7, 2024' says the year once, at the end.
            year = second.since.astimezone(self.zone).year
            days = first.of_year(year)
            if days and self.atoms.moment(days[0]) >= until:
                days = first.of_year(year - 1)
            if days:
                since = self.atoms.moment(days[0])
        elif since >= until and second.of_year:
            days = second.of_year(second.since.astimezone(self.zone).year + 1)
            if days:
                until = self.atoms.moment(days[1])
        return (second.end, since, until) if since < until else None
