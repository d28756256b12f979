"""Applies edits of a journal file to the store: a three-way merge of file, memories and base
decides for each entry; new entries are remembered, edited ones get a new version, and removed ones
are archived.

A rewrite replaces a day's journal as it was shown to its author. Entries that others wrote
meanwhile stay: entries are merged one by one, and if both sides changed one, both versions stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, TypeAlias

from holdfast import engine
from holdfast.domain.memory import Draft, Memory
from holdfast.domain.records import Clash
from holdfast.files.journal import entries
from holdfast.files.journal.entries import (
    Base,
    JournalBlock,
    JournalFolder,
    JournalLine,
    block_of,
    free_path,
    name_of,
    time_of,
)
from holdfast.files.merge import Changed, changed
from holdfast.text import clean

# An edited line shares at least half of its letters with the old one; else it is another entry.
_ALIKE = 0.5
# Comparing letters is quadratic, and the beginning is sufficient.
_COMPARED_CHARS = 400
# More pairs would take too long: such a file was rewritten, not edited.
_PAIRS_MAX = 10_000

# The texts that a memory has had, newest first, each with its time of day.
Texts: TypeAlias = Sequence[tuple[str, str]]


class Merged(NamedTuple):
    """The result of merging a journal's file, by the keys of entries.

    `ids` are entries that have a memory already; `edits` change theirs; `fresh` ones get a new one,
    and if they are also in `clashes`, both sides had changed that memory. `gone` are the memories
    of removed entries, by their old key. `back` are memories with a missing line that is restored,
    because their current text was never in the file.
    """

    keys: list[str]
    ids: dict[str, str]
    edits: dict[str, Memory]
    fresh: dict[str, JournalBlock]
    clashes: dict[str, Memory]
    gone: dict[str, Memory]
    back: set[str]


def merge(
    blocks: Sequence[JournalBlock],
    base: Base,
    rows: Mapping[str, Memory],
    texts_of: Callable[[Memory], Texts],
) -> Merged:
    """Merges a journal's file with its base; `rows` are the memories of the base."""
    keys = entries.keys_of(blocks)
    by_key = {key: block for key, block in zip(keys, blocks, strict=True) if key}
    ids = {key: one for key, one in base.ids.items() if key in by_key}
    fresh = {key: block for key, block in by_key.items() if key not in ids}
    lost = {
        key: _Lost.of(rows[one], key, texts_of)
        for key, one in base.ids.items()
        if key not in by_key and one in rows and is_live(rows[one])
    }
    merged = Merged(keys, ids, {}, fresh, {}, {}, set())
    for old, new in _edited(lost, fresh).items():
        _decide_edit(merged, lost.pop(old), new)
    for key, one in lost.items():
        if one.side(None) is Changed.FILE:
            merged.gone[key] = one.memory
        else:
            # The store changed it, and the person who removed its line had not seen that.
            merged.back.add(one.memory.id)
    return merged


def _decide_edit(merged: Merged, one: _Lost, new: str) -> None:
    said = entries.plain(merged.fresh[new].text)
    if one.side(None) is Changed.FILE:
        # Only the file changed the line: its text, or its time.
        merged.edits[new] = one.memory
    elif said not in (entries.plain(text) for text in one.since):
        # A text of the file that the store has never had: both stay.
        merged.clashes[new] = one.memory
        return
    merged.ids[new] = one.memory.id
    del merged.fresh[new]


def is_live(memory: Memory) -> bool:
    return memory.forgotten_at is None and memory.state != "archived"


class _Lost(NamedTuple):
    """The memory of an entry that is not in the file unchanged: its text in the base, and its texts
    since."""

    memory: Memory
    then: str
    since: tuple[str, ...]

    def side(self, in_file: str | None) -> Changed:
        """The side that changed the entry, given its present text in the file."""
        return changed(entries.plain(self.then), entries.plain(self.memory.content), in_file)

    @classmethod
    def of(cls, memory: Memory, key: str, texts_of: Callable[[Memory], Texts]) -> _Lost:
        wanted = key.partition("-")[0]
        if wanted in _keys(memory.content, time_of(memory)):
            return cls(memory, memory.content, ())
        said = texts_of(memory)
        for place, (text, at) in enumerate(said):
            if wanted in _keys(text, at):
                return cls(memory, text, tuple(text for text, _ in said[:place]))
        # Its earlier texts were purged, or had another key: it counts as unchanged.
        return cls(memory, memory.content, ())


