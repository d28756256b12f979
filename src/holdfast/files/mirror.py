"""MEMORY.md and the store, kept in step: edits in the file become revisions, writes to the store
become lines. `merge` decides what follows, `layout` where it stands; here is the order of steps.

A sync holds the file's lock and takes these steps. A crash between any two of them loses nothing,
and the next sync ends what was begun:

1. Read the file, then the store. Nothing has happened yet.
2. Take the file's changes into the store, in one transaction and one change set. After a crash
   here, file and store say the same and differ from what they last agreed on: not a conflict. A
   new line that has no id yet is known again by its text.
3. Write the file, whole or not at all, if it still is what was read. After a crash here the same
   holds: both have moved, to the same place. Several files are noted before and written one after
   the other; the next sync writes those that a crash left out.
4. Note what both agree on. It comes last: a note that ran ahead of the file would make the old
   file look like an edit that takes the store's changes back.
5. Note the file's stamp, to know next time without reading. It is a cache and may be lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory, Source, Trust
from holdfast.domain.mirror import Clash
from holdfast.domain.query import Filter
from holdfast.engine.core import Core, require_hub
from holdfast.engine.drafts import GUARDED, clean_draft, compose
from holdfast.engine.edit import completed
from holdfast.engine.passages import Indexed, indexed_all
from holdfast.engine.recorder import Recorder
from holdfast.errors import Conflict, InvalidInput
from holdfast.files.atomic import locked, make_folder, remove_partials, write_atomic
from holdfast.files.kept import tidy
from holdfast.files.layout import Wanted, lay_out, without_place
from holdfast.files.memory_md import FILE_NAME, Document, Item, parse, render, rewritten
from holdfast.files.merge import Edit, New, Plan, View, merge
from holdfast.files.ours import known_memories
from holdfast.files.page_files import (
    Files,
    UnderWay,
    agreed_text,
    is_left,
    note_under_way,
    read_files,
    set_agreed,
    texts_of,
    under_way,
)
from holdfast.files.pages import gathered, joined, split, spread, tidied, with_sections
from holdfast.files.reading import free_name
from holdfast.files.rewrite import dropped_text, taken_over
from holdfast.files.stamp import (
    Stamp,
    Token,
    due_of,
    read_stamp,
    stamp_of,
    token_of,
    write_stamp,
)
from holdfast.files.whose import require_here
from holdfast.store.base import Reader, Writer
from holdfast.text import normalise
from holdfast.text.guard import instruction_shaped

EDITED = f"edited in {FILE_NAME}"
REMOVED = f"removed from {FILE_NAME}"
# Somebody may save or write while a sync runs, which then begins again; one who never stops is
# told so instead of being waited for.
_ATTEMPTS = 5
_BATCH = 500
# A sync that archives more than this share of the file is more likely a mistake than a wish; with
# so few lines, taking out most of them is ordinary.
_GUARD_SHARE = 3
_GUARD_LEAST = 3


class Voice(NamedTuple):
    """Who speaks through the file: a person with an editor, unless it is said otherwise."""

    source: Source = "cli"
    trust: Trust = "user"
    agent: str | None = None
    edited: str = EDITED
    removed: str = REMOVED


class SyncReport(NamedTuple):
    """What a sync did: memories that came from the file (new, changed, moved or brought back),
    whether the file was written, what was archived, where both sides had changed, what could not
    be taken in, what else is worth knowing, and the change sets to undo."""

    taken_in: tuple[Memory, ...] = ()
    written: bool = False
    archived: tuple[Memory, ...] = ()
    clashes: tuple[Clash, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


_A_PERSON = Voice()


class _Moved(Exception):
    """The file or the store changed while they were compared."""


class _Snapshot(NamedTuple):
    token: Token
    ours: dict[str, Memory]
    open_clashes: list[Clash]


class _Taken(NamedTuple):
    """What the store holds after step 2."""

    token: Token
    changed: dict[str, Memory]
    links: dict[int, str]
    beside: dict[str, str]
    clashes: tuple[Clash, ...]
    refused: dict[int, str]
    change: str | None = None


class Mirror:
    """The MEMORY.md of one hub."""

    def __init__(
        self, core: Core, path: str, hub_id: str, hub: str, voice: Voice | None = None
    ) -> None:
        self._core = core
        self._hub_id = hub_id
        self._hub = hub
        self._voice = voice or _A_PERSON
        self.folder = os.path.dirname(path)
        self.path = path
        self._pages = bool(core.settings["files.per_category"])
        self._more: set[str] = set()  # pages that turned out to be there
        self._left: dict[str, str | None] = {}  # the files' texts after the last sync
        self.stamp: tuple[int, int, int] | None = None  # theirs; None where it proves nothing

    def sync(self, *, confirm: bool = False) -> SyncReport:
        """Brings both sides together. `confirm` says that a file which lacks many lines, or comes
        from another hub, is meant."""
        return self._locked(lambda: self._sync(confirm), confirm)

    def rewrite(self, text: str, seen: str | None) -> SyncReport:
        """Puts a text in the place of the file's. `seen` is the file as the text's author saw it;
        what has changed in it since is merged. What the new text leaves out is archived, however
        much it is; a person's own lines that it leaves out are kept beside the file."""
        attempts: list[SyncReport] = []
        self._locked(lambda: self._rewrite(text, seen, attempts), False)
        return _together(attempts)

    def _locked(self, step: Callable[[], SyncReport], confirm: bool) -> SyncReport:
        """Takes a step with the file's lock held, again where something moved meanwhile."""
        with self._core.store.read() as reader:
            require_hub(reader, self._hub_id, self._hub)
        require_here(self._core, self._hub_id, self._hub, self.folder, confirm=confirm)
        make_folder(self.folder)
        with locked(self.path):
            remove_partials(self.path)
            for _ in range(_ATTEMPTS):
                try:
                    return step()
                except _Moved:
                    continue
        raise Conflict(
            f"{self.path} or the hub changed {_ATTEMPTS} times while they were compared.",
            hint="Try again when fewer write at the same time.",
        )

    def tidy(self) -> bool:
        """Puts sections of one category together; says whether there was anything to do."""
        done: list[bool] = []
        self._locked(lambda: self._tidy(done), False)
        return any(done)

    def _sync(self, confirm: bool) -> SyncReport:
        self._finish_writing()
        stamp = read_stamp(self.path)
        with self._core.store.read() as reader:
            files = self._read(reader)
            token = token_of(reader, self._hub_id)
            if files.as_agreed and stamp.is_for(self._hub_id, token, self._core.now()):
                self._left = files.texts
                self._remember_stamp(token, stamp.due)
                return SyncReport()
            snapshot = self._snapshot(reader, token)
            document = files.document
            plan = merge(files.base, document, self._view(reader, snapshot, document))
        self._guard(plan, snapshot, confirm)
        taken = self._take_in(plan, snapshot)
        return self._write_back(files, document, plan, snapshot, taken)

    def _rewrite(self, text: str, seen: str | None, attempts: list[SyncReport]) -> SyncReport:
        """A sync, and another one with the new text as the file's. An attempt that was overtaken
        may have changed the store already; the next one finds that done."""
        before = Mirror(self._core, self.path, self._hub_id, self._hub)
        attempts.append(SyncReport(notes=before._sync(False).notes))
        with self._core.store.read() as reader:
            files = self._read(reader)
            if files.texts != before._left:
                raise _Moved
            snapshot = self._snapshot(reader, token_of(reader, self._hub_id))
            now = parse(render(gathered(files.document)))
            base = now if seen is None else parse(seen)
            given, notes = self._without_orders(reader, taken_over(base, text, now))
            attempts.append(SyncReport(notes=notes))
            document = spread(given) if self._pages else given
            plan = merge(base, document, self._view(reader, snapshot, document))
        taken = self._take_in(plan, snapshot)
        attempts.append(_report(plan, taken))
        kept = self._keep_aside(dropped_text(now, given))
        attempts.append(SyncReport(notes=kept))
        return self._write_back(files, document, plan, snapshot, taken)

    def _without_orders(
        self, reader: Reader, document: Document
    ) -> tuple[Document, tuple[str, ...]]:
        """The text with lines as they were where somebody else than a person puts orders in their
        place. A line that is new waits for review; one that is there already would be hidden."""
        if self._voice.trust not in GUARDED:
            return document, ()
        blocks, notes = [], []
        for block in document.blocks:
            if isinstance(block, Item) and block.id and (why := instruction_shaped(block.content)):
                memory = reader.memory(self._hub_id, block.id)
                if memory is not None and memory.content != block.content:
                    block = rewritten(block, memory.content, memory.id, document.newline)
                    notes.append(f"#{memory.number} stays as it was: its new text {why}.")
            blocks.append(block)
        return document._replace(blocks=tuple(blocks)), tuple(notes)

    def _tidy(self, done: list[bool]) -> SyncReport:
        report = self._sync(False)
        with self._core.store.read() as reader:
            files = self._read(reader)
            if not files.as_agreed:
                # Something could not be taken in; then everything stays where it is.
                return report
            document = joined({name: text or "" for name, text in files.texts.items()})
            made = tidied(document)
        if _items(made) == _items(document) and split(made) != split(document):
            self._write(files, texts_of(made), texts_of(made))
            done.append(True)
        return report

    def _read(self, reader: Reader) -> Files:
        return read_files(
            reader,
            self._hub_id,
            self.folder,
            self._core,
            pages=self._pages,
            more=sorted(self._more),
        )

    def _keep_aside(self, text: str) -> tuple[str, ...]:
        if not text:
            return ()
        kept = free_name(self.path, self._core.now())
        write_atomic(kept, text, within=self.folder)
        name = os.path.basename(kept)
        return (f"Lines that are no memories and are not in the new text were kept as {name}.",)

    # Step 1

    def _snapshot(self, reader: Reader, token: Token) -> _Snapshot:
        now = self._core.now()
        ours = known_memories(self._core.store, reader, self._hub_id, token, now)
        return _Snapshot(token, ours, reader.clashes(self._hub_id))

    def _view(self, reader: Reader, snapshot: _Snapshot, document: Document) -> View:
        ids = {item.id for item in document.items if item.id} - snapshot.ours.keys()
        return View(
            snapshot.ours,
            reader.memories_by_id(self._hub_id, sorted(ids)),
            lambda memory, text: _texts_since(reader, memory, text),
            # Who writes what is private to another has written something of their own.
            lambda content: [
                twin for twin in _twins(reader, self._hub_id, content) if self._core.sees(twin)
            ],
        )

    def _guard(self, plan: Plan, snapshot: _Snapshot, confirm: bool) -> None:
        gone, all_ = len(plan.gone), len(snapshot.ours)
        if gone > _GUARD_LEAST and gone * _GUARD_SHARE > all_ and not confirm:
            raise Conflict(
                f"{self.path} lacks {gone} of the {all_} memories it had, so nothing was synced.",
                hint="If they should be archived, say so with `holdfast sync --confirm`; to have "
                "them back, delete the file and run `holdfast sync`.",
            )

    # Step 2

    def _take_in(self, plan: Plan, snapshot: _Snapshot) -> _Taken:
        refused: dict[int, str] = {}
        edits = [edit for edit in plan.edits if self._acceptable(edit, refused)]
        new = [item for item in plan.new if self._acceptable(item, refused)]
        links = dict(plan.links)
        if not (edits or new or plan.gone):
            return _Taken(snapshot.token, {}, links, {}, (), refused)
        return self._write_store(edits, new, plan.gone, snapshot, links, refused)

    def _write_store(
        self,
        edits: Sequence[Edit],
        new: Sequence[New],
        gone: Sequence[Memory],
        snapshot: _Snapshot,
        links: dict[int, str],
        refused: dict[int, str],
    ) -> _Taken:
        fields = [_fields(edit, self._voice.trust) for edit in edits]
        after = [edit.memory._replace(**values) for edit, values in zip(edits, fields, strict=True)]
        made = [None if item.twin else self._composed(item) for item in new]
        # The embedding model is asked before the write begins.
        indexes = iter(indexed_all([*after, *(m for m in made if m)], self._core))
        changed: dict[str, Memory] = {}
        beside: dict[str, str] = {}
        clashes: list[Clash] = []
        noted = {(clash.memory_id, clash.in_file) for clash in snapshot.open_clashes}
        with self._core.store.write(hub=self._hub_id) as writer:
            if token_of(writer, self._hub_id) != snapshot.token:
                raise _Moved
            reason = self._voice.edited
            recorder = Recorder(self._core, writer, self._hub_id, "update", reason=reason)
            # Counters move without a change set, so the rows are read again.
            touched = [*(edit.memory.id for edit in edits), *(memory.id for memory in gone)]
            rows = writer.memories_by_id(self._hub_id, touched)
            for edit, values in zip(edits, fields, strict=True):
                memory_id = edit.memory.id
                changed[memory_id] = recorder.revise(rows[memory_id], next(indexes), **values)
            for item, memory in zip(new, made, strict=True):
                if memory is not None:
                    added = self._add(writer, recorder, memory, next(indexes))
                    changed[added.id] = added
                    if item.beside is None:
                        links[item.place] = added.id
                    else:
                        beside[added.id] = item.beside.id
                if item.beside and (item.beside.id, item.content) not in noted:
                    clashes.append(self._clash(item, item.beside))
                    writer.add_clash(self._hub_id, clashes[-1])
            for memory in gone:
                away = recorder.revise(rows[memory.id], **self._archived)
                changed[away.id] = away
            token = token_of(writer, self._hub_id)
            change = recorder.change.id if recorder.written else None
        return _Taken(token, changed, links, beside, tuple(clashes), refused, change)

    @property
    def _archived(self) -> dict[str, Any]:
        return {"state": "archived", "state_reason": self._voice.removed}

    def _acceptable(self, item: Edit | New, refused: dict[int, str]) -> bool:
        try:
            bytes_max = self._core.settings["content.bytes_max"]
            normalise.clean_content(item.content, bytes_max=bytes_max)
        except InvalidInput as error:
            opening = " ".join(item.content[:60].split())
            refused[item.place] = f"“{opening}” was not taken in: {error}"
            return False
        return True

    def _composed(self, item: New) -> Memory:
        draft = Draft(
            item.content,
            category=item.category or (item.beside.category if item.beside else None),
            layer="long_term",
            source=self._voice.source,
            trust=self._voice.trust,
            source_agent=self._voice.agent,
        )
        return compose(clean_draft(self._core, draft), self._core, self._hub_id)

    def _add(self, writer: Writer, recorder: Recorder, memory: Memory, index: Indexed) -> Memory:
        placed = memory._replace(
            id=self._core.ids.next("mem"),
            number=writer.take_numbers(self._hub_id, 1),
            created_at=recorder.change.at,
            updated_at=recorder.change.at,
        )
        return recorder.add(placed, index)

    def _clash(self, item: New, memory: Memory) -> Clash:
        return Clash(
            self._core.ids.next("cls"),
            memory.id,
            FILE_NAME,
            memory.content,
            item.content,
            self._core.now(),
        )

    # Steps 3, 4 and 5

    def _write_back(
        self,
        files: Files,
        document: Document,
        plan: Plan,
        snapshot: _Snapshot,
        taken: _Taken,
    ) -> SyncReport:
        after = dict(snapshot.ours)
        for key, memory in taken.changed.items():
            # What waits for review is in no file.
            if memory.state in ("active", "cooling") and memory.visible:
                after[key] = memory
            else:
                after.pop(key, None)
        wanted = Wanted(after, taken.links, taken.beside, taken.refused, _touched(plan, taken))
        today = self._core.now().date()
        if self._pages:
            document = with_sections(document, without_place(document, wanted), today)
        made = lay_out(document, wanted, today)
        texts = texts_of(made)
        agreed = texts_of(_agreed_document(made, after)) if taken.refused else texts
        written = self._write(files, texts, agreed)
        if files.notes:
            with self._core.store.read() as reader:
                tidy(reader, self._hub_id, self.path, agreed_text(reader, self._hub_id) or "")
        self._remember_stamp(taken.token, due_of(after.values(), self._core.now()))
        return _report(plan, taken)._replace(written=written, notes=files.notes)

    def _write(self, files: Files, texts: dict[str, str], agreed: dict[str, str]) -> bool:
        """Writes the files that have to change, and notes what both agree on."""
        changed = files.to_write(texts)
        if files.moved(changed) or self._turned_up(changed.keys() - files.reads.keys()):
            raise _Moved
        if len(changed) > 1:
            work = UnderWay(
                {name: (files.texts.get(name), text) for name, text in changed.items()},
                agreed,
                self._pages,
            )
            with self._core.store.write(hub=self._hub_id) as writer:
                note_under_way(writer, self._hub_id, work, self._core.now())
        for name, text in changed.items():
            self._put(name, text, files)
        if not (files.agreed == agreed and files.pages == files.were_pages):
            self._agree(agreed, self._pages)
        self._left = dict(texts)
        return bool(changed)

    def _put(self, name: str, text: str | None, files: Files | None = None) -> None:
        path = os.path.join(self.folder, name)
        if text is not None:
            # Writing and flushing takes long enough for somebody to save in between.
            moved = None if files is None else lambda: files.moved([name])
            if not write_atomic(path, text, within=self.folder, unless=moved):
                raise _Moved
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _turned_up(self, names: Iterable[str]) -> bool:
        """Whether a page that is to be made is there already: then it is read first."""
        found = {name for name in names if os.path.lexists(os.path.join(self.folder, name))}
        self._more |= found
        return bool(found)

    def _agree(self, texts: dict[str, str], pages: bool) -> None:
        with self._core.store.write(hub=self._hub_id) as writer:
            require_hub(writer, self._hub_id, self._hub)
            set_agreed(writer, self._hub_id, texts, self._core.now(), pages=pages)

    def _finish_writing(self) -> None:
        """Ends what a crash broke off: files that are still as they were get their new text. One
        that somebody has edited since is left, and differs from what was agreed on before."""
        with self._core.store.read() as reader:
            work = under_way(reader, self._hub_id)
            if work is None:
                return
            now = read_files(
                reader, self._hub_id, self.folder, self._core, pages=False, more=work.files
            )
        agreed = dict(work.agreed)
        for name, (old, new) in work.files.items():
            if now.texts[name] == old != new:
                self._put(name, new)
            elif now.texts[name] != new and now.agreed is not None and name in now.agreed:
                agreed[name] = now.agreed[name]
        # A page that is still there is known as one, also where it should have gone.
        self._agree(agreed, work.pages or len(agreed) > 1)

    def _remember_stamp(self, token: Token, due: int | None) -> None:
        # First the stamp, then another look: somebody may have saved since the last one, and the
        # stamp must not be that of a text which nobody has taken in.
        file = stamp_of(self.path, pages=self._pages)
        self.stamp = file if file and is_left(self.folder, self._left, pages=self._pages) else None
        write_stamp(self.path, Stamp(self._hub_id, self.stamp, token, due))


