"""The sources of time and ids, which are injected, and time zones by name. Inside Holdfast every
time is aware and in UTC. Ids (`mem_…`, `hub_…`, `chg_…`) sort by the time they were made."""

from __future__ import annotations

import os
import re
import threading
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Protocol

from holdfast.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """A source of time, injected so that tests can control it."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def to_micros(at: datetime) -> int:
    """The moment as whole microseconds since 1970, exact in both directions."""
    return (at - EPOCH) // MICROSECOND


def to_text(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds: sorts as text and round-trips exactly."""
    # Not strftime: it writes years before 1000 with fewer than four digits.
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote."""
    return datetime.fromisoformat(text).astimezone(UTC)


# Crockford's alphabet in lower case: sorts like the numbers it writes, and has no i, l, o or u
# that a person could misread.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
# 11 digits, or 55 bits, of microseconds, which is good until the year 3111; and 45 bits of chance:
# two processes in one microsecond do not collide in practice.
_TIME_BITS, _RANDOM_BITS = 55, 45
# Two digits at a time.
_PAIRS = [one + two for one in _ALPHABET for two in _ALPHABET]
_SHIFTS = range(_TIME_BITS + _RANDOM_BITS - 10, -1, -10)


class Ids(Protocol):
    """Makes identifiers; injected, so that a test can foresee them."""

    def next(self, prefix: str) -> str: ...


class TimeIds:
    """Identifiers from a clock and chance, strictly rising within a process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._lock = threading.Lock()

    def next(self, prefix: str) -> str:
        with self._lock:
            self._last = max(self._last + 1, to_micros(self._clock.now()))
            micros = self._last
        chance = int.from_bytes(os.urandom(6)) >> 3
        number = micros << _RANDOM_BITS | chance
        return f"{prefix}_{''.join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])}"


# An offset as `isoformat` writes it.
_OFFSET = r"([+-])(\d\d):(\d\d)"


def zone_named(text: str) -> tzinfo:
    """The zone of a name such as `Europe/Berlin`, or of an offset such as `+02:00`."""
    if offset := re.fullmatch(_OFFSET, text):
        minutes = int(offset[2]) * 60 + int(offset[3])
        if minutes < 24 * 60:
            return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(text or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidInput(
            f"{text!r} is not a time zone.", hint="Use a name such as Europe/Berlin, or +02:00."
        ) from None


def zone_name(zone: tzinfo) -> str:
    """The name of a zone; of one without a name, its offset."""
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return key
    offset = zone.utcoffset(None) or timedelta(0)
    sign, span = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    minutes = int(span.total_seconds()) // 60
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
