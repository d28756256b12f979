"""Whether a statement is about the person, and so known in all of their projects, or about the
project at hand. By rules on its words; it knows no hubs.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from holdfast.text.tables import Patterns

_PATTERNS = Patterns("facts/patterns.txt")

About: TypeAlias = Literal["person", "project"]

# Categories of a memory that say by themselves whom it is about.
_PERSONAL = ("person", "preference", "routine")


# Where a sentence ends: not at the point of `api.v2` or `e.g.` before a small letter.
_ENDS = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")


class Part(NamedTuple):
    """A stretch of a text, and what it is about."""

    text: str
    about: About


def about(text: str, *, category: str | None = None) -> tuple[About, str]:
    """What one statement is about, and the reason in a few words."""
    line = " ".join(text.split())
    if _PATTERNS["everywhere"].search(line):
        return "person", "it is said for all projects"
    if _PATTERNS["here"].search(line):
        return "project", "it is said of this project"
    if category in _PERSONAL and category is not None and not _PATTERNS["work"].search(line):
        return "person", f"its category is {category}"
    is_work = _PATTERNS["work"].search(line) or _PATTERNS["my work"].search(line)
    if _PATTERNS["self"].search(line) and not is_work and _PATTERNS["lasting"].search(line):
        return "person", "it is about the person"
    return "project", "nothing says that it is about the person"


def parts_of(text: str) -> list[Part]:
    """What a person said, sentence by sentence; neighbours about the same thing are one part."""
    parts: list[Part] = []
    start = 0
    for mark in _ENDS.finditer(text):
        _add(parts, text[start : mark.end()])
        start = mark.end()
    _add(parts, text[start:])
    return parts


def _add(parts: list[Part], text: str) -> None:
    if not text.strip():
        return
    found, _ = about(text)
    if parts and parts[-1].about == found:
        parts[-1] = Part(parts[-1].text + text, found)
    else:
        parts.append(Part(text, found))
