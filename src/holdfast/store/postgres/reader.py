"""The Reader of the store contract, composed of its parts; and reading and writing records (keys,
members, jobs). Records that belong to no hub have hub_id 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.records import NO_HUB, Record
from holdfast.errors import AlreadyExists, NotFound
from holdfast.store import rows as shared
from holdfast.store.checksums import require_intact, sealed
from holdfast.store.postgres.session import NO_SUCH_HUB, Part
from holdfast.store.postgres.vectors import VectorsReader

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Answer, Session


_COLUMNS = "r.kind, r.id, r.at, r.body, r.lookup, r.due, r.checksum"


class RecordsReader(Part):
    """The part of the Reader that is about records."""

    def _records_hub(self, hub_id: str) -> int:
        return self._session.no_hub() if hub_id == NO_HUB else self._session.hub(hub_id)

    def _records(self, hub_id: str, kind: str, rest: str, **values: Any) -> list[Record]:
        found = self._session.all(
            f"SELECT {_COLUMNS} FROM records r WHERE r.hub_id = %(hub)s AND r.kind = %(kind)s"
            f" {rest}",
            hub=self._records_hub(hub_id),
            kind=kind,
            **values,
        )
        return [_from_row(row, hub_id) for row in found]

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        found = self._records(hub_id, kind, "AND r.id = %(id)s", id=record_id)
        return found[0] if found else None

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        found = self._records(hub_id, kind, "AND r.lookup = %(lookup)s", lookup=lookup)
        return found[0] if found else None

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        return self._records(
            hub_id,
            kind,
            "AND r.id > %(after)s ORDER BY r.id LIMIT %(limit)s",
            after=after,
            limit=limit,
        )

    def scan_records(self, hub_id: str) -> Iterator[Record]:
        for row in self._session.scan(
            f"SELECT {_COLUMNS} FROM records r WHERE r.hub_id = %(hub)s ORDER BY r.kind, r.id",
            hub=self._records_hub(hub_id),
        ):
            yield _from_row(row, hub_id)

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        if hub_id is not None:
            return self._records(
                hub_id,
                kind,
                "AND r.due <= %(by)s ORDER BY r.due, r.id LIMIT %(limit)s",
                by=to_micros(by),
                limit=limit,
            )
        # For all hubs at once, by the index `records_due`: one index scan, however many hubs there
        # are. On Citus, each node returns its first few.
        found = self._due(
            f"SELECT {_COLUMNS}, h.id FROM records r LEFT JOIN hubs h ON h.hub_id = r.hub_id"
            " WHERE r.kind = %(kind)s AND r.due <= %(by)s"
            " ORDER BY r.due, r.hub_id, r.id LIMIT %(limit)s",
            kind=kind,
            by=to_micros(by),
            limit=limit,
        )
        return [_from_row(row[:7], row[7] or NO_HUB) for row in found]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        # One lookup in the index `records_due_in_hub`, however much is due in the hubs before. (Hub
        # 0 is for records that belong to none.)
        found = self._due(
            "SELECT h.id FROM records r JOIN hubs h ON h.hub_id = r.hub_id"
            " WHERE r.kind = %(kind)s AND r.due <= %(by)s AND r.hub_id >"
            " coalesce((SELECT a.hub_id FROM hubs a WHERE a.id = %(after)s), 0)"
            " ORDER BY r.hub_id LIMIT 1",
            kind=kind,
            by=to_micros(by),
            after=after,
        )
        return found[0][0] if found else None

    def _due(self, sql: str, **values: Any) -> list[Any]:
        """Runs a query over all hubs, which row level security allows with this setting."""
        self._session.run("SET LOCAL holdfast.due = 'all'")
        found = self._session.all(sql, **values)
        self._session.run("SET LOCAL holdfast.due = ''")
        return found


class RecordsWriter(RecordsReader):
    """The part of the Writer that is about records."""

    def put_record(self, record: Record) -> None:
        hub = self._records_hub(record.hub_id)
        if hub == NO_SUCH_HUB:
            raise NotFound(f"There is no hub {record.hub_id}.")
        # Checked first: a unique violation would abort the whole transaction.
        if record.lookup is not None:
            other = self.record_by_lookup(record.hub_id, record.kind, record.lookup)
            if other is not None and other.id != record.id:
                raise AlreadyExists(f"Another {record.kind} has the lookup {record.lookup!r}.")
        self._session.put(
            f"{_INSERT} ON CONFLICT (hub_id, kind, id) DO UPDATE SET"
            " at = excluded.at, body = excluded.body, lookup = excluded.lookup,"
            " due = excluded.due, checksum = excluded.checksum",
            (hub, *_sealed(record)),
        )

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        dropped = self._session.put(
            "DELETE FROM records WHERE hub_id = %s AND kind = %s AND id = %s",
            (self._records_hub(hub_id), kind, record_id),
        )
        return dropped > 0

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        one = before or after
        assert one is not None, "there is something to be put, or to be taken away"
        # No lock for records of no hub: the server makes writers wait for the row itself.
        hub = 0 if one.hub_id == NO_HUB else self._session.hub(one.hub_id)
        if hub == NO_SUCH_HUB:
            raise NotFound(f"There is no hub {one.hub_id}.")
        if before is None:
            sql = f"{_INSERT} ON CONFLICT DO NOTHING"
            return self._session.put(sql, (hub, *_sealed(one))) > 0
        same = "hub_id = %s AND kind = %s AND id = %s AND at = %s AND body = %s"
        same += " AND due IS NOT DISTINCT FROM %s::bigint"
        kind, name, at, body, _, due = _to_row(before)
        there = (hub, kind, name, at, body, due)
        if after is None:
            return self._session.put(f"DELETE FROM records WHERE {same}", there) > 0
        _, _, new_at, new_body, _, new_due, checksum = _sealed(after)
        sql = f"UPDATE records SET at = %s, body = %s, due = %s, checksum = %s WHERE {same}"
        return self._session.put(sql, (new_at, new_body, new_due, checksum, *there)) > 0


_INSERT = (
    "INSERT INTO records (hub_id, kind, id, at, body, lookup, due, checksum)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)


def _to_row(record: Record) -> tuple[str, str, int, str, str | None, int | None]:
    return (
        record.kind,
        record.id,
        to_micros(record.at),
        shared.dumps(dict(record.body)),
        record.lookup,
        None if record.due is None else to_micros(record.due),
    )


def _sealed(record: Record) -> shared.Row:
    return sealed("records", record.hub_id, _to_row(record))


def _from_row(row: shared.Row, hub_id: str) -> Record:
    require_intact("records", hub_id, row[:-1], row[-1], f"{row[0]} {row[1]}")
    due = None if row[5] is None else from_micros(row[5])
    return Record(hub_id, row[0], row[1], from_micros(row[2]), json.loads(row[3]), row[4], due)


class PostgresReader(VectorsReader, RecordsReader):
    """One snapshot of the database."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._answers: dict[object, Any] = {}

    def _once(self, question: object, ask: Callable[[], Answer]) -> Answer:
        # A snapshot does not change. A recall needs the same few figures in five places, and each
        # query is a round trip.
        if question not in self._answers:
            self._answers[question] = ask()
        answer: Answer = self._answers[question]
        return answer

    def _note(self, question: object, answer: object) -> None:
        self._answers.setdefault(question, answer)
