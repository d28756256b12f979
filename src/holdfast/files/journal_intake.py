"""From a journal to the store: new entries are remembered, edited ones get a new version, removed
ones are archived, and where both sides changed one, both are kept. What that is was decided before
(journal_merge).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta

from holdfast import engine
from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Clash
from holdfast.engine.core import require_hub
from holdfast.files import journal_text
from holdfast.files.journal_base import Base, Line, Place, name_of, time_of
from holdfast.files.journal_lines import block_of, free_path
from holdfast.files.journal_merge import Merged
from holdfast.files.journal_text import Block
from holdfast.text import normalise

REMOVED = "removed from the journal"
EDITED = "edited in the journal"


def take_in(
    place: Place, day: date, blocks: Sequence[Block], base: Base, merged: Merged
) -> list[Line]:
    """What the file says and the store does not: new, edited, removed."""
    ids = dict(merged.ids)
    by_key = {key: block for key, block in zip(merged.keys, blocks, strict=True) if key}
    for key, memory in merged.edits.items():
        _renew(place, day, memory, by_key[key])
    used = {*base.ids.values(), *ids.values()}
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
    for key, block in zip(merged.keys, blocks, strict=True):
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


def note_clashes(place: Place, day: date, merged: Merged) -> Iterable[str]:
    """Notes where both sides had changed an entry; the memory of the file's text is there already,
    so that a kill in between is mended by the next sync."""
    if not merged.clashes:
        return []
    notes = []
    with place.core.store.write(hub=place.hub_id) as writer:
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
