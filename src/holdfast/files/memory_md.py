"""The format of MEMORY.md: what a file is made of.

A file is a run of blocks. Sections (`## Category`) and items (a bullet, or a paragraph that ends
with `<!-- mem_… -->`) are understood; everything else is kept as it is. Each block keeps its own
text, so rendering what was parsed gives the same bytes. Here are the blocks and how sections are
written; `memory_md_parse` finds blocks in a text, `memory_md_items` writes items. The format knows
nothing of the store.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import NamedTuple, TypeAlias

FILE_NAME = "MEMORY.md"
TITLE = "# Long-term Memory"
# Only these count as white space: a form feed or a no-break space is something a person typed.
SPACE = " \t\r\n"
# The bound of a category's name in the store.
_CATEGORY_CHARS_MAX = 64
_UPDATED = re.compile(r"<!-- updated (\d{4}-\d\d-\d\d) -->")


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


# ── sections ─────────────────────────────────────────────────────────────────────────────────


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


def is_date_line(line: str) -> bool:
    """Whether it is the line below a heading that holds the section's date."""
    return _UPDATED.fullmatch(line.strip(SPACE)) is not None


def ended(raw: str, newline: str) -> str:
    """The text with its last line ended."""
    return raw if not raw or raw.endswith("\n") else raw + newline