def our_memories(core: Core, reader: Reader, hub_id: str) -> list[Memory]:
    """The memories that belong in the file, by number."""
    now = core.now()
    wanted = Filter(layers=("long_term",), states=("active", "cooling"), alive_at=now)
    out: list[Memory] = []
    after: tuple[int, int] | None = None
    while True:
        batch = reader.memories(hub_id, wanted, order="number", after=after, limit=_BATCH)
        out += [memory for memory in batch if memory.current(now)]
        if len(batch) < _BATCH:
            return out
        after = (batch[-1].number, batch[-1].number)


def _report(plan: Plan, taken: _Taken) -> SyncReport:
    return SyncReport(
        tuple(m for m in taken.changed.values() if m.state != "archived"),
        archived=tuple(taken.changed[memory.id] for memory in plan.gone),
        clashes=taken.clashes,
        refused=tuple(taken.refused.values()),
        changes=(taken.change,) if taken.change else (),
    )


def _together(reports: Sequence[SyncReport]) -> SyncReport:
    """What several did, as one."""

    def memories(found: Iterable[Memory]) -> tuple[Memory, ...]:
        return tuple({memory.id: memory for memory in found}.values())

    return SyncReport(
        memories(memory for report in reports for memory in report.taken_in),
        True,
        memories(memory for report in reports for memory in report.archived),
        tuple(clash for report in reports for clash in report.clashes),
        tuple(dict.fromkeys(text for report in reports for text in report.refused)),
        tuple(dict.fromkeys(text for report in reports for text in report.notes)),
        tuple(change for report in reports for change in report.changes),
    )


