"""Find dates in English words, such as 'last Tuesday' or 'in May', as windows of time."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from holdfast.errors import InvalidInput


class DateMention(NamedTuple):
    """Words that name a time, and the half-open window [since, until) they mean."""

    start: int
    end: int
    since: datetime
    until: datetime
    words: str


def find_dates(text: str, *, now: datetime, zone: tzinfo | None = UTC) -> list[DateMention]:
    """The times a text names, in order."""
    return []


def parse_when(
    text: str, *, now: datetime, zone: tzinfo | None = UTC, end: bool = False
) -> datetime:
    """The moment a date, a time or a phrase means: its beginning, or with `end` its end."""
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(f"'{text}' is not a date.") from error
    return (when if when.tzinfo else when.replace(tzinfo=zone or UTC)).astimezone(UTC)
