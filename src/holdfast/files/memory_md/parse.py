"""Parses MEMORY.md into blocks that add up to the file, byte for byte. After a small edit
only the changed region is parsed again."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

from holdfast.files.memory_md import (
    ID_COMMENT,
    SPACE,
    Block,
    Document,
    MarkdownItem,
    Section,
    Verbatim,
    category_of,
    escaped,
    id_of,
    is_date_line,
    lines_of,
    unescaped,
)

# Cached documents: the written text, the base, the text in the file, and one more.
_KEPT = 4
# Smaller files are parsed faster than compared.
_LARGE_CHARS = 10_000
# If no barrier is this near, the file is unusual.
_STEPS_MAX = 100


class _Parsed(NamedTuple):
    text: str
    document: Document
    ends: list[int]


class Recent:
    """Parses texts incrementally, based on recently parsed ones."""

    def __init__(
        self,
        anew: Callable[[str], Document],
        is_barrier: Callable[[Block], bool],
        section: Callable[[tuple[Block, ...], int], str | None],
    ) -> None:
        self._anew = anew
        self._is_barrier = is_barrier
        # The heading of the section with the block at a position; None if it is unclear.
        self._section = section
        self._kept: tuple[_Parsed, ...] = ()

    def __call__(self, text: str) -> Document:
        if len(text) < _LARGE_CHARS:
            return self._anew(text)
        for known in self._kept:
            if known.text == text:
                return known.document
        found = (self._changed(known, text) for known in self._kept)
        document = next((one for one in found if one is not None), None) or self._anew(text)
        ends = list(accumulate(len(block.raw) for block in document.blocks))
        self._kept = (_Parsed(text, document, ends), *self._kept)[:_KEPT]
        return document

    def _changed(self, known: _Parsed, text: str) -> Document | None:
        """The document for a text that differs little from a known one; None if it differs more."""
        front = _common_front(known.text, text)
        back = _common_back(known.text, text, min(len(text), len(known.text)) - front)
        if (front + back) * 2 < len(text):
            return None
        blocks, ends = known.document.blocks, known.ends
        # The character after it is equal too: an indented line would belong to it.
        first = self._barrier(blocks, bisect_right(ends, front - 1) - 1, -1)
        last = self._barrier(blocks, bisect_left(ends, len(known.text) - back) + 1, 1)
        if first is None or last is None or first >= last:
            return None
        heading = self._section(blocks, first)
        if heading is None:
            return None
        rest = len(known.text) - ends[last - 1]
        between = text[ends[first] : len(text) - rest]
        piece = self._anew(heading + blocks[first].raw + between + blocks[last].raw).blocks
        begin = 1 + bool(heading)
        # The same barriers in the same section on both sides, or it is parsed as a whole.
        if piece[begin - 1 : begin] != blocks[first : first + 1] or piece[-1] != blocks[last]:
            return None
        made = blocks[: first + 1] + piece[begin:-1] + blocks[last:]
        return known.document._replace(blocks=made)

    def _barrier(self, blocks: tuple[Block, ...], at: int, step: int) -> int | None:
        for place in range(at, at + step * _STEPS_MAX, step):
            if not 0 <= place < len(blocks):
                return None
            if self._is_barrier(blocks[place]):
                return place
        return None


def _common_front(one: str, other: str) -> int:
    """The length of the common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        # Text known to be equal is not compared again.
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_back(one: str, other: str, most: int) -> int:
    """The length of the common suffix, up to a limit."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        a, b = len(one), len(other)
        if one[a - middle : a - low] == other[b - middle : b - low]:
            low = middle
        else:
            high = middle - 1
    return low


BULLET = re.compile(r"([ \t]*)([-*+])([ \t]+)(?=[^ \t\r\n])")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BREAK = re.compile(r"[ \t]*([-*_])([ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# A fast path for nearly every line of a large file: one line, nothing escaped. It gives the same
# result as the general parser, five times as fast.
_PLAIN = re.compile(
    r"- ([^-*+_& <\t\r\n](?:[^&<\r\n]*[^& <\t\r\n])?) <!-- (mem_[0-9A-Za-z_-]{1,64}) -->\n"
)
# A paragraph; not a table, a quotation, a tag, code that is indented, or a ruled line.
_PROSE = re.compile(r" {0,3}(?![ \t|<>]|([-*_=])[ \t]*(\1[ \t]*)*\r?$)")


def parse(text: str, *, whole: bool = False) -> Document:
    """The blocks of MEMORY.md; joined, they are the text.

    In a file, a bullet outside a section and a paragraph without an id are a person's own. With
    `whole`, for text that is passed in as memory, they are items too.
    """
    return parse_anew(text, whole=True) if whole else _recent(text)


def parse_anew(text: str, *, whole: bool = False) -> Document:
    """The blocks of MEMORY.md, without the cache."""
    lines = lines_of(text)
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    blocks: list[Block] = []
    other: list[str] = []

    def keep(block: Block) -> None:
        if other:
            blocks.append(Verbatim("".join(other)))
            other.clear()
        blocks.append(block)

    category: str | None = None
    unclosed: dict[str, tuple[int, int]] = {}
    at = 0
    if lines and lines[0].startswith("\ufeff"):
        other.append("\ufeff")
        lines[0] = lines[0][1:]
    if end := _front_matter(lines):
        other += lines[:end]
        at = end
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if (plain := _PLAIN.fullmatch(line)) and not _goes_on(lines, end):
            keep(MarkdownItem(line, plain[2], plain[1], category))
        elif _blank(line):
            other.append(line)
        elif heading := _HEADING.match(line):
            end, section = _section(lines, at, heading)
            if section is not None:
                category = section.category
                keep(section)
            else:
                category = category if len(heading[1]) > 2 else None
                other.append(line)
        elif (closed := _closed_region(lines, at, unclosed)) > at:
            end = closed
            other += lines[at:end]
        else:
            end, item = _item(lines, at, category, whole=whole)
            if item is not None:
                keep(item)
            else:
                other += lines[at:end]
        at = end
    if other:
        blocks.append(Verbatim("".join(other)))
    return Document(tuple(blocks), newline)


def _is_barrier(block: Block) -> bool:
    """Whether it is an item that no other block can extend over: on one line, with its id."""
    return isinstance(block, MarkdownItem) and _PLAIN.fullmatch(block.raw) is not None


def _heading_above(blocks: tuple[Block, ...], at: int) -> str | None:
    """The heading of an item's section; empty if it is in none."""
    item = blocks[at]
    if not isinstance(item, MarkdownItem) or item.category is None:
        return ""
    for block in reversed(blocks[:at]):
        if isinstance(block, Section):
            return block.raw if block.category == item.category else None
    return None


