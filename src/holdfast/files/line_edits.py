"""Edits of a text by its words or its lines; the rest of it stays as it is, to the letter.

In a text whose lines all end as on Windows, what is put in gets such line ends too, and a text to
be replaced is found whichever way its line ends are written.
"""

from __future__ import annotations

from typing import NamedTuple

from holdfast.errors import InvalidInput

# A model needs to see where it is ambiguous, not every place of a thousand.
_LINES_SHOWN = 100
# It wrote the text itself; a reply must not carry ten megabytes back.
_QUOTED_CHARS = 500


class Edited(NamedTuple):
    """The new text, and the line (counted from 0) on which the change begins."""

    text: str
    line: int


def replaced(text: str, old: str, new: str, shown: str) -> Edited:
    """The text with the one occurrence of `old` replaced."""
    if not old:
        raise InvalidInput(
            "No replacement was performed, old_str is empty.", hint="Use insert to add text."
        )
    if _windows(text):
        if old not in text:
            old = _to_windows(old)
        new = _to_windows(new)
    places = _places(text, old)
    if not places:
        raise InvalidInput(
            f"No replacement was performed, old_str `{_quoted(old)}` did not appear verbatim in"
            f" {shown}."
        )
    if len(places) > 1:
        lines = [str(text.count("\n", 0, place) + 1) for place in places[:_LINES_SHOWN]]
        more = ["…"] if len(places) > _LINES_SHOWN else []
        raise InvalidInput(
            f"No replacement was performed. Multiple occurrences of old_str `{_quoted(old)}` in"
            f" lines: {', '.join(lines + more)}. Please ensure it is unique"
        )
    at = places[0]
    return Edited(text[:at] + new + text[at + len(old) :], text.count("\n", 0, at))


def _places(text: str, old: str) -> list[int]:
    """Where it begins, also where it overlaps itself; one more than are ever shown is enough."""
    out: list[int] = []
    at = text.find(old)
    while at >= 0 and len(out) <= _LINES_SHOWN:
        out.append(at)
        at = text.find(old, at + 1)
    return out


def inserted(text: str, line: int, new: str) -> Edited:
    """The text with lines put in after the given line; 0 is before the first."""
    lines = text.split("\n")
    # A line end at the very end begins no line.
    count = len(lines) - (lines[-1] == "")
    if not 0 <= line <= count:
        raise InvalidInput(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {count}]."
        )
    end = "\r\n" if _windows(text) else "\n"
    body = (_to_windows(new) if end == "\r\n" else new).removesuffix(end)
    before = "\n".join(lines[:line])
    if line and line == len(lines):
        # After a last line without its end: the text still has none.
        return Edited(text + end + body, line)
    if line:
        before += "\n"
    return Edited(before + body + end + text[len(before) :], line)


def _quoted(text: str) -> str:
    return text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "…"


def _windows(text: str) -> bool:
    ends = text.count("\n")
    return ends > 0 and text.count("\r\n") == ends


def _to_windows(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
