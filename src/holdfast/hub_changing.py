"""Changing what is kept, as methods: update, pin, archive, forget, restore, purge, and the rules
that do so for many at once. Thin; a purge takes with it what the hub's files hold."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.domain.query import Filter
from holdfast.engine.core import require_hub
from holdfast.files.atomic import is_kept_in_files
from holdfast.hub_files import HubFiles
from holdfast.in_step import PURGED

if TYPE_CHECKING:
    from holdfast.domain.change import Receipt
    from holdfast.domain.memory import Memory
    from holdfast.domain.results import LifecycleMoves
    from holdfast.engine.compact import Compacted
    from holdfast.engine.find import Reference


class HubChanging(HubFiles):
    """The methods of a hub that change memories which are there."""

    def update(
        self,
        reference: Reference,
        *,
        expected_version: int | None = None,
        reason: str = "",
        **changes: Any,
    ) -> Memory:
        """Sets fields of a memory, for example content, title, category, tags or key."""
        return engine.edit.update(
            self.core,
            self.id,
            self.name,
            reference,
            changes,
            expected_version=expected_version,
            reason=reason,
        )

    def pin(self, reference: Reference) -> Memory:
        """Keeps it from ageing, and lets it rank a little higher."""
        return engine.edit.pin(self.core, self.id, self.name, reference, True)

    def unpin(self, reference: Reference) -> Memory:
        return engine.edit.pin(self.core, self.id, self.name, reference, False)

    def archive(self, reference: Reference, *, reason: str = "archived by hand") -> Memory:
        """Hides it from recall and lists, and keeps it."""
        return engine.edit.archive(self.core, self.id, self.name, [reference], reason)[0]

    def archive_many(
        self, references: Iterable[Reference], *, reason: str = "archived by hand"
    ) -> list[Memory]:
        """Archives all of them or none, as one change set."""
        return engine.edit.archive(self.core, self.id, self.name, [*references], reason)

    def forget(self, reference: Reference, *, reason: str = "") -> Memory:
        """Hides it everywhere; `restore` or `undo` brings it back."""
        return engine.edit.forget(self.core, self.id, self.name, [reference], reason)[0]

    def forget_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Memory]:
        """Forgets all of them or none, as one change set."""
        return engine.edit.forget(self.core, self.id, self.name, [*references], reason)

    def restore(self, reference: Reference, *, reason: str = "") -> Memory:
        """Brings back what was forgotten, archived or held for review."""
        return engine.edit.restore(self.core, self.id, self.name, [reference], reason)[0]

    def restore_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Memory]:
        """Brings all of them back or none, as one change set."""
        return engine.edit.restore(self.core, self.id, self.name, [*references], reason)

    def purge(self, reference: Reference, *, reason: str = "") -> Receipt:
        """Removes it and its whole history, for good; only a receipt without content stays."""
        return self._purge([reference], reason)[0]

    def purge_many(self, references: Iterable[Reference], *, reason: str = "") -> list[Receipt]:
        """Purges all of them or none."""
        return self._purge([*references], reason)

    def purge_forgotten(self, *, reason: str = "") -> list[Receipt]:
        """Purges what was forgotten more than `forget.keep_days` ago."""
        oldest = self.core.now() - timedelta(days=self.core.settings["forget.keep_days"])
        wanted = Filter(states=(), forgotten=True, quarantined=None)
        gone = [
            memory.id
            for memory in engine.listing.scan_memories(self.core, self.id, self.name, wanted)
            if memory.forgotten_at is not None and memory.forgotten_at <= oldest
        ]
        return self._purge(gone, reason) if gone else []

    def _purge(self, references: list[Any], reason: str) -> list[Receipt]:
        """Purges memories with everything that files hold of them."""
        from holdfast.files import archive
        from holdfast.files.memory_md.edit import forget_seen
        from holdfast.files.tool_files import follow

        forget_seen(self.core, self.id)
        # Looked up before: afterwards nothing says which file was theirs.
        files = archive.files_of(self._journals, references)
        kept = follow.doomed(self._kept_files, references)
        with self.attachments.releasing(self._ids(references)):
            receipts = engine.edit.purge(self.core, self.id, self.name, references, reason)
        archive.remove(self._journals, files)
        notes = follow.remove_doomed(self._kept_files, kept)
        if self._step is not None:
            self._step.note(notes)
        if not is_kept_in_files(os.path.dirname(self.memory_md)):
            # Elsewhere it is done when all files have followed.
            engine.edit.settle(self.core, PURGED)
        return receipts

    def _ids(self, references: list[Any]) -> list[str]:
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            find = engine.find.find_memory
            return [find(reader, self.id, self.name, r, forgotten=True).id for r in references]

    def access(self, reference: Reference) -> Memory:
        """Notes that it was really used; being shown by recall does not count as that."""
        return engine.edit.access(self.core, self.id, self.name, [reference])[0]

    def access_many(self, references: Iterable[Reference]) -> list[Memory]:
        """Notes that all of them were used, at the same moment."""
        return engine.edit.access(self.core, self.id, self.name, [*references])

    def compact(self, *, dry_run: bool = False) -> Compacted:
        """Of long-term memories that say the same, one stays; the others are archived with a link
        to it, as one change set. In MEMORY.md sections of one category become one. A dry run only
        says what it would do."""
        done = engine.compact.compact(self.core, self.id, self.name, dry_run=dry_run)
        if not os.path.exists(self.memory_md):
            return done
        from holdfast.files.memory_md.edit import tidy

        place = self._as_text("sdk", "user", None)
        return done._replace(notes=(*done.notes, *tidy(place, dry_run=dry_run)))

    def lifecycle(self, *, dry_run: bool = False, category: str | None = None) -> LifecycleMoves:
        """Cools and archives what is due, or only what is due of one category; a dry run only
        says what it would do and why. A run is one change set, named in `change`."""
        return engine.lifecycle.lifecycle(
            self.core, self.id, self.name, dry_run=dry_run, category=category
        )

    def _lifecycle_automatically(self) -> LifecycleMoves:
        """The same for an automatic run, which `engine.lifecycle_due.claim` allows."""
        return engine.lifecycle.lifecycle_automatically(self.core, self.id, self.name)
