"""Reading what happened: change sets, revisions, receipts of purges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_micros
from holdfast.store import checked_rows as checked
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.part import Part

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision


class HistoryReader(Part):
    """The part of the Reader that is about the past."""

    @property
    def _seen_changes(self) -> str:
        """A change set is seen by those who see something that it changed, and, where nothing of
        it is left, by everyone."""
        if not self._seen:
            return ""
        touched = "FROM revisions r WHERE r.change = changes.pk"
        return (
            f" AND (EXISTS (SELECT 1 {touched}{self._of_seen('r.memory')})"
            f" OR NOT EXISTS (SELECT 1 {touched}))"
        )

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        hub = self._pk(hub_id)
        earlier = "AND pk < (SELECT pk FROM changes WHERE hub = ? AND id = ?)" if before else ""
        found = self._all(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes WHERE hub = ? {earlier}{self._seen_changes}"
            " ORDER BY pk DESC LIMIT ?",
            (hub, *((hub, before) if before else ()), limit),
        )
        return [checked.change_from_row(row, hub_id) for row in found]

    def _change(self, hub_id: str, condition: str, *values: Any) -> Change | None:
        row = self._one(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes"
            f" WHERE hub = ?{self._seen_changes} AND {condition}",
            (self._pk(hub_id), *values),
        )
        return None if row is None else checked.change_from_row(row, hub_id)

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self._change(hub_id, "id = ?", change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        found = {one: self.change(hub_id, one) for one in change_ids}
        return {one: change for one, change in found.items() if change is not None}

    def last_undoable(self, hub_id: str) -> Change | None:
        return self._change(hub_id, "undoes IS NULL AND undone_by IS NULL ORDER BY pk DESC LIMIT 1")

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        hub = self._pk(hub_id)
        found = self._all(
            f"{rows.REVISIONS} WHERE r.memory ="
            f" (SELECT pk FROM memories m WHERE hub = ? AND id = ?{self._seen}) ORDER BY r.version",
            (hub, memory_id),
        )
        return [checked.revision_from_row(row, hub_id) for row in found]

    def revisions_of(self, hub_id: str, change_id: str) -> list[Revision]:
        hub = self._pk(hub_id)
        found = self._all(
            f"{rows.REVISIONS} WHERE r.change = (SELECT pk FROM changes WHERE hub = ? AND id = ?)"
            f"{self._of_seen('r.memory')} ORDER BY r.pk",
            (hub, change_id),
        )
        return [checked.revision_from_row(row, hub_id) for row in found]

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE hub = ? AND at > ?){self._seen} ORDER BY number",
            (self._pk(hub_id), to_micros(at)),
        )
        return [row[0] for row in found]

    def newest_revision(self, hub_id: str) -> int:
        # Of all hubs: their sequences are one, and the last row is found at once.
        return int(self._one("SELECT max(pk) FROM revisions") or 0)

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        # The plus keeps SQLite from walking all revisions of the hub: the few that are newer are
        # at the end of the table.
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE pk > ? AND +hub = ?){self._seen} ORDER BY number LIMIT ?",
            (sequence, self._pk(hub_id), limit),
        )
        return [row[0] for row in found]

    def scan_changes(self, hub_id: str) -> Iterator[Change]:
        for row in self._connection.execute(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes WHERE hub = ?{self._seen_changes}"
            " ORDER BY pk",
            (self._pk(hub_id),),
        ):
            yield checked.change_from_row(row, hub_id)

    def scan_revisions(self, hub_id: str) -> Iterator[Revision]:
        for row in self._connection.execute(
            f"{rows.REVISIONS} WHERE r.hub = ?{self._of_seen('r.memory')} ORDER BY r.pk",
            (self._pk(hub_id),),
        ):
            yield checked.revision_from_row(row, hub_id)

    def receipts(self, hub_id: str) -> list[Receipt]:
        found = self._all(
            f"SELECT {rows.RECEIPT_COLUMNS} FROM receipts WHERE hub = ?{self._of_hub} ORDER BY pk",
            (self._pk(hub_id),),
        )
        return [checked.receipt_from_row(row, hub_id) for row in found]
