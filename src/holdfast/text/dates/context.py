"""The meaning of the words around a date: 'since', 'before', 'between … and …', 'from … to …'.

Here it is also decided whether a word that could be a date is one: 'in May' is, 'may' is not. What
a single date means is decided in `expressions`; the words before it may mean a part of it or a time
beside it: 'the last two weeks of August', 'the Sunday before October 25', 'three days after May 3',
'the week of June 12'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, tzinfo

from holdfast.text.dates import EARLIEST, LATEST, DateMention
from holdfast.text.dates.expressions import (
    NUMBERS,
    UNIT_DAYS,
    WEEKDAY_OF,
    DateExpression,
    Days,
    ExpressionReader,
)
from holdfast.text.tables import lazy

_SATURDAY = 5
_NUMBER = r"\d{1,3}|" + "|".join(NUMBERS)
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3}
# The words before a date; the longest are shorter than this.
_LEAD_CHARS = 48
_PART = lazy(
    rf"(?<!\w)(?:the )?(?P<which>{'|'.join(_ORDINALS)}|last|final) (?:(?P<number>{_NUMBER}) )?"
    r"(?P<unit>day|week|weekend|half)s? (?:of|in) (?:the )?$",
    re.IGNORECASE,
)
_BESIDE = lazy(
    rf"(?<!\w)(?:(?P<number>{_NUMBER})|the) (?P<unit>day|week|weekend|month|{_WEEKDAY})s? "
    r"(?P<way>before|prior to|after|following|of) $",
    re.IGNORECASE,
)
# Shorter windows have no weeks or halves.
_PARTED_DAYS_LEAST = 28


def read_relative(
    reader: ExpressionReader, expressions: Sequence[DateExpression]
) -> list[DateExpression]:
    """The date expressions, each with the words before it that move its window; what these words
    seem to mean alone ('last two weeks', 'Sunday') is dropped."""
    found: list[DateExpression] = []
    for expression in expressions:
        lead = max(0, expression.start - _LEAD_CHARS)
        before = reader.text[lead : expression.start]
        if not before.strip():
            found.append(expression)
            continue
        first, stop = (
            moment.astimezone(reader.zone).date() for moment in (expression.since, expression.until)
        )
        days: Days | None = None
        if match := _PART.search(before):
            days = _part_of(match, first, stop)
        elif match := _BESIDE.search(before):
            days = _beside(match, first, stop)
        if match and days:
            start = lead + match.start()
            while found and found[-1].end > start:
                found.pop()
            since, until = map(reader.moment, days)
            expression = DateExpression(start, expression.end, since, until)
        found.append(expression)
    return found


def _part_of(match: re.Match[str], first: date, stop: date) -> Days | None:
    """The first, last or n-th part of a month or a longer time."""
    length = (stop - first).days
    if length < _PARTED_DAYS_LEAST:
        return None
    unit, at = match["unit"].lower(), _ORDINALS.get(match["which"].lower())
    if unit == "half":
        middle = first + timedelta(days=length // 2)
        return (first, middle) if at == 0 else (middle, stop)
    if unit == "weekend":
        if at is None:
            return _weekend(_weekday_before(stop, _SATURDAY))
        return _weekend(_weekday_from(first, _SATURDAY) + timedelta(days=7 * at))
    wide = timedelta(days=UNIT_DAYS[unit] * _number(match["number"]))
    if at is None:
        return max(first, stop - wide), stop
    begins = first + at * wide
    return (begins, min(stop, begins + wide)) if begins < stop else None


def _beside(match: re.Match[str], first: date, stop: date) -> Days | None:
    """The day, week, weekend or day of the week before, after or of a date."""
    unit, way = match["unit"].lower(), match["way"].lower()
    if way == "of":
        if unit not in ("week", "weekend") or stop - first > _DAY:
            return None
        monday = first - timedelta(days=first.weekday())
        return (monday, monday + 7 * _DAY) if unit == "week" else _weekend(monday + 5 * _DAY)
    back = way in ("before", "prior to")
    if unit == "weekend" or (unit[:3] in WEEKDAY_OF and unit != "month"):
        weekday = _SATURDAY if unit == "weekend" else WEEKDAY_OF[unit[:3]]
        wide = 2 * _DAY if unit == "weekend" else _DAY
        day = (
            _weekday_before(first - wide + _DAY, weekday) if back else _weekday_from(stop, weekday)
        )
        return day, day + wide
    length = timedelta(days=UNIT_DAYS[unit])
    if unit != "day" and match["number"] is None:
        return (first - length, first) if back else (stop, stop + length)
    # 'Two weeks before' is a point in time, and as vague as its unit.
    number = _number(match["number"])
    day = first - number * length if back else stop - _DAY + number * length
    half = timedelta(days=UNIT_DAYS[unit] // 2)
    return day - half, day + half + _DAY


def _weekend(saturday: date) -> Days:
    return saturday, saturday + 2 * _DAY


def _weekday_before(day: date, weekday: int) -> date:
    """The latest such day of the week before a day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def _weekday_from(day: date, weekday: int) -> date:
    """The first such day of the week from a day on."""
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def _number(word: str | None) -> int:
    if word is None:
        return 1
    return int(word) if word.isdigit() else NUMBERS[word.lower()]