# A sync parses nearly the same text again and again: as the written text, then as the base, then as
# the text in the file.
_recent = Recent(parse_anew, _is_barrier, _heading_above)


def _goes_on(lines: list[str], at: int) -> bool:
    return at < len(lines) and lines[at][0] in " \t"


def _blank(line: str) -> bool:
    return not line.strip(SPACE)


def _front_matter(lines: list[str]) -> int:
    """The number of lines of front matter."""
    if not lines or lines[0].rstrip(SPACE) != "---":
        return 0
    for at in range(1, len(lines)):
        line = lines[at].rstrip(SPACE)
        if line in ("---", "..."):
            return at + 1
        if line.startswith("## ") or id_of(line):
            return 0
    return 0


def _section(lines: list[str], at: int, heading: re.Match[str]) -> tuple[int, Section | None]:
    if len(heading[1]) != 2:
        return at + 1, None
    category = category_of(heading[2])
    if category is None:
        return at + 1, None
    end = at + 1
    if end < len(lines) and is_date_line(lines[end]):
        end += 1
    return end, Section("".join(lines[at:end]), category)


def _closed_region(lines: list[str], at: int, unclosed: dict[str, tuple[int, int]]) -> int:
    """The end of a code fence or a comment that begins here; `at` if it is not closed.

    An unclosed one is just a line, and none extends over an item with an id: a fence that somebody
    has only begun to type must not hide memories. `unclosed` caches, by kind, the length of a mark
    that is not closed, and up to which line.
    """
    line = lines[at]
    kind, length = "<!--", 0
    if fence := _FENCE.match(line):
        mark = fence[1]
        kind, length = mark[0], len(mark)
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t\r\n]*$")
        closes = closing.match
    elif line.lstrip(SPACE).startswith("<!--") and id_of(line) is None:
        if "-->" in line:
            return at + 1
        closes = re.compile(".*-->").match
    else:
        return at
    least, stop = unclosed.get(kind, (0, 0))
    if at < stop and length >= least:
        return at + 1
    stop = len(lines)
    for end in range(at + 1, len(lines)):
        if id_of(lines[end]):
            stop = end
            break
        if closes(lines[end]):
            return end + 1
    unclosed[kind] = (length, stop)
    return at + 1


def _item(
    lines: list[str], at: int, category: str | None, *, whole: bool
) -> tuple[int, MarkdownItem | None]:
    """The item that begins here; or None, with the end of the text that is not an item."""
    bullet = BULLET.match(lines[at])
    if bullet and (id_of(lines[at]) or not _BREAK.match(lines[at].rstrip("\r\n"))):
        end = _bullet_end(lines, at, bullet[1])
        known = any(id_of(line) for line in lines[at:end])
        content, memory_id = _content(lines[at:end], len(bullet[0]))
        if known or (content and (whole or category is not None)):
            raw = "".join(lines[at:end])
            return end, MarkdownItem(raw, memory_id, content, category)
        return end, None
    end = _paragraph_end(lines, at)
    if id_of(lines[end - 1]) or (whole and _PROSE.match(lines[at])):
        content, memory_id = _content(lines[at:end], 0)
        return end, MarkdownItem("".join(lines[at:end]), memory_id, content, category, bullet=False)
    return end, None


