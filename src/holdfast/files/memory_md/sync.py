"""Syncs MEMORY.md with the store: edits in the file become revisions, writes to the store become
lines. This module has the order of steps; `merge` decides what to do and applies it to the store,
`layout` positions the lines, `disk` reads and writes the files.

A sync holds the file's lock and takes these steps. A crash between any two of them loses nothing,
and the next sync completes it:

1. Read the file, then the store. Nothing has changed yet.
2. Apply the file's changes to the store, in one transaction and one change set. After a crash here,
  file and store are equal and differ from the base, which is not a conflict. A new line without an
  id is recognised by its text.
3. Write the file atomically, if it has not changed since it was read. After a crash here, the same
  applies: both sides have changed to the same state. Several files are recorded first and written
  one after the other; the next sync writes those that a crash left out.
4. Record the base. This comes last: with a base newer than the file, the old file would look like
  an edit that reverts the store's changes.
5. Record the file's stamp, so that the next check need not read the file. It is a cache and may be
  lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from holdfast.domain.memory import Memory
from holdfast.engine.core import Scope
from holdfast.errors import Conflict
from holdfast.files.hub_folder import note_state, require_here
from holdfast.files.memory_md import Block, Document, MarkdownItem, render
from holdfast.files.memory_md.append import appended
from holdfast.files.memory_md.cache import (
    Stamp,
    Token,
    due_of,
    read_stamp,
    tidy,
    token_of,
    write_stamp,
)
from holdfast.files.memory_md.diff import dropped_text, taken_over, visible_text
from holdfast.files.memory_md.disk import Files, MirrorFiles, agreed_text, texts_of
from holdfast.files.memory_md.layout import Wanted, headings_made, lay_out, without_place
from holdfast.files.memory_md.merge import (
    A_PERSON,
    ChangedMeanwhile,
    Plan,
    Snapshot,
    StoreWriter,
    SyncReport,
    Taken,
    Voice,
    merge,
    snapshot_of,
    together,
    view_of,
)
from holdfast.files.memory_md.pages import gathered, joined, split, spread, tidied, with_sections
from holdfast.files.memory_md.parse import parse, rewritten
from holdfast.system.atomic_file import locked, make_folder, remove_partials

# Somebody may save or write during a sync, which then starts again; after this many attempts it
# gives up with an error.
_ATTEMPTS = 5
# A sync that would archive more than this fraction of the file is probably a mistake; in a file
# with few lines, removing most of them is normal.
_GUARD_SHARE = 3
_GUARD_LEAST = 3

_Done = TypeVar("_Done")


class Mirror:
    """The MEMORY.md of one hub."""

    def __init__(self, scope: Scope, path: str, voice: Voice = A_PERSON) -> None:
        self._scope = scope
        self._writer = StoreWriter(scope, voice)
        self.folder = os.path.dirname(path)
        self.path = path
        self.files = MirrorFiles(scope, self.folder)
        self.stamp: tuple[int, int, int] | None = None  # None if it proves nothing

    def sync(self, *, confirm: bool = False) -> SyncReport:
        """Syncs both sides. `confirm` accepts a file in which many lines are missing, or that comes
        from another hub."""
        return self._locked(lambda: self._sync(self._writer, confirm=confirm), confirm=confirm)

    def rewrite(self, text: str, seen: str | None) -> SyncReport:
        """Replaces the text of the file. `seen` is the file as the text's author saw it; later
        changes of the file are merged. Memories that the new text leaves out are archived, however
        many; a person's own lines that it leaves out are saved beside the file."""
        attempts: list[SyncReport] = []
        self._locked(lambda: self._rewrite(text, seen, attempts))
        return together(attempts)

    def append(self, blocks: Sequence[Block]) -> SyncReport:
        """A sync that adds text at the end of the file, or below the headings that it names. Its
        memories are stored already."""
        return self._locked(lambda: self._sync(self._writer, more=blocks))

    def tidy(self) -> bool:
        """Merges sections of the same category; returns whether there was anything to do."""
        return self._locked(self._tidy)

    def _locked(self, step: Callable[[], _Done], *, confirm: bool = False) -> _Done:
        """Runs a step with the file's lock held, and again if something changed meanwhile."""
        with self._scope.core.store.read() as reader:
            self._scope.require_hub(reader)
        require_here(self._scope, self.folder, confirm=confirm)
        make_folder(self.folder)
        with locked(self.path):
            # Another store may have written the files during the wait.
            require_here(self._scope, self.folder, confirm=confirm)
            remove_partials(self.path, held=True)
            for _ in range(_ATTEMPTS):
                try:
                    return step()
                except ChangedMeanwhile:
                    continue
        raise Conflict(
            f"{self.path} or the hub changed {_ATTEMPTS} times while they were compared.",
            hint="Try again when fewer write at the same time.",
        )

    def _sync(
        self, store_writer: StoreWriter, *, confirm: bool = False, more: Sequence[Block] = ()
    ) -> SyncReport:
        self.files.finish()
        stamp = read_stamp(self.path)
        with self._scope.core.store.read() as reader:
            files = self.files.read(reader)
            token = token_of(reader, self._scope.hub_id)
            as_noted = stamp.is_for(self._scope.hub_id, token, self._scope.now())
            if files.as_agreed and as_noted and not more:
                self.files.left = files.texts
                self._note_stamp(token, stamp.due)
                return SyncReport()
            snapshot = snapshot_of(self._scope, reader, token)
            document = files.document
            if more and not self.files.pages:
                document = appended(document, more, self._scope.now().date())
            view = view_of(self._scope, reader, snapshot, document)
            plan = merge(files.base, document, view)
        if not confirm:
            self._refuse_mass_removal(len(plan.gone), len(snapshot.ours))
        taken = store_writer.apply(plan, snapshot)
        return self._write_back(files, document, plan, snapshot, taken)

    def _rewrite(self, text: str, seen: str | None, attempts: list[SyncReport]) -> SyncReport:
        """A sync, and another one with the new text as the file. An attempt that was interrupted by
        other changes may have changed the store already; the next one finds that done."""
        # Edits that are already in the file belong to the person who edits it, not to the author of
        # the text.
        before = self._sync(StoreWriter(self._scope, A_PERSON))
        attempts.append(SyncReport(notes=before.notes))
        with self._scope.core.store.read() as reader:
            files = self.files.read(reader)
            if files.texts != self.files.left:
                raise ChangedMeanwhile
            token = token_of(reader, self._scope.hub_id)
            snapshot = snapshot_of(self._scope, reader, token)
            now = parse(render(gathered(files.document)))
            # The author did not remove lines that they could not see.
            base = parse(visible_text(self._scope, render(now)) if seen is None else seen)
            given, notes = self._writer.without_orders(reader, taken_over(base, text, now))
            attempts.append(SyncReport(notes=notes))
            document = spread(given) if self.files.pages else given
            view = view_of(self._scope, reader, snapshot, document)
            plan = merge(base, document, view)
        taken = self._writer.apply(plan, snapshot)
        attempts.append(taken.report(plan))
        attempts.append(SyncReport(notes=self.files.keep_aside(dropped_text(now, given))))
        return self._write_back(files, document, plan, snapshot, taken)

    def _tidy(self) -> bool:
        self._sync(self._writer)
        with self._scope.core.store.read() as reader:
            files = self.files.read(reader)
        if not files.as_agreed:
            # A line was refused; then everything stays in place.
            return False
        document = joined({name: text or "" for name, text in files.texts.items()})
        made = tidied(document)
        if _items(made) != _items(document) or split(made) == split(document):
            return False
        self.files.write(files, texts_of(made), texts_of(made))
        return True

    def _refuse_mass_removal(self, gone: int, all_: int) -> None:
        if gone > _GUARD_LEAST and gone * _GUARD_SHARE > all_:
            raise Conflict(
                f"{self.path} lacks {gone} of the {all_} memories it had, so nothing was synced.",
                hint="If they should be archived, sync with `confirm`; to have them back, delete"
                " the file and sync again.",
                command="If they should be archived, say so with `holdfast sync --confirm`; to"
                " have them back, delete the file and run `holdfast sync`.",
            )

    def _write_back(
        self, files: Files, document: Document, plan: Plan, snapshot: Snapshot, taken: Taken
    ) -> SyncReport:
        """Steps 3 to 5: updates the files from the store."""
        after = dict(snapshot.ours)
        for key, memory in taken.changed.items():
            # Held memories are in no file.
            if memory.state in ("active", "cooling") and memory.visible:
                after[key] = memory
            else:
                after.pop(key, None)
        wanted = Wanted(after, taken.links, taken.beside, taken.refused, _touched(plan, taken))
        today = self._scope.now().date()
        if self.files.pages:
            document = with_sections(document, without_place(document, wanted), today)
        else:
            wanted = wanted._replace(made_here=self.files.headings)
        made = lay_out(document, wanted, today)
        texts = texts_of(made)
        agreed = texts_of(_agreed_document(made, after)) if taken.refused else texts
        written = self.files.write(files, texts, agreed, self._headings(document, made))
        if files.notes:
            with self._scope.core.store.read() as reader:
                tidy(
                    reader,
                    self._scope.hub_id,
                    self.path,
                    agreed_text(reader, self._scope.hub_id) or "",
                )
        self._note_stamp(taken.token, due_of(after.values(), self._scope.now()))
        return taken.report(plan)._replace(written=written, notes=files.notes)

    def _headings(self, before: Document, after: Document) -> set[str] | None:
        """The categories with headings that Holdfast created, if they have changed."""
        if self.files.pages:
            return None
        new, typed = headings_made(before, after)
        if not new and not typed:
            return None
        known = self.files.headings()
        found = (known | new) - typed
        return None if found == known else found

    def _note_stamp(self, token: Token, due: int | None) -> None:
        self.stamp = self.files.stamp()
        write_stamp(self.path, Stamp(self._scope.hub_id, self.stamp, token, due))
        note_state(self._scope.core, self._scope.hub_id, token)


def _touched(plan: Plan, taken: Taken) -> set[str]:
    """The categories with changes from the file."""
    before = [edit.memory for edit in plan.edits] + list(plan.gone)
    return {memory.category for memory in [*before, *taken.changed.values()]}


def _items(document: Document) -> list[tuple[str | None, str, str | None]]:
    found = joined(split(document)).items
    return sorted(((i.id, i.content, i.category) for i in found), key=str)


def _agreed_document(made: Document, after: dict[str, Memory]) -> Document:
    """The base if some lines were refused: those lines as the store has them.

    If they were recorded as in the file, the next sync would not see them as edits, and would
    overwrite them with the store's text.
    """
    blocks = []
    for block in made.blocks:
        if isinstance(block, MarkdownItem):
            memory = after.get(block.id or "")
            if memory is None:
                continue
            if memory.content != block.content:
                block = rewritten(block, memory.content, memory.id, made.newline)
        blocks.append(block)
    return made._replace(blocks=tuple(blocks))
