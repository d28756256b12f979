"""Keeps the file of one day's journal and its memories in step, whoever changed what.

What both sides last agreed on (the base: each entry's key and its memory) tells who it was:

- in the file but not in the base: a person wrote it, or a process was killed before both sides
  agreed on it; it is remembered now
- in the base but not in the file: it was edited (the memory gets a new version) or removed (the
  memory is archived; where very many are, only if somebody says that this is meant)
- changed on both sides: both texts are kept, and the conflict is noted
- forgotten, purged or edited in the store: the line goes, or changes
- in the store but in neither: the line is added

The order is: memories, then the file, then the base. Wherever that is cut off, the next time finds
the memory by its path, which is the day and the entry's key, and goes on. The caller holds the lock
of the hub's journals. This module does not know which days people ask for.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from holdfast import engine
from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Clash
from holdfast.engine.core import require_hub
from holdfast.errors import InvalidInput, StoreError
from holdfast.files import journal_base, journal_text
from holdfast.files.atomic import write_atomic
from holdfast.files.clashes import settled_away
from holdfast.files.journal_base import (
    Base,
    File,
    Line,
    Place,
    base_of,
    live_memories,
    name_of,
    path_of,
    read_file,
    source_path,
    time_of,
)
from holdfast.files.journal_guard import Guard
from holdfast.files.journal_look import signature_at
from holdfast.files.journal_merge import Merged, merge
from holdfast.files.journal_text import Block
from holdfast.text import normalise

REMOVED = "removed from the journal"
EDITED = "edited in the journal"
ENTERED = "entered in the journal"
# As often as one line can be typed, edited away and typed again in a day.
_ATTEMPTS_AT_A_PATH = 1_000
# An editor that saves while we write goes first; one that never stops saving is not waited for.
_ATTEMPTS = 3
# An editor that writes in place empties the file first and fills it within a few milliseconds.
PAUSE_S = 0.05
_PAUSES = 4


class Synced(NamedTuple):
    """A day's file after both sides were brought in step, and what they agree on."""

    lines: list[Line]
    items: list[tuple[str, str]]
    notes: list[str]


class _Sides(NamedTuple):
    """The file and the store as they were read."""

    file: File | None
    base: Base
    rows: dict[str, Memory]
    blocks: list[Block]
    notes: list[str]

    @property
    def text(self) -> str:
        return self.file.text if self.file else ""

    @property
    def emptied(self) -> bool:
        """An empty file is what a crash or a slip leaves: it is restored, not taken as 'forget
        all'."""
        alive = any(row.forgotten_at is None for row in self.rows.values())
        return alive and not self.text.strip()


# Both sides


def sync_day(place: Place, day: date, guard: Guard) -> Synced:
    """Brings both sides of one day in step; the caller holds the lock."""
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
            lines = _take_in(place, day, sides, merged)
            notes = [*notes, *_note_clashes(place, day, merged)]
        known = {*sides.base.ids.values(), *(line.memory_id for line in lines)} - back
        lines = _follow_store(place, day, lines, known)
        _set_paths(place, day, lines)
        wanted = "".join(line.block.raw for line in lines)
        if wanted != sides.text and not _write(place, day, sides.file, wanted):
            continue
        items = _with_kept(journal_base.items_of(lines), sides.base, kept)
        if sides.file or lines:
            journal_base.agree(place, day, items)
        _note_look(place, day, sides.file if wanted == sides.text else None, len(kept))
        return Synced(lines, items, notes)
    raise StoreError(
        f"{path_of(place, day)} is being written by another program all the time.",
        hint="Try again when it is done; nothing was lost.",
    )


def survey(place: Place, day: date) -> int | None:
    """How many entries are gone from a file; None where it says what was agreed, so that there is
    nothing to take in. It writes nothing and needs no lock."""
    sides = _read(place, day, rested=False)
    keys = journal_text.keys_of(sides.blocks)
    now = [key or block.raw for key, block in zip(keys, sides.blocks, strict=True)]
    if sides.file and now == [key for key, _ in sides.base.items]:
        place.look.in_step(name_of(day), sides.file.signature)
        return None
    return 0 if sides.emptied else len(_merged(place, sides).gone)


