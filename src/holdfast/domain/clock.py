"""Where the time comes from. Inside Holdfast every time is aware and in UTC."""

from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """Tells the time; injected, so that a test can hold it still."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def to_micros(at: datetime) -> int:
    """The moment as whole microseconds since 1970, exact in both directions."""
    return (at - EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` was given."""
    return EPOCH + timedelta(microseconds=micros)


def to_text(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds: sorts as text and round-trips exactly."""
    # Not strftime: it writes years before 1000 with fewer than four digits.
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote."""
    return datetime.fromisoformat(text).astimezone(UTC)
