"""Looking back, as methods: history, undo, receipts, export. Thin."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.engine.core import require_hub
from holdfast.hub_base import HubBase

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Entry, Receipt
    from holdfast.domain.memory import Memory
    from holdfast.engine.find import Reference
    from holdfast.engine.history import FieldDiff, Undone
    from holdfast.files.attachments.archive import Packed


class HubPast(HubBase):
    """The methods of a hub that are about its past."""

    def history(self, reference: Reference) -> list[Entry]:
        """Everything that happened to a memory, oldest first."""
        return engine.history.history(self.core, self.id, self.name, reference)

    def diff(
        self, reference: Reference, *, old: int | None = None, new: int | None = None
    ) -> list[FieldDiff]:
        """What differs between two versions; by default the last change."""
        return engine.history.diff(self.core, self.id, self.name, reference, old=old, new=new)

    def changes(self, *, limit: int = 50, before: str | None = None) -> list[Change]:
        """Change sets, newest first."""
        return engine.history.changes(self.core, self.id, self.name, limit=limit, before=before)

    def touched(self, changes: Iterable[str]) -> dict[str, list[Memory]]:
        """The memories that each of these change sets touched, by number; what was purged since is
        gone."""
        out = {}
        named = [engine.drafts.clean_label("change set", change) for change in changes]
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            for change in named:
                ids = dict.fromkeys(one.memory_id for one in reader.revisions_of(self.id, change))
                found = reader.memories_by_id(self.id, list(ids))
                out[change] = sorted(found.values(), key=lambda memory: memory.number)
        return out

    def undo(self, change: str | None = None, *, force: bool = False) -> Undone:
        """Takes back the last change set, or the one named; undoing an undo brings it back."""
        return engine.history.undo(self.core, self.id, self.name, change, force=force)

    def receipts(self) -> list[Receipt]:
        """What was purged."""
        with self.core.read() as reader:
            require_hub(reader, self.id, self.name)
            return self.core.receipts(reader, self.id)

    def export(self) -> Iterator[str]:
        """The whole hub as lines of JSON, revisions included."""
        from holdfast.engine.transfer import export_hub

        return export_hub(self.core, self.id, self.name)

    def export_files(self, path: str | os.PathLike[str]) -> Packed:
        """The files that memories of this hub were made from, as an archive to go with an export,
        and as far as that tells of them; nothing is written where there are none."""
        from holdfast.files.attachments.archive import pack_for_export
        from holdfast.files.attachments.storage import Attachments

        self._refuse_guest()
        place = Attachments(self.core, self.id, self._here())
        return pack_for_export(os.fspath(path), self.core, self.id, place)