def _read(place: Place, day: date, *, rested: bool = True) -> _Sides:
    file = read_file(place, day)
    with place.core.store.read() as reader:
        require_hub(reader, place.hub_id, place.hub)
        base = base_of(reader, place, day)
        rows = reader.memories_by_id(place.hub_id, list(base.ids.values()))
    if rested and base.ids:
        file = _at_rest(place, day, file, base)
    blocks, notes = _storable(place, day, journal_text.parse(file.text if file else ""))
    return _Sides(file, base, rows, blocks, notes)


def _at_rest(place: Place, day: date, file: File | None, base: Base) -> File | None:
    """The file; where it lacks something and was written a moment ago, what it is a little later:
    somebody may be in the middle of a save."""
    for _ in range(_PAUSES):
        if file is not None:
            old = time.time_ns() - file.signature[0] > PAUSE_S * 1e9
            if old or base.ids.keys() <= set(journal_text.keys_of(journal_text.parse(file.text))):
                break
        time.sleep(PAUSE_S)
        last, file = file, read_file(place, day)
        if (file and file.signature) == (last and last.signature):
            break
    return file


def _merged(place: Place, sides: _Sides) -> Merged:
    with place.core.store.read() as reader:
        return merge(
            sides.blocks,
            sides.base,
            sides.rows,
            lambda memory: journal_base.texts_of(reader, memory),
        )


def _with_kept(
    items: Sequence[tuple[str, str]], base: Base, kept: Mapping[str, Memory]
) -> list[tuple[str, str]]:
    """What was agreed, with entries that are gone from the file and may not go yet, each behind
    the one it stood behind."""
    out = list(items)
    at = 0
    for item in base.items:
        if item[0] in kept and item[1] == kept[item[0]].id:
            out.insert(at, item)
            at += 1
        elif item in out:
            at = out.index(item) + 1
    return out


def _note_look(place: Place, day: date, unchanged: File | None, kept: int) -> None:
    """What we have written ourselves is looked at again: somebody else may have written too."""
    name = name_of(day)
    if kept:
        place.look.hold(name, unchanged.signature if unchanged else None, kept)
    elif unchanged:
        place.look.in_step(name, unchanged.signature)
    else:
        place.look.forget(name)


def _restored(base: Base, rows: dict[str, Memory]) -> list[Line]:
    """The file as it was, also with what was archived since: age alone may have done that."""
    out = []
    for item, memory_id in base.items:
        memory = rows.get(memory_id)
        if not memory_id:
            # The last line of a file may have had no end.
            out.append(Line(Block(item if item.endswith("\n") else item + "\n")))
        elif memory is not None and memory.forgotten_at is None:
            out.append(Line(block_of(memory), memory.id))
    return out


def _storable(place: Place, day: date, blocks: Sequence[Block]) -> tuple[list[Block], list[str]]:
    """The blocks, those entries taken for plain text that no memory can hold; and notes on them."""
    bytes_max = place.core.settings["content.bytes_max"]
    out, notes = [], []
    for block in blocks:
        if block.text:
            try:
                normalise.clean_content(block.text, bytes_max=bytes_max)
            except InvalidInput as error:
                notes.append(f"An entry of {name_of(day)} cannot be remembered: {error.message}")
                block = Block(block.raw)
        out.append(block)
    return out, notes


# From the file to the store