# The words before a date that say how it is meant. 'by' and 'for' are missing on purpose: they also
# come before the names April, June and May; 'from' counts only together with a 'to'.
_BEFORE = lazy(
    r"(?<!\w)(?P<op>since|before|prior to|until|till|up to|after|between|from|starting|in|on|during"
    r"|around)\s(?:the\s)?(?:(?:early|late|mid|middle of|end of|start of|beginning of)[ -])?$",
    re.IGNORECASE,
)
_PART_OF = lazy(r"(?<!\w)(?:(?:start|beginning|middle|end) of|early|late|mid)[ -]$", re.IGNORECASE)
_RANGE = lazy(r"\s*(?:-|–|\b(?:to|until|till|through|and)\b)\s*(?:the\s)?", re.IGNORECASE)


# A date is within the first pages of a text, or there are so many that none is the point.
_MENTIONS_MAX = 200

_DAY = timedelta(days=1)


def read_mentions(text: str, now: datetime, zone: tzinfo, *, bare: bool) -> list[DateMention]:
    """The dates of a text; `bare` trusts those that are plain words without their preposition."""
    return _Reader(text, now, zone).mentions(bare=bare)


# A pattern that ignores case takes these for letters of ASCII, `lower` does not.
_LOOKS_ASCII = str.maketrans("\u0130\u0131\u017f\u212a", "iisk")


class _Reader:
    """One text, one clock and one zone."""

    def __init__(self, text: str, now: datetime, zone: tzinfo) -> None:
        self.said = text
        self.text = text if text.isascii() else text.translate(_LOOKS_ASCII)
        self.zone = zone
        self.expressions = ExpressionReader(self.text, now, zone)

    def mentions(self, *, bare: bool) -> list[DateMention]:
        """Reads each date with the words before it and between it and the next."""
        expressions = read_relative(self.expressions, self.expressions.read())
        found: list[DateMention] = []
        at = 0
        while at < len(expressions) and len(found) < _MENTIONS_MAX:
            expression = expressions[at]
            at += 1
            operator, start = self._operator(expression, found[-1].end if found else 0)
            if at < len(expressions) and (
                ranged := self._range(expression, expressions[at], operator)
            ):
                at += 1
                found.append(self._mention(start, *ranged))
                continue
            if operator in ("between", "from"):
                operator, start = "", expression.start
            if not bare and not self._is_meant(expression, operator):
                continue
            since, until = self._applied(operator, expression.since, expression.until)
            found.append(self._mention(start, expression.end, since, until))
        return found

    def _operator(self, expression: DateExpression, floor: int) -> tuple[str, int]:
        """The word before a date that says how it is meant ('' for none), and where it begins."""
        # 32 characters hold the longest of them.
        lead = self.text[max(floor, expression.start - 32) : expression.start]
        if not lead.strip():
            return "", expression.start
        if before := _BEFORE.search(lead):
            return before["op"].lower(), expression.start - len(lead) + before.start()
        if part := _PART_OF.search(lead):
            return "of", expression.start - len(lead) + part.start()
        return "", expression.start

    def _is_meant(self, expression: DateExpression, operator: str) -> bool:
        """Whether a date that is also a plain word, a name or a number is meant as a date."""
        if not expression.wants:
            return True
        if not operator or operator in {"in": ("on",), "on": ("in", "during")}[expression.wants]:
            return False
        return not expression.shy or operator in ("in", "since", "during")

    def _mention(self, start: int, end: int, since: datetime, until: datetime) -> DateMention:
        return DateMention(start, end, since, until, self.said[start:end])

    def _applied(
        self, operator: str, since: datetime, until: datetime
    ) -> tuple[datetime, datetime]:
        """The window that 'since', 'before', 'until' or 'after' make of a date."""
        tonight = self.expressions.moment(self.expressions.today + _DAY)
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
        self, first: DateExpression, second: DateExpression, operator: str
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
            if days and self.expressions.moment(days[0]) >= until:
                days = first.of_year(year - 1)
            if days:
                since = self.expressions.moment(days[0])
        elif since >= until and second.of_year:
            days = second.of_year(second.since.astimezone(self.zone).year + 1)
            if days:
                until = self.expressions.moment(days[1])
        return (second.end, since, until) if since < until else None
