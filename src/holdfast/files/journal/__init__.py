"""Journals: one file of entries for each UTC day, and a memory for each entry, so that recall finds
it.

A journal is named exactly `YYYY-MM-DD.md`, after a valid date; other files are ignored. Edits of
the files are applied before every operation (see `changes` and `day_sync`).

A new entry is written in this order: the memory, the line, the base of both sides. Before the
memory is written nothing has happened, so a failed addition can be retried; after that it has
succeeded, and if it is cut off, the next sync of the day adds or recognises the line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from holdfast import engine
from holdfast.domain.memory import SOURCES, TRUSTS, Draft, Memory
from holdfast.errors import Conflict, HoldfastError, InvalidInput, StoreReadOnly
from holdfast.files.hub_folder import other_place_note, require_here
from holdfast.files.journal import day_sync, edits
from holdfast.files.journal import entries as journal_entries
from holdfast.files.journal.changes import STAMPS, day_of_name, real_date, signature_at
from holdfast.files.journal.day_sync import Guard, Synced
from holdfast.files.journal.edits import BOTH_KEPT, Rewritten, merged
from holdfast.files.journal.entries import JournalBlock, JournalFolder, JournalLine
from holdfast.system.atomic_file import append_line, locked
from holdfast.text import clean
from holdfast.text.clean import without_hidden

# Characters of an invalid day that an error quotes; two dates with dots between them have 22.
_DAY_CHARS_SHOWN = 40
_LOCK = "journal"
# The most recent change sets that are searched for those of a rewrite: it makes a few, and others
# may write meanwhile.
_CHANGES_OF_REWRITE_MAX = 50
# Names that were probably meant as journals, for a note.
_NEARLY = re.compile(r"\d{4}.\d\d?.\d\d?.*\.(?:md|markdown|txt)", re.ASCII | re.IGNORECASE)


class JournalEntry(NamedTuple):
    """An entry: its text, its time of day in the file, and its memory."""

    text: str
    time: str
    memory: Memory | None


class Day(NamedTuple):
    """The journal of one UTC day: the file's text as it is, and its entries in order."""

    date: date
    text: str
    entries: tuple[JournalEntry, ...]


class Days(list[Day]):
    """Days, newest first; `notes` are sentences on what could not be read or was ignored."""

    def __init__(self, days: Sequence[Day] = (), notes: Sequence[str] = ()) -> None:
        super().__init__(days)
        self.notes = list(notes)


def add(
    place: JournalFolder,
    text: str,
    *,
    at: datetime | str | None = None,
    trust: str = "user",
    source: str = "sdk",
    source_agent: str | None = None,
    once: bool = False,
) -> Memory:
    """Adds an entry to the journal of its UTC day; with `once`, only if the day does not have
    it."""
    core = place.scope.core
    text = clean.clean_content(text, bytes_max=core.settings["content.bytes_max"]).strip()
    given = core.redactor.text(text, keep_hidden=True)
    text = without_hidden(given)
    moment = clean.clean_time(at) or core.now()
    day = moment.date()
    with core.store.read() as reader:
        place.scope.require_hub(reader)
    line = journal_entries.render(text, f"{moment:%H:%M}")
    block = journal_entries.parse(line + "\n")[0]
    draft = edits.draft_of(day, block)._replace(
        content=given,
        occurred_at=moment,
        trust=clean.one_of(trust, TRUSTS, "trust"),  # type: ignore[arg-type]
        source=clean.one_of(source, SOURCES, "source"),  # type: ignore[arg-type]
        source_agent=source_agent,
    )
    if other := other_place_note(place.scope, place.folder):
        if os.path.isdir(place.folder):
            place.changes.note(other)
        return _add_without_file(place, day, draft, once=once)
    apply_edits(place, place.changes.changed(core, place.scope.hub_id, place.folder))
    with _lock(place):
        return _add_to_file(place, day, draft, block, line, once=once)


