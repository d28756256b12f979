"""The positions of memories in MEMORY.md: a document is changed as little as possible.

Lines that need no change stay unchanged. New lines are added at the end of their section, a
person's own text stays in place, and text that was created for a memory is removed with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import NamedTuple

from holdfast.domain.memory import CATEGORIES, Memory
from holdfast.files.memory_md import (
    Block,
    Document,
    MarkdownItem,
    PageBreak,
    Section,
    Verbatim,
    dated,
    ended,
    section_text,
    updated_of,
)
from holdfast.files.memory_md.pages import joined, split
from holdfast.files.memory_md.parse import identified, item_text, rewritten

_PLACE = {category: place for place, category in enumerate(CATEGORIES)}


class Wanted(NamedTuple):
    """The wanted content of the file: its memories; the memory of each item; which of them are
    placed beside another; which items stay as typed, whatever the store says; the categories with
    changes; and a function for the categories with headings that Holdfast created."""

    memories: Mapping[str, Memory]
    links: Mapping[int, str]
    beside: Mapping[str, str]
    left_alone: Collection[int]
    touched: Collection[str] = ()
    made_here: Callable[[], Collection[str]] = frozenset


def lay_out(document: Document, wanted: Wanted, today: date) -> Document:
    """MEMORY.md with these memories in it."""
    for spaced in (False, True):
        made = _lay_out(document, wanted, today, spaced=spaced)
        if _says(made, wanted):
            break
        # Lines that are now adjacent would be parsed as one paragraph; blank lines separate them.
    return made


def _says(document: Document, wanted: Wanted) -> bool:
    meant, read = document.items, joined(split(document)).items
    return len(meant) == len(read) and all(
        one is other or (one.id, one.content) == (other.id, other.content)
        for one, other in zip(meant, read, strict=True)
    )


def without_place(document: Document, wanted: Wanted) -> set[str]:
    """The categories of memories without an item in MEMORY.md that can stay in place."""
    placed = set()
    for index, item in enumerate(document.items):
        memory = wanted.memories.get(wanted.links.get(index, ""))
        if memory is not None and item.category in (None, memory.category):
            placed.add(memory.id)
    return {memory.category for memory in wanted.memories.values() if memory.id not in placed}


def _lay_out(document: Document, wanted: Wanted, today: date, *, spaced: bool) -> Document:
    layout = _Layout(document.newline, today, gap=document.newline if spaced else "")
    layout.keep(document, wanted)
    missing = [m for m in wanted.memories.values() if m.id not in layout.placed]
    layout.place(sorted(missing, key=_order), wanted.beside)
    layout.tidy(wanted.made_here)
    return Document(tuple(layout.blocks), document.newline)


def _order(memory: Memory) -> tuple[int, str, int]:
    return _PLACE.get(memory.category, len(_PLACE)), memory.category, memory.number


def _is_as_it_should(item: MarkdownItem, memory: Memory) -> bool:
    return (
        item.id == memory.id
        and item.content == memory.content
        and (item.category is None or item.category == memory.category)
    )


class _Layout:
    def __init__(self, newline: str, today: date, *, gap: str) -> None:
        self.newline = newline
        self.today = today
        self.gap = gap
        self.blocks: list[Block] = []
        self.placed: set[str] = set()
        # The categories that an item has left.
        self.left: set[str] = set()

    def keep(self, document: Document, wanted: Wanted) -> None:
        """Copies the blocks that stay, in place."""
        index = 0
        section: int | None = None
        for block in document.blocks:
            if isinstance(block, Section):
                section = len(self.blocks)
                if block.category in wanted.touched:
                    block = dated(block, self.today, self.newline)
            if not isinstance(block, MarkdownItem):
                self.blocks.append(block)
                continue
            memory = wanted.memories.get(wanted.links.get(index, ""))
            if memory is not None and _is_as_it_should(block, memory):
                # The usual case in a large file.
                self.placed.add(memory.id)
                self.blocks.append(block)
                index += 1
                continue
            item = self._kept(block, index, wanted)
            index += 1
            if item is not block and block.category is not None:
                self._touch(section)
            if item is not None:
                self.blocks.append(item)
                continue
            if block.category is not None:
                self.left.add(block.category)
            if self.gap:
                self.blocks.append(Verbatim(self.gap))

    def _kept(self, item: MarkdownItem, index: int, wanted: Wanted) -> MarkdownItem | None:
        """The item with its wanted text; None if it must move."""
        if index in wanted.left_alone:
            self.placed.add(wanted.links.get(index, ""))
            return item
        memory = wanted.memories.get(wanted.links.get(index, ""))
        if memory is None:
            return None
        if item.category is not None and item.category != memory.category:
            return None
        self.placed.add(memory.id)
        if item.content != memory.content:
            return rewritten(item, memory.content, memory.id, self.newline)
        return item if item.id == memory.id else identified(item, memory.id, self.newline)

    def _touch(self, section: int | None) -> None:
        if section is not None:
            block = self.blocks[section]
            if isinstance(block, Section):
                self.blocks[section] = dated(block, self.today, self.newline)

    def place(self, memories: Iterable[Memory], beside: Mapping[str, str]) -> None:
        """Adds the missing memories, one category at a time."""
        together: dict[str, list[Memory]] = {}
        for memory in memories:
            neighbour = beside.get(memory.id)
            if neighbour in self.placed:
                self._insert(self._find(_has_id(neighbour)) + 1, [memory])
            else:
                together.setdefault(memory.category, []).append(memory)
        for category, members in together.items():
            self._place_category(category, members)

    def _place_category(self, category: str, members: list[Memory]) -> None:
        heading = self._find(lambda b: isinstance(b, Section) and b.category == category)
        if heading < 0:
            self._new_section(category, members)
            return
        self._touch(heading)
        at = heading + 1
        for place in range(heading + 1, len(self.blocks)):
            block = self.blocks[place]
            if isinstance(block, Section) or (
                isinstance(block, MarkdownItem) and block.category is None
            ):
                break
            if isinstance(block, MarkdownItem):
                at = place + 1
        if at == heading + 1:
            at += self._blank_line_at(at)
        self._insert(at, members)

    def _blank_line_at(self, at: int) -> int:
        """Uses the blank line below an empty heading for new items; returns the number of blocks it
        takes, one or none."""
        below = self.blocks[at].raw if at < len(self.blocks) else ""
        for line in ("\r\n", "\n"):
            if below.startswith(line):
                rest = below.removeprefix(line)
                self.blocks[at : at + 1] = [Verbatim(line), *([Verbatim(rest)] if rest else [])]
                return 1
        return 0

    def _new_section(self, category: str, members: list[Memory]) -> None:
        self._end_last(len(self.blocks))
        if self.blocks and self._blank_lines_before(len(self.blocks)) < 1:
            self.blocks.append(Verbatim(self.newline))
        updated = max(memory.updated_at.date() for memory in members)
        self.blocks.append(Section(section_text(category, updated, self.newline), category))
        self._insert(len(self.blocks), members)

    def _insert(self, at: int, members: list[Memory]) -> None:
        self._end_last(at)
        before: list[Block] = []
        if isinstance(self.blocks[at - 1], Section) or self.gap:
            before = [Verbatim(self.newline)]
        made: list[Block] = [
            MarkdownItem(item_text(m.content, m.id, self.newline), m.id, m.content, m.category)
            for m in members
        ]
        after: list[Block] = []
        if at < len(self.blocks) and not isinstance(self.blocks[at], MarkdownItem):
            following = self.blocks[at].raw
            if isinstance(self.blocks[at], Section) or following[:1] not in "\r\n":
                after = [Verbatim(self.newline)]
        elif self.gap:
            after = [Verbatim(self.newline)]
        self.blocks[at:at] = [*before, *made, *after]
        self.placed.update(memory.id for memory in members)

    def tidy(self, made_here: Callable[[], Collection[str]]) -> None:
        """Removes what was created with items that were removed: a blank line below their heading,
        and the heading itself if nothing is left below it and it is at the end of the file (where
        it would be created again), or was created by Holdfast. A heading in another form, or with a
        person's text below it, stays."""
        # From the last one backwards, so that the positions of the others stay valid.
        for at in reversed(range(len(self.blocks))):
            block = self.blocks[at]
            if not self.left or not isinstance(block, Section):
                continue
            end = self._empty_until(at)
            if end == len(self.blocks):
                self._drop_last_section(at)
            elif end and block.category in self.left:
                # One separated the item from its heading, one from the next heading.
                lines = sum(one.raw.count("\n") for one in self.blocks[at + 1 : end])
                if self._is_only(block) and block.category in made_here():
                    more = self.newline * max(0, lines - 2)
                    self.blocks[at:end] = [Verbatim(more)] if more else []
                else:
                    self.blocks[at + 1 : end] = [Verbatim(self.newline * max(1, lines - 1))]

    def _is_only(self, section: Section) -> bool:
        """Whether there is no other heading of the category, which may be a person's."""
        found = (one for one in self.blocks if isinstance(one, Section))
        return sum(one.category == section.category for one in found) == 1

    def _empty_until(self, at: int) -> int:
        """The end of the section, if Holdfast created it and it has only blank lines; otherwise
        0."""
        section = self.blocks[at]
        if not isinstance(section, Section) or not _is_in_our_form(section, self.newline):
            return 0
        for end in range(at + 1, len(self.blocks)):
            block = self.blocks[end]
            if isinstance(block, Section):
                return end
            if not isinstance(block, Verbatim) or block.raw.strip("\r\n"):
                return 0
        return 0 if at and isinstance(self.blocks[at - 1], PageBreak) else len(self.blocks)

    def _drop_last_section(self, at: int) -> None:
        apart = self._blank_lines_before(at)
        del self.blocks[at:]
        # One blank line separated the heading; more are somebody's own.
        if apart == 1 and isinstance(self.blocks[-1], Verbatim):
            raw = self.blocks[-1].raw
            self.blocks[-1] = Verbatim(raw.removesuffix("\n").removesuffix("\r"))

    def _blank_lines_before(self, at: int) -> int:
        before = "".join(block.raw for block in self.blocks[max(0, at - 2) : at])
        return before[len(before.rstrip("\r\n")) :].count("\n") - 1

    def _end_last(self, at: int) -> None:
        """Adds a line end before an insertion, if it is missing."""
        if at:
            block = self.blocks[at - 1]
            self.blocks[at - 1] = block._replace(raw=ended(block.raw, self.newline))

    def _find(self, wanted: Callable[[Block], bool]) -> int:
        return next((at for at, block in enumerate(self.blocks) if wanted(block)), -1)


def _is_in_our_form(section: Section, newline: str) -> bool:
    updated = updated_of(section)
    return updated is not None and section.raw == section_text(section.category, updated, newline)


def headings_made(before: Document, after: Document) -> tuple[set[str], set[str]]:
    """The categories with headings that a layout created, and those with headings by a person: in
    another form, or more than one."""
    there = [block for block in before.blocks if isinstance(block, Section)]
    now = {block.category for block in after.blocks if isinstance(block, Section)}
    names = [block.category for block in there]
    typed = {one.category for one in there if not _is_in_our_form(one, before.newline)}
    return now - set(names), typed | {name for name in names if names.count(name) > 1}


def _has_id(memory_id: str | None) -> Callable[[Block], bool]:
    return lambda block: isinstance(block, MarkdownItem) and block.id == memory_id