def _take_in(place: Place, day: date, sides: _Sides, merged: Merged) -> list[Line]:
    """What the file says and the store does not: new, edited, removed."""
    ids = dict(merged.ids)
    blocks = {key: block for key, block in zip(merged.keys, sides.blocks, strict=True) if key}
    for key, memory in merged.edits.items():
        _renew(place, day, memory, blocks[key])
    used = {*sides.base.ids.values(), *ids.values()}
    drafts: dict[str, Draft] = {}
    for key, block in merged.fresh.items():
        draft = settled(place, day, draft_of(day, block), key, used)
        known = _orphan(place, draft, used)
        if known is not None:
            ids[key] = known.id
        else:
            drafts[key] = draft
    if drafts:
        results = engine.remember.remember_many(
            place.core, place.hub_id, place.hub, list(drafts.values())
        )
        ids |= {key: result.memory.id for key, result in zip(drafts, results, strict=True)}
    if merged.gone:
        left = [memory.id for memory in merged.gone.values()]
        engine.edit.archive(place.core, place.hub_id, place.hub, left, REMOVED)
    lines = []
    for key, block in zip(merged.keys, sides.blocks, strict=True):
        if key in merged.clashes:
            memory = merged.clashes[key]
            lines.append(Line(block_of(memory, block.time), memory.id))
        lines.append(Line(block, ids.get(key, "")))
    return lines


def _orphan(place: Place, draft: Draft, used: set[str]) -> Memory | None:
    """The memory that a killed process made for this line, before both sides agreed on it."""
    with place.core.store.read() as reader:
        memory = reader.memory_by_path(place.hub_id, draft.source_path or "")
    if memory is None or memory.id in used or memory.state not in ("active", "cooling"):
        return None
    return memory if memory.layer == "journal" else None


def _note_clashes(place: Place, day: date, merged: Merged) -> Iterable[str]:
    """Notes where both sides had changed an entry; the memory of the file's text is there already,
    so that a kill in between is mended by the next sync."""
    if not merged.clashes:
        return []
    notes = []
    with place.core.store.write() as writer:
        require_hub(writer, place.hub_id, place.hub)
        open_ = {(clash.memory_id, clash.in_file) for clash in writer.clashes(place.hub_id)}
        for key, memory in merged.clashes.items():
            in_file = merged.fresh[key].text
            if (memory.id, in_file) not in open_:
                clash_id = place.core.ids.next("cls")
                at = place.core.now()
                writer.add_clash(
                    place.hub_id,
                    Clash(clash_id, memory.id, name_of(day), memory.content, in_file, at),
                )
            notes.append(
                f"#{memory.number} was changed in {name_of(day)} and in the store; both texts are "
                "kept. `holdfast conflicts` lists them."
            )
    return notes


def _moment(day: date, block: Block) -> datetime:
    """When an entry of the file happened: at its time, or at the beginning of its day."""
    hour, _, minute = (block.time or "00:00").partition(":")
    return datetime(day.year, day.month, day.day, int(hour), int(minute), tzinfo=UTC)


def settled(place: Place, day: date, draft: Draft, key: str, used: set[str]) -> Draft:
    """The draft with a path of its own and a moment of its own: entries that are alike are no
    duplicates of each other, so microseconds tell them apart."""
    moment = draft.occurred_at
    assert moment is not None, "an entry has a day at least"
    moment += timedelta(microseconds=int(key.partition("-")[2] or 1) - 1)
    with place.core.store.read() as reader:
        alike = reader.memories_by_hash(place.hub_id, normalise.content_hash(draft.content))
    taken = {memory.occurred_at for memory in alike if memory.id in used}
    while moment in taken:
        # As far as no other entry that is new at this moment comes.
        moment += timedelta(milliseconds=1)
    path = free_path(place, day, key, draft.content, used)
    return draft._replace(occurred_at=moment, source_path=path)


def free_path(place: Place, day: date, key: str, text: str, used: set[str]) -> str:
    """The path of a new entry's memory: named after its key, unless that is the path of a memory
    that belongs to another line. One that belongs to none, and says the same, is this entry's:
    what a crash left, or what was removed and is back."""
    path = wanted = source_path(day, key)
    with place.core.store.read() as reader:
        for number in range(2, _ATTEMPTS_AT_A_PATH):
            memory = reader.memory_by_path(place.hub_id, path)
            if memory is None or (
                memory.id not in used
                and journal_text.plain(memory.content) == journal_text.plain(text)
            ):
                break
            path = f"{wanted}~{number}"
    return path