def _add_to_file(
    place: JournalFolder, day: date, draft: Draft, block: JournalBlock, line: str, *, once: bool
) -> Memory:
    """Adds an entry, and its line to the file of the day."""
    scope = place.scope
    synced = day_sync.sync_day(place, day, Guard(place))
    lines = synced.lines
    if once and (there := _find_same_line(place, lines, block)):
        return there
    key = journal_entries.keys_of([*(one.block for one in lines), block])[-1]
    draft = edits.placed(place, day, draft, key, {one.memory_id for one in lines})
    path = journal_entries.path_of(place, day)
    _require_writable(path)
    memory = engine.remember.remember(scope, draft).memory
    if memory.quarantine:
        # A held memory is not shown; its line is added when it is approved.
        return memory
    place.changes.written(journal_entries.name_of(day))
    try:
        append_line(path, line, within=place.folder)
    except HoldfastError as error:
        # It is stored already; an error here would make the caller add it a second time.
        place.changes.note(f"#{memory.number} has no line in {path} yet. {error}")
        return memory
    journal_entries.agree(place, day, [*synced.items, (key, memory.id)])
    return memory


def _add_without_file(place: JournalFolder, day: date, draft: Draft, *, once: bool) -> Memory:
    """The same if the files are on another machine, which adds the line, or belong to another
    store."""
    said = journal_entries.plain(draft.content)
    if once:
        for memory in journal_entries.live_memories(place, day, day):
            if journal_entries.plain(memory.content) == said:
                return memory
    return engine.remember.remember(place.scope, draft).memory


def _find_same_line(
    place: JournalFolder, lines: Sequence[JournalLine], block: JournalBlock
) -> Memory | None:
    """The memory of a visible line with the same text as this block."""
    said = journal_entries.plain(block.text)
    ids = [one.memory_id for one in lines if journal_entries.plain(one.block.text) == said]
    with place.scope.core.read() as reader:
        found = reader.memories_by_id(place.scope.hub_id, [one for one in ids if one])
    return next((found[one] for one in ids if one in found and found[one].visible), None)


def _require_writable(path: str) -> None:
    there = path if os.path.exists(path) else os.path.dirname(path)
    if not os.access(there, os.W_OK):
        raise StoreReadOnly(f"{there} cannot be written.", hint="Check who owns it.")


def days(place: JournalFolder, when: Any = "today") -> Days:
    """The journals of a day or a range of days, newest first, after edits were applied."""
    if other := other_place_note(place.scope, place.folder):
        return Days(days_seen(place, when), notes=[other])
    first, last = span(when, place.scope.now().date())
    out = Days(notes=sync(place))
    for day in sorted(_days_with_something(place, first, last), reverse=True):
        try:
            found = _day(place, day)
        except HoldfastError as error:
            if str(error) not in out.notes:
                out.notes.append(str(error))
            continue
        if found.entries or found.text.strip():
            out.append(found)
    return out


def days_seen(place: JournalFolder, when: Any = "today") -> Days:
    """The days as a caller with a key sees them: the entries that they may see, rendered as in a
    file, without the file's other text. The files are not read."""
    by_day: dict[date, list[Memory]] = {}
    for memory in journal_entries.live_memories(place, *span(when, place.scope.now().date())):
        by_day.setdefault(_moment(memory).date(), []).append(memory)
    out = Days()
    for day in sorted(by_day, reverse=True):
        entries = [
            JournalEntry(memory.content, journal_entries.time_of(memory), memory)
            for memory in sorted(by_day[day], key=_moment)
        ]
        text = "".join(journal_entries.render(entry.text, entry.time) + "\n" for entry in entries)
        out.append(Day(day, text, tuple(entries)))
    return out


def _moment(memory: Memory) -> datetime:
    return memory.occurred_at or memory.created_at


def sync(place: JournalFolder, *, confirm: bool = False) -> list[str]:
    """Applies the edits of all journals since the last sync; returns notes on files that could not
    be read or were ignored, which do not stop the others. `confirm` accepts that many entries are
    missing."""
    notes = journal_files(place.folder)[1]
    names = place.changes.changed(place.scope.core, place.scope.hub_id, place.folder, afresh=True)
    return notes + _apply_edits(place, names, confirm=confirm)


def apply_edits(place: JournalFolder, names: Sequence[str]) -> None:
    """Applies edits of these journals before another operation; problems are stored as notes."""
    for note in _apply_edits(place, names):
        place.changes.note(note)


