"""The readings of a single date in English words: '5 May 2024', 'two weeks ago', 'last summer'.

One pattern finds them and one method each says what they mean, as days in the reader's zone. The
words around a date ('since', 'between … and …') are read in `context`. Compiling takes some
milliseconds, so this is loaded only when a text may hold a date.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Literal

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.dates import has_date_word
from holdfast.text.tables import lazy, read_words

_WORDS = read_words("dates/words.txt")

# Words

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
# By the first three letters.
_MONTH_OF = {name: number for number, name in enumerate(_MONTHS, start=1)}
WEEKDAY_OF = {name: number for number, name in enumerate(_WEEKDAYS)}
NUMBERS = {
    word: number
    for number, words in {
        1: "a an one", 2: "two couple", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven",
        8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 14: "fourteen",
        15: "fifteen", 20: "twenty", 30: "thirty", 60: "sixty", 90: "ninety",
    }.items()
    for word in words.split()
}  # fmt: skip
# Months a season begins with, for the northern half; winter ends in the next year.
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
# Hours from the start of the day; a night ends in the next one.
_PARTS = {"morning": (4, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
UNIT_DAYS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "quarter": 91, "year": 365}
# Also plain words, a verb, a name, or a star: in lower case they are a date only where the words
# around leave no doubt.
_SHY = frozenset(["may", "march", "mar", "sun", "sat", "mon", "wed", "jan"])

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_WEEKDAY = (
    "mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    "|sat(?:urday)?|sun(?:day)?"
)
_NUMBER = r"\d{1,3}|" + "|".join(
    f"{word}(?:[ ]of)?" if word == "couple" else word for word in NUMBERS
)
_SEASON = "|".join(_SEASONS)
_PART = "|".join(_PARTS)
_UNIT = "|".join(("hour", *UNIT_DAYS))
_YEAR = r"(?:19|20)\d\d(?![\w/%°]|[-.:,]\d)"
_DAY_NUMBER = r"(?:[12]\d|3[01]|0?[1-9])"

# One pattern, its readings tried from first to last. Each is a group, the last to close when it
# matched, so that `lastgroup` names it; its parts have its letter in front, since names differ.
_READINGS = rf"""
    (?P<iso>\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{{1,6}})?)?(?:Z|[+-]\d\d:?\d\d)?)?
        (?![\w/]|-\d))
  | (?P<slash>\d{{4}}/\d\d?/\d\d?|\d\d?/\d\d?/\d{{4}})(?![\w/-])
  | (?P<yearmonth>(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\w/:]|-|\.\d))
  | (?P<dayfirst>(?:the\ )?(?P<d_day>{_DAY_NUMBER})(?P<d_th>st|nd|rd|th)?\ (?P<d_of>of\ )?
        (?P<d_month>{_MONTH})\b\.?(?:,?\ (?P<d_year>{_YEAR}))?)
  | (?P<monthfirst>(?P<m_month>{_MONTH})\b\.?\ (?:the\ )?(?P<m_day>{_DAY_NUMBER})
        (?P<m_th>st|nd|rd|th)?(?![\w:%]|[.,]\d)(?:(?:\ ?[-–]\ ?|\ to\ )(?P<m_to>{_DAY_NUMBER})
        (?:st|nd|rd|th)?(?![\w:%]|[.,]\d))?(?:,?\ (?P<m_year>{_YEAR}))?)
  | (?P<monthyear>(?P<y_month>{_MONTH})\b\.?,?(?:\ of)?\ (?P<y_year>{_YEAR}))
  | (?P<monthrel>(?P<r_month>{_MONTH})\b\.?\ (?:of\ )?(?P<r_which>last|this|next)\ year)
  | (?P<season>(?P<s_season>{_SEASON})(?:\ of)?\ (?P<s_year>{_YEAR}))
  | (?P<quarter>q(?P<q_number>[1-4])[ ](?P<q_year>{_YEAR}))
  | (?P<ago>(?:(?P<a_few>a\ few|several)|(?:a\ )?(?P<a_number>{_NUMBER}))\ (?P<a_unit>{_UNIT})s?
        \ (?P<a_way>ago|earlier|from\ now))
  | (?P<span>(?:(?:over|in|during|within)\ )?(?:the\ )?(?P<n_way>last|past|previous|next|coming)
        \ (?:(?P<n_few>few|several)|(?:a\ )?(?P<n_number>{_NUMBER}))\ (?P<n_unit>{_UNIT})s?)
  | (?P<which>(?P<w_way>last|past|previous|this|current|next|coming)\ (?P<w_noun>week(?:end)?|month
        |year|quarter|{_SEASON}|{_PART}|{_MONTH}|{_WEEKDAY})\b(?:\ (?P<w_part>{_PART}))?)
  | (?P<near>(?P<near_day>(?:the\ )?day\ (?:before\ yesterday|after\ tomorrow)|today|yesterday
        |tomorrow)(?:\ (?P<near_part>{_PART}))?)
  | (?P<tonight>tonight)
  | (?P<weekend>over\ the\ (?:weekend|{_SEASON}))
  | (?P<weekday>(?P<weekday_name>{_WEEKDAY})\b(?:\ (?P<weekday_part>{_PART}))?)
  | (?P<month>{_MONTH})
  | (?P<year>{_YEAR})
