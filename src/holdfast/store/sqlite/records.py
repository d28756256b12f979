"""Records in SQLite: keys, members, jobs. They have no hub of their own rows to hang on where they
belong to none, so a hub that goes takes its records along by name (see `drop_hub`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.records import NO_HUB, Record
from holdfast.errors import AlreadyExists, NotFound
from holdfast.store import rows as shared
from holdfast.store.checksums import require_intact, row_checksum

_COLUMNS = "r.kind, r.id, r.at, r.body, r.lookup, r.due, r.checksum"
# The number of no hub: real ones begin at 1.
_NO_HUB_PK = 0


class RecordsReader:
    """The part of the Reader that is about records."""

    _connection: apsw.Connection
    if TYPE_CHECKING:

        def _pk(self, hub_id: str) -> int: ...

    def _records_pk(self, hub_id: str) -> int:
        return _NO_HUB_PK if hub_id == NO_HUB else self._pk(hub_id)

    def _records(self, sql: str, values: Sequence[Any], hub_id: str) -> list[Record]:
        found = self._connection.execute(f"SELECT {_COLUMNS} FROM records r {sql}", values)
        return [_from_row(row, hub_id) for row in found]

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        found = self._records(
            "WHERE r.hub = ? AND r.kind = ? AND r.id = ?",
            (self._records_pk(hub_id), kind, record_id),
            hub_id,
        )
        return found[0] if found else None

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        found = self._records(
            "WHERE r.hub = ? AND r.kind = ? AND r.lookup = ?",
            (self._records_pk(hub_id), kind, lookup),
            hub_id,
        )
        return found[0] if found else None

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        return self._records(
            "WHERE r.hub = ? AND r.kind = ? AND r.id > ? ORDER BY r.id LIMIT ?",
            (self._records_pk(hub_id), kind, after, limit),
            hub_id,
        )

    def scan_records(self, hub_id: str) -> Iterator[Record]:
        for row in self._connection.execute(
            f"SELECT {_COLUMNS} FROM records r WHERE r.hub = ? ORDER BY r.kind, r.id",
            (self._records_pk(hub_id),),
        ):
            yield _from_row(row, hub_id)

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        of_hub = "" if hub_id is None else " AND r.hub = ?"
        hub = () if hub_id is None else (self._records_pk(hub_id),)
        found = self._connection.execute(
            f"SELECT {_COLUMNS}, h.id FROM records r LEFT JOIN hubs h ON h.pk = r.hub"
            f" WHERE r.kind = ? AND r.due <= ?{of_hub} ORDER BY r.due, r.hub, r.id LIMIT ?",
            (kind, to_micros(by), *hub, limit),
        )
        return [_from_row(row[:7], row[7] or NO_HUB) for row in found]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        # All that is due is looked at: on one machine it is seldom much. Hub 0 is that of none.
        row = self._connection.execute(
            "SELECT h.id FROM hubs h WHERE h.pk = (SELECT min(r.hub) FROM records r"
            " WHERE r.kind = ? AND r.due <= ?"
            " AND r.hub > coalesce((SELECT a.pk FROM hubs a WHERE a.id = ?), 0))",
            (kind, to_micros(by), after),
        ).fetchone()
        return None if row is None else str(row[0])


class RecordsWriter(RecordsReader):
    """The part of the Writer that is about records."""

    def put_record(self, record: Record) -> None:
        hub = self._records_pk(record.hub_id)
        if hub < 0:
            raise NotFound(f"There is no hub {record.hub_id}.")
        fields = (
            record.kind,
            record.id,
            to_micros(record.at),
            shared.dumps(dict(record.body)),
            record.lookup,
            None if record.due is None else to_micros(record.due),
        )
        try:
            self._connection.execute(
                "INSERT INTO records (hub, kind, id, at, body, lookup, due, checksum)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hub, kind, id) DO UPDATE SET"
                " at = excluded.at, body = excluded.body, lookup = excluded.lookup,"
                " due = excluded.due, checksum = excluded.checksum",
                (hub, *fields, row_checksum("records", record.hub_id, fields)),
            )
        except apsw.ConstraintError:
            raise AlreadyExists(
                f"Another {record.kind} has the lookup {record.lookup!r}."
            ) from None

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        self._connection.execute(
            "DELETE FROM records WHERE hub = ? AND kind = ? AND id = ?",
            (self._records_pk(hub_id), kind, record_id),
        )
        return self._connection.changes() > 0


def _from_row(row: shared.Row, hub_id: str) -> Record:
    require_intact("records", hub_id, row[:-1], row[-1], f"{row[0]} {row[1]}")
    due = None if row[5] is None else from_micros(row[5])
    return Record(hub_id, row[0], row[1], from_micros(row[2]), json.loads(row[3]), row[4], due)
