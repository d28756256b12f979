"""The format of MEMORY.md: text to blocks and back, to the letter.

A file is a run of blocks. Sections (`## Category`) and items (a bullet, or a paragraph that ends
with `<!-- mem_… -->`) are understood; everything else is kept as it is. Each block keeps its own
text, so rendering what was parsed gives the same bytes. The format knows nothing of the store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple, TypeAlias

from holdfast.files.near import Recent

FILE_NAME = "MEMORY.md"
TITLE = "# Long-term Memory"
# The bound of a category's name in the store.
_CATEGORY_CHARS_MAX = 64

# Only these count as white space: a form feed or a no-break space is something a person typed.
SPACE = " \t\r\n"
_ID = re.compile(r"[ \t]*<!--[ \t]*(mem_[0-9A-Za-z_-]{1,64})[ \t]*-->[ \t]*$")
_UPDATED = re.compile(r"<!-- updated (\d{4}-\d\d-\d\d) -->")
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"([ \t]*)([-*+])([ \t]+)(?=[^ \t\r\n])")
_BREAK = re.compile(r"[ \t]*([-*_])([ \t]*\1){2,}[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
# Nearly every line of a large file: one line, nothing escaped. Whatever this finds, the long way
# would find too; it is five times as fast.
_PLAIN = re.compile(
    r"- ([^-*+_& <\t\r\n](?:[^&<\r\n]*[^& <\t\r\n])?) <!-- (mem_[0-9A-Za-z_-]{1,64}) -->\n"
)
# What has to stand alone on its line, so a comment behind it would change what a reader sees.
_LAST_ALONE = re.compile(r"[ \t]*(```|~~~|[-*+][ \t]|#)|.*\|[ \t]*$")

# A paragraph; not a table, a quotation, a tag, code that is indented, or a ruled line.
_PROSE = re.compile(r" {0,3}(?![ \t|<>]|([-*_=])[ \t]*(\1[ \t]*)*\r?$)")

# What would break an item is written as an HTML reference, which every reader shows as meant. What
# looks like such a reference already gets one `amp;` more, so that nothing is ever ambiguous.
_REFERENCE = re.compile(r"&((?:amp;)*)(lt;!--|#(?:9|10|13|32|45);)")
_DECODED = {"lt;!--": "<!--", "#9;": "\t", "#10;": "\n", "#13;": "\r", "#32;": " ", "#45;": "-"}


class Verbatim(NamedTuple):
    """Text that is a person's own and no memory."""

    raw: str


class Section(NamedTuple):
    """A heading that names a category, with the date below it where there is one."""

    raw: str
    category: str


class Item(NamedTuple):
    """One memory as it stands in the file; without an id it is new."""

    raw: str
    id: str | None
    content: str
    category: str | None
    bullet: bool = True


class Page(NamedTuple):
    """Where another file of the same document begins; it has no text of its own."""

    raw: str
    name: str


Block: TypeAlias = Verbatim | Section | Item | Page


class Document(NamedTuple):
    """A file in blocks."""

    blocks: tuple[Block, ...]
    newline: str = "\n"

    @property
    def items(self) -> list[Item]:
        return [block for block in self.blocks if isinstance(block, Item)]


def render(document: Document) -> str:
    """The file's text."""
    return "".join(block.raw for block in document.blocks)


def fresh() -> Document:
    """A file with nothing in it but its title."""
    return Document((Verbatim(f"{TITLE}\n"),))


# ── categories ───────────────────────────────────────────────────────────────────────────────


def category_of(heading: str) -> str | None:
    """The category that a heading names: any heading, brought into the form categories have."""
    text = unicodedata.normalize("NFC", heading).lower()
    text = "".join(" " if _invisible(character) else character for character in text)
    text = re.sub(r"\s*[,;/\\]\s*", "-", " ".join(text.split()))
    return text[:_CATEGORY_CHARS_MAX].strip(" -") or None


