"""Keeps the file of one day's journal and its memories in step, whoever changed what.

What both sides last agreed on (the base: each entry's key and its memory) tells who it was:

- in the file but not in the base: a person wrote it, or a process was killed before it could be
  remembered; it is remembered now
- in the base but not in the file: it was edited (the memory gets a new version) or removed (the
  memory is archived)
- forgotten, purged or edited in the store: the line goes, or changes
- in the store but in neither: the line is added

The order is: memories, then the file, then the base. Wherever that is cut off, the next time finds
the memory by its path, which is the day and the entry's key, and goes on. The caller holds the lock
of the hub's journals. This module does not know which days people ask for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from holdfast import engine
from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory
from holdfast.engine.core import require_hub
from holdfast.errors import InvalidInput, StoreError
from holdfast.files import journal_base, journal_text
from holdfast.files.atomic import write_atomic
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
)
from holdfast.files.journal_text import Block
from holdfast.text import normalise

REMOVED = "removed from the journal"
EDITED = "edited in the journal"
ENTERED = "entered in the journal"
# An edited line shares at least half of its letters with what it was; else it is another entry.
_ALIKE = 0.5
# Comparing letter by letter is quadratic, and the opening tells.
_COMPARED_CHARS = 400
# More pairs take longer than a person waits: such a file was written anew, not edited.
_PAIRS_MAX = 10_000
# As often as one line can be typed, edited away and typed again in a day.
_ATTEMPTS_AT_A_PATH = 1_000
# An editor that saves while we write goes first; one that never stops saving is not waited for.
_ATTEMPTS = 3


class Synced(NamedTuple):
    """A day's file after both sides were brought in step."""

    lines: list[Line]
    notes: list[str]


# Both sides


def sync_day(place: Place, day: date) -> Synced:
    """Brings both sides of one day in step; the caller holds the lock."""
    for _ in range(_ATTEMPTS):
        file = read_file(place, day)
        with place.core.store.read() as reader:
            require_hub(reader, place.hub_id, place.hub)
            base = base_of(reader, place, day)
            rows = reader.memories_by_id(place.hub_id, list(base.ids.values()))
        text = file.text if file else ""
        # An empty file is what a crash or a slip leaves: it is restored, not taken as 'forget all'.
        emptied = not text.strip() and any(row.forgotten_at is None for row in rows.values())
        blocks, notes = _storable(place, day, journal_text.parse(text))
        lines = _restored(base, rows) if emptied else _take_in(place, day, blocks, base, rows)
        lines = _follow_store(place, day, lines, base)
        _set_paths(place, day, lines)
        wanted = "".join(line.block.raw for line in lines)
        if wanted != text and not _write(place, day, file, wanted):
            continue
        if file or lines:
            journal_base.agree(place, day, lines, file.signature if file and wanted == text else ())
        return Synced(lines, notes)
    raise StoreError(
        f"{path_of(place, day)} is being written by another program all the time.",
        hint="Try again when it is done; nothing was lost.",
    )


def _live(memory: Memory | None) -> bool:
    return memory is not None and memory.forgotten_at is None and memory.state != "archived"


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


def _take_in(
    place: Place, day: date, blocks: Sequence[Block], base: Base, rows: dict[str, Memory]
) -> list[Line]:
    """What the file says and the base does not: new, edited, removed."""
    keys = journal_text.keys_of(blocks)
    by_key = {key: block for key, block in zip(keys, blocks, strict=True) if key}
    ids = {key: one for key, one in base.ids.items() if key in by_key}
    fresh = {key: block for key, block in by_key.items() if key not in ids}
    gone = {
        key: rows[one]
        for key, one in base.ids.items()
        if key not in by_key and _live(rows.get(one))
    }
    for old, new in _edited(gone, fresh).items():
        ids[new] = _renew(place, day, gone.pop(old), fresh.pop(new))
    used = {*base.ids.values(), *ids.values()}
    drafts = [settled(place, day, draft_of(day, fresh[key]), key, used) for key in fresh]
    if drafts:
        results = engine.remember.remember_many(place.core, place.hub_id, place.hub, drafts)
        ids |= {key: result.memory.id for key, result in zip(fresh, results, strict=True)}
    if gone:
        left = [memory.id for memory in gone.values()]
        engine.edit.archive(place.core, place.hub_id, place.hub, left, REMOVED)
    return [Line(block, ids.get(key, "")) for key, block in zip(keys, blocks, strict=True)]


def _edited(gone: dict[str, Memory], fresh: dict[str, Block]) -> dict[str, str]:
    """Which entry that is gone became which new one: the most alike, each of them once."""
    if not 0 < len(gone) * len(fresh) <= _PAIRS_MAX:
        return {}
    from difflib import SequenceMatcher

    pairs: list[tuple[float, int, str, str]] = []
    for old, memory in gone.items():
        matcher = SequenceMatcher(None, b=journal_text.plain(memory.content)[:_COMPARED_CHARS])
        for new, block in fresh.items():
            matcher.set_seq1(journal_text.plain(block.text)[:_COMPARED_CHARS])
            if matcher.quick_ratio() >= _ALIKE and (ratio := matcher.ratio()) >= _ALIKE:
                pairs.append((-ratio, len(pairs), old, new))
    out: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old, new in sorted(pairs):
        if old not in out and new not in taken:
            out[old] = new
            taken.add(new)
    return out


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
    if block.time and block.time != _time_of(memory):
        changes["occurred_at"] = _moment(day, block)
    if changes:
        engine.edit.update(place.core, place.hub_id, place.hub, memory.id, changes, reason=EDITED)
    return memory.id


# From the store to the file


def _time_of(memory: Memory) -> str:
    return f"{memory.occurred_at or memory.created_at:%H:%M}"


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
        journal_text.render(memory.content, time_of_day or _time_of(memory)) + "\n"
    )[0]


def _follow_store(place: Place, day: date, lines: Sequence[Line], base: Base) -> list[Line]:
    """The lines as the store would have them."""
    with place.core.store.read() as reader:
        rows = reader.memories_by_id(
            place.hub_id, [one.memory_id for one in lines if one.memory_id]
        )
    out: list[Line] = []
    for line in lines:
        memory = rows.get(line.memory_id)
        if not line.memory_id:
            out.append(line)
        elif memory is not None and memory.forgotten_at is None:
            same = journal_text.plain(memory.content) == journal_text.plain(line.block.text)
            out.append(line if same else Line(block_of(memory, line.block.time), memory.id))
    known = {*base.ids.values(), *(line.memory_id for line in lines)}
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
    now = read_file(place, day)
    if (now and now.signature) != (file and file.signature):
        return False
    data = text.encode("utf-8", "surrogateescape")
    write_atomic(path_of(place, day), data, within=place.folder)
    return True