def _keys(text: str, time: str) -> tuple[str, str]:
    return entries.key_of(text, time), entries.key_of(text, "")


def _edited(lost: Mapping[str, _Lost], fresh: Mapping[str, JournalBlock]) -> dict[str, str]:
    """Which removed entry became which new one: the most similar pairs, each entry once."""
    if not 0 < len(lost) * len(fresh) <= _PAIRS_MAX:
        return {}
    from difflib import SequenceMatcher

    pairs: list[tuple[float, int, str, str]] = []
    for old, one in lost.items():
        for text in {one.then, one.memory.content}:
            matcher = SequenceMatcher(None, b=entries.plain(text)[:_COMPARED_CHARS])
            for new, block in fresh.items():
                matcher.set_seq1(entries.plain(block.text)[:_COMPARED_CHARS])
                if matcher.quick_ratio() >= _ALIKE and (ratio := matcher.ratio()) >= _ALIKE:
                    pairs.append((-ratio, len(pairs), old, new))
    out: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, old, new in sorted(pairs):
        if old not in out and new not in taken:
            out[old] = new
            taken.add(new)
    return out


REMOVED = "removed from the journal"
EDITED = "edited in the journal"


def apply_day(
    place: JournalFolder, day: date, blocks: Sequence[JournalBlock], base: Base, merged: Merged
) -> list[JournalLine]:
    """Applies the merge to the store: new, edited and removed entries. Returns the lines."""
    ids = dict(merged.ids)
    by_key = {key: block for key, block in zip(merged.keys, blocks, strict=True) if key}
    for key, memory in merged.edits.items():
        _renew(place, day, memory, by_key[key])
    used = {*base.ids.values(), *ids.values()}
    drafts: dict[str, Draft] = {}
    for key, block in merged.fresh.items():
        draft = placed(place, day, draft_of(day, block), key, used)
        known = _orphan(place, draft, used)
        if known is not None:
            ids[key] = known.id
        else:
            drafts[key] = draft
    if drafts:
        results = engine.remember.remember_many(place.scope, list(drafts.values()))
        ids |= {key: result.memory.id for key, result in zip(drafts, results, strict=True)}
    if merged.gone:
        left = [memory.id for memory in merged.gone.values()]
        engine.edit.archive(place.scope, left, REMOVED)
    lines = []
    for key, block in zip(merged.keys, blocks, strict=True):
        if key in merged.clashes:
            memory = merged.clashes[key]
            lines.append(JournalLine(block_of(memory, block.time), memory.id))
        lines.append(JournalLine(block, ids.get(key, "")))
    return lines


def _orphan(place: JournalFolder, draft: Draft, used: set[str]) -> Memory | None:
    """The memory that a killed process made for this line before it wrote the base."""
    with place.scope.core.store.read() as reader:
        memory = reader.memory_by_path(place.scope.hub_id, draft.source_path or "")
    if memory is None or memory.id in used or memory.state not in ("active", "cooling"):
        return None
    return memory if memory.layer == "journal" else None


def note_clashes(place: JournalFolder, day: date, merged: Merged) -> Iterable[str]:
    """Records the conflicts of journal entries that both sides changed. The memory with the file's
    text exists already, so that after a crash the next sync can finish."""
    if not merged.clashes:
        return []
    notes = []
    with place.scope.write_unfiltered() as writer:
        open_ = {(clash.memory_id, clash.in_file) for clash in writer.clashes(place.scope.hub_id)}
        for key, memory in merged.clashes.items():
            in_file = merged.fresh[key].text
            if (memory.id, in_file) not in open_:
                clash_id = place.scope.core.ids.next("cls")
                at = place.scope.now()
                writer.add_clash(
                    place.scope.hub_id,
                    Clash(clash_id, memory.id, name_of(day), memory.content, in_file, at),
                )
            notes.append(
                f"#{memory.number} was changed in {name_of(day)} and in the store; both texts are "
                "kept. `holdfast conflicts` lists them."
            )
    return notes


