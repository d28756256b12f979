"""A hub's files as methods: MEMORY.md in step with the store, documents, files that an agent
edits, attachments, and the search for secrets in all. Thin."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.hub_log import HubLog

if TYPE_CHECKING:
    from holdfast.domain.memory import Source, Trust
    from holdfast.domain.mirror import Clash
    from holdfast.engine.scan import Secret
    from holdfast.files.attachments.storage import Attachments
    from holdfast.files.folders.documents import Report
    from holdfast.files.memory_md.edit import Appended, Rewritten
    from holdfast.files.memory_md.intake import SyncReport
    from holdfast.files.tool_files.operations import Files
    from holdfast.files.tool_files.sync import KeptFiles


class HubFiles(HubLog):
    """The methods of a hub that are about files."""

    def sync(self, *, confirm: bool = False) -> SyncReport:
        """Brings MEMORY.md, INBOX.md, the journals and the store together, and keeps them so from
        now on: afterwards each operation takes in what was edited. `confirm` says that many missing
        lines are meant, and that this folder is the hub's where another was so far."""
        from holdfast.files.inbox import InboxFile
        from holdfast.files.journal import journal
        from holdfast.files.memory_md.sync import Mirror
        from holdfast.files.ownership import take_over

        if confirm:
            take_over(self._filer.core, self.id, self.name, self.folder)
        # What is wrong with a journal is a note, and keeps MEMORY.md from nothing.
        notes = self.sync_journals(confirm=confirm)
        files = self._filer.core
        # What was decided in INBOX.md stands in MEMORY.md afterwards, so it comes first.
        inbox = InboxFile(files, self.folder, self.id, self.name)
        decided, waiting = inbox.sync()
        if decided:
            notes += journal.follow(self._filer._journals)
        report = Mirror(files, self.memory_md, self.id, self.name).sync(confirm=confirm)
        waiting += inbox.after()
        return report._replace(notes=(*report.notes, *notes, *waiting))

    def conflicts(self) -> list[Clash]:
        """Where the file and the store both changed one memory; both texts are kept."""
        from holdfast.files.conflicts import open_clashes

        return open_clashes(self.core, self.id, self.name)

    def settle(self, conflict: str, *, keep: str) -> Clash:
        """Ends a conflict: `keep` the "store" text, the "file" text, or "both"."""
        from holdfast.files.conflicts import settle

        return settle(self.core, self.id, self.name, conflict, keep)

    @property
    def notes(self) -> list[str]:
        """What there is to know about the hub's files: restored, refused, in conflict."""
        filer = self._owners or self
        notes = list(filer._step.notes) if filer._step is not None else []
        return notes + (filer._looked.notes if filer._looked is not None else [])

    def read_memory_md(self, *, source_agent: str | None = None) -> str | None:
        """MEMORY.md as a model should see it, without the marks in it; None where there is none.
        What `source_agent` was shown is noted, so that its next rewrite can be merged."""
        from holdfast.files.memory_md import edit

        return edit.read(self._as_text("sdk", "user", source_agent))

    def append_memory_md(
        self,
        content: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Appended:
        """Adds bullets and paragraphs to MEMORY.md, each a memory in the section of its heading or
        its category; what is known is not added again. Past `chars_max` it is refused."""
        from holdfast.files.memory_md import edit

        place = self._as_text(source, trust, source_agent)
        return edit.append(place, content, chars_max=chars_max)

    def rewrite_memory_md(
        self,
        text: str,
        *,
        chars_max: int | None = None,
        trust: str = "user",
        source: str = "sdk",
        source_agent: str | None = None,
    ) -> Rewritten:
        """Puts a text in the place of MEMORY.md's: lines that are the same or alike stay the same
        memories, what is left out is archived. The changes are one change set; what others wrote
        since `source_agent` last read it is kept."""
        from holdfast.files.memory_md import edit

        place = self._as_text(source, trust, source_agent)
        return edit.rewrite(place, text, chars_max=chars_max)

    def index_files(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        remove: bool = True,
        remove_many: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Report:
        """Brings documents up to date with a folder: the hub's own `files`, or another one.

        New and changed files are read, what is unchanged is not opened, and what is gone is
        archived, unless `remove` says not to.
        Where very many files are gone at once, `remove_many` says that this is meant. A dry run
        only says what it would do.
        """
        from holdfast.files.folders import documents

        core = self.core
        if folder is None:
            place = documents.own_place(self._here())
            core = self._keeper or core
        else:
            self._refuse_guest()
            place = documents.other_place(os.fspath(folder))
        return documents.index_files(
            core,
            self.id,
            self.name,
            place,
            remove=remove,
            remove_many=remove_many,
            dry_run=dry_run,
            progress=progress,
        )

    def files(
        self, *, trust: Trust = "user", source: Source = "sdk", source_agent: str | None = None
    ) -> Files:
        """The hub's own folder as an agent edits it, with paths below `/memories`: look, create,
        replace, insert, delete, rename, clear. Each file is a memory, and each text it ever had a
        version; undo brings files back."""
        from holdfast.files.tool_files.operations import Files
        from holdfast.files.tool_files.sync import Author

        return Files(self._kept_files, Author(trust, source, source_agent))

    @property
    def _kept_files(self) -> KeptFiles:
        from holdfast.files.tool_files.sync import KeptFiles

        folder = self._here()
        return KeptFiles(self.core, self.id, self.name, folder, keeper=self._keeper)

    @property
    def attachments(self) -> Attachments:
        """The files that memories of this hub were made from."""
        from holdfast.files.attachments.storage import Attachments

        return Attachments(self.core, self.id, self._here())

    def find_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        note: Callable[[str], None] | None = None,
    ) -> list[Secret]:
        """The secrets in the store, its history, the log, the hub's files and those attached to
        memories: where, of which kind, how many; never what they are. `note` is told which attached
        files could not be looked into, as pictures: those may hold some."""
        from holdfast.files.attachments.text import find_in_attachments
        from holdfast.files.secret_scan import find_in_files

        found = engine.scan.find_in_store(self.core, self.id, self.name, progress)
        found += find_in_files(self._journals)
        return found + find_in_attachments(self.core, self.id, self.attachments, note or _unheard)

    def redact_secrets(
        self,
        progress: Callable[[int, int], None] | None = None,
        *,
        attachments: bool = False,
    ) -> list[str]:
        """Replaces all of them by placeholders, in old versions too, for good; returns notes. With
        `attachments`, the attached files that hold some are removed, which cannot be undone; their
        memories stay. What lies in other files stays there: `find_secrets` names it."""
        from holdfast.files.attachments.text import remove_attachments
        from holdfast.files.secret_scan import clean_files

        engine.scan.clean_store(self.core, self.id, self.name, progress)
        notes = clean_files(self._journals)
        if attachments:
            remove_attachments(self.core, self.id, self.attachments, notes.append)
        return notes


def _unheard(note: str) -> None:
    """For notes that nobody asked for."""
