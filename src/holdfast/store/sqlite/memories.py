"""Reading hubs and memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.store import rows as shared
from holdfast.store.checksums import damaged_row
from holdfast.store.sqlite import filters, rows
from holdfast.store.sqlite.part import Part
from holdfast.store.values import first_named


class MemoriesReader(Part):
    """The part of the Reader that is about hubs and memories."""

    # Hubs

    def hubs(self) -> list[Hub]:
        found = self._all(f"SELECT {rows.HUB_COLUMNS} FROM hubs ORDER BY name")
        return [rows.hub_from_row(row) for row in found]

    def hub(self, name: str) -> Hub | None:
        return self._hub_by("name", name)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        return self._hub_by("id", hub_id)

    def _hub_by(self, column: str, value: str) -> Hub | None:
        row = self._one(f"SELECT {rows.HUB_COLUMNS} FROM hubs WHERE {column} = ?", (value,))
        if row is None:
            self._require_no_hub(column, value)
            return None
        hub = rows.hub_from_row(row)
        if value not in (hub.id, hub.name):
            raise damaged_row("hubs", value)
        return hub

    # Memories

    def _memory(self, hub_id: str, condition: str, value: Any) -> Memory | None:
        row = self._one(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND {condition}{self._seen}",
            (self._pk(hub_id), value),
        )
        return None if row is None else rows.memory_from_row(row, hub_id)

    def memory(self, hub_id: str, memory_id: str) -> Memory | None:
        return self._memory(hub_id, "m.id = ?", memory_id)

    def memory_by_number(self, hub_id: str, number: int) -> Memory | None:
        return self._memory(hub_id, "m.number = ?", number)

    def memory_by_key(self, hub_id: str, key: str, *, audience: str | None = None) -> Memory | None:
        return self._named(hub_id, "key", key, audience)

    def memory_by_path(
        self, hub_id: str, source_path: str, *, audience: str | None = None
    ) -> Memory | None:
        return self._named(hub_id, "source_path", source_path, audience)

    def _named(self, hub_id: str, column: str, name: str, audience: str | None) -> Memory | None:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND m.{column} = ? AND m.forgotten_at IS NULL{self._seen}",
            (self._pk(hub_id), name),
        )
        memories = (rows.memory_from_row(row, hub_id) for row in found)
        return first_named(memories, audience)

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND m.content_hash = ? AND m.forgotten_at IS NULL{self._seen}",
            (self._pk(hub_id), content_hash),
        )
        # Sorted here: with ORDER BY, SQLite compiles the statement anew at every call (40 µs
        # against 4), and walks the whole hub in the order of numbers where it is let.
        return sorted(
            (rows.memory_from_row(row, hub_id) for row in found), key=lambda memory: memory.number
        )

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
            f" ON m.hub = ? AND m.id = j.value{self._seen}",
            (shared.dumps(list(memory_ids)), self._pk(hub_id)),
        )
        return {row[0]: rows.memory_from_row(row, hub_id) for row in found}

    def memories(
        self,
        hub_id: str,
        wanted: Filter,
        *,
        order: Order,
        after: tuple[Any, int] | None,
        limit: int,
    ) -> list[Memory]:
        conditions, values = self._where(wanted)
        column, down = filters.ORDERINGS[order]
        way = "DESC" if down else "ASC"
        if after is not None:
            conditions += f" AND ({column}, m.number) {'<' if down else '>'} (?, ?)"
            values += after
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub = ?{conditions}"
            f" ORDER BY {column} {way}, m.number {way} LIMIT ?",
            (self._pk(hub_id), *values, limit),
        )
        return [rows.memory_from_row(row, hub_id) for row in found]

    def ids_by_use(self, hub_id: str, wanted: Filter, *, limit: int | None = None) -> list[str]:
        conditions, values = self._where(wanted)
        found = self._all(
            f"SELECT m.id FROM memories m WHERE m.hub = ?{conditions} ORDER BY m.pinned DESC,"
            # Below zero, there is no limit.
            " max(m.updated_at, coalesce(m.accessed_at, 0)) DESC, m.number DESC LIMIT ?",
            (self._pk(hub_id), *values, -1 if limit is None else limit),
        )
        return [row[0] for row in found]

    def adjacent(self, hub_id: str, pairs: Sequence[tuple[str, int, int]]) -> list[bool]:
        found = self._all(
            "SELECT NOT EXISTS (SELECT 1 FROM memories m WHERE hub = ? AND session = p.value ->> 0"
            " AND number > p.value ->> 1 AND number < p.value ->> 2 AND forgotten_at IS NULL"
            f" AND quarantine = ''{self._seen}) FROM json_each(?) p ORDER BY p.key",
            (self._pk(hub_id), shared.dumps(list(pairs))),
        )
        return [bool(row[0]) for row in found]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        # Jumps from one speaker to the next in the index, however many turns each has.
        first = "SELECT min(speaker) FROM memories m WHERE hub = ?1"
        found = self._all(
            "WITH RECURSIVE s (name) AS ("
            f" {first} AND speaker IS NOT NULL{self._seen}"
            " UNION ALL"
            f" SELECT ({first} AND speaker > s.name{self._seen}) FROM s WHERE s.name IS NOT NULL)"
            " SELECT name FROM s WHERE name IS NOT NULL LIMIT ?2",
            (self._pk(hub_id), limit),
        )
        return [row[0] for row in found]
