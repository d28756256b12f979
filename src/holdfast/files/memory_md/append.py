"""Appends text to MEMORY.md: splits it into memories, and finds their positions. The text stays
unchanged; ids and dates of sections are added in comments. The file from before an append or a
rewrite is stored, so that undo restores it byte for byte."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.records import Agreed
from holdfast.errors import HoldfastError, StoreError
from holdfast.files.memory_md import (
    FILE_NAME,
    SPACE,
    TITLE,
    Block,
    Document,
    MarkdownItem,
    Section,
    Verbatim,
    category_of,
    dated,
    ended,
)
from holdfast.files.memory_md.disk import agreed_texts
from holdfast.files.memory_md.parse import identified, item_text, parse
from holdfast.system.atomic_file import locked, write_atomic

if TYPE_CHECKING:
    from holdfast.engine.core import Scope
    from holdfast.engine.history import Undone
    from holdfast.store.base import Reader


_ANY_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_FENCE = re.compile(r" {0,3}(```|~~~)")


class Piece(NamedTuple):
    """A part of a text to be added to MEMORY.md: its content as a memory (empty for a heading or an
    empty line), its category, and its raw text. `place` distinguishes equal ones."""

    place: int
    content: str
    category: str | None
    raw: str
    block: Block


def last_category(text: str) -> str | None:
    """The category of the last section, to which text added at the end belongs."""
    category: str | None = None
    for block in parse(text).blocks:
        if isinstance(block, Section):
            category = block.category
        elif isinstance(block, Verbatim) and re.search(r"(?m)^# ", block.raw):
            category = None
    return category


def pieces(text: str, category: str | None) -> list[Piece]:
    """Splits text to be added to MEMORY.md into parts: a memory for each bullet, paragraph and
    other block. `category` is that of the position where it is added, until a heading names
    another."""
    out: list[Piece] = []

    def keep(content: str, raw: str, block: Block) -> None:
        out.append(Piece(len(out), content, named or category, raw, block))

    named: str | None = None  # the category of a heading that is not a section
    for block in parse(ended(text.replace("\r\n", "\n"), "\n"), whole=True).blocks:
        if isinstance(block, Section):
            category, named = block.category, None
            keep("", block.raw, block)
        elif isinstance(block, MarkdownItem):
            keep(block.content, block.raw, block._replace(id=None, category=category))
        else:
            for part in _parts(block.raw):
                heading = _ANY_HEADING.fullmatch(part.rstrip(SPACE))
                if heading and len(heading[1]) == 1:
                    category, named = None, category_of(heading[2])
                elif heading and category is None:
                    named = category_of(heading[2])
                is_text = bool(part.strip(SPACE)) and not heading
                keep(part.strip(SPACE) if is_text else "", part, Verbatim(part))
    return out


def with_ids(found: Sequence[Piece], ids: Mapping[Piece, str]) -> list[Block]:
    """The text as blocks, each memory with its id. Parts without an id, because they are known
    already, are left out, and so is a heading with nothing below it."""
    blocks: list[Block] = []
    for piece in found:
        if not piece.content:
            blocks.append(piece.block)
        elif (memory_id := ids.get(piece)) and isinstance(piece.block, MarkdownItem):
            blocks.append(identified(piece.block, memory_id))
        elif memory_id:
            # A block of code or a table can only be a memory below a bullet.
            raw = item_text(piece.content, memory_id)
            category = piece.category if _in_section(found, piece) else None
            blocks.append(MarkdownItem(raw, memory_id, piece.content, category))
    return _without_empty(blocks)


def _in_section(found: Sequence[Piece], piece: Piece) -> bool:
    """Whether its category is that of a section, in the text or above it."""
    for before in reversed(found[: piece.place]):
        if isinstance(before.block, Section):
            return True
        if re.match(r" {0,3}# ", before.raw):
            return False
    return not any(isinstance(one.block, Section) for one in found[: piece.place])


def _without_empty(blocks: Sequence[Block]) -> list[Block]:
    """The blocks without trailing headings and blank lines."""
    out = list(blocks)
    while out and not isinstance(out[-1], MarkdownItem):
        out.pop()
    kept: list[Block] = []
    for at, block in enumerate(out):
        after = next(
            (one for one in out[at + 1 :] if isinstance(one, (MarkdownItem, Section))), None
        )
        if isinstance(block, Section) and isinstance(after, Section):
            continue
        kept.append(block)
    return kept


def appended(document: Document, blocks: Sequence[Block], today: date) -> Document:
    """MEMORY.md with these blocks, below the heading that they name if it exists, else at the end.
    Memories that are already in it stay unchanged."""
    there = {item.id for item in document.items}
    left = [one for one in blocks if not (isinstance(one, MarkdownItem) and one.id in there)]
    left = _without_empty(left)
    if not left:
        return document
    made = list(document.blocks)
    if len(made) == 1 and made[0].raw.strip() == TITLE and left[0].raw.startswith("# "):
        # A text with a title of its own needs no other.
        made = []
    for group in _groups(left):
        _insert(made, group, document.newline, today)
    return Document(tuple(made), document.newline)


def _groups(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """The blocks in parts that begin with a section."""
    group: list[Block] = []
    for block in blocks:
        if isinstance(block, Section) and group:
            yield group
            group = []
        group.append(block)
    yield group


def _insert(made: list[Block], group: list[Block], newline: str, today: date) -> None:
    first = group[0]
    at = len(made)
    if isinstance(first, Section):
        heading = _find(made, first.category)
        if heading is None:
            group = [dated(first, today, newline), *group[1:]]
        else:
            made[heading] = dated(made[heading], today, newline)  # type: ignore[arg-type]
            at = _end_of(made, heading)
            group = group[1:]
            while (
                group and not isinstance(group[0], MarkdownItem) and not group[0].raw.strip(SPACE)
            ):
                group = group[1:]
    else:
        heading = _last_section(made)
        if heading is not None:
            made[heading] = dated(made[heading], today, newline)  # type: ignore[arg-type]
    if not group:
        return
    if at:
        made[at - 1] = made[at - 1]._replace(raw=ended(made[at - 1].raw, newline))
        if _needs_gap(made[at - 1], group[0]):
            group = [Verbatim(newline), *group]
    raws = [block._replace(raw=block.raw.replace("\n", newline)) for block in group]
    if at < len(made) and made[at].raw.strip(SPACE):
        raws.append(Verbatim(newline))
    made[at:at] = raws


def _needs_gap(above: Block, below: Block) -> bool:
    """Whether an empty line must separate them: two bullets, or a heading and its text, need
    none."""
    if above.raw.endswith(("\n\n", "\n\r\n")) or not above.raw.strip(SPACE):
        return False
    if isinstance(below, MarkdownItem) and isinstance(above, MarkdownItem):
        return not (above.bullet and below.bullet)
    return not (isinstance(below, MarkdownItem) and isinstance(above, Section))


def _find(blocks: Sequence[Block], category: str) -> int | None:
    """The last section of a category."""
    for at in reversed(range(len(blocks))):
        block = blocks[at]
        if isinstance(block, Section) and block.category == category:
            return at
    return None


def _last_section(blocks: Sequence[Block]) -> int | None:
    for at in reversed(range(len(blocks))):
        block = blocks[at]
        if isinstance(block, Section):
            return at
        if isinstance(block, Verbatim) and re.search(r"(?m)^# ", block.raw):
            return None
    return None


def _end_of(blocks: Sequence[Block], heading: int) -> int:
    """The end of the section, before the empty lines that separate it from the next."""
    end = heading + 1
    for at in range(heading + 1, len(blocks)):
        block = blocks[at]
        title = isinstance(block, Verbatim) and re.search(r"(?m)^# ", block.raw)
        if isinstance(block, Section) or title:
            break
        if block.raw.strip(SPACE):
            end = at + 1
    return end


def _parts(raw: str) -> Iterator[str]:
    """Splits free text into headings, code blocks, empty lines, and the text in between."""
    part: list[str] = []
    fence = ""
    for line in raw.splitlines(keepends=True):
        alone = not fence and (_ANY_HEADING.fullmatch(line.rstrip(SPACE)) or not line.strip())
        if alone and part:
            yield "".join(part)
            part = []
        if alone:
            yield line
            continue
        part.append(line)
        if found := _FENCE.match(line):
            # A fence is closed by the characters that opened it.
            fence = "" if found[1] == fence else fence or found[1]
    if part:
        yield "".join(part)


BEFORE = f"{FILE_NAME} before"
# Only the last few changes are restored exactly; for older ones, undo adds the lines again in their
# usual order.
_CHANGES_MAX = 8
# A larger file is not the kind that a model rewrites.
_CHARS_MAX = 200_000


def note_before(
    scope: Scope, changes: Iterable[str], before: str | None, after: str | None
) -> None:
    """Stores MEMORY.md as it was before and after these change sets. If the store cannot be written
    now, only this record is lost."""
    named = list(changes)
    if not named or not before or not after or before == after:
        return
    if len(before) + len(after) > _CHARS_MAX:
        return
    with suppress(StoreError), scope.core.store.write(hub=scope.hub_id) as writer:
        rows = _rows(writer, scope.hub_id)
        rows |= dict.fromkeys(named, (before, after))
        newest = dict(list(rows.items())[-_CHANGES_MAX:])
        note = json.dumps(newest, ensure_ascii=False)
        writer.set_agreed(scope.hub_id, Agreed(BEFORE, note, scope.now()))


def put_back(scope: Scope, path: str, undone: Undone) -> None:
    """Restores MEMORY.md from before the change set that was undone, if nobody has changed it
    since. Otherwise the next sync writes the restored lines."""
    with scope.core.store.read() as reader:
        found = _rows(reader, scope.hub_id).get(undone.undone.id)
    if found is None or scope.settings["files.per_category"]:
        return
    before, after = found
    with suppress(HoldfastError, OSError), locked(path):
        if not _is(path, after):
            return
        with scope.core.store.read() as reader:
            if agreed_texts(reader, scope.hub_id) != {FILE_NAME: after}:
                return
        write_atomic(path, before)
        with scope.core.store.write(hub=scope.hub_id) as writer:
            writer.set_agreed(scope.hub_id, Agreed(FILE_NAME, before, scope.now()))
        note_before(scope, [undone.change.id], after, before)


def _is(path: str, text: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read() == text.encode()


def _rows(reader: Reader, hub_id: str) -> dict[str, tuple[str, str]]:
    """By change set, the file before and after it, oldest first."""
    found = reader.agreed(hub_id, BEFORE)
    rows = json.loads(found.text) if found else {}
    return {change: (row[0], row[1]) for change, row in rows.items()}