def _texts_since(reader: Reader, memory: Memory, text: str | None) -> Sequence[str]:
    texts = [memory.content]
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        pair = revision.fields.get("content")
        if pair is not None:
            texts.append(pair[0])
    if text in texts:
        # Newest first: what stands before it came after it.
        texts = texts[: texts.index(text)]
    return texts


def _twins(reader: Reader, hub_id: str, content: str) -> Sequence[Memory]:
    found = reader.memories_by_hash(hub_id, normalise.content_hash(content))
    return [m for m in found if m.content == content and m.layer == "long_term"]


def _fields(edit: Edit, trust: Trust) -> dict[str, Any]:
    new: dict[str, Any] = {"content": edit.content}
    if edit.content != edit.memory.content:
        new["trust"] = trust
    if edit.category is not None:
        new["category"] = edit.category
    if edit.memory.state == "archived":
        new |= {"state": "active", "state_reason": ""}
    return completed(edit.memory, new)


def _touched(plan: Plan, taken: _Taken) -> set[str]:
    """The categories in which something came from the file."""
    before = [edit.memory for edit in plan.edits] + list(plan.gone)
    return {memory.category for memory in [*before, *taken.changed.values()]}


def _items(document: Document) -> list[tuple[str | None, str, str | None]]:
    found = joined(split(document)).items
    return sorted(((i.id, i.content, i.category) for i in found), key=str)


def _agreed_document(made: Document, after: dict[str, Memory]) -> Document:
    """What both agree on where some lines were refused: those lines as the store has them.

    Were they noted as they stand in the file, the next sync would see no edit in them, and write
    the store's text over it.
    """
    blocks = []
    for block in made.blocks:
        if isinstance(block, Item):
            memory = after.get(block.id or "")
            if memory is None:
                continue
            if memory.content != block.content:
                block = rewritten(block, memory.content, memory.id, made.newline)
        blocks.append(block)
    return made._replace(blocks=tuple(blocks))
