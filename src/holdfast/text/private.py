"""Passages that a person keeps out of memory: `<private>…</private>`."""

from __future__ import annotations

import re

# A tag that is not closed hides all that follows: better too much than too little.
_PRIVATE = re.compile(r"<private(?:\s[^<>]*)?>.*?(?:</private\s*>|\Z)", re.IGNORECASE | re.DOTALL)


def without_private(text: str) -> str:
    """The text without its private passages."""
    if "<private" not in text and "<PRIVATE" not in text.upper():
        return text
    return _PRIVATE.sub("", text)
