"""Finds the day, week, month or year that a statement names in German, French, Spanish, Italian,
Portuguese or Dutch: 'letzten Dienstag', 'il y a trois jours', 'el 5 de diciembre'.

Of several nothing is taken, as it is not known which is meant, and nothing of a time that is open,
such as 'seit letzter Woche'. The rows are in `other_languages.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import lazy, read_table, read_words


class Window(NamedTuple):
    """The half-open window of time that words of another language name."""

    since: datetime
    until: datetime


class Row(NamedTuple):
    """A way of naming a time in another language."""

    kind: str
    example: str
    pattern: str


@cache
def rows() -> tuple[Row, ...]:
    """The rows of the table of times in other languages."""
    return tuple(Row(*cells) for cells in read_table("dates/other_languages.txt"))


_LETTERS = lazy(r"[^\W\d_]+")


def may_name_a_time(text: str) -> bool:
    """Whether a text has one of the words that every row of another language needs."""
    return is_needed(_LETTERS.findall(text.lower()))


def is_needed(words: Iterable[str]) -> bool:
    """Whether one of these words in small letters is among those that every row needs."""
    return not _words_needed().isdisjoint(words)


@cache
def _words_needed() -> frozenset[str]:
    lists = read_words("dates/words.txt").items()
    found = {"morgen", "mañana"}
    for name, words in lists:
        if name.startswith(("weekday ", "month ", "unit ")):
            found |= words
    return frozenset(found)


def time_in(text: str, *, at: datetime) -> Window | None:
    """The time that a statement in another language names, as meant when it was said."""
    if not may_name_a_time(text):
        return None
    folded = text.lower()
    if len(folded) != len(text) or _around("repeated").search(folded):
        return None
    found = [
        (row.kind, match)
        for row, pattern in _compiled()
        for match in pattern.finditer(folded)
        if not _around("open").search(folded[: match.start()])
    ]
    if len(found) != 1:
        return None
    kind, match = found[0]
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        window = _window(kind, match, folded, today)
    except (ValueError, OverflowError):  # before the first year, or after the last
        return None
    return Window(*window) if window else None


_KINDS = ("ago", "ahead", "last", "next", "day")


@cache
def _compiled() -> tuple[tuple[Row, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.pattern)) for row in rows() if row.kind in _KINDS)


@cache
def _around(kind: str) -> re.Pattern[str]:
    return re.compile(next(row.pattern for row in rows() if row.kind == kind))


def _window(
    kind: str, match: re.Match[str], said: str, today: datetime
) -> tuple[datetime, datetime] | None:
    named = match.groupdict()
    if named.get("tomorrow"):
        return _day(today + timedelta(days=1))
    if kind == "day":
        return _day_of_month(int(named["day"]), _place("month", named["month"]), said, today)
    unit = named["unit"].removesuffix("-feira")
    sign = 1 if kind in ("ahead", "next") else -1
    if kind in ("last", "next"):
        weekday = _place("weekday", unit)
        if weekday is not None:
            away = (weekday - today.weekday()) % 7 or 7
            return _day(today + timedelta(days=away if sign > 0 else away - 7 or -7))
        return _of_units(1, _unit(unit), sign, today)
    count = int(named["count"]) if named["count"].isdigit() else _place("number", named["count"])
    if count is None:
        return None
    if kind == "ahead" and _unit(unit) == "week":
        return _day(today + timedelta(weeks=count))
    return _of_units(count, _unit(unit), sign, today)


def _of_units(count: int, unit: str, sign: int, today: datetime) -> tuple[datetime, datetime]:
    """The day, week, month or year that is so many of them away."""
    if unit == "day":
        return _day(today + sign * timedelta(days=count))
    if unit == "week":
        monday = today - timedelta(days=today.weekday()) + sign * timedelta(weeks=count)
        return monday, monday + timedelta(weeks=1)
    if unit == "year":
        first = today.replace(year=today.year + sign * count, month=1, day=1)
        return first, first.replace(year=first.year + 1)
    months = today.year * 12 + today.month - 1 + sign * count
    first = today.replace(year=months // 12, month=months % 12 + 1, day=1)
    # Imported here, because most texts need none of the module.
    from holdfast.text.dates.expressions import month_length

    return first, first + timedelta(days=month_length(first.year, first.month))


def _day_of_month(
    day: int, month: int | None, said: str, today: datetime
) -> tuple[datetime, datetime] | None:
    """A day without a year: the next one, or the last one in a statement about the past."""
    if month is None:
        return None
    is_past = _around("past").search(said) is not None
    for year in (today.year, today.year - 1 if is_past else today.year + 1):
        try:
            found = today.replace(year=year, month=month, day=day)
        except ValueError:  # a 29 February, or no day of this month
            continue
        if found <= today if is_past else found >= today:
            return _day(found)
    return None


def _day(start: datetime) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=1)


def _place(kind: str, word: str) -> int | None:
    return _places().get((kind, word))


def _unit(word: str) -> str:
    return next(
        name
        for name in ("day", "week", "month", "year")
        if word in read_words("dates/words.txt")[f"unit {name}"]
    )


@cache
def _places() -> dict[tuple[str, str], int]:
    found = {}
    for name, words in read_words("dates/words.txt").items():
        kind, _, place = name.partition(" ")
        if place.isdigit():
            found.update({(kind, word): int(place) for word in words})
    return found
