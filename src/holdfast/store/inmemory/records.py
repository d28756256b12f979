"""Reading records: keys, members, jobs. A viewer makes no difference to them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from holdfast.domain.record import Record
from holdfast.store.inmemory.part import Part


class RecordsReader(Part):
    """The part of the Reader that is about records."""

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        return self._state.records.get((hub_id, kind, record_id))

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        found = (one for one in self._of_kind(hub_id, kind) if one.lookup == lookup)
        return next(found, None)

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        return [one for one in self._of_kind(hub_id, kind) if one.id > after][:limit]

    def _of_kind(self, hub_id: str, kind: str) -> list[Record]:
        found = self._state.records.values()
        mine = [one for one in found if one.hub_id == hub_id and one.kind == kind]
        return sorted(mine, key=lambda one: one.id)

    def scan_records(self, hub_id: str) -> Iterable[Record]:
        found = (one for one in self._state.records.values() if one.hub_id == hub_id)
        return sorted(found, key=lambda one: (one.kind, one.id))

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        waiting = [
            (one.due, one.hub_id, one.id, one)
            for one in self._state.records.values()
            if one.kind == kind
            and one.due is not None
            and one.due <= by
            and hub_id in (None, one.hub_id)
        ]
        return [entry[3] for entry in sorted(waiting, key=lambda entry: entry[:3])][:limit]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        found = {one.hub_id for one in self.due_records(kind, by, limit=len(self._state.records))}
        return min((hub for hub in found if hub > after), default=None)