def draft_of(day: date, block: Block) -> Draft:
    """What is remembered of an entry that a person wrote."""
    return Draft(
        content=block.text,
        layer="journal",
        source="import",
        occurred_at=_moment(day, block),
    )


def _renew(place: Place, day: date, memory: Memory, block: Block) -> str:
    """A new version of a memory, from the edited line; its id."""
    changes: dict[str, object] = {}
    if journal_text.plain(block.text) != journal_text.plain(memory.content):
        changes["content"] = block.text
    if block.time and block.time != time_of(memory):
        changes["occurred_at"] = _moment(day, block)
    if changes:
        engine.edit.update(place.core, place.hub_id, place.hub, memory.id, changes, reason=EDITED)
    return memory.id


# From the store to the file


def block_of(memory: Memory, time_of_day: str | None = None) -> Block:
    """The lines of a memory, with its time; without where the file's line had none and can do
    without: words such as `---` or `14:30` would not be read as what they are."""
    if time_of_day == "":
        bare = journal_text.parse(journal_text.render(memory.content) + "\n")
        if len(bare) == 1 and journal_text.plain(bare[0].text) == journal_text.plain(
            memory.content
        ):
            return bare[0]
    return journal_text.parse(
        journal_text.render(memory.content, time_of_day or time_of(memory)) + "\n"
    )[0]


def _follow_store(place: Place, day: date, lines: Sequence[Line], known: set[str]) -> list[Line]:
    """The lines as the store would have them; `known` are the memories that had their line."""
    with place.core.store.read() as reader:
        rows = reader.memories_by_id(
            place.hub_id, [one.memory_id for one in lines if one.memory_id]
        )
    out: list[Line] = []
    for line in lines:
        memory = rows.get(line.memory_id)
        if not line.memory_id:
            out.append(line)
        elif memory is not None and memory.forgotten_at is None and not settled_away(memory):
            same = journal_text.plain(memory.content) == journal_text.plain(line.block.text)
            out.append(line if same else Line(block_of(memory, line.block.time), memory.id))
    front = source_path(day, "")
    for memory in live_memories(place, day, day):
        from_here = (memory.source_path or front).startswith(front)
        # The file is for everyone who may read the hub.
        if memory.id not in known and from_here and memory.boundary != "private":
            if out and not out[-1].block.raw.endswith("\n"):
                last = out[-1].block
                out[-1] = out[-1]._replace(block=last._replace(raw=last.raw + "\n"))
            out.append(Line(block_of(memory), memory.id))
    return out


def _set_paths(place: Place, day: date, lines: Sequence[Line]) -> None:
    """Gives a path to memories that are new to the file, before it is written: a crash right
    after that must not remember their lines a second time."""
    with place.core.store.read() as reader:
        ids = [line.memory_id for line in lines if line.memory_id]
        rows = reader.memories_by_id(place.hub_id, ids)
    homeless = {memory.id for memory in rows.values() if memory.source_path is None}
    if not homeless:
        return
    from holdfast.engine.recorder import Recorder

    keys = journal_text.keys_of(line.block for line in lines)
    paths = {
        line.memory_id: free_path(place, day, key, rows[line.memory_id].content, set(ids))
        for key, line in zip(keys, lines, strict=True)
        if line.memory_id in homeless
    }
    with place.core.store.write() as writer:
        recorder = Recorder(place.core, writer, place.hub_id, "update", reason=ENTERED)
        for memory_id, path in paths.items():
            memory = writer.memory(place.hub_id, memory_id)
            if memory is not None and writer.memory_by_path(place.hub_id, path) is None:
                recorder.revise(memory, source_path=path)


def _write(place: Place, day: date, file: File | None, text: str) -> bool:
    """Writes the file, unless somebody else wrote it since it was read."""
    before = file.signature if file else None
    path = path_of(place, day)
    data = text.encode("utf-8", "surrogateescape")
    return write_atomic(
        path, data, within=place.folder, unless=lambda: signature_at(path) != before
    )
