"""A journal's text as blocks: entries, and everything else a person puts between them.

Joined again, the blocks are the text to the letter. An entry is a line, with the indented lines
below it; headings, comments, rules, front matter and empty lines are no entries. This module knows
neither files nor the store nor which day it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

# A fence or a comment is closed within so many lines, and above the next entry with a time, or it
# is none: it would swallow the entries that are added below it.
_CLOSED_WITHIN_LINES = 200
_ADDED = re.compile(r"- \d\d:\d\d ")
# Of a SHA-256: enough that two entries of one day never meet, short enough to read.
_KEY_DIGITS = 12

_MARKER = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:((?:[01]\d|2[0-3]):[0-5]\d)[ \t]+(?=\S))?")
_HEADING_OR_RULE = re.compile(r"#{1,6}(?:[ \t]|$)|[ \t]*(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_FENCE = re.compile(r"(```+|~~~+)")


class Block(NamedTuple):
    """A piece of the text. `text` is what an entry says; it is empty for what is no entry."""

    raw: str
    text: str = ""
    time: str = ""


def parse(text: str) -> list[Block]:
    """The blocks of a journal, in order."""
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + [line for line in lines[-1:] if line]
    blocks = []
    at = _front_matter(lines)
    if at:
        blocks.append(Block("".join(lines[:at])))
    while at < len(lines):
        end, entry = _extent(lines, at)
        raw = "".join(lines[at:end])
        blocks.append(_entry(raw) if entry else Block(raw))
        at = end
    return blocks


def render(text: str, time: str = "") -> str:
    """The lines of an entry, without the last line end."""
    first, *rest = text.strip().split("\n")
    lines = [f"- {time} {first}" if time else f"- {first}"]
    lines += [f"  {line}" if line.strip() else "" for line in rest]
    return "\n".join(line.rstrip("\r") for line in lines)


def render_bare(text: str) -> str:
    """The same without a time; a table or a fenced block is an entry as it stands."""
    return text.strip() if _stands_alone(text.strip()) else render(text)


def keys_of(blocks: Iterable[Block]) -> list[str]:
    """A key for each entry, '' for other blocks: its time and words, and which one it is of those
    that are alike. White space and composed letters do not count, as editors change them."""
    seen: dict[str, int] = {}
    keys = []
    for block in blocks:
        key = key_of(block.text, block.time) if block.text else ""
        if key:
            seen[key] = seen.get(key, 0) + 1
            if seen[key] > 1:
                key = f"{key}-{seen[key]}"
        keys.append(key)
    return keys


def key_of(text: str, time: str) -> str:
    import hashlib

    said = f"{time}\n{plain(text)}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(said).hexdigest()[:_KEY_DIGITS]


def plain(text: str) -> str:
    """The words of a text, for comparing."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def _front_matter(lines: list[str]) -> int:
    if lines and lines[0].lstrip("\ufeff").rstrip() == "---":
        for at, line in enumerate(lines[1:_CLOSED_WITHIN_LINES], 1):
            if line.rstrip() == "---":
                return at + 1
    return 0


def _extent(lines: list[str], at: int) -> tuple[int, bool]:
    """Where the block that begins here ends, and whether it is an entry."""
    line = lines[at].lstrip("\ufeff").rstrip()
    if not line or _HEADING_OR_RULE.match(line):
        return at + 1, False
    if line.startswith("<!--") and (end := _closing(lines, at, re.compile(".*-->"))):
        return end, False
    fence = _FENCE.match(line)
    if fence and (end := _closing(lines, at + 1, re.compile(rf"{fence[1]}\s*$"))):
        return end, True
    if line.startswith("|"):
        end = at + 1
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        return end, True
    return _continued(lines, at + 1), True


def _closing(lines: list[str], at: int, closed: re.Pattern[str]) -> int:
    """The end of the first line that closes what was opened; 0 where none does."""
    for end in range(at, min(len(lines), at + _CLOSED_WITHIN_LINES)):
        if _ADDED.match(lines[end]):
            return 0
        if closed.match(lines[end]):
            return end + 1
    return 0


def _continued(lines: list[str], at: int) -> int:
    """Where the indented lines end; empty lines count where another indented one follows."""
    end = at
    while at < len(lines):
        line = lines[at]
        if line.strip() and not line.startswith(("  ", "\t")):
            break
        at += 1
        if line.strip():
            end = at
    return end


def _stands_alone(text: str) -> bool:
    return text.startswith("|") or _FENCE.match(text) is not None


def _entry(raw: str) -> Block:
    lines = raw.lstrip("\ufeff").split("\n")
    if _stands_alone(lines[0]):
        return Block(raw, raw.strip())
    found = _MARKER.match(lines[0])
    assert found is not None, "every part of the pattern may be missing"
    said = [lines[0][found.end() :], *(re.sub(r"^(?:  |\t)", "", line) for line in lines[1:])]
    text = "\n".join(line.rstrip("\r") for line in said).strip()
    return Block(raw, text, found[1] or "" if text else "")