def _apply_edits(place: JournalFolder, names: Sequence[str], *, confirm: bool = False) -> list[str]:
    changes = place.changes
    notes: list[str] = []
    changed = []
    for name in names:
        day = day_of_name(name)
        if day is None:
            continue
        with _errors_as_notes(place, day, notes):
            gone = day_sync.survey(place, day)
            if gone is not None:
                changed.append(day)
                # Missing entries of one day count for the limit of the others.
                changes.hold(name, None, gone)
    guard = Guard(place, confirm=confirm)
    for day in changed:
        with _errors_as_notes(place, day, notes), _lock(place, confirm=confirm):
            notes += day_sync.sync_day(place, day, guard).notes
    if names:
        changes.save(place.scope.core, place.scope.hub_id, place.folder)
    return notes


@contextmanager
def _errors_as_notes(place: JournalFolder, day: date, notes: list[str]) -> Iterator[None]:
    """Turns an error of one day into a note. Until somebody changes the file, another attempt would
    only repeat it."""
    signature = signature_at(journal_entries.path_of(place, day))
    try:
        yield
    except HoldfastError as error:
        place.changes.hold(journal_entries.name_of(day), signature)
        notes.append(str(error))


def sync_day(place: JournalFolder, day: date) -> list[str]:
    """Syncs one day's file and memories, whichever of them changed."""
    with _lock(place):
        return day_sync.sync_day(place, day, Guard(place)).notes


def rewrite(place: JournalFolder, when: Any, text: str, shown: str) -> Rewritten:
    """Replaces the text of a day, merged with what was written since its author was `shown` the
    day. It is applied like an edit of the file."""
    core = place.scope.core
    day = _one_day(when, core.now().date())
    require_here(place.scope, place.folder)
    apply_edits(place, place.changes.changed(core, place.scope.hub_id, place.folder))
    with core.store.read() as reader:
        last = reader.changes(place.scope.hub_id, limit=1)
    with _lock(place):
        synced = day_sync.sync_day(place, day, Guard(place))
        current = "".join(line.block.raw for line in synced.lines)
        made = merged(shown, current, text)
        notes = [BOTH_KEPT] if made.clashed else []
        if made.text != current:
            file = journal_entries.read_file(place, day)
            if not day_sync.write_file(place, day, file, made.text):
                raise Conflict(
                    f"{journal_entries.name_of(day)} was written by another program just now.",
                    hint="Save it again; nothing was lost.",
                )
            place.changes.written(journal_entries.name_of(day))
            notes += day_sync.sync_day(place, day, Guard(place)).notes
    return Rewritten(day, _changes_of(place, day, last[0].id if last else None), tuple(notes))


def _changes_of(place: JournalFolder, day: date, last: str | None) -> tuple[str, ...]:
    """The change sets of a day's entries since another one, oldest first."""
    found = []
    with place.scope.core.store.read() as reader:
        for change in reader.changes(place.scope.hub_id, limit=_CHANGES_OF_REWRITE_MAX):
            if change.id == last:
                break
            revisions = reader.revisions_of(place.scope.hub_id, change.id, limit=1)
            rows = reader.memories_by_id(place.scope.hub_id, [one.memory_id for one in revisions])
            if any(day_of(memory) == day for memory in rows.values()):
                found.append(change.id)
    return tuple(reversed(found))


def follow(place: JournalFolder, *, purged: bool = False) -> list[str]:
    """Updates the journals after the newest change set; after a purge, which leaves none, all of
    them. Returns notes on those that could not be updated: the change itself is committed already.
    """
    found = set(journal_files(place.folder)[0])
    if not purged:
        with place.scope.core.store.read() as reader:
            newest = reader.changes(place.scope.hub_id, limit=1)
            touched = [
                revision.memory_id
                for change in newest
                for revision in reader.revisions_of(place.scope.hub_id, change.id)
            ]
            rows = reader.memories_by_id(place.scope.hub_id, touched).values()
        found = {day for memory in rows if (day := day_of(memory)) is not None}
    notes = []
    for day in sorted(found):
        try:
            notes += sync_day(place, day)
        except HoldfastError as error:
            notes.append(str(error))
    return notes


