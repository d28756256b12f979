"""Syncs files around each operation on a hub that has a folder: before it, edits in MEMORY.md and
decisions in INBOX.md are applied; after a write, the files are updated. A file that cannot be
synced becomes a note, never an error of the operation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, with_command
from holdfast.files.memory_md.cache import NO_STAMP, drop_copy, quick_stamp_of, read_stamp, token_of

if TYPE_CHECKING:
    from holdfast.engine.core import Scope
    from holdfast.files.inbox import InboxFile
    from holdfast.files.memory_md.merge import SyncReport
    from holdfast.files.memory_md.sync import Mirror


class FileSync:
    """Syncs one hub's MEMORY.md for one process. It reads the file only if its stamp shows that
    somebody has written it, or if a memory in it has expired."""

    def __init__(self, scope: Scope, path: str) -> None:
        self._scope = scope
        self._path = path
        self._pages = bool(scope.settings["files.per_category"])
        self._seen: tuple[int, int, int] | None = None
        self._failed: tuple[int, int, int] | None = None
        self._stamp = NO_STAMP
        self._inbox_file: InboxFile | None = None
        self.notes: list[str] = []

    def before(self) -> None:
        """Applies edits made since the last check."""
        stamp = self._quick_stamp()
        known = stamp is not None and stamp in (self._seen, self._failed)
        if not known or self._stamp.is_due(self._scope.now()):
            self._try(stamp, self._check)

    def after(self, *, purged: bool = False) -> None:
        """Updates the file after a write."""
        self._try(self._quick_stamp(), self._sync)
        if purged:
            drop_copy(self._path)

    def decisions(self) -> bool:
        """Applies what was decided in INBOX.md since the last sync; returns whether there was
        anything."""
        if not os.path.exists(os.path.join(os.path.dirname(self._path), "INBOX.md")):
            return False
        decided, notes = self.inbox.before()
        self.note(notes)
        return decided

    def waiting(self) -> None:
        """Updates INBOX.md after changes of the review inbox."""
        self.note(self.inbox.after())

    @property
    def inbox(self) -> InboxFile:
        if self._inbox_file is None:
            from holdfast.files.inbox import InboxFile

            folder = os.path.dirname(self._path)
            self._inbox_file = InboxFile(self._scope, folder)
        return self._inbox_file

    def _check(self) -> None:
        stamp = self._quick_stamp()
        noted = read_stamp(self._path)
        if stamp is not None and (noted.hub_id, noted.file) == (self._scope.hub_id, stamp):
            with self._scope.core.store.read() as reader:
                token = token_of(reader, self._scope.hub_id)
            if noted.is_for(self._scope.hub_id, token, self._scope.now()):
                self._seen, self._stamp = stamp, noted
                return
        self._sync()

    def _sync(self) -> None:
        mirror = self._mirror()
        report = mirror.sync()
        self._seen = mirror.stamp
        self._stamp = read_stamp(self._path)
        self.note(notes_of(report))

    def _quick_stamp(self) -> tuple[int, int, int] | None:
        return quick_stamp_of(self._path, pages=self._pages)

    def _try(self, stamp: tuple[int, int, int] | None, what: Callable[[], None]) -> None:
        try:
            what()
            self._failed = None
        except (HoldfastError, OSError) as error:
            self.note([with_command(error)])
            # Until somebody changes the file, another attempt would only repeat the note.
            self._failed, self._stamp = stamp, NO_STAMP

    def _mirror(self) -> Mirror:
        from holdfast.files.memory_md.sync import Mirror

        return Mirror(self._scope, self._path)

    def note(self, texts: Iterable[str]) -> None:
        """Adds messages for a person, each sentence once."""
        self.notes += [text for text in texts if text not in self.notes]


def notes_of(report: SyncReport) -> list[str]:
    """The messages of a sync for a person."""
    clashes = [
        f"Memory {clash.memory_id} was changed in the file and in the store; both texts are kept. "
        "`holdfast conflicts` lists them."
        for clash in report.clashes
    ]
    return [*report.notes, *report.refused, *clashes]
