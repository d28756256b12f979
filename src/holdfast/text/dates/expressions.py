"""The readings of a single date in English words: '5 May 2024', 'two weeks ago', 'last summer'.

One pattern finds them and one method each says what they mean, as days in the reader's zone. The
words around a date ('since', 'between … and …') are read in `context`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

from holdfast.text.dates.pattern import (
    AFTER_DATE,
    COUNTED,
    EACH,
    EXPRESSION,
    MONTH_OF,
    NUMBERED,
    NUMBERS,
    PARTS,
    SEASONS,
    SHY,
    UNIT_DAYS,
    WEEKDAY_OF,
    word_after,
    word_before,
)

_DAY = timedelta(days=1)
_FIRST = datetime.min.replace(tzinfo=UTC) + 2 * _DAY
_LAST = datetime.max.replace(tzinfo=UTC) - 2 * _DAY

Days = tuple[date, date]
Wants = Literal["", "in", "on"]


class DateExpression(NamedTuple):
    """A date, before the words around it are read.

    `wants` is the preposition that it needs to be a date ('' for none), `shy` says that it is in
    lower case and also an ordinary word, and `of_year` resolves it again for another year.
    """

    start: int
    end: int
    since: datetime
    until: datetime
    wants: Wants = ""
    shy: bool = False
    of_year: Callable[[int], Days | None] | None = None


def month_length(year: int, month: int) -> int:
    """The number of days; calendar.monthrange without the import of calendar and locale."""
    # December apart, because the calendar ends with that of the year 9999.
    return 31 if month == 12 else (date(year, month + 1, 1) - _DAY).day


class ExpressionReader:
    """One text, one clock and one zone."""

    def __init__(self, text: str, now: datetime, zone: tzinfo) -> None:
        self.text = text
        self.zone = zone
        self.now = now.astimezone(zone)
        self.today = self.now.date()

    def read(self) -> list[DateExpression]:
        expressions: list[DateExpression] = []
        for match in EXPRESSION.finditer(self.text):
            read: Callable[[re.Match[str]], DateExpression | None]
            read = getattr(self, f"_read_{match.lastgroup}")
            try:
                expression = read(match)
            except (ValueError, OverflowError):
                continue  # a day the month does not have, or a year the calendar does not
            # Two days from the ends of the calendar no zone can push a date over them.
            if expression and _FIRST < expression.since < expression.until < _LAST:
                expressions.append(expression)
        return expressions

    # One method for each kind of expression. They return None where the words are no date.

    def _read_iso(self, match: re.Match[str]) -> DateExpression:
        said = match["iso"]
        if len(said) == 10:
            return self._days(match, date.fromisoformat(said))
        when = datetime.fromisoformat(said)
        when = (when if when.tzinfo else when.replace(tzinfo=self.zone)).astimezone(UTC)
        return DateExpression(
            *match.span(), when, when + timedelta(seconds=1 if said.count(":") > 1 else 60)
        )

    def _read_slash(self, match: re.Match[str]) -> DateExpression | None:
        first, second, third = map(int, match["slash"].split("/"))
        if first > 31:
            return self._days(match, date(first, second, third))
        if first > 12:
            return self._days(match, date(third, second, first))
        if second > 12 or first == second:
            return self._days(match, date(third, first, second))
        return None

    def _read_yearmonth(self, match: re.Match[str]) -> DateExpression:
        year, month = map(int, match["yearmonth"].split("-"))
        return self._days(match, *_month_days(year, month))

    def _read_dayfirst(self, match: re.Match[str]) -> DateExpression | None:
        sure = match["d_th"] or match["d_of"] or match["d_year"]
        if not sure and self._shy(match, match["d_month"]):
            return None
        return self._month_day(match, match["d_month"], match["d_day"], "", match["d_year"])

    def _read_monthfirst(self, match: re.Match[str]) -> DateExpression | None:
        if not (match["m_th"] or match["m_year"]) and (
            self._shy(match, match["m_month"]) or word_after(self.text, match.end()) in COUNTED
        ):
            return None
        return self._month_day(
            match, match["m_month"], match["m_day"], match["m_to"], match["m_year"]
        )

    def _month_day(
        self, match: re.Match[str], month: str, day: str, to: str | None, year: str | None
    ) -> DateExpression | None:
        def of_year(number: int) -> Days | None:
            try:
                first = date(number, _month(month), int(day))
                last = date(number, _month(month), int(to)) if to else first
            except ValueError:
                return None
            return (first, last + _DAY)

        if year:
            days = of_year(int(year))
            return self._days(match, *days) if days else None
        return self._yearless(match, of_year)

    def _read_monthyear(self, match: re.Match[str]) -> DateExpression:
        return self._days(match, *_month_days(int(match["y_year"]), _month(match["y_month"])))

    def _read_monthrel(self, match: re.Match[str]) -> DateExpression:
        year = self.today.year + {"last": -1, "this": 0, "next": 1}[match["r_which"].lower()]
        return self._days(match, *_month_days(year, _month(match["r_month"])))

    def _read_season(self, match: re.Match[str]) -> DateExpression:
        return self._days(match, *_season_days(int(match["s_year"]), match["s_season"].lower()))

    def _read_quarter(self, match: re.Match[str]) -> DateExpression:
        return self._days(match, *_quarter_days(int(match["q_year"]), int(match["q_number"]) - 1))

    def _read_ago(self, match: re.Match[str]) -> DateExpression:
        """A window as wide as the unit, around the point in time; a day is that very day."""
        unit = match["a_unit"].lower()
        sign = 1 if match["a_way"].lower() == "from now" else -1
        if match["a_few"]:
            # 'A few' is two to five.
            if unit == "hour":
                here = self.now.astimezone(UTC)
                near, far = (here + timedelta(hours=sign * number) for number in (2, 5))
                return DateExpression(*match.span(), min(near, far), max(near, far))
            low, high = sorted((self._moved(unit, sign * 2), self._moved(unit, sign * 5)))
            return self._days(match, low, high + _DAY)
        number = _number(match["a_number"])
        if unit == "hour":
            middle = self.now.astimezone(UTC) + timedelta(hours=sign * number)
            half_hour = timedelta(minutes=30)
            return DateExpression(*match.span(), middle - half_hour, middle + half_hour)
        day = self._moved(unit, sign * number)
        half = timedelta(days=UNIT_DAYS[unit] // 2)
        return self._days(match, day - half, day + half + _DAY)

    def _read_span(self, match: re.Match[str]) -> DateExpression:
        """'The past 3 days' reach back from today and include it."""
        number = 3 if match["n_few"] else _number(match["n_number"])
        unit = match["n_unit"].lower()
        ahead = match["n_way"].lower() in ("next", "coming")
        if unit == "hour":
            here = self.now.astimezone(UTC)
            there = here + timedelta(hours=number if ahead else -number)
            return DateExpression(*match.span(), min(here, there), max(here, there))
        if ahead:
            return self._days(match, self.today, self._moved(unit, number) + _DAY)
        return self._days(match, self._moved(unit, -number), self.today + _DAY)

    def _read_which(self, match: re.Match[str]) -> DateExpression | None:
        noun = match["w_noun"].lower()
        way = match["w_way"].lower()
        step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(way, 0)
        if noun in PARTS:
            return self._part_of_day(match, noun, step)
        if way == "past" and noun in ("week", "month", "year", "quarter"):
            return self._days(match, self._moved(noun, -1), self.today + _DAY)
        if noun[:3] in WEEKDAY_OF and noun not in ("month", "march", "mar"):
            if self._shy(match, noun) and step == 0:
                return None
            return self._part(match, self._weekday(noun, step), match["w_part"])
        if match["w_part"]:
            return None  # 'last week night' is no time of day
        if noun[:3] in MONTH_OF and noun not in ("month",):
            if self._shy(match, noun) and (step == 0 or noun == "march"):
                return None
            return self._days(match, *self._stepped(step, lambda y: _month_days(y, _month(noun))))
        if noun in SEASONS:
            return self._days(match, *self._stepped(step, lambda y: _season_days(y, noun)))
        return self._days(match, *self._period(noun, step))

    def _part_of_day(self, match: re.Match[str], noun: str, step: int) -> DateExpression | None:
        if match["w_part"] or step == 1 or (step == -1 and noun != "night"):
            return None
        return self._part(match, self.today + step * _DAY, noun)

    def _read_near(self, match: re.Match[str]) -> DateExpression:
        said = match["near_day"].lower()
        days = {"today": 0, "yesterday": -1, "tomorrow": 1}.get(said)
        if days is None:
            days = -2 if "before" in said else 2
        return self._part(match, self.today + days * _DAY, match["near_part"])

    def _read_tonight(self, match: re.Match[str]) -> DateExpression:
        return self._part(match, self.today, "night")

    def _read_weekend(self, match: re.Match[str]) -> DateExpression:
        """The latest one that has begun."""
        noun = match["weekend"].split()[-1].lower()
        if noun == "weekend":
            saturday = self.today - timedelta(days=(self.today.weekday() - 5) % 7)
            return self._days(match, saturday, saturday + 2 * _DAY)
        return self._yearless(match, lambda year: _season_days(year, noun))

    def _read_weekday(self, match: re.Match[str]) -> DateExpression | None:
        repeated = word_before(self.text, match.start()) in EACH
        if repeated or self._shy(match, match["weekday_name"]):
            return None
        day = self._weekday(match["weekday_name"].lower(), -1)
        return self._part(match, day, match["weekday_part"])._replace(wants="on")

    def _read_month(self, match: re.Match[str]) -> DateExpression | None:
        said = match["month"]
        if word_before(self.text, match.start()) in EACH:
            return None
        expression = self._yearless(match, lambda year: _month_days(year, _month(said)))
        return expression._replace(wants="in", shy=self._shy(match, said))

    def _read_year(self, match: re.Match[str]) -> DateExpression | None:
        year = int(match["year"])
        if word_after(self.text, match.end()) in COUNTED or (
            word_before(self.text, match.start()) in NUMBERED
        ):
            return None
        days = (date(year, 1, 1), date(year + 1, 1, 1))
        # A number alone is a year when the reader could have lived it; any other needs an 'in'.
        known = self.today.year - 40 <= year <= self.today.year + 2
        return self._days(match, *days)._replace(wants="" if known else "in")

    # Windows from days.

    def moment(self, day: date, hour: int = 0) -> datetime:
        """An hour of a day in the reader's zone."""
        return datetime(day.year, day.month, day.day, hour, tzinfo=self.zone).astimezone(UTC)

    def _days(self, match: re.Match[str], first: date, stop: date | None = None) -> DateExpression:
        return DateExpression(*match.span(), self.moment(first), self.moment(stop or first + _DAY))

    def _part(self, match: re.Match[str], day: date, part: str | None) -> DateExpression:
        if not part:
            return self._days(match, day)
        since, until = (
            self.moment(day + timedelta(hours // 24), hours % 24) for hours in PARTS[part.lower()]
        )
        return DateExpression(*match.span(), since, until)

    def _yearless(
        self, match: re.Match[str], of_year: Callable[[int], Days | None]
    ) -> DateExpression:
        """The latest that has begun. Eight years back, since a 29 February may be that far."""
        for year in range(self.today.year, self.today.year - 9, -1):
            days = of_year(year)
            if days and days[0] <= self.today:
                return self._days(match, *days)._replace(of_year=of_year)
        raise ValueError("the month does not have that day in any year")

    def _stepped(self, step: int, of_year: Callable[[int], Days]) -> Days:
        """Last: the latest that is over. Next: the first yet to begin. This: of this year."""
        year = self.today.year
        if step == 0:
            last = of_year(year - 1)
            return last if last[0] <= self.today < last[1] else of_year(year)
        if step < 0:
            return next(d for y in (year, year - 1, year - 2) if (d := of_year(y))[1] <= self.today)
        return next(d for y in (year, year + 1) if (d := of_year(y))[0] > self.today)

    def _weekday(self, noun: str, step: int) -> date:
        """Last and next are never today; this is of the week that began on Monday."""
        ahead = WEEKDAY_OF[noun[:3]] - self.today.weekday()
        if step < 0:
            return self.today + timedelta(days=ahead % 7 - 7)
        if step > 0:
            return self.today + timedelta(days=(ahead - 1) % 7 + 1)
        return self.today + timedelta(days=ahead)

    def _period(self, noun: str, step: int) -> Days:
        """The calendar week, weekend, month, quarter or year, `step` from the one of today."""
        monday = self.today - timedelta(days=self.today.weekday()) + timedelta(days=7 * step)
        if noun == "week":
            return monday, monday + 7 * _DAY
        if noun == "weekend":
            return monday + 5 * _DAY, monday + 7 * _DAY
        year, month = self.today.year, self.today.month
        if noun == "month":
            return _month_days(*_months_on(year, month, step))
        if noun == "quarter":
            year, month = _months_on(year, month, 3 * step)
            return _quarter_days(year, (month - 1) // 3)
        return date(year + step, 1, 1), date(year + step + 1, 1, 1)

    def _moved(self, unit: str, number: int) -> date:
        """Today, moved by so many units; the 31st of a short month is its last day."""
        months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
        if months is None:
            return self.today + timedelta(days=UNIT_DAYS[unit] * number)
        year, month = _months_on(self.today.year, self.today.month, months * number)
        return date(year, month, min(self.today.day, month_length(year, month)))

    def _shy(self, match: re.Match[str], word: str) -> bool:
        """Whether a word that can be a date is an ordinary word here."""
        if word.lower() not in SHY:
            return False
        at = match.start() + match.group().lower().rindex(word.lower())
        if self.text[at].isupper():
            return False
        return not AFTER_DATE.match(self.text, match.end())


def _month(word: str) -> int:
    return MONTH_OF[word[:3].lower()]


def _number(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS[word.split()[0].lower()]


def _months_on(year: int, month: int, months: int) -> tuple[int, int]:
    years, index = divmod(month - 1 + months, 12)
    return year + years, index + 1


def _month_days(year: int, month: int) -> Days:
    return date(year, month, 1), date(*_months_on(year, month, 1), 1)


def _quarter_days(year: int, index: int) -> Days:
    return date(year, 3 * index + 1, 1), date(*_months_on(year, 3 * index + 1, 3), 1)


def _season_days(year: int, season: str) -> Days:
    month = SEASONS[season]
    return date(year, month, 1), date(*_months_on(year, month, 3), 1)