def _moment(day: date, block: JournalBlock) -> datetime:
    """The time of an entry of the file: its own, or the start of its day."""
    hour, _, minute = (block.time or "00:00").partition(":")
    return datetime(day.year, day.month, day.day, int(hour), int(minute), tzinfo=UTC)


def placed(place: JournalFolder, day: date, draft: Draft, key: str, used: set[str]) -> Draft:
    """The draft of a journal entry with a path and a time of its own: equal entries are not
    duplicates of each other, so microseconds distinguish them."""
    moment = draft.occurred_at
    assert moment is not None, "an entry has a day at least"
    moment += timedelta(microseconds=int(key.partition("-")[2] or 1) - 1)
    with place.scope.core.store.read() as reader:
        alike = reader.memories_by_hash(place.scope.hub_id, clean.content_hash(draft.content))
    taken = {memory.occurred_at for memory in alike if memory.id in used}
    while moment in taken:
        # Far enough that no other new entry gets this time.
        moment += timedelta(milliseconds=1)
    path = free_path(place, day, key, draft.content, used)
    return draft._replace(occurred_at=moment, source_path=path)


def draft_of(day: date, block: JournalBlock) -> Draft:
    """The draft for an entry that a person wrote."""
    return Draft(
        content=block.text,
        layer="journal",
        source="import",
        occurred_at=_moment(day, block),
    )


def _renew(place: JournalFolder, day: date, memory: Memory, block: JournalBlock) -> str:
    """Makes a new version of a memory from the edited line; returns its id."""
    changes: dict[str, object] = {}
    if entries.plain(block.text) != entries.plain(memory.content):
        changes["content"] = block.text
    if block.time and block.time != time_of(memory):
        changes["occurred_at"] = _moment(day, block)
    if changes:
        engine.edit.update(place.scope, memory.id, changes, reason=EDITED)
    return memory.id


BOTH_KEPT = "Somebody else changed the same entries meanwhile; both versions were kept."


class Rewritten(NamedTuple):
    """The change sets that a rewrite of journals made, oldest first, and notes for its author."""

    day: date
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class MergedText(NamedTuple):
    """The text of both sides of a journal entry, and whether both changed the same."""

    text: str
    clashed: bool = False


def merged(shown: str, current: str, text: str) -> MergedText:
    """The three-way merge of a rewrite of a day's journal: `text` is its author's version of
    `shown`; `current` is the file now. An entry that only one side changed is taken from that
    side."""
    now, new = _parsed(current), _parsed(text)
    before = Counter(key for key, _ in _parsed(shown))
    there = Counter(key for key, _ in now)
    # Entries that others have removed or changed, and entries that they have added.
    gone, added = before - there, there - before
    raws = dict(now)
    out = []
    for key, raw in new:
        if gone[key] > 0:
            gone[key] -= 1
        else:
            # As in the file, with its own line ends and undecodable bytes.
            out.append((key, raws.get(key, raw)))
    # Lines that the author has added too are not added twice.
    added -= Counter(key for key, _ in out) - before
    clashed = +gone and +added
    _insert(out, now, added)
    return MergedText(_joined([raw for _, raw in out]), bool(clashed))


def _insert(
    out: list[tuple[str, str]], now: Sequence[tuple[str, str]], added: Counter[str]
) -> None:
    """Puts what others added after the entry that it follows."""
    at = 0
    for key, raw in now:
        if added[key] > 0:
            added[key] -= 1
            out.insert(at, (key, raw))
            at += 1
            continue
        places = [place for place, one in enumerate(out) if one[0] == key and place >= at]
        at = places[0] + 1 if places else at


def _parsed(text: str) -> list[tuple[str, str]]:
    """Each block of a file, as an editor shows it and as raw text."""
    return [(_as_shown(block.raw), block.raw) for block in entries.parse(text)]


def _as_shown(raw: str) -> str:
    readable = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return readable.replace("\r\n", "\n").rstrip("\n")


def _joined(raws: Sequence[str]) -> str:
    # Only the last line of a file may have no end.
    return "".join(
        raw if raw.endswith("\n") or place == len(raws) - 1 else raw + "\n"
        for place, raw in enumerate(raws)
    )
