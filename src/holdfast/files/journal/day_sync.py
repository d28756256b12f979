"""Two-way sync of one day's journal file and its memories. A sync that would archive a large part
of the journals is refused."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.engine.reading.listing import scan_memories
from holdfast.errors import InvalidInput, StoreError
from holdfast.files.journal import entries
from holdfast.files.journal.changes import signature_at
from holdfast.files.journal.edits import Merged, apply_day, merge, note_clashes
from holdfast.files.journal.entries import (
    Base,
    File,
    JournalBlock,
    JournalFolder,
    JournalLine,
    base_of,
    block_of,
    follow_store,
    name_of,
    path_of,
    read_file,
    set_paths,
)
from holdfast.system.atomic_file import write_atomic
from holdfast.text import clean

# The same bounds as for MEMORY.md: more than a third of all, and more than a few.
_SHARE = 3
_LEAST = 3


class Guard:
    """Decides for one sync of any number of days."""

    def __init__(self, place: JournalFolder, *, confirm: bool = False) -> None:
        self._place = place
        self._confirm = confirm
        self._entries: int | None = None

    def refuses(self, day: date, gone: int) -> bool:
        """Whether so many entries may not go from a day. What is gone from other days, and waits,
        counts as well."""
        withheld = self._place.changes.withheld
        others = sum(held.gone for name, held in [*withheld.items()] if name != name_of(day))
        gone += others
        if self._confirm or gone <= _LEAST:
            return False
        return gone * _SHARE > self._count()

    def note(self, day: date, gone: int) -> str:
        return (
            f"{name_of(day)} lacks {gone} of its entries, and the journals together too many to "
            "archive them unasked. If that is meant, say so with `holdfast sync --confirm`; to "
            "have them back, delete the file."
        )

    def _count(self) -> int:
        if self._entries is None:
            place = self._place
            wanted = Filter(layers=("journal",), states=("active", "cooling"))
            found = scan_memories(place.scope, wanted)
            self._entries = sum(1 for _ in found)
        return self._entries


# If an editor saves during the sync, its version is read first, up to this many times.
_ATTEMPTS = 3
# An editor that writes in place empties the file first and fills it within a few milliseconds.
PAUSE_S = 0.05
_PAUSES = 4


class Synced(NamedTuple):
    """A day's file after a sync, and the new base."""

    lines: list[JournalLine]
    items: list[tuple[str, str]]
    notes: list[str]


class _Sides(NamedTuple):
    """The file and the store as they were read. The blocks are redacted; if the file has secrets,
    it is not `clean` and will be rewritten."""

    file: File | None
    base: Base
    rows: dict[str, Memory]
    blocks: list[JournalBlock]
    notes: list[str]
    clean: bool = True

    @property
    def text(self) -> str:
        return self.file.text if self.file else ""

    @property
    def emptied(self) -> bool:
        """Whether the file is empty: that is a crash or an accident, so it is restored, not treated
        as deleting everything."""
        alive = any(row.forgotten_at is None for row in self.rows.values())
        return alive and not self.text.strip()


# Both sides


def sync_day(place: JournalFolder, day: date, guard: Guard) -> Synced:
    """Syncs both sides of one day; the caller holds the lock."""
    for _ in range(_ATTEMPTS):
        sides = _read(place, day)
        notes = sides.notes
        kept: dict[str, Memory] = {}
        back: set[str] = set()
        if sides.emptied:
            lines = _restored(sides.base, sides.rows)
        else:
            merged = _merged(place, sides)
            if merged.gone and guard.refuses(day, len(merged.gone)):
                kept = merged.gone
                merged = merged._replace(gone={})
                notes = [*notes, guard.note(day, len(kept))]
            back = merged.back
            lines = apply_day(place, day, sides.blocks, sides.base, merged)
            notes = [*notes, *note_clashes(place, day, merged)]
        known = {*sides.base.ids.values(), *(line.memory_id for line in lines)} - back
        lines = follow_store(place, day, lines, known)
        set_paths(place, day, lines)
        wanted = "".join(line.block.raw for line in lines)
        if wanted != sides.text and not write_file(place, day, sides.file, wanted):
            continue
        items = _with_kept(entries.items_of(lines), sides.base, kept)
        if sides.file or lines:
            entries.agree(place, day, items)
            _note_synced(place, day, sides.file if wanted == sides.text else None, len(kept))
        else:
            place.changes.forget(name_of(day))
        return Synced(lines, items, notes)
    raise StoreError(
        f"{path_of(place, day)} is being written by another program all the time.",
        hint="Try again when it is done; nothing was lost.",
    )