def _invisible(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def heading_of(category: str) -> str:
    """The category as a heading, in title case where that leads back to it."""
    title = " ".join(word[:1].upper() + word[1:] for word in category.split(" "))
    return title if category_of(title) == category else category


def section_text(category: str, updated: date, newline: str = "\n") -> str:
    return f"## {heading_of(category)}{newline}<!-- updated {updated.isoformat()} -->{newline}"


def dated(section: Section, updated: date, newline: str = "\n") -> Section:
    """The section with its date set; the heading stays as it was typed."""
    line = f"<!-- updated {updated.isoformat()} -->"
    if _UPDATED.search(section.raw):
        return section._replace(raw=_UPDATED.sub(line, section.raw))
    return section._replace(raw=ended(section.raw, newline) + line + newline)


def updated_of(section: Section) -> date | None:
    """The date of a section, where it has one that is a date."""
    found = _UPDATED.search(section.raw)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def ended(raw: str, newline: str) -> str:
    """The text with its last line ended."""
    return raw if not raw or raw.endswith("\n") else raw + newline


# ── content and item ─────────────────────────────────────────────────────────────────────────


def escaped(content: str) -> str:
    """Content in a form that an item can hold; `unescaped` is its exact inverse."""
    text = _REFERENCE.sub(lambda found: f"&amp;{found[1]}{found[2]}", content)
    text = text.replace("<!--", "&lt;!--").replace("\r", "&#13;")
    body = text.strip(SPACE)
    start = text.find(body)
    front, back = text[:start], text[start + len(body) :]
    first = body.partition("\n")[0]
    if body.startswith("-") and not first.strip("- \t"):
        # After the bullet's own dash it would be a ruled line.
        body = "&#45;" + body[1:]
    return _references(front) + body + _references(back)


def _references(space: str) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def unescaped(text: str) -> str:
    return _REFERENCE.sub(
        lambda found: f"&{found[1][4:]}{found[2]}" if found[1] else _DECODED[found[2]], text
    )


def item_text(content: str, memory_id: str, newline: str = "\n") -> str:
    """A bullet that holds this content."""
    first, *rest = escaped(content).split("\n")
    lines = [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    return _with_comment(lines, memory_id, newline)


def _with_comment(lines: list[str], memory_id: str, newline: str) -> str:
    comment = f"<!-- {memory_id} -->"
    last = lines[-1] if len(lines) > 1 else _BULLET.sub("", lines[-1], count=1)
    if _LAST_ALONE.match(last):
        lines.append(f"  {comment}")
    else:
        lines[-1] = f"{lines[-1].rstrip(SPACE)} {comment}"
    return newline.join(lines) + newline


def paragraph_text(content: str, memory_id: str, newline: str = "\n") -> str | None:
    """A paragraph that holds this content; None where only a bullet can."""
    lines = escaped(content).split("\n")
    lines[-1] += f" <!-- {memory_id} -->"
    raw = newline.join(lines) + newline
    found = parse(raw).blocks
    if len(found) == 1 and isinstance(found[0], Item):
        item = found[0]
        if not item.bullet and (item.id, item.content) == (memory_id, content):
            return raw
    return None


def rewritten(item: Item, content: str, memory_id: str, newline: str = "\n") -> Item:
    """The item with other content, still a paragraph where it was one and still can be."""
    raw = None if item.bullet else paragraph_text(content, memory_id, newline)
    bullet = raw is None
    raw = raw or item_text(content, memory_id, newline)
    return item._replace(raw=raw, id=memory_id, content=content, bullet=bullet)


def identified(item: Item, memory_id: str, newline: str = "\n") -> Item:
    """The item with an id, its text as it was typed."""
    lines = [line.rstrip("\r\n") for line in _LINES.findall(item.raw)]
    if item.id is None:
        raw = _with_comment(lines, memory_id, newline)
    else:
        old = re.compile(rf"<!--[ \t]*{re.escape(item.id)}[ \t]*-->[ \t]*$")
        raw = newline.join(old.sub(f"<!-- {memory_id} -->", line) for line in lines) + newline
    found = parse(f"## x{newline}{raw}").items
    if [(one.id, one.content) for one in found] == [(memory_id, item.content)]:
        return item._replace(raw=raw, id=memory_id)
    return rewritten(item, item.content, memory_id, newline)


def without_id(line: str, memory_id: str) -> str:
    """A line of an item without the comment that names it."""
    text = line.rstrip("\r\n")
    found = _ID.search(text)
    if found is None or found[1] != memory_id:
        return line
    return text[: found.start()] + line[len(text) :]


def without_any_id(line: str) -> str:
    """A line that names no memory, whatever ids were typed at its end."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    while found := _ID.search(text):
        text = text[: found.start()]
    return text + end


# ── parsing ──────────────────────────────────────────────────────────────────────────────────


def parse(text: str, *, whole: bool = False) -> Document:
    """The blocks of a file; together they are the text, whatever it is.

    In a file, a bullet outside of a section and a paragraph without an id are a person's own. With
    `whole`, for text that somebody hands in as memory, they are items too.
    """
    return parse_anew(text, whole=True) if whole else _recent(text)


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


def parse_anew(text: str, *, whole: bool = False) -> Document:
    """The same, without looking at what was parsed before."""
    lines: list[str] = _LINES.findall(text)
    newline = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    blocks: list[Block] = []
    other: list[str] = []

    def keep(block: Block) -> None:
        if other:
            blocks.append(Verbatim("".join(other)))
            other.clear()
        blocks.append(block)

    category: str | None = None
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
        elif (closed := _closed_region(lines, at)) > at:
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


# A sync meets nearly the same text again and again: as what was written, then as what both sides
# agreed on, then as what is in the file.
_recent = Recent(parse_anew, _is_barrier, _heading_above)


def _goes_on(lines: list[str], at: int) -> bool:
    return at < len(lines) and lines[at][0] in " \t"


def _blank(line: str) -> bool:
    return not line.strip(SPACE)


def _id_of(line: str) -> str | None:
    if "mem_" not in line:
        return None
    found = _ID.search(line.rstrip("\r\n"))
    return found[1] if found else None


def _front_matter(lines: list[str]) -> int:
    """How many lines at the start are front matter."""
    if not lines or lines[0].rstrip(SPACE) != "---":
        return 0
    for at in range(1, len(lines)):
        line = lines[at].rstrip(SPACE)
        if line in ("---", "..."):
            return at + 1
        if line.startswith("## ") or _id_of(line):
            return 0
    return 0


def _section(lines: list[str], at: int, heading: re.Match[str]) -> tuple[int, Section | None]:
    if len(heading[1]) != 2:
        return at + 1, None
    category = category_of(heading[2])
    if category is None:
        return at + 1, None
    end = at + 1
    if end < len(lines) and _UPDATED.fullmatch(lines[end].strip(SPACE)):
        end += 1
    return end, Section("".join(lines[at:end]), category)


def _closed_region(lines: list[str], at: int) -> int:
    """Where a code fence or a comment that begins here ends; `at` where none does.

    One that is not closed is a line and no more, and none reaches over an item with an id: a
    fence that somebody has only begun to type must not make memories disappear.
    """
    line = lines[at]
    if fence := _FENCE.match(line):
        mark = fence[1]
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t\r\n]*$")
        closes = closing.match
    elif line.lstrip(SPACE).startswith("<!--") and _id_of(line) is None:
        if "-->" in line:
            return at + 1
        closes = re.compile(".*-->").match
    else:
        return at
    for end in range(at + 1, len(lines)):
        if _id_of(lines[end]):
            break
        if closes(lines[end]):
            return end + 1
    return at + 1


def _item(
    lines: list[str], at: int, category: str | None, *, whole: bool
) -> tuple[int, Item | None]:
    """The item that begins here, or where the text that is none ends."""
    bullet = _BULLET.match(lines[at])
    if bullet and (_id_of(lines[at]) or not _BREAK.match(lines[at].rstrip("\r\n"))):
        end = _bullet_end(lines, at, bullet[1])
        known = any(_id_of(line) for line in lines[at:end])
        content, memory_id = _content(lines[at:end], len(bullet[0]))
        if known or (content and (whole or category is not None)):
            raw = "".join(lines[at:end])
            return end, Item(raw, memory_id, content, category)
        return end, None
    end = _paragraph_end(lines, at)
    if _id_of(lines[end - 1]) or (whole and _PROSE.match(lines[at])):
        content, memory_id = _content(lines[at:end], 0)
        return end, Item("".join(lines[at:end]), memory_id, content, category, bullet=False)
    return end, None


def _bullet_end(lines: list[str], at: int, indent: str) -> int:
    """Where the bullet ends: with the last line that is indented below it."""
    known = _id_of(lines[at]) is not None
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
            if _id_of(line) and (known or _nested(line)):
                return end
            if known and _another_follows(lines, end, deeper):
                return end
            known = known or _id_of(line) is not None
            end += 1
        elif known or _starts_block(line):
            return end
        else:
            # A line that an editor wrapped without indenting it.
            known = _id_of(line) is not None
            end += 1
    return end


def _nested(line: str) -> bool:
    """Whether the line is a bullet of its own: more than a mark and a comment."""
    return _BULLET.match(_ID.sub("", line.rstrip("\r\n"))) is not None


def _another_follows(lines: list[str], at: int, deeper: tuple[str, str]) -> bool:
    """Whether the indented lines from here on hold an item of their own."""
    while at < len(lines) and lines[at].startswith(deeper) and not _blank(lines[at]):
        if _id_of(lines[at]):
            return True
        at += 1
    return False


def _paragraph_end(lines: list[str], at: int) -> int:
    end = at + 1
    if _id_of(lines[at]):
        return end
    while end < len(lines) and not _blank(lines[end]) and not _starts_block(lines[end]):
        end += 1
        if _id_of(lines[end - 1]):
            return end
    return end


def _starts_block(line: str) -> bool:
    if _HEADING.match(line) or _FENCE.match(line) or _BULLET.match(line):
        return True
    return line.lstrip(SPACE).startswith("<!--") and _id_of(line) is None


def _content(lines: Iterable[str], width: int) -> tuple[str, str | None]:
    """What an item says, without mark, indent and comment; and its id."""
    memory_id = None
    out = []
    for number, line in enumerate(lines):
        text = line.removesuffix("\n").removesuffix("\r")
        text = text[width:] if number == 0 else _dedented(text, width)
        if memory_id is None and (found := _ID.search(text)):
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
