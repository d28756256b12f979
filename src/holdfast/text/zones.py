"""Time zones by name or offset, as one machine tells another of them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone, tzinfo

from holdfast.errors import InvalidInput

# An offset as `isoformat` writes it.
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")


def zone_named(text: str) -> tzinfo:
    """The zone of a name such as `Europe/Berlin`, or of an offset such as `+02:00`."""
    if offset := _OFFSET.fullmatch(text):
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


def zone_name(zone: tzinfo, at: datetime | None = None) -> str:
    """The name of a zone; of one without a name, its offset at that moment."""
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return key
    offset = zone.utcoffset(at) or timedelta(0)
    sign, span = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    minutes = int(span.total_seconds()) // 60
    return f"{sign}{minutes // 60:02d}:{minutes % 60:02d}"