def survey(place: JournalFolder, day: date) -> int | None:
    """The number of entries missing from a day's file; None if it equals the base, so that there is
    nothing to apply. It writes nothing and needs no lock."""
    sides = _read(place, day, rested=False)
    keys = entries.keys_of(sides.blocks)
    now = [key or block.raw for key, block in zip(keys, sides.blocks, strict=True)]
    if sides.file and sides.clean and now == [key for key, _ in sides.base.items]:
        place.changes.synced(name_of(day), sides.file.signature)
        return None
    return 0 if sides.emptied else len(_merged(place, sides).gone)


def _read(place: JournalFolder, day: date, *, rested: bool = True) -> _Sides:
    file = read_file(place, day)
    with place.scope.read_unfiltered() as reader:
        base = base_of(reader, place, day)
        rows = reader.memories_by_id(place.scope.hub_id, list(base.ids.values()))
    if rested and base.ids:
        file = _read_settled(place, day, file, base)
    written = file.text if file else ""
    text = place.scope.core.redactor.text(written)
    blocks, notes = _storable(place, day, entries.parse(text))
    if note := place.scope.core.redactor.note(written, text, name_of(day)):
        notes.append(note)
    return _Sides(file, base, rows, blocks, notes, text == written)


def _read_settled(place: JournalFolder, day: date, file: File | None, base: Base) -> File | None:
    """The file, read again a little later if entries are missing and it was just written: somebody
    may be in the middle of a save."""
    for _ in range(_PAUSES):
        if file is not None:
            old = time.time_ns() - file.signature[0] > PAUSE_S * 1e9
            text = place.scope.core.redactor.text(file.text)
            if old or base.ids.keys() <= set(entries.keys_of(entries.parse(text))):
                break
        time.sleep(PAUSE_S)
        last, file = file, read_file(place, day)
        if (file and file.signature) == (last and last.signature):
            break
    return file


def _merged(place: JournalFolder, sides: _Sides) -> Merged:
    with place.scope.core.store.read() as reader:
        return merge(
            sides.blocks,
            sides.base,
            sides.rows,
            lambda memory: entries.texts_of(reader, memory),
        )


def _with_kept(
    items: Sequence[tuple[str, str]], base: Base, kept: Mapping[str, Memory]
) -> list[tuple[str, str]]:
    """The base with missing entries that may not be archived yet, each after the one that it
    followed."""
    out = list(items)
    at = 0
    for item in base.items:
        if item[0] in kept and item[1] == kept[item[0]].id:
            out.insert(at, item)
            at += 1
        elif item in out:
            at = out.index(item) + 1
    return out


def _note_synced(place: JournalFolder, day: date, unchanged: File | None, kept: int) -> None:
    """Files that this process wrote are read again, because somebody else may have written them
    too."""
    name = name_of(day)
    if kept:
        place.changes.hold(name, unchanged.signature if unchanged else None, kept)
    elif unchanged:
        place.changes.synced(name, unchanged.signature)
    else:
        place.changes.written(name)


def _restored(base: Base, rows: dict[str, Memory]) -> list[JournalLine]:
    """The file as it was, including entries archived since, which age alone may have done."""
    out = []
    for item, memory_id in base.items:
        memory = rows.get(memory_id)
        if not memory_id:
            # The last line of a file may have had no end.
            out.append(JournalLine(JournalBlock(item if item.endswith("\n") else item + "\n")))
        elif memory is not None and memory.forgotten_at is None:
            untimed = item.partition("-")[0] == entries.key_of(memory.content, "")
            out.append(JournalLine(block_of(memory, "" if untimed else None), memory.id))
    return out


def _storable(
    place: JournalFolder, day: date, blocks: Sequence[JournalBlock]
) -> tuple[list[JournalBlock], list[str]]:
    """The blocks, with entries that cannot be stored turned into plain text; and notes on them."""
    bytes_max = place.scope.settings["content.bytes_max"]
    out, notes = [], []
    for block in blocks:
        if block.text:
            try:
                clean.clean_content(block.text, bytes_max=bytes_max)
            except InvalidInput as error:
                why = "It is not UTF-8 text." if _is_not_utf8(block.text) else error.message
                notes.append(f"An entry of {name_of(day)} cannot be remembered: {why}")
                block = JournalBlock(block.raw)
        out.append(block)
    return out, notes


def _is_not_utf8(text: str) -> bool:
    """Whether it has an undecodable byte, which is represented by a lone surrogate."""
    return any("\udc80" <= letter <= "\udcff" for letter in text)


def write_file(place: JournalFolder, day: date, file: File | None, text: str) -> bool:
    """Writes a day's file, unless somebody else wrote it since it was read."""
    before = file.signature if file else None
    path = path_of(place, day)
    data = text.encode("utf-8", "surrogateescape")
    return write_atomic(
        path, data, within=place.folder, unless=lambda: signature_at(path) != before
    )
