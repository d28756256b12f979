"""How values are written in sentences: quotes, marks at the end, PINs."""

from __future__ import annotations

import re

# Kind, start, end.
Span = tuple[str, int, int]

QUOTES = dict(zip("\"'`“”„‘«「『", "\"'`””“’»」』", strict=True))
# Not part of a value at whose end they are.
TRAILING = ".,;:)*]}…?_"
PIN = re.compile(
    r"[#*]?\d{4,10}[#*]?(?![A-Za-z0-9_-]|\.\d)|\d{1,2}(?:-\d{1,2}){2,4}(?![A-Za-z0-9_-])"
)
