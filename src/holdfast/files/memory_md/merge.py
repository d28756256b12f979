"""The three-way merge of MEMORY.md: compares the base, the file and the store, decides what to do
for each memory, and applies that to the store in one transaction and one change set (memories,
revisions, recorded conflicts). Also the snapshot of the store that a sync works on, and its report.

If two changes exclude each other, the one that would otherwise be lost wins, because the store has
a history: a text of the file that the store has never had is always stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.domain.memory import Draft, Memory, Source, Trust
from holdfast.domain.records import Clash
from holdfast.engine.core import Scope
from holdfast.engine.writing.drafts import GUARDED, clean_draft, compose, reason_to_hold
from holdfast.engine.writing.edit import completed
from holdfast.engine.writing.indexing import indexed_all
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import InvalidInput
from holdfast.files.memory_md import FILE_NAME, Document, MarkdownItem
from holdfast.files.memory_md.cache import Token, known_memories, token_of
from holdfast.files.memory_md.parse import rewritten
from holdfast.files.merge import Changed, changed
from holdfast.store.base import Reader, Writer
from holdfast.text import clean


class View(NamedTuple):
    """The part of the store that the merge sees.

    `ours` are the memories that belong in the file; `elsewhere` are others with an id in the file.
    `texts_since` returns the texts that a memory has had since a given one (all of them for None);
    `twins` returns the long-term memories with exactly this text.
    """

    ours: Mapping[str, Memory]
    elsewhere: Mapping[str, Memory]
    texts_since: Callable[[Memory, str | None], Sequence[str]]
    twins: Callable[[str], Sequence[Memory]]


class Edit(NamedTuple):
    """A memory that an edit of MEMORY.md changes; `place` is the index of the item in the file."""

    place: int
    memory: Memory
    content: str
    category: str | None


class New(NamedTuple):
    """A memory that an edit of MEMORY.md adds; `beside` is the one it conflicts with, if any, and
    `twin` an existing one with the same text, so that only the conflict must be recorded."""

    place: int
    content: str
    category: str | None
    beside: Memory | None = None
    twin: Memory | None = None


class Plan(NamedTuple):
    """The changes of the store that follow from MEMORY.md. `links` maps each item to its memory;
    items without one are removed from the file, unless they are new."""

    edits: tuple[Edit, ...]
    new: tuple[New, ...]
    gone: tuple[Memory, ...]
    links: Mapping[int, str]


def merge(base: Document | None, file: Document, view: View) -> Plan:
    """Merges a file with its base."""
    return _Merge(base, file, view).plan()


class _Merge:
    def __init__(self, base: Document | None, file: Document, view: View) -> None:
        self.before: dict[str, MarkdownItem] = {}
        for item in base.items if base else ():
            if item.id is not None:
                self.before.setdefault(item.id, item)
        self.items = file.items
        self.view = view
        self.edits: list[Edit] = []
        self.new: list[New] = []
        self.gone: list[Memory] = []
        self.links: dict[int, str] = {}
        self.claimed: set[str] = set()

    def plan(self) -> Plan:
        strangers = []
        ours, agreed, claimed = self.view.ours, self.before, self.claimed
        for index, item in enumerate(self.items):
            # The block equals the base, the usual case in a large file: whatever the store has by
            # now, the file has nothing new.
            mine = item.id or ""
            if agreed.get(mine) is item and item.content and mine in ours and mine not in claimed:
                claimed.add(mine)
                self.links[index] = mine
                continue
            known = item.id is not None and item.id not in self.claimed
            if not known or not self._known(index, item, item.id or ""):
                strangers.append(index)
        for index in strangers:
            self._match_without_id(index, self.items[index])
        for memory_id, before in self.before.items():
            memory = self.view.ours.get(memory_id)
            if memory is None or memory_id in self.claimed:
                continue
            # The store has changed it since, so nobody has seen and removed that text in the file.
            if changed(before.content, memory.content, None) is Changed.FILE:
                self.gone.append(memory)
        return Plan(tuple(self.edits), tuple(self.new), tuple(self.gone), self.links)

    def _known(self, index: int, item: MarkdownItem, memory_id: str) -> bool:
        """Handles an item with a known id; False if the id is unknown."""
        memory = self.view.ours.get(memory_id)
        before = self.before.get(memory_id)
        if memory is not None:
            if not item.content:
                # The text was deleted and only its hidden comment is left: it was removed.
                return True
            self.claimed.add(memory_id)
            self._compare(index, item, memory, before)
            return True
        if not item.content or (before is not None and before.content == item.content):
            # The store has removed it, and nobody has changed it in the file since.
            self.claimed.add(memory_id)
            return True
        other = self.view.elsewhere.get(memory_id)
        if other is not None and _can_return(other):
            self.claimed.add(memory_id)
            self._link(index, other.id)
            self.edits.append(Edit(index, other, item.content, item.category))
            return True
        return False

    def _compare(
        self, index: int, item: MarkdownItem, memory: Memory, before: MarkdownItem | None
    ) -> None:
        content, category = memory.content, memory.category
        self._link(index, memory.id)
        agreed = before.content if before else None
        side = changed(agreed, memory.content, item.content)
        if side is Changed.FILE:
            content = item.content
        elif side is Changed.BOTH and item.content not in self.view.texts_since(memory, agreed):
            self._clash(index, item, memory)
        if item.category and before is not None and item.category != before.category:
            category = item.category
        if (content, category) != (memory.content, memory.category):
            self.edits.append(Edit(index, memory, content, category))

    def _clash(self, index: int, item: MarkdownItem, memory: Memory) -> None:
        shown = [twin for twin in self.view.twins(item.content) if twin.id in self.view.ours]
        twin = shown[0] if shown else None
        self.new.append(New(index, item.content, item.category, beside=memory, twin=twin))

    def _match_without_id(self, index: int, item: MarkdownItem) -> None:
        """Handles a bullet without an id: a memory that lost its comment, one that is added again,
        or a new one."""
        if not item.content:
            return
        for twin in self.view.twins(item.content):
            if twin.id in self.claimed:
                continue
            shown = twin.id in self.view.ours
            if not shown and not _can_return(twin):
                continue
            self.claimed.add(twin.id)
            self._link(index, twin.id)
            moved = item.category is not None and item.category != twin.category
            if moved or not shown:
                self.edits.append(Edit(index, twin, item.content, item.category))
            return
        self.new.append(New(index, item.content, item.category))

    def _link(self, index: int, memory_id: str) -> None:
        self.links[index] = memory_id


def _can_return(memory: Memory) -> bool:
    """Whether a line in the file restores it; a forgotten memory stays forgotten."""
    return (
        memory.visible
        and memory.state == "archived"
        and memory.layer == "long_term"
        and memory.superseded_by is None
    )


class SyncReport(NamedTuple):
    """The result of a sync: memories from the file (new, changed, moved or restored), whether the
    file was written, archived memories, conflicts, refused lines, notes, and the change sets to
    undo."""

    taken_in: tuple[Memory, ...] = ()
    written: bool = False
    archived: tuple[Memory, ...] = ()
    clashes: tuple[Clash, ...] = ()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


def together(reports: Sequence[SyncReport]) -> SyncReport:
    """The reports of several attempts, of which the last wrote the file, merged."""

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


class ChangedMeanwhile(Exception):
    """MEMORY.md or the store changed while they were compared."""


class Snapshot(NamedTuple):
    """The store as it was when the sync of MEMORY.md began."""

    token: Token
    ours: dict[str, Memory]
    open_clashes: list[Clash]


def snapshot_of(scope: Scope, reader: Reader, token: Token) -> Snapshot:
    ours = known_memories(scope.core.store, reader, scope.hub_id, token, scope.now())
    return Snapshot(token, ours, reader.clashes(scope.hub_id))


def view_of(scope: Scope, reader: Reader, snapshot: Snapshot, document: Document) -> View:
    """The view for the merge of this document."""
    ids = {item.id for item in document.items if item.id} - snapshot.ours.keys()
    return View(
        snapshot.ours,
        reader.memories_by_id(scope.hub_id, sorted(ids)),
        lambda memory, text: _texts_since(reader, memory, text),
        # Text that repeats another person's private memory is a memory of its own.
        lambda content: [
            twin for twin in _twins(reader, scope.hub_id, content) if scope.core.sees(twin)
        ],
    )


def _texts_since(reader: Reader, memory: Memory, text: str | None) -> Sequence[str]:
    texts = [memory.content]
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        pair = revision.fields.get("content")
        if pair is not None:
            texts.append(pair[0])
    if text in texts:
        # Newest first, so earlier items in the list are later in time.
        texts = texts[: texts.index(text)]
    return texts


def _twins(reader: Reader, hub_id: str, content: str) -> Sequence[Memory]:
    found = reader.memories_by_hash(hub_id, clean.content_hash(content))
    return [m for m in found if m.content == content and m.layer == "long_term"]


EDITED = f"edited in {FILE_NAME}"
REMOVED = f"removed from {FILE_NAME}"


class Voice(NamedTuple):
    """The author of a change to MEMORY.md: a person with an editor, by default."""

    source: Source = "cli"
    trust: Trust = "user"
    agent: str | None = None
    edited: str = EDITED
    removed: str = REMOVED


A_PERSON = Voice()


class Taken(NamedTuple):
    """The result in the store. `links` maps each item of the file to its memory, `beside` a new one
    to the memory it conflicts with, and `refused` items to the reason for refusing them."""

    token: Token
    changed: dict[str, Memory]
    links: dict[int, str]
    beside: dict[str, str]
    clashes: tuple[Clash, ...]
    refused: dict[int, str]
    change: str | None = None

    def report(self, plan: Plan) -> SyncReport:
        return SyncReport(
            tuple(m for m in self.changed.values() if m.state != "archived"),
            archived=tuple(self.changed[memory.id] for memory in plan.gone),
            clashes=self.clashes,
            refused=tuple(self.refused.values()),
            changes=(self.change,) if self.change else (),
        )


class StoreWriter:
    """Applies changes of a hub's MEMORY.md to its store, in the name of one author."""

    def __init__(self, scope: Scope, voice: Voice) -> None:
        self._scope = scope
        self._voice = voice

    def apply(self, plan: Plan, snapshot: Snapshot) -> Taken:
        """Applies the plan; raises ChangedMeanwhile if the store is not in the state of the
        snapshot."""
        refused: dict[int, str] = {}
        edits = [edit for edit in plan.edits if self._acceptable(edit, refused)]
        new = [item for item in plan.new if self._acceptable(item, refused)]
        taken = Taken(snapshot.token, {}, dict(plan.links), {}, (), refused)
        if not (edits or new or plan.gone):
            return taken
        return self._write(edits, new, plan.gone, snapshot, taken)

    def _write(
        self,
        edits: Sequence[Edit],
        new: Sequence[New],
        gone: Sequence[Memory],
        snapshot: Snapshot,
        taken: Taken,
    ) -> Taken:
        fields = [_fields(edit, self._voice.trust) for edit in edits]
        after = [edit.memory._replace(**values) for edit, values in zip(edits, fields, strict=True)]
        made = [None if item.twin else self._composed(item) for item in new]
        # The embedding model is asked before the write begins.
        indexes = iter(indexed_all([*after, *(m for m in made if m)], self._scope.core))
        with self._scope.core.store.write(hub=self._scope.hub_id) as writer:
            if token_of(writer, self._scope.hub_id) != snapshot.token:
                raise ChangedMeanwhile
            reason = self._voice.edited
            recorder = Recorder(self._scope, writer, "update", reason=reason)
            # Counters move without a change set, so the rows are read again.
            touched = [*(edit.memory.id for edit in edits), *(memory.id for memory in gone)]
            rows = writer.memories_by_id(self._scope.hub_id, touched)
            for edit, values in zip(edits, fields, strict=True):
                row = rows[edit.memory.id]
                edited = recorder.revise(row, next(indexes), **values)
                if edited.content != row.content:
                    recorder.supersede_twins(row, edited)
                taken.changed[row.id] = edited
            for item, memory in zip(new, made, strict=True):
                if memory is not None:
                    added = recorder.add(memory, next(indexes))
                    taken.changed[added.id] = added
                    if item.beside is None:
                        taken.links[item.place] = added.id
                    else:
                        taken.beside[added.id] = item.beside.id
            clashes = self._note_clashes(writer, new, snapshot.open_clashes)
            archived: dict[str, Any] = {"state": "archived", "state_reason": self._voice.removed}
            for memory in gone:
                removed = recorder.revise(rows[memory.id], **archived)
                recorder.archive_twins(removed)
                taken.changed[memory.id] = removed
            token = token_of(writer, self._scope.hub_id)
            change = recorder.change.id if recorder.written else None
        return taken._replace(token=token, clashes=clashes, change=change)

    def _acceptable(self, item: Edit | New, refused: dict[int, str]) -> bool:
        try:
            bytes_max = self._scope.settings["content.bytes_max"]
            clean.clean_content(item.content, bytes_max=bytes_max)
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
        return compose(clean_draft(self._scope.core, draft), self._scope.core, self._scope.hub_id)

    def _note_clashes(
        self, writer: Writer, new: Sequence[New], open_clashes: Sequence[Clash]
    ) -> tuple[Clash, ...]:
        """Records the conflicts where both sides changed one memory, unless they are recorded
        already."""
        noted = {(clash.memory_id, clash.in_file) for clash in open_clashes}
        clashes = []
        for item in new:
            if item.beside and (item.beside.id, item.content) not in noted:
                clash = self._clash(item, item.beside)
                writer.add_clash(self._scope.hub_id, clash)
                clashes.append(clash)
        return tuple(clashes)

    def _clash(self, item: New, memory: Memory) -> Clash:
        return Clash(
            self._scope.core.ids.next("cls"),
            memory.id,
            FILE_NAME,
            memory.content,
            item.content,
            self._scope.now(),
        )

    def without_orders(
        self, reader: Reader, document: Document
    ) -> tuple[Document, tuple[str, ...]]:
        """The text without changes of existing lines into instructions by anybody but a person, and
        notes on them. A new line with instructions is held for review; holding an existing one
        would hide it."""
        trust = self._voice.trust
        if trust not in GUARDED:
            return document, ()
        blocks, notes = [], []
        for block in document.blocks:
            if (
                isinstance(block, MarkdownItem)
                and block.id
                and (why := reason_to_hold(block.content, trust))
            ):
                memory = reader.memory(self._scope.hub_id, block.id)
                if memory is not None and memory.content != block.content:
                    block = rewritten(block, memory.content, memory.id, document.newline)
                    notes.append(f"#{memory.number} stays as it was: its new text {why}.")
            blocks.append(block)
        return document._replace(blocks=tuple(blocks)), tuple(notes)


def _fields(edit: Edit, trust: Trust) -> dict[str, Any]:
    new: dict[str, Any] = {"content": edit.content}
    if edit.content != edit.memory.content:
        new["trust"] = trust
    if edit.category is not None:
        new["category"] = edit.category
    if edit.memory.state == "archived":
        new |= {"state": "active", "state_reason": ""}
    return completed(edit.memory, new)
