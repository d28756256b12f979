"""The zone a person lives in: the one the setting names, else this machine's.

Everything inside Holdfast is in UTC; an edge turns what a person says into UTC, and back. Where the
engine reads a day in words, `Core.local_clock` says which day it was for the person.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, tzinfo

from holdfast.domain.clock import to_micros
from holdfast.errors import InvalidSetting


class LocalZone(tzinfo):
    """This machine's zone with its summer times, as the C library knows them."""

    def utcoffset(self, dt: datetime | None) -> timedelta:
        return timedelta(seconds=_local(dt).tm_gmtoff)

    def dst(self, dt: datetime | None) -> timedelta:
        # Only whether it is summer time matters to callers; an hour is what it nearly always is.
        return timedelta(hours=1) if _local(dt).tm_isdst > 0 else timedelta(0)

    def tzname(self, dt: datetime | None) -> str:
        return _local(dt).tm_zone

    def fromutc(self, dt: datetime) -> datetime:
        seconds = to_micros(dt.replace(tzinfo=UTC)) // 1_000_000
        there = dt + timedelta(seconds=_localtime(seconds).tm_gmtoff)
        # The second time round of the hour that happens twice.
        return there if there.utcoffset() == there - dt else there.replace(fold=1)

    def __repr__(self) -> str:
        return "LocalZone()"


def _local(at: datetime | None) -> time.struct_time:
    if at is None:
        return time.localtime()
    # In the hour that happens twice, `fold` says which one is meant; mktime alone would guess.
    fields = (at.year, at.month, at.day, at.hour, at.minute, at.second, 0, 0, -1)
    try:
        stamp = time.mktime(fields)
    except OverflowError:
        return time.localtime(0)
    found = _localtime(stamp)
    if at.fold:
        later = _localtime(stamp + 3600)
        if later[:5] == found[:5]:
            return later
    return found


def _localtime(seconds: float) -> time.struct_time:
    """The C library of Windows knows no times before 1970: there they have the offset of that
    year."""
    try:
        return time.localtime(seconds)
    except OSError:
        return time.localtime(0)


def zone_of(name: str) -> tzinfo:
    """The zone of that name; this machine's where the name is empty."""
    if not name:
        return LocalZone()
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidSetting(
            f"`time_zone` is {name!r}, which is not a time zone this machine knows.",
            hint="Use a name such as Europe/Berlin or UTC, or leave it empty.",
        ) from None
