"""Lengths of time as people type them: 30m, 12h, 7d, 1w2d; and how long ago something was."""

from __future__ import annotations

import re
from datetime import timedelta

from holdfast.errors import InvalidInput

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d{1,9})([smhdw])")
# Days and longer are windows in the person's zone, which the dates of the text package know.
_AGO = re.compile(r"(\d{1,9}|an?)\s+(second|minute|hour)s?\s+ago")


def span(text: str) -> timedelta:
    """A length of time; InvalidInput where it is none."""
    plain = text.strip().lower()
    parts = _PART.findall(plain)
    if not parts or _PART.sub("", plain):
        raise InvalidInput(
            f"{text!r} is not a length of time.", hint="Write it like 30m, 12h, 7d or 2w."
        )
    seconds = sum(int(count) * _SECONDS[unit] for count, unit in parts)
    if not 0 < seconds < 100 * 366 * 86_400:
        raise InvalidInput(
            f"{text!r} is not a length of time between a second and a hundred years.",
            hint="Write it like 30m, 12h, 7d or 2w.",
        )
    return timedelta(seconds=seconds)


def ago(text: str) -> timedelta | None:
    """How long ago `7d` or `10 minutes ago` is; None where the text is something else."""
    plain = text.strip().lower()
    if found := _AGO.fullmatch(plain):
        count = 1 if found[1].startswith("a") else int(found[1])
        return timedelta(seconds=count * _SECONDS[found[2][0]])
    if plain and not _PART.sub("", plain):
        return span(plain)
    return None