def _bullet_end(lines: list[str], at: int, indent: str) -> int:
    """The end of the bullet: the last line indented below it."""
    known = id_of(lines[at]) is not None
    deeper = (f"{indent}  ", f"{indent}\t")
    end = at + 1
    while end < len(lines):
        line = lines[end]
        if _blank(line):
            after = end
            while after < len(lines) and _blank(lines[after]):
                after += 1
            if known or after == len(lines) or not lines[after].startswith(deeper):
                return end
            end = after
        elif line.startswith(deeper):
            if id_of(line) and (known or _nested(line)):
                return end
            if known and _another_follows(lines, end, deeper):
                return end
            known = known or id_of(line) is not None
            end += 1
        elif known or _starts_block(line):
            return end
        else:
            # A line that an editor wrapped without indenting it.
            known = id_of(line) is not None
            end += 1
    return end


def _nested(line: str) -> bool:
    """Whether the line is a bullet of its own: more than a mark and a comment."""
    return BULLET.match(ID_COMMENT.sub("", line.rstrip("\r\n"))) is not None


def _another_follows(lines: list[str], at: int, deeper: tuple[str, str]) -> bool:
    """Whether the indented lines from here on contain an item of their own."""
    while at < len(lines) and lines[at].startswith(deeper) and not _blank(lines[at]):
        if id_of(lines[at]):
            return True
        at += 1
    return False


def _paragraph_end(lines: list[str], at: int) -> int:
    end = at + 1
    if id_of(lines[at]):
        return end
    while end < len(lines) and not _blank(lines[end]) and not _starts_block(lines[end]):
        end += 1
        if id_of(lines[end - 1]):
            return end
    return end


def _starts_block(line: str) -> bool:
    if _HEADING.match(line) or _FENCE.match(line) or BULLET.match(line):
        return True
    return line.lstrip(SPACE).startswith("<!--") and id_of(line) is None


def _content(lines: Iterable[str], width: int) -> tuple[str, str | None]:
    """The content of an item, without mark, indentation and comment; and its id."""
    memory_id = None
    out = []
    for number, line in enumerate(lines):
        text = line.removesuffix("\n").removesuffix("\r")
        text = text[width:] if number == 0 else _dedented(text, width)
        if memory_id is None and (found := ID_COMMENT.search(text)):
            memory_id = found[1]
            text = text[: found.start()]
            if number and not text:
                continue
        out.append(text)
    return unescaped("\n".join(out).strip(SPACE)), memory_id


def _dedented(text: str, width: int) -> str:
    if width and text.startswith("\t"):
        return text[1:]
    spaces = len(text) - len(text.lstrip(" "))
    return text[min(width, spaces) :]


# Text that must be alone on its line: a comment after it would change its rendering.
_LAST_ALONE = re.compile(r"[ \t]*(```|~~~|[-*+][ \t]|#)|.*\|[ \t]*$")


def item_text(content: str, memory_id: str, newline: str = "\n") -> str:
    """A bullet of MEMORY.md with this content."""
    first, *rest = escaped(content).split("\n")
    lines = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    return _with_comment(lines, memory_id, newline)


def _with_comment(lines: list[str], memory_id: str, newline: str) -> str:
    comment = f"<!-- {memory_id} -->"
    last = lines[-1]
    if len(lines) == 1 and (bullet := BULLET.match(last)):
        last = last[bullet.end() :]
    if _LAST_ALONE.match(last):
        lines.append(f"  {comment}")
    else:
        lines[-1] = f"{lines[-1].rstrip(SPACE)} {comment}"
    return newline.join(lines) + newline


def paragraph_text(content: str, memory_id: str, newline: str = "\n") -> str | None:
    """A paragraph with this content; None if only a bullet can hold it."""
    lines = escaped(content).split("\n")
    lines[-1] += f" <!-- {memory_id} -->"
    raw = newline.join(lines) + newline
    found = parse(raw).blocks
    if len(found) == 1 and isinstance(found[0], MarkdownItem):
        item = found[0]
        if not item.bullet and (item.id, item.content) == (memory_id, content):
            return raw
    return None


def rewritten(
    item: MarkdownItem, content: str, memory_id: str, newline: str = "\n"
) -> MarkdownItem:
    """The item of MEMORY.md with other content, still a paragraph if it was one and can be."""
    raw = None if item.bullet else paragraph_text(content, memory_id, newline)
    bullet = raw is None
    raw = raw or item_text(content, memory_id, newline)
    return item._replace(raw=raw, id=memory_id, content=content, bullet=bullet)


def identified(item: MarkdownItem, memory_id: str, newline: str = "\n") -> MarkdownItem:
    """The item with an id; its text is unchanged."""
    lines = [line.rstrip("\r\n") for line in lines_of(item.raw)]
    if item.id is None:
        raw = _with_comment(lines, memory_id, newline)
    else:
        old = re.compile(rf"<!--[ \t]*{re.escape(item.id)}[ \t]*-->[ \t]*$")
        raw = newline.join(old.sub(f"<!-- {memory_id} -->", line) for line in lines) + newline
    found = parse(f"## x{newline}{raw}").items
    if [(one.id, one.content) for one in found] == [(memory_id, item.content)]:
        return item._replace(raw=raw, id=memory_id)
    return rewritten(item, item.content, memory_id, newline)
