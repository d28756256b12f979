"""One document in several files: MEMORY.md and, with `files.per_category`, a page for each
category. The sync works on the whole document; this module joins it from its files, converts it
between both layouts, and splits it again.

It knows only texts and file names, not the disk or the store.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import TYPE_CHECKING

from holdfast.domain.memory import CATEGORIES
from holdfast.files.memory_md import (
    FILE_NAME,
    Block,
    Document,
    MarkdownItem,
    PageBreak,
    Section,
    Verbatim,
    ended,
    heading_of,
    render,
    section_text,
    updated_of,
)
from holdfast.files.memory_md.cache import is_page_name
from holdfast.files.memory_md.parse import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLURALS = {
    **{category: f"{category}s" for category in CATEGORIES},
    "person": "people",
    "core": "core",
    "daily": "daily",
}
_SINGULARS = {plural: category for category, plural in _PLURALS.items()}
# Names that mean something else in the folder, or that Windows reserves.
_TAKEN = {*_SINGULARS, "memory", "readme", "con", "prn", "aux", "nul"}
_NAMES = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
# A journal is named by its day; no other page begins with a year and a month.
_DATED = re.compile(r"\d{4} \d\d")
_TITLE = re.compile(r"\ufeff?#[ \t][^\n]*(?:\n|$)")
_TOP_HEADING = re.compile(r"(?m)^#[ \t]")


# ── names ────────────────────────────────────────────────────────────────────────────────────


def page_of(category: str) -> str | None:
    """The file of a category; None if its name is not a safe file name, or ambiguous: those stay in
    MEMORY.md."""
    if category in _PLURALS:
        return f"{_PLURALS[category]}.md"
    if category in _TAKEN or not _NAMES.fullmatch(category) or _DATED.match(category):
        return None
    return f"{category.replace(' ', '-')}.md"


def category_of_page(name: str) -> str | None:
    """The category of a page beside MEMORY.md by its file name; None if it is not a page."""
    if not is_page_name(name):
        return None
    stem = name.removesuffix(".md")
    category = _SINGULARS.get(stem, stem.replace("-", " "))
    return category if page_of(category) == name else None


# ── several texts, one document ──────────────────────────────────────────────────────────────


def joined(texts: Mapping[str, str]) -> Document:
    """The document of these files, by name; MEMORY.md comes first."""
    first = parse(texts.get(FILE_NAME, ""))
    if len(texts) == 1 and FILE_NAME in texts:
        return first
    blocks = list(first.blocks)
    for name in sorted(texts.keys() - {FILE_NAME}):
        blocks += [PageBreak("", name), *_page_blocks(texts[name], category_of_page(name) or "")]
    return Document(tuple(_once(blocks)), first.newline)


def _page_blocks(text: str, category: str) -> list[Block]:
    """The blocks of a page: text outside any section belongs to the section of the page."""
    title = _TITLE.match(text)
    head, rest = (title[0], text[title.end() :]) if title else ("", text)
    blocks = list(parse(rest).blocks)
    opening = next((block for block in blocks if not _is_blank(block)), None)
    if isinstance(opening, Section):
        return [Verbatim(head), *blocks] if head else blocks
    # As if the page's section began here; its first lines, if any, are the heading.
    assumed = f"## {heading_of(category)}\n"
    section, *blocks = parse(assumed + rest).blocks
    return [Section(head + section.raw.removeprefix(assumed), category), *blocks]


def _is_blank(block: Block) -> bool:
    return not block.raw.strip()


def _once(blocks: Iterable[Block]) -> list[Block]:
    """The blocks without the second of two identical lines in different files: one was copied to
    its page, and not yet removed from its old place."""
    page = FILE_NAME
    first_in: dict[tuple[str, str], str] = {}
    out: list[Block] = []
    for block in blocks:
        if isinstance(block, PageBreak):
            page = block.name
        if isinstance(block, MarkdownItem) and block.id is not None:
            if first_in.setdefault((block.id, block.content), page) == page:
                out.append(block)
        else:
            out.append(block)
    return out


def split(document: Document) -> dict[str, str]:
    """The texts of MEMORY.md and its pages, from the document that has them all."""
    if not _has_pages(document):
        return {FILE_NAME: render(document)}
    texts: dict[str, list[str]] = {FILE_NAME: []}
    page = FILE_NAME
    for block in document.blocks:
        if isinstance(block, PageBreak):
            page = block.name
        texts.setdefault(page, []).append(block.raw)
    return {name: "".join(raws) for name, raws in texts.items()}


# ── converting between the layouts ───────────────────────────────────────────────────────────


def gathered(document: Document) -> Document:
    """Everything in MEMORY.md: each page as a section of it."""
    if not _has_pages(document):
        return document
    parts = _parts(document)
    blocks = parts.pop(FILE_NAME)
    for name, page in parts.items():
        _fold(blocks, [_as_section(block) for block in page], document.newline, name)
    return Document(tuple(blocks), document.newline)


def spread(document: Document) -> Document:
    """Moves each section of MEMORY.md to the page of its category, if that can have one."""
    parts = _parts(document)
    first, sections = _sections(parts[FILE_NAME])
    for category, blocks in sections:
        name = page_of(category)
        if name is None:
            _end(first, document.newline)
            first += blocks
        elif name in parts:
            _fold(parts[name], blocks, document.newline, name)
        else:
            parts[name] = blocks
    parts[FILE_NAME] = first
    return _document(parts, document.newline)


def with_sections(document: Document, categories: Iterable[str], today: date) -> Document:
    """The document with a section for each of these categories, on its own page if possible."""
    there = {block.category for block in document.blocks if isinstance(block, Section)}
    parts = _parts(document)
    for category in sorted(set(categories) - there):
        part = parts.setdefault(page_of(category) or FILE_NAME, [])
        _end(part, document.newline)
        if part:
            part.append(Verbatim(document.newline))
        part.append(Section(section_text(category, today, document.newline), category))
    return _document(parts, document.newline)


def tidied(document: Document) -> Document:
    """Merges sections of the same category in MEMORY.md and its pages, and reduces several empty
    lines to one; every other line is unchanged."""
    parts = _parts(document)
    for name, blocks in parts.items():
        out, sections = _sections(blocks)
        for _, section in sections:
            _fold(out, section, document.newline, name)
        parts[name] = [
            block._replace(raw=re.sub(r"(\r?\n){3,}", r"\1\1", block.raw))
            if isinstance(block, Verbatim) and _is_blank(block)
            else block
            for block in out
        ]
    return _document(parts, document.newline)


def _has_pages(document: Document) -> bool:
    return any(type(block) is PageBreak for block in document.blocks)


def _parts(document: Document) -> dict[str, list[Block]]:
    parts: dict[str, list[Block]] = {FILE_NAME: []}
    page = FILE_NAME
    for block in document.blocks:
        if isinstance(block, PageBreak):
            page = block.name
            parts.setdefault(page, [])
        else:
            parts[page].append(block)
    return parts


def _document(parts: Mapping[str, Sequence[Block]], newline: str) -> Document:
    blocks: list[Block] = list(parts[FILE_NAME])
    for name in sorted(parts.keys() - {FILE_NAME}):
        blocks += [PageBreak("", name), *parts[name]]
    return Document(tuple(blocks), newline)


def _sections(blocks: Iterable[Block]) -> tuple[list[Block], list[tuple[str, list[Block]]]]:
    """The text outside of sections, and the sections with their categories, in order."""
    outside: list[Block] = []
    sections: list[tuple[str, list[Block]]] = []
    inside: list[Block] = outside
    for block in blocks:
        if isinstance(block, Section):
            inside = []
            sections.append((block.category, inside))
        elif isinstance(block, Verbatim) and (top := _TOP_HEADING.search(block.raw)):
            # A heading above all sections ends the one before it.
            inside.append(Verbatim(block.raw[: top.start()]))
            inside = outside
            block = Verbatim(block.raw[top.start() :])
        inside.append(block)
    return outside, sections


def _fold(into: list[Block], blocks: Sequence[Block], newline: str, name: str) -> None:
    """Adds blocks: those of an existing section at its end, without repeating free text; others at
    the end."""
    category: str | None = None
    said = {block.raw.strip() for block in into if isinstance(block, Verbatim)}
    for block in blocks:
        if isinstance(block, Section):
            category = block.category
            if _end_of(into, category) is None:
                _end(into, newline)
                if into and not render(Document((into[-1],))).endswith(("\n\n", "\r\n\r\n")):
                    into.append(Verbatim(newline))
                into.append(block)
            continue
        if isinstance(block, Verbatim) and block.raw.strip() in said | {""}:
            continue
        at = _end_of(into, category) if category is not None else None
        at = len(into) if at is None else at
        if at:
            into[at - 1] = into[at - 1]._replace(raw=ended(into[at - 1].raw, newline))
            if isinstance(into[at - 1], Section):
                into.insert(at, Verbatim(newline))
                at += 1
        into.insert(at, block._replace(raw=ended(block.raw, newline)))


def _end_of(blocks: Sequence[Block], category: str) -> int | None:
    """The end of the section's text, before the empty lines that separate it from the next."""
    found: int | None = None
    for at, block in enumerate(blocks):
        if isinstance(block, Section):
            if found is not None:
                return found
            if block.category == category:
                found = at + 1
        elif found is not None and not _is_blank(block):
            found = at + 1
    return found


def _end(blocks: list[Block], newline: str) -> None:
    if blocks:
        blocks[-1] = blocks[-1]._replace(raw=ended(blocks[-1].raw, newline))


def _as_section(block: Block) -> Block:
    """A page's own heading in the form of MEMORY.md."""
    if isinstance(block, Section) and not block.raw.startswith("##"):
        updated = updated_of(block)
        raw = section_text(block.category, updated or date.min)
        # A page that has no date yet gets one with its first change.
        return block._replace(raw=raw if updated else raw.partition("\n")[0] + "\n")
    return block
