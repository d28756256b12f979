"""The format of MEMORY.md: blocks, sections (`## Category`), items, and the comment with a memory's
id that follows an item. Pure functions on text."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import NamedTuple, TypeAlias

from holdfast.text.clean import STEERING
from holdfast.text.names import hidden_character

FILE_NAME = "MEMORY.md"
TITLE = "# Long-term Memory"
# Only these count as white space: a person typed a form feed or a no-break space on purpose.
SPACE = " \t\r\n"
# The largest length of a category's name in the store.
_CATEGORY_CHARS_MAX = 64
_UPDATED = re.compile(r"<!-- updated (\d{4}-\d\d-\d\d) -->")


class Verbatim(NamedTuple):
    """A person's own text, which is not a memory."""

    raw: str


class Section(NamedTuple):
    """A heading that names a category, with the date below it if there is one."""

    raw: str
    category: str


class MarkdownItem(NamedTuple):
    """One memory as it is written in the file; without an id it is new."""

    raw: str
    id: str | None
    content: str
    category: str | None
    bullet: bool = True


class PageBreak(NamedTuple):
    """The start of another file of the same document; it has no text of its own."""

    raw: str
    name: str


Block: TypeAlias = Verbatim | Section | MarkdownItem | PageBreak


class Document(NamedTuple):
    """MEMORY.md in blocks."""

    blocks: tuple[Block, ...]
    newline: str = "\n"

    @property
    def items(self) -> list[MarkdownItem]:
        return [block for block in self.blocks if isinstance(block, MarkdownItem)]


def render(document: Document) -> str:
    """The text of MEMORY.md from its blocks."""
    return "".join(block.raw for block in document.blocks)


def fresh() -> Document:
    """A file with only its title."""
    return Document((Verbatim(f"{TITLE}\n"),))


# ── sections ─────────────────────────────────────────────────────────────────────────────────


def category_of(heading: str) -> str | None:
    """The category that a heading names: any heading, normalised to the form of categories."""
    text = unicodedata.normalize("NFC", heading).lower()
    if not (text.isascii() and text.isprintable()):
        while (at := hidden_character(text)) is not None:
            text = text.replace(text[at], " ")
    text = re.sub(r"\s*[,;/\\]\s*", "-", " ".join(text.split()))
    return text[:_CATEGORY_CHARS_MAX].strip(" -") or None


def heading_of(category: str) -> str:
    """The category as a heading, in title case if that can be converted back."""
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
    """The date of a section, if it has a valid one."""
    found = _UPDATED.search(section.raw)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def is_date_line(line: str) -> bool:
    """Whether this is the line with the section's date, below its heading."""
    return _UPDATED.fullmatch(line.strip(SPACE)) is not None


def ended(raw: str, newline: str) -> str:
    """The text with its last line ended."""
    return raw if not raw or raw.endswith("\n") else raw + newline


# Matched only where white space begins, not again at each of its characters.
ID_COMMENT = re.compile(r"(?<![ \t])[ \t]*+<!--[ \t]*+(mem_[0-9A-Za-z_-]{1,64})[ \t]*+-->[ \t]*+$")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

# Characters that would break an item are written as HTML references, which every viewer renders.
# Text that looks like such a reference already gets one more `amp;`, so that decoding is
# unambiguous. New content has no control characters; content of an older store may.
_CONTROLS = {code: f"&#{code};" for code in STEERING}
_DECODED = {
    "lt;!--": "<!--",
    **{f"#{code};": chr(code) for code in (*map(ord, "\t\n -"), *STEERING)},
}
_REFERENCE = re.compile(rf"&((?:amp;)*)({'|'.join(map(re.escape, _DECODED))})")


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Only a line feed ends one; `splitlines` knows others."""
    return _LINES.findall(text)


# ── ids ──────────────────────────────────────────────────────────────────────────────────────


def id_of(line: str) -> str | None:
    """The id at the end of a line."""
    if "mem_" not in line:
        return None
    found = _last_comment(line.rstrip("\r\n"))
    return found[1] if found else None


def without_id(line: str, memory_id: str) -> str:
    """A line of an item without the comment that names it."""
    text = line.rstrip("\r\n")
    found = _last_comment(text)
    if found is None or found[1] != memory_id:
        return line
    return text[: found.start()] + line[len(text) :]


def without_any_id(line: str) -> str:
    """The line without any ids at its end."""
    text = line.rstrip("\r\n")
    end = line[len(text) :]
    while found := _last_comment(text):
        text = text[: found.start()]
    return text + end


def _last_comment(text: str) -> re.Match[str] | None:
    """The last comment with an id; only the one at the end of the line counts."""
    at = text.rfind("<!--")
    return ID_COMMENT.match(text, len(text[:at].rstrip(" \t"))) if at >= 0 else None


# ── references ───────────────────────────────────────────────────────────────────────────────


def escaped(content: str) -> str:
    """Content escaped for an item; `unescaped` is the exact inverse."""
    text = _REFERENCE.sub(lambda found: f"&amp;{found[1]}{found[2]}", content)
    text = text.replace("<!--", "&lt;!--").translate(_CONTROLS)
    body = text.strip(SPACE)
    start = text.find(body)
    front, back = text[:start], text[start + len(body) :]
    first = body.partition("\n")[0]
    if body.startswith("-") and not first.strip("- \t"):
        # After the bullet's own dash it would be a horizontal rule.
        body = "&#45;" + body[1:]
    return _references(front) + body + _references(back)


def _references(space: str) -> str:
    return "".join(f"&#{ord(character)};" for character in space)


def unescaped(text: str) -> str:
    return _REFERENCE.sub(
        lambda found: f"&{found[1][4:]}{found[2]}" if found[1] else _DECODED[found[2]], text
    )