def day_of(memory: Memory) -> date | None:
    """The day of the journal that holds a memory."""
    name, hash_, _ = (memory.source_path or "").partition("#")
    return day_of_name(name) if hash_ and memory.layer == "journal" else None


def remove_all(folder: str) -> None:
    """Removes the journals of a deleted hub, so that a later hub of its name does not inherit
    them."""
    for day in journal_files(folder)[0]:
        with suppress(OSError):
            os.unlink(os.path.join(folder, journal_entries.name_of(day)))
    for beside in (f".{_LOCK}.lock", STAMPS):
        with suppress(OSError):
            os.unlink(os.path.join(folder, beside))


@contextmanager
def _lock(place: JournalFolder, *, confirm: bool = False) -> Iterator[None]:
    require_here(place.scope, place.folder, confirm=confirm)
    # One lock for all days: a lock file beside each of them would double the folder.
    with locked(os.path.join(place.folder, _LOCK)):
        yield


def _day(place: JournalFolder, day: date) -> Day:
    try:
        if not os.path.isdir(place.folder) and not journal_entries.live_memories(place, day, day):
            return Day(day, "", ())
        with _lock(place):
            synced = day_sync.sync_day(place, day, Guard(place))
    except StoreReadOnly:
        # A caller who may not write may still read.
        file = journal_entries.read_file(place, day)
        blocks = journal_entries.parse(file.text if file else "")
        synced = Synced([JournalLine(block) for block in blocks], [], [])
    with place.scope.core.store.read() as reader:
        ids = [line.memory_id for line in synced.lines if line.memory_id]
        memories = reader.memories_by_id(place.scope.hub_id, ids)
    entries = [
        JournalEntry(line.block.text, line.block.time, memories.get(line.memory_id))
        for line in synced.lines
        if line.block.text
    ]
    raw = "".join(line.block.raw for line in synced.lines)
    # Undecodable bytes stay in the file, and are shown as unreadable.
    text = raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return Day(day, text, tuple(entries))


# Days and names


def journal_files(folder: str) -> tuple[list[date], list[str]]:
    """The days that have a file, oldest first, and a note on each name that only looks like one."""
    found, notes = [], []
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{folder} cannot be read: {error.strerror}."]
    for name in names:
        day = day_of_name(name)
        if day is not None:
            found.append(day)
        elif _NEARLY.fullmatch(name):
            notes.append(f"{name} is ignored: a journal is named YYYY-MM-DD.md, after a real day.")
    return found, notes


def span(when: Any, today: date) -> tuple[date, date]:
    """The first and the last day of a text: today, yesterday, a date, or two with `..`."""
    if isinstance(when, str) and ".." in when:
        start, _, end = when.partition("..")
        first = _one_day(start, today) if start.strip() else date.min
        last = _one_day(end, today) if end.strip() else today
    elif isinstance(when, (tuple, list)) and len(when) == 2:
        first, last = (_one_day(part, today) for part in when)
    else:
        first = last = _one_day(when, today)
    if first > last:
        raise InvalidInput(
            f"The range ends before it begins: {first} is after {last}.", hint="Swap them."
        )
    return first, last


def _one_day(when: Any, today: date) -> date:
    if isinstance(when, datetime):
        moment = clean.clean_time(when)
        assert moment is not None, "a time that is given is checked or refused"
        return moment.date()
    if isinstance(when, date):
        return when
    word = when.strip().lower() if isinstance(when, str) else ""
    if word == "today":
        return today
    if word == "yesterday":
        return today - timedelta(days=1)
    found = real_date(word)
    if found is None:
        raise InvalidInput(
            f"{str(when)[:_DAY_CHARS_SHOWN]!r} is not a day.",
            hint="Write today, yesterday, a date such as 2026-05-27, or two of them: "
            "2026-05-01..2026-05-27.",
        )
    return found


def _days_with_something(place: JournalFolder, first: date, last: date) -> set[date]:
    if first == last:
        return {first}
    found = {day for day in journal_files(place.folder)[0] if first <= day <= last}
    for memory in journal_entries.live_memories(place, first, last):
        found.add((memory.occurred_at or memory.created_at).date())
    return found
