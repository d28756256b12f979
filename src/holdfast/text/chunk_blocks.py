"""Read a text line by line into blocks: headings, fences, tables, front matter and prose.

This is the part of Markdown that decides where a text may be cut, and no more: emphasis, links
and lists are prose. A fence that is never closed is prose too, so that one stray line of
backticks cannot swallow the rest of a document.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Literal, NamedTuple

from holdfast.text.chunk_prose import LINE

BlockKind = Literal["heading", "fence", "table", "matter", "prose"]

# A title is repeated with every passage under it, so it is bounded.
TITLE_CHARS_MAX = 200

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+([^\r\n]*))?[\r\n]*$")
_ATX_TAIL = re.compile(r"(?:^|[ \t])#+$")
_SETEXT = re.compile(r" {0,3}(={2,}|-{2,})[ \t]*[\r\n]*$")
# What cannot be the text of an underlined heading: a list, a quote, a table, a rule, code.
_NO_TITLE = re.compile(r"[ \t]*(?:[-*+>|]|\d+[.)][ \t]|[-=_*]{3,}|```|~~~)|[ ]{4}|\t")
# A fence may stand in a quote or a list, at any depth.
_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(?:(?:[-*+]|\d+[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_END = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})[ \t]*[\r\n]*$")
# What was read is never given back (`*+`): a cell that could be read in two ways would double the
# time of a line that is no rule, with each cell that it has.
_TABLE_RULE = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?+-*+:?+[ \t]*+)*[\r\n]*$")


class Block(NamedTuple):
    """A span of whole lines that is cut as one; a heading also has its level and title."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    title: str = ""


class Line(NamedTuple):
    start: int
    end: int
    text: str


def read_blocks(text: str, start: int = 0, end: int | None = None) -> list[Block]:
    """The blocks of a text in order; together they are all of it."""
    stop = len(text) if end is None else end
    lines = [Line(*m.span(), m.group()) for m in LINE.finditer(text, start, stop)]
    blocks: list[Block] = []
    closers = _Closers(lines)
    at = _front_matter(lines, blocks) if start == 0 else 0
    while at < len(lines):
        at = _read_one(lines, at, closers, blocks)
    return blocks


def _read_one(lines: list[Line], at: int, closers: _Closers, blocks: list[Block]) -> int:
    """Add the block that begins at line `at`, or its line to the prose; return the next line."""
    line = lines[at]
    lead = line.text.lstrip(" \t")[:1]
    if lead == "#" and (atx := _ATX.match(line.text)):
        title = _ATX_TAIL.sub("", (atx.group(2) or "").strip()).strip()
        level = len(atx.group(1))
        blocks.append(Block("heading", line.start, line.end, level, title[:TITLE_CHARS_MAX]))
        return at + 1
    if ("```" in line.text or "~~~" in line.text) and (fence := _FENCE.match(line.text)):
        last = closers.after(at, fence.group(1))
        if last is not None:
            blocks.append(Block("fence", line.start, lines[last].end))
            return last + 1
    if at + 1 < len(lines):
        below = lines[at + 1].text
        if (mark := below.lstrip(" ")[:1]) and mark in "=-" and _is_title(lines, at):
            setext = _SETEXT.match(below)
            if setext:
                level = 1 if setext.group(1)[0] == "=" else 2
                title = line.text.strip()[:TITLE_CHARS_MAX]
                blocks.append(Block("heading", line.start, lines[at + 1].end, level, title))
                return at + 2
        if "|" in line.text and "-" in below and "|" in below and _TABLE_RULE.match(below):
            last = at + 1
            while last + 1 < len(lines) and "|" in lines[last + 1].text:
                last += 1
            blocks.append(Block("table", line.start, lines[last].end))
            return last + 1
    if blocks and blocks[-1].kind == "prose":
        blocks[-1] = Block("prose", blocks[-1].start, line.end)
    else:
        blocks.append(Block("prose", line.start, line.end))
    return at + 1


def _is_title(lines: list[Line], at: int) -> bool:
    """Whether the line can be the text of an underlined heading: one line that stands alone.

    Markdown also underlines whole paragraphs; in notes a row of dashes below a paragraph is
    nearly always a rule.
    """
    text = lines[at].text
    if not text.strip() or _NO_TITLE.match(text):
        return False
    return at == 0 or not lines[at - 1].text.strip() or bool(_ATX.match(lines[at - 1].text))


def _front_matter(lines: list[Line], blocks: list[Block]) -> int:
    """Settings between two lines of dashes at the very top; return the line after them."""
    # Bounded: front matter of more than 200 lines is a document that begins with a rule.
    if not lines or lines[0].text.strip() != "---":
        return 0
    for at in range(1, min(len(lines), 200)):
        if lines[at].text.strip() in ("---", "..."):
            blocks.append(Block("matter", lines[0].start, lines[at].end))
            return at + 1
        if not lines[at].text.strip() and at == 1:
            return 0
    return 0


class _Closers:
    """The lines that can close a fence, so that each fence finds its own in linear time."""

    def __init__(self, lines: list[Line]) -> None:
        self._at: dict[str, list[int]] = {"`": [], "~": []}
        self._length: dict[str, list[int]] = {"`": [], "~": []}
        # No closer of this length or more is left: found out once, true of every later fence.
        self._none_from: dict[str, int] = {}
        for number, line in enumerate(lines):
            if "```" not in line.text and "~~~" not in line.text:
                continue
            found = _FENCE_END.match(line.text)
            if found:
                self._at[found.group(1)[0]].append(number)
                self._length[found.group(1)[0]].append(len(found.group(1)))

    def after(self, number: int, opener: str) -> int | None:
        """The line that closes a fence opened at line `number`, or None."""
        mark, length = opener[0], len(opener)
        if length >= self._none_from.get(mark, length + 1):
            return None
        at, lengths = self._at[mark], self._length[mark]
        for index in range(bisect_right(at, number), len(at)):
            if lengths[index] >= length:
                return at[index]
        self._none_from[mark] = length
        return None