""".split("\n  | ")
# Those that need no word that `has_date_word` looks for.
_IN_DIGITS = ("iso", "slash", "yearmonth", "quarter", "year")


@cache
def _expression(*, worded: bool) -> re.Pattern[str]:
    """Compiling all of it takes milliseconds, which a text with nothing but '2017' need not pay."""
    named = tuple(f"(?P<{name}>" for name in _IN_DIGITS)
    readings = [one for one in _READINGS if worded or one.lstrip().startswith(named)]
    return re.compile(
        rf"(?<![\w@#$€£/.:+-])(?:{'|'.join(readings)})(?!\w)", re.IGNORECASE | re.VERBOSE
    )


# After a shy word in lower case, one of these (or no word at all) means that it was a date.
_AFTER_DATE = lazy(
    r"\W*$|\s*[.,;:?!)]|\s+(?:and|or|about|with|in|at|on|to|we|i|she|he|they|was|is|when|for|the"
    r"|\d)\b",
    re.IGNORECASE,
)
# After a number that could be a year, one of these means that it was a count.
_COUNTED = _WORDS["counted"]
# Before it, one of these means that it was a number or an amount.
_NUMBERED = _WORDS["numbered"]
# Before a day of the week or a month, one of these means that it comes again and again.
_EACH = frozenset(("every", "each", "any", "most", "all", "per", "other"))

_WORD_AFTER = lazy(r"[\s-]?([A-Za-z]+)")
_WORD_BEFORE = lazy(r"([A-Za-z]+)[. ]\s*$")


def _word_after(text: str, end: int) -> str:
    """The word right behind a place, in lower case; '' when there is none."""
    found = _WORD_AFTER.match(text, end)
    return found.group(1).lower() if found else ""


def _word_before(text: str, start: int) -> str:
    """The word right before a place, in lower case; '' when there is none."""
    # 16 characters hold any of the words it is compared with.
    found = _WORD_BEFORE.search(text[max(0, start - 16) : start])
    return found.group(1).lower() if found else ""


# What they mean

_DAY = timedelta(days=1)
_FIRST = datetime.min.replace(tzinfo=UTC) + 2 * _DAY
_LAST = datetime.max.replace(tzinfo=UTC) - 2 * _DAY

Days = tuple[date, date]
Wants = Literal["", "in", "on"]


class DateExpression(NamedTuple):
    """A date in words, before the words around it are read.

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
    """Reads the date expressions of one text, with one clock and one zone."""

    def __init__(self, text: str, now: datetime, zone: tzinfo) -> None:
        self.text = text
        self.zone = zone
        self.now = now.astimezone(zone)
        self.today = self.now.date()

    def read(self) -> list[DateExpression]:
        expressions: list[DateExpression] = []
        # Other alphabets have letters that are equal to ours without regard to case.
        worded = not self.text.isascii() or has_date_word(self.text)
        for match in _expression(worded=worded).finditer(self.text):
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

    # One method for each kind of expression. They return None if the words are no date.

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
        if not sure and self._is_ordinary_word(match, match["d_month"]):
            return None
        return self._month_day(match, match["d_month"], match["d_day"], "", match["d_year"])

    def _read_monthfirst(self, match: re.Match[str]) -> DateExpression | None:
        if not (match["m_th"] or match["m_year"]) and (
            self._is_ordinary_word(match, match["m_month"])
            or _word_after(self.text, match.end()) in _COUNTED
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
        if noun in _PARTS:
            return self._part_of_day(match, noun, step)
        if way == "past" and noun in ("week", "month", "year", "quarter"):
            return self._days(match, self._moved(noun, -1), self.today + _DAY)
        if noun[:3] in WEEKDAY_OF and noun not in ("month", "march", "mar"):
            if self._is_ordinary_word(match, noun) and step == 0:
                return None
            return self._part(match, self._weekday(noun, step), match["w_part"])
        if match["w_part"]:
            return None  # 'last week night' is no time of day
        if noun[:3] in _MONTH_OF and noun not in ("month",):
            if self._is_ordinary_word(match, noun) and (step == 0 or noun == "march"):
                return None
            return self._days(match, *self._stepped(step, lambda y: _month_days(y, _month(noun))))
        if noun in _SEASONS:
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
        repeated = _word_before(self.text, match.start()) in _EACH
        if repeated or self._is_ordinary_word(match, match["weekday_name"]):
            return None
        day = self._weekday(match["weekday_name"].lower(), -1)
        return self._part(match, day, match["weekday_part"])._replace(wants="on")

    def _read_month(self, match: re.Match[str]) -> DateExpression | None:
        said = match["month"]
        if _word_before(self.text, match.start()) in _EACH:
            return None
        expression = self._yearless(match, lambda year: _month_days(year, _month(said)))
        return expression._replace(wants="in", shy=self._is_ordinary_word(match, said))

    def _read_year(self, match: re.Match[str]) -> DateExpression | None:
        year = int(match["year"])
        if _word_after(self.text, match.end()) in _COUNTED or (
            _word_before(self.text, match.start()) in _NUMBERED
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
            self.moment(day + timedelta(hours // 24), hours % 24) for hours in _PARTS[part.lower()]
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

    def _is_ordinary_word(self, match: re.Match[str], word: str) -> bool:
        """Whether a word that can be a date is an ordinary word here."""
        if word.lower() not in _SHY:
            return False
        at = match.start() + match.group().lower().rindex(word.lower())
        if self.text[at].isupper():
            return False
        return not _AFTER_DATE.match(self.text, match.end())


def _month(word: str) -> int:
    return _MONTH_OF[word[:3].lower()]


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
    month = _SEASONS[season]
    return date(year, month, 1), date(*_months_on(year, month, 3), 1)
