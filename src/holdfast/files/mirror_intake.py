"""The way from MEMORY.md into the store: what a merge found becomes memories, revisions and noted
clashes, in one transaction and one change set, in the name of who speaks through the file.

It is told what to take in and knows neither why nor where the lines stand on the disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from holdfast.domain.draft import Draft
from holdfast.domain.memory import Memory, Source, Trust
from holdfast.domain.mirror import Clash
from holdfast.engine.core import Core
from holdfast.engine.drafts import GUARDED, clean_draft, compose
from holdfast.engine.edit import completed
from holdfast.engine.passages import indexed_all
from holdfast.engine.recorder import Recorder
from holdfast.errors import InvalidInput
from holdfast.files.memory_md import FILE_NAME, Document, Item
from holdfast.files.memory_md_items import rewritten
from holdfast.files.merge import Edit, New, Plan
from holdfast.files.mirror_report import SyncReport
from holdfast.files.mirror_view import Moved, Snapshot
from holdfast.files.stamp import Token, token_of
from holdfast.store.base import Reader, Writer
from holdfast.text import normalise
from holdfast.text.guard import instruction_shaped

EDITED = f"edited in {FILE_NAME}"
REMOVED = f"removed from {FILE_NAME}"


class Voice(NamedTuple):
    """Who speaks through the file: a person with an editor, unless it is said otherwise."""

    source: Source = "cli"
    trust: Trust = "user"
    agent: str | None = None
    edited: str = EDITED
    removed: str = REMOVED


A_PERSON = Voice()


class Taken(NamedTuple):
    """What the store holds afterwards. `links` says which memory each item of the file stands for,
    `beside` which memory a new one clashes with, `refused` why an item was not taken in."""

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


class Intake:
    """Takes changes of one hub's file into its store, in one voice."""

    def __init__(self, core: Core, hub_id: str, voice: Voice) -> None:
        self._core = core
        self._hub_id = hub_id
        self._voice = voice

    def take_in(self, plan: Plan, snapshot: Snapshot) -> Taken:
        """Does what the plan says; raises Moved where the store is not as in the snapshot."""
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
        indexes = iter(indexed_all([*after, *(m for m in made if m)], self._core))
        with self._core.store.write(hub=self._hub_id) as writer:
            if token_of(writer, self._hub_id) != snapshot.token:
                raise Moved
            reason = self._voice.edited
            recorder = Recorder(self._core, writer, self._hub_id, "update", reason=reason)
            # Counters move without a change set, so the rows are read again.
            touched = [*(edit.memory.id for edit in edits), *(memory.id for memory in gone)]
            rows = writer.memories_by_id(self._hub_id, touched)
            for edit, values in zip(edits, fields, strict=True):
                row = rows[edit.memory.id]
                taken.changed[row.id] = recorder.revise(row, next(indexes), **values)
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
                taken.changed[memory.id] = recorder.revise(rows[memory.id], **archived)
            token = token_of(writer, self._hub_id)
            change = recorder.change.id if recorder.written else None
        return taken._replace(token=token, clashes=clashes, change=change)

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

    def _note_clashes(
        self, writer: Writer, new: Sequence[New], open_clashes: Sequence[Clash]
    ) -> tuple[Clash, ...]:
        """Notes where both sides changed one memory, unless that is noted already."""
        noted = {(clash.memory_id, clash.in_file) for clash in open_clashes}
        clashes = []
        for item in new:
            if item.beside and (item.beside.id, item.content) not in noted:
                clash = self._clash(item, item.beside)
                writer.add_clash(self._hub_id, clash)
                clashes.append(clash)
        return tuple(clashes)

    def _clash(self, item: New, memory: Memory) -> Clash:
        return Clash(
            self._core.ids.next("cls"),
            memory.id,
            FILE_NAME,
            memory.content,
            item.content,
            self._core.now(),
        )

    def without_orders(
        self, reader: Reader, document: Document
    ) -> tuple[Document, tuple[str, ...]]:
        """The text with lines as they were where somebody else than a person puts orders in their
        place, and notes on them. A line that is new waits for review; one that is there already
        would be hidden."""
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


def _fields(edit: Edit, trust: Trust) -> dict[str, Any]:
    new: dict[str, Any] = {"content": edit.content}
    if edit.content != edit.memory.content:
        new["trust"] = trust
    if edit.category is not None:
        new["category"] = edit.category
    if edit.memory.state == "archived":
        new |= {"state": "active", "state_reason": ""}
    return completed(edit.memory, new)
