"""The text of MEMORY.md to its blocks, whatever the text is; together they are the text, to the
letter. It finds sections and items, and knows nothing of what they mean or how they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.files.memory_md import (
    SPACE,
    Block,
    Document,
    Item,
    Section,
    Verbatim,
    category_of,
    is_date_line,
)
from holdfast.files.memory_md_marks import ID_COMMENT, id_of, lines_of, unescaped
from holdfast.files.near import Recent

BULLET = re.compile(r"([ \t]*)([-*+])([ \t]+)(?=[^ \t\r\n])")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BREAK = re.compile(r"[ \t]*([-*_])([ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# Nearly every line of a large file: one line, nothing escaped. Whatever this finds, the long way
# would find too; it is five times as fast.
_PLAIN = re.compile(
    r"- ([^-*+_& <\t\r\n](?:[^&<\r\n]*[^& <\t\r\n])?) <!-- (mem_[0-9A-Za-z_-]{1,64}) -->\n"
)
# A paragraph; not a table, a quotation, a tag, code that is indented, or a ruled line.
_PROSE = re.compile(r" {0,3}(?![ \t|<>]|([-*_=])[ \t]*(\1[ \t]*)*\r?$)")


def parse(text: str, *, whole: bool = False) -> Document:
    """The blocks of a file; together they are the text, whatever it is.

    In a file, a bullet outside of a section and a paragraph without an id are a person's own. With
    `whole`, for text that somebody hands in as memory, they are items too.
    """
    return parse_anew(text, whole=True) if whole else _recent(text)


def parse_anew(text: str, *, whole: bool = False) -> Document:
    """The same, without looking at what was parsed before."""
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
            keep(Item(line, plain[2], plain[1], category))
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
    """Whether it is an item that no other block reaches over: on one line, with its id."""
    return isinstance(block, Item) and _PLAIN.fullmatch(block.raw) is not None


def _heading_above(blocks: tuple[Block, ...], at: int) -> str | None:
    """The heading of the section that an item stands in; '' where it is in none."""
    item = blocks[at]
    if not isinstance(item, Item) or item.category is None:
        return ""
    for block in reversed(blocks[:at]):
        if isinstance(block, Section):
            return block.raw if block.category == item.category else None
    return None


# A sync meets nearly the same text again and again: as what was written, then as what both sides
# agreed on, then as what is in the file.
_recent = Recent(parse_anew, _is_barrier, _heading_above)


def _goes_on(lines: list[str], at: int) -> bool:
    return at < len(lines) and lines[at][0] in " \t"


def _blank(line: str) -> bool:
    return not line.strip(SPACE)


def _front_matter(lines: list[str]) -> int:
    """How many lines at the start are front matter."""
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
    """Where a code fence or a comment that begins here ends; `at` where none does.

    One that is not closed is a line and no more, and none reaches over an item with an id: a
    fence that somebody has only begun to type must not make memories disappear. `unclosed` has, by
    kind, the length of a mark that nothing closes and up to where: there is no need to look twice.
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
) -> tuple[int, Item | None]:
    """The item that begins here, or where the text that is none ends."""
    bullet = BULLET.match(lines[at])
    if bullet and (id_of(lines[at]) or not _BREAK.match(lines[at].rstrip("\r\n"))):
        end = _bullet_end(lines, at, bullet[1])
        known = any(id_of(line) for line in lines[at:end])
        content, memory_id = _content(lines[at:end], len(bullet[0]))
        if known or (content and (whole or category is not None)):
            raw = "".join(lines[at:end])
            return end, Item(raw, memory_id, content, category)
        return end, None
    end = _paragraph_end(lines, at)
    if id_of(lines[end - 1]) or (whole and _PROSE.match(lines[at])):
        content, memory_id = _content(lines[at:end], 0)
        return end, Item("".join(lines[at:end]), memory_id, content, category, bullet=False)
    return end, None


def _bullet_end(lines: list[str], at: int, indent: str) -> int:
    """Where the bullet ends: with the last line that is indented below it."""
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
    """Whether the indented lines from here on hold an item of their own."""
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
    """What an item says, without mark, indent and comment; and its id."""
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
