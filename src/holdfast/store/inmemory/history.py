"""Reading what happened: change sets, revisions, receipts of purges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.store.inmemory.part import Part


class HistoryReader(Part):
    """The part of the Reader that is about the past."""

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        newest_first = list(self._hub(hub_id).changes.values())[::-1]
        if before is None:
            return newest_first[:limit]
        ids = [change.id for change in newest_first]
        start = ids.index(before) + 1 if before in ids else len(ids)
        return newest_first[start : start + limit]

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._hub(hub_id).changes.get(change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        changes = self._hub(hub_id).changes
        return {one: changes[one] for one in change_ids if one in changes}

    def last_undoable(self, hub_id: str) -> Change | None:
        for change in reversed(self._hub(hub_id).changes.values()):
            if change.undoes is None and change.undone_by is None:
                return change
        return None

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        return [r for r in self._hub(hub_id).revisions if r.memory_id == memory_id]

    def revisions_of(self, hub_id: str, change_id: str) -> list[Revision]:
        return [r for r in self._hub(hub_id).revisions if r.change_id == change_id]

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        changed = {r.memory_id for r in self._hub(hub_id).revisions if r.at > at}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in changed]

    def newest_revision(self, hub_id: str) -> int:
        return self._state.sequence

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        later = {r.memory_id for r in self._hub(hub_id).revisions if r.sequence > sequence}
        return [memory.id for memory in self._ordered(hub_id) if memory.id in later][:limit]

    def scan_changes(self, hub_id: str) -> Iterable[Change]:
        return list(self._hub(hub_id).changes.values())

    def scan_revisions(self, hub_id: str) -> Iterable[Revision]:
        return list(self._hub(hub_id).revisions)

    def receipts(self, hub_id: str) -> list[Receipt]:
        return list(self._hub(hub_id).receipts)
