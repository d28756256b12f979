"""MEMORY.md as one text that a tool reads, appends to and rewrites. A rewrite is merged with what
the same reader was shown last, as a three-way merge."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import SOURCES, TRUSTS, Draft, Memory, Source, Trust
from holdfast.domain.records import Agreed
from holdfast.domain.results import Duplicate, Remembered
from holdfast.engine.context.layout import ITEM_SHARE, FileItem, FilePart
from holdfast.engine.writing.drafts import clean_label, reason_to_hold
from holdfast.engine.writing.remember import remember_many
from holdfast.errors import HoldfastError, InvalidInput, StoreError
from holdfast.files.memory_md import (
    FILE_NAME,
    TITLE,
    MarkdownItem,
    fresh,
    render,
)
from holdfast.files.memory_md.append import (
    BEFORE,
    Piece,
    last_category,
    note_before,
    pieces,
    with_ids,
)
from holdfast.files.memory_md.cache import our_memories
from holdfast.files.memory_md.diff import shown, visible_text, without
from holdfast.files.memory_md.disk import agreed_text, agreed_texts
from holdfast.files.memory_md.layout import Wanted, lay_out
from holdfast.files.memory_md.merge import SyncReport, Voice
from holdfast.files.memory_md.pages import joined, split, tidied
from holdfast.files.memory_md.parse import parse
from holdfast.files.memory_md.sync import Mirror
from holdfast.text import clean
from holdfast.text.clean import without_hidden
from holdfast.text.facts.statements import words_key

if TYPE_CHECKING:
    from holdfast.engine.context.build import Context
    from holdfast.engine.core import Scope
    from holdfast.store.base import Reader


REWRITTEN = f"{FILE_NAME} was rewritten"
LEFT_OUT = f"left out when {FILE_NAME} was rewritten"
# The most characters that a style adds to an item; longer items may have been cut to their share of
# the block.
_ITEM_FRAME = 64
# A note names a few memories; `holdfast history` has them all.
_NAMED_MAX = 5
_TITLE_CHARS = 60


class MemoryFile(NamedTuple):
    """The MEMORY.md of one hub, its reader or author, and the trust of what they write."""

    scope: Scope
    path: str
    reader: str = ""
    source: Source = "sdk"
    trust: Trust = "user"


def place_of(scope: Scope, path: str, *, source: str, trust: str, agent: str | None) -> MemoryFile:
    """A MemoryFile with checked arguments."""
    return MemoryFile(
        scope,
        path,
        clean_label("source_agent", agent) if agent else "",
        clean.one_of(source, SOURCES, "source"),  # type: ignore[arg-type]
        clean.one_of(trust, TRUSTS, "trust"),  # type: ignore[arg-type]
    )


class Appended(NamedTuple):
    """The result of an append to MEMORY.md: the new memories, the ones that had the text before,
    and notes."""

    added: tuple[Memory, ...]
    known: tuple[Memory, ...]
    notes: tuple[str, ...] = ()


class Rewritten(NamedTuple):
    """The result of a rewrite: memories added, changed (or moved), and archived; those that others
    have written meanwhile, which were kept; the change sets to undo; and notes."""

    added: tuple[Memory, ...] = ()
    changed: tuple[Memory, ...] = ()
    archived: tuple[Memory, ...] = ()
    kept: tuple[Memory, ...] = ()
    changes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def read(place: MemoryFile) -> str | None:
    """MEMORY.md as a model should see it; None if there is neither a file nor any memory for it."""
    text = _present(place)
    if text is None:
        return None
    note_seen(place.scope, place.reader, text)
    return shown(text)


def note_injected(place: MemoryFile, block: Context) -> None:
    """Records which part of MEMORY.md an injected block contained. The agent has not seen what was
    left out or cut."""
    text = _present(place)
    if text is None:
        return
    whole = block.budget // ITEM_SHARE - _ITEM_FRAME
    shown_ids = {m.id for m in block.included if len(m.content.encode()) <= whole}
    hidden = [item.id for item in parse(text).items if item.id and item.id not in shown_ids]
    note_seen(place.scope, place.reader, without(text, hidden))


def _present(place: MemoryFile) -> str | None:
    """The file's text; without a file, the text that it would have. Private memories of others are
    left out."""
    with place.scope.core.read() as reader:
        text = agreed_text(reader, place.scope.hub_id)
        if text is not None and os.path.exists(place.path):
            return visible_text(place.scope, text)
        ours = {
            memory.id: memory
            for memory in our_memories(place.scope.core, reader, place.scope.hub_id)
        }
    if not ours:
        return None
    return render(lay_out(fresh(), Wanted(ours, {}, {}, ()), place.scope.now().date()))


# ── appending ────────────────────────────────────────────────────────────────────────────────


class FileTooLarge(InvalidInput):
    """MEMORY.md would exceed its limit after an edit."""


def append(place: MemoryFile, content: str, *, chars_max: int | None) -> Appended:
    """Appends to MEMORY.md the parts that the hub does not know yet, unchanged: under the heading
    that the text names, or at the end. Refused if the file would exceed `chars_max`.

    The memories are stored first. If the file cannot be written, or another sync comes first, the
    lines are put in the sections of their categories.
    """
    clean.clean_content(content, bytes_max=place.scope.settings["content.bytes_max"])
    _write_first_file(place)
    raw = _agreed(place)
    found = pieces(
        place.scope.core.redactor.text(content, keep_hidden=True), last_category(raw or "")
    )
    given = [piece for piece in found if piece.content]
    if not given:
        raise InvalidInput("There is nothing to add.", hint="Give a bullet or a sentence.")
    new, known = _new_ones(place, given)
    size = len(shown(_present(place) or ""))
    _refuse_large(place, size, sum(len(piece.raw) for piece in new), chars_max)
    drafts = [_draft(place, piece.content, piece.category) for piece in new]
    results = remember_many(place.scope, drafts)
    ids = {
        piece: result.memory.id
        for piece, result in zip(new, results, strict=True)
        if not isinstance(result, Duplicate) and not result.memory.quarantine
    }
    seen = _seen(place)
    notes = []
    try:
        Mirror(place.scope, place.path).append(with_ids(found, ids))
    except (HoldfastError, OSError) as error:
        # The text is stored, so a file that could not follow does not make the append fail.
        notes.append(str(error))
    changes = {change for one in results if (change := getattr(one, "change", None))}
    note_before(place.scope, changes, raw, _agreed(place))
    added = [result.memory for result in results if not isinstance(result, Duplicate)]
    known += [
        result.memory
        for result in results
        if isinstance(result, Duplicate) and not result.memory.quarantine
    ]
    now = _present(place)
    if now is not None:
        own = {memory.id for memory in [*added, *known]}
        note_seen(place.scope, place.reader, seen_after(seen, now, own))
    return Appended(tuple(added), tuple(known), (*_append_notes(results, known), *notes))


def _write_first_file(place: MemoryFile) -> None:
    """Creates the file of a hub that has memories but no file, so that the appended text comes
    last."""
    if os.path.exists(place.path) or _present(place) is None:
        return
    # The append itself reports problems with the folder.
    with suppress(HoldfastError, OSError):
        Mirror(place.scope, place.path).sync()


def _agreed(place: MemoryFile) -> str | None:
    """The file with ids and dates."""
    with place.scope.core.store.read() as reader:
        return agreed_text(reader, place.scope.hub_id)


def _new_ones(place: MemoryFile, found: Sequence[Piece]) -> tuple[list[Piece], list[Memory]]:
    with place.scope.core.read() as reader:
        ours = our_memories(place.scope.core, reader, place.scope.hub_id)
    said: dict[str, Memory | None] = {words_key(memory.content): memory for memory in ours}
    new: list[Piece] = []
    known: list[Memory] = []
    for piece in found:
        key = words_key(piece.content)
        if key not in said:
            new.append(piece)
            said[key] = None
        elif (memory := said[key]) is not None:
            known.append(memory)
    return new, known


def _draft(place: MemoryFile, content: str, category: str | None) -> Draft:
    return Draft(
        content,
        category=category,
        layer="long_term",
        source=place.source,
        trust=place.trust,
        source_agent=place.reader or None,
    )


def _refuse_large(place: MemoryFile, size: int, more: int, chars_max: int | None) -> None:
    if chars_max is not None and more and size + more > chars_max:
        raise FileTooLarge(
            f"{FILE_NAME} has {size:,} characters; with these {more:,} it would have more than the"
            f" {chars_max:,} allowed, so nothing was added.",
            hint="Condense it first: read it, then rewrite it with a shorter text that keeps what"
            " still matters and what you wanted to add.",
        )


def _append_notes(results: Sequence[Remembered], known: Sequence[Memory]) -> list[str]:
    notes = []
    if known:
        notes.append(f"Known already and not added again: {_named(known)}.")
    held = [result.memory for result in results if result.memory.quarantine]
    if held:
        notes.append(f"Held until a person has looked at it: {_named(held)}.")
    return notes


# ── tidying ──────────────────────────────────────────────────────────────────────────────────


def tidy(place: MemoryFile, *, dry_run: bool) -> tuple[str, ...]:
    """Merges sections of MEMORY.md with the same category; returns what was done, or why that was
    impossible."""
    if dry_run:
        with place.scope.core.store.read() as reader:
            document = joined(agreed_texts(reader, place.scope.hub_id) or {})
        there = split(tidied(document)) != split(document)
        return (f"Sections of {FILE_NAME} would be put in order.",) if there else ()
    try:
        done = Mirror(
            place.scope,
            place.path,
        ).tidy()
    except (HoldfastError, OSError) as error:
        return (str(error),)
    return (f"Sections of {FILE_NAME} were put in order.",) if done else ()


# ── rewriting ────────────────────────────────────────────────────────────────────────────────


def rewrite(place: MemoryFile, text: str, *, chars_max: int | None) -> Rewritten:
    """Replaces the text of MEMORY.md, as a difference from what its author has seen."""
    if not text.strip():
        raise InvalidInput(
            "A rewrite with nothing in it would empty the memory, so nothing was changed.",
            hint="Give the whole new text. To take a single thing out, leave its line out.",
        )
    clean.clean_content(text, bytes_max=place.scope.settings["content.bytes_max"])
    _refuse_hidden_orders(place, text)
    text = place.scope.core.redactor.text(text)
    present = _present(place)
    size = len(shown(present or ""))
    # A text that exceeds the limit but is shorter than the file is accepted.
    if chars_max is not None and len(text) > max(chars_max, size - 1):
        raise InvalidInput(
            f"The new text has {len(text):,} characters; {FILE_NAME} may have at most"
            f" {chars_max:,}, so nothing was changed.",
            hint="Rewrite it with a shorter text: merge what belongs together, leave out what no"
            " longer matters.",
        )
    seen = _seen(place)
    if present is not None and text.strip() == shown(seen or present).strip():
        return Rewritten()
    voice = Voice(place.source, place.trust, place.reader or None, REWRITTEN, LEFT_OUT)
    mirror = Mirror(place.scope, place.path, voice)
    before = _agreed(place)
    report = mirror.rewrite(text, present if seen is None else seen)
    note_before(place.scope, report.changes, before, _agreed(place))
    now = _present(place) or ""
    own = {memory.id for memory in report.taken_in}
    after = seen_after(seen or present, now, own)
    note_seen(place.scope, place.reader, after)
    kept = _unseen(place, after, now)
    new = [m for m in report.taken_in if m.version == 1]
    changed = [m for m in report.taken_in if m.version > 1]
    notes = _notes_of(report, new, kept)
    return Rewritten(
        tuple(new), tuple(changed), report.archived, tuple(kept), report.changes, tuple(notes)
    )


def _notes_of(report: SyncReport, new: Sequence[Memory], kept: Sequence[Memory]) -> list[str]:
    """Notes for the author of a rewrite. `kept` are memories that they had not seen."""
    notes = [*report.notes, *report.refused]
    if report.clashes:
        notes.append(
            "Changed by somebody else since it was read, so both texts are kept:"
            f" {_named([m for m in new if m.content in {c.in_file for c in report.clashes}])}."
        )
    if kept:
        notes.append(f"Not shown to you before, and kept: {_named(kept)}.")
    if held := [memory for memory in new if memory.quarantine]:
        notes.append(f"Held until a person has looked at it: {_named(held)}.")
    if report.archived:
        undo = ", then ".join(f"`holdfast undo {change}`" for change in reversed(report.changes))
        notes.append(
            f"Left out of the new text and archived: {_named(report.archived)}."
            f" To take the whole rewrite back: {undo}."
        )
    return notes


def condensed(done: Rewritten, model: str, chars_max: int) -> Appended:
    """The result of an append after a model has condensed the file, with how to undo that."""
    undo = ", then ".join(f"`holdfast undo {change}`" for change in reversed(done.changes))
    note = (
        f"{FILE_NAME} would have had more than {chars_max:,} characters, so {model} condensed it"
        f" with what was added. To take that back: {undo}."
    )
    return Appended(done.added, (), (note, *done.notes))


def _refuse_hidden_orders(place: MemoryFile, text: str) -> None:
    """Refuses a text with instructions in invisible characters. Elsewhere such a text is held; here
    most of it is the existing file."""
    if without_hidden(text) is text:
        return
    if why := reason_to_hold(text, place.trust):
        raise InvalidInput(
            f"The new text {why}, so nothing was changed.",
            hint="Give the text without invisible characters.",
        )


def _seen(place: MemoryFile) -> str | None:
    with place.scope.core.read() as reader:
        text = seen_by(reader, place.scope.hub_id, place.reader)
        # Agents of several people may have the same name.
        return None if text is None else visible_text(place.scope, text)


def _unseen(place: MemoryFile, seen: str, now: str) -> list[Memory]:
    known = {item.id for item in parse(seen).items}
    ids = [item.id for item in parse(now).items if item.id and item.id not in known]
    with place.scope.core.read() as reader:
        found = reader.memories_by_id(place.scope.hub_id, ids)
    return [found[memory_id] for memory_id in ids if memory_id in found]


def _named(memories: Sequence[Memory]) -> str:
    named = [f"#{m.number} “{_short(m.content)}”" for m in memories[:_NAMED_MAX]]
    more = len(memories) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")


def _short(content: str) -> str:
    line = " ".join(content.split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1].rstrip() + "…"


_ROW = f"{FILE_NAME} as read"
# As many agents as use one hub at a time; the least recent readers are dropped.
_READERS_MAX = 8
# The injected block is shown to every reader, so it counts for all of them.
ANYBODY = ""


def seen_by(store_reader: Reader, hub_id: str, reader: str) -> str | None:
    """The text of MEMORY.md as this reader last saw it, so that a rewrite is compared with that;
    None if it is unknown."""
    rows = _rows(store_reader, hub_id)
    mine = [row for name, row in rows.items() if name in (reader, ANYBODY)]
    return max(mine)[1] if mine else None


def note_seen(scope: Scope, reader: str, text: str) -> None:
    """Records the text of MEMORY.md that a reader is shown. If the store cannot be written now,
    only this record is lost."""
    with scope.core.store.read() as store_reader:
        rows = _rows(store_reader, scope.hub_id)
    if reader in rows and rows[reader] == max(rows.values()) and rows[reader][1] == text:
        return
    with suppress(StoreError), scope.core.store.write(hub=scope.hub_id) as writer:
        rows = _rows(writer, scope.hub_id)
        rows[reader] = (1 + max((row[0] for row in rows.values()), default=0), text)
        newest = sorted(rows.items(), key=lambda row: row[1][0], reverse=True)[:_READERS_MAX]
        note = json.dumps(dict(newest), ensure_ascii=False)
        writer.set_agreed(scope.hub_id, Agreed(_ROW, note, scope.now()))


def forget_seen(scope: Scope) -> None:
    """Drops all records of texts that readers saw, because they may have text that is about to be
    purged."""
    with scope.core.store.read() as store_reader:
        noted = [row for row in (_ROW, BEFORE) if store_reader.agreed(scope.hub_id, row)]
    if noted:
        with scope.core.store.write(hub=scope.hub_id) as writer:
            for row in noted:
                writer.drop_agreed(scope.hub_id, row)


def seen_after(before: str | None, now: str, own: Collection[str]) -> str:
    """The file as known to a reader who saw `before` and then changed the items with the ids in
    `own`; `now` is the file. The reader has not seen what others have added meanwhile."""
    if before is None:
        return now
    known = {item.id: item.raw for item in parse(before).items if item.id}
    out = []
    for block in parse(now).blocks:
        if not isinstance(block, MarkdownItem) or block.id in own:
            out.append(block.raw)
        elif block.id in known:
            out.append(known[block.id])
    return "".join(out)


def _rows(store_reader: Reader, hub_id: str) -> dict[str, tuple[int, str]]:
    """The text that each reader saw, numbered; the highest number is the latest."""
    found = store_reader.agreed(hub_id, _ROW)
    rows = json.loads(found.text) if found else {}
    return {name: (row[0], row[1]) for name, row in rows.items()}


_MARKS = re.compile(r"<!-- updated \d{4}-\d\d-\d\d -->\r?\n?")


def file_parts(scope: Scope) -> list[FilePart] | None:
    """The last synced file, in parts; None if there is none yet."""
    with scope.core.store.read() as reader:
        text = agreed_text(reader, scope.hub_id)
    return None if text is None else parts_of(text)


def parts_of(text: str) -> list[FilePart]:
    """The parts of a file's text, without its title: the styles have a heading."""
    out: list[FilePart] = []
    for block in parse(text).blocks:
        if isinstance(block, MarkdownItem):
            out.append(FileItem(block.id, block.content))
            continue
        raw = _MARKS.sub("", block.raw).replace("\r\n", "\n")
        if not out and raw.startswith(TITLE):
            raw = raw.removeprefix(TITLE).lstrip("\n")
        if raw:
            out.append(raw)
    return out
