"""The Reader of the store contract: one snapshot of the database, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.hub import Hub, Statistics
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter, Order
from holdfast.domain.records import Record
from holdfast.store import rows as shared
from holdfast.store.filters import ORDERINGS
from holdfast.store.rows import damaged_row, from_micros
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.rows import HubRows, Kept, is_kept
from holdfast.store.sqlite.search import FindingReader
from holdfast.store.sqlite.session import SessionPart
from holdfast.store.values import ReaderDefaults, first_named

# From this many memories on, single lookups take longer than one query that makes most of them
# unnecessary.
_EXPECTED_FROM = 4
# In a row that a search has cached: the number of the memory's row, and the columns of CHECKED.
_PK, _CHECKED = 9, slice(10, 16)


class MemoriesReader(SessionPart):
    """The part of SQLite's Reader that is about hubs and memories."""

    # Hubs

    def hubs(self) -> list[Hub]:
        self._write_totals()
        found = self._all(f"SELECT {rows.HUB_COLUMNS} FROM hubs ORDER BY name")
        return [rows.hub_from_row(row) for row in found]

    def hub(self, name: str) -> Hub | None:
        return self._hub_by("name", name)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        return self._hub_by("id", hub_id)

    def _hub_by(self, column: str, value: str) -> Hub | None:
        self._write_totals()
        row = self._one(f"SELECT pk, {rows.HUB_COLUMNS} FROM hubs WHERE {column} = ?", (value,))
        if row is None:
            self._require_no_hub(column, value)
            return None
        hub = rows.hub_from_row(row[1:])
        if value not in (hub.id, hub.name):
            raise damaged_row("hubs", value)
        self._pks[hub.id] = row[0]
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

    def expect(self, hub_id: str, memories: Sequence[Memory]) -> None:
        """Finds in one query which hashes do not exist; usually nearly all."""
        if len(memories) < _EXPECTED_FROM:
            return
        asked = {memory.content_hash for memory in memories}
        found = self._all(
            "SELECT m.content_hash FROM json_each(?) j CROSS JOIN memories m"
            " ON m.hub = ? AND m.content_hash = j.value WHERE m.forgotten_at IS NULL",
            (self._array(asked), self._pk(hub_id)),
        )
        absent = asked.difference(row[0] for row in found)
        self._absent.update((hub_id, one) for one in absent)

    def memories_by_hash(self, hub_id: str, content_hash: str) -> list[Memory]:
        if (hub_id, content_hash) in self._absent:
            return []
        found = self._all(
            f"SELECT {rows.MEMORY_COLUMNS} FROM memories m"
            f" WHERE m.hub = ? AND m.content_hash = ? AND m.forgotten_at IS NULL{self._seen}",
            (self._pk(hub_id), content_hash),
        )
        # Sorted here: with ORDER BY, SQLite may scan the whole hub in the order of numbers.
        return sorted(
            (rows.memory_from_row(row, hub_id) for row in found), key=lambda memory: memory.number
        )

    def memories_by_id(self, hub_id: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        if self._caches is None:
            read = self._memory_rows(hub_id, memory_ids, {})
            found = {row[0]: rows.memory_from_row(row, hub_id) for row in read}
            return {one: found[one] for one in memory_ids if one in found}
        before = self._read_before(hub_id, len(memory_ids))
        if before is None:  # It is false while it is empty.
            before = HubRows()
        there = before.memories
        unknown = [one for one in memory_ids if one not in there]
        if not unknown:
            return {one: there[one] for one in memory_ids}
        found = self._unread_memories(hub_id, unknown, before)
        there.update({one: memory for one, memory in found.items() if is_kept(memory)})
        found = {**there, **found}
        return {one: found[one] for one in memory_ids if one in found}

    def _unread_memories(
        self, hub_id: str, memory_ids: Sequence[str], before: HubRows
    ) -> dict[str, Memory]:
        """The memories that were not read in this state yet."""
        assert self._caches is not None
        found = self._kept_memories(hub_id, memory_ids, before.noted)
        missing = [one for one in memory_ids if one not in found]
        if missing:
            new = [
                Kept(rows.checked_columns(row), rows.memory_from_row(row, hub_id))
                for row in self._memory_rows(hub_id, missing, before.noted)
            ]
            self._caches.memories.keep(new)
            found |= {one.memory.id: one.memory for one in new}
        return found

    def _kept_memories(
        self, hub_id: str, memory_ids: Sequence[str], noted: Mapping[str, shared.Row]
    ) -> dict[str, Memory]:
        """The cached memories that are unchanged except for their counters."""
        assert self._caches is not None
        kept = self._caches.memories.find(hub_id, memory_ids)
        found, others = {}, []
        for one, before in kept.items():
            row = noted.get(one)
            if row is None:
                others.append(one)
            elif row[_CHECKED] == before.checked:  # as most: saves a call for each
                found[one] = before.memory
            elif (memory := before.now(row[_CHECKED])) is not None:
                found[one] = memory
        if others:
            read = self._all(
                f"SELECT m.id, {rows.CHECKED} {self._with_ids}",
                (self._array(others), self._pk(hub_id)),
            )
            # A damaged id is not among the requested ones; then the whole row is read, and found
            # damaged.
            now = [kept[row[0]].now(row[1:]) for row in read if row[0] in kept]
            found |= {one.id: one for one in now if one is not None}
        return found

    def _memory_rows(
        self, hub_id: str, memory_ids: Sequence[str], noted: Mapping[str, shared.Row]
    ) -> list[Any]:
        hub = self._pk(hub_id)
        read: list[Any] = []
        # A search has just read these rows, so they need not be looked up by id. Turns have none.
        pks = [pk for one in memory_ids if one in noted and (pk := noted[one][_PK]) is not None]
        if pks:
            read = self._all(
                f"SELECT {rows.MEMORY_COLUMNS} FROM json_each(?) j CROSS JOIN memories m"
                f" ON m.pk = j.value AND m.hub = ?{self._seen}",
                (self._array(sorted(pks)), hub),
            )
        others = [one for one in memory_ids if one not in noted]
        if others:
            read += self._all(
                f"SELECT {rows.MEMORY_COLUMNS} {self._with_ids}", (self._array(others), hub)
            )
        return read

    @property
    def _with_ids(self) -> str:
        return (
            f"FROM json_each(?) j CROSS JOIN memories m ON m.hub = ? AND m.id = j.value{self._seen}"
        )

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
        column, down = ORDERINGS[order]
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
        before = self._read_before(hub_id)
        known = {} if before is None else before.following
        places = [(session, number) for session, number, _ in pairs]
        following = [known.get(place) for place in places]
        if None in following:
            unknown = [place for place in places if place not in known]
            found = zip(unknown, self._following(hub_id, unknown), strict=True)
            # Memories added later come after the last of a session, and between no others.
            known.update((place, number) for place, number in found if number is not None)
            following = [known.get(place) for place in places]
        ends = (last for _, _, last in pairs)
        return [
            number is None or number >= last for number, last in zip(following, ends, strict=True)
        ]

    def _following(self, hub_id: str, places: Sequence[tuple[str, int]]) -> list[int | None]:
        """For each session and number: the number of the next memory of the session."""
        found = self._all(
            "SELECT (SELECT number FROM memories m WHERE hub = ? AND session = p.value ->> 0"
            f" AND number > p.value ->> 1 AND forgotten_at IS NULL AND quarantine = ''{self._seen}"
            " ORDER BY number LIMIT 1) FROM json_each(?) p ORDER BY p.key",
            (self._pk(hub_id), self._array(places)),
        )
        return [row[0] for row in found]

    def speakers(self, hub_id: str, *, limit: int) -> list[str]:
        before = self._read_before(hub_id)
        if before is not None and (known := before.speakers.get(limit)) is not None:
            return list(known)
        hub = self._pk(hub_id)
        named = self._speakers_in(f"memories m WHERE hub = ?1{self._seen}", hub, limit)
        named += self._speakers_in(f"turns WHERE hub = ?1{self._of_hub}", hub, limit)
        found = sorted(set(named))[:limit]
        if before is not None:
            before.speakers[limit] = found
        return list(found)

    def _speakers_in(self, rows_seen: str, hub: int, limit: int) -> list[str]:
        # A skip scan over the index from one speaker to the next, however many turns each has.
        first = f"SELECT min(speaker) FROM {rows_seen}"
        found = self._all(
            "WITH RECURSIVE s (name) AS ("
            f" {first} AND speaker IS NOT NULL"
            " UNION ALL"
            f" SELECT ({first} AND speaker > s.name) FROM s WHERE s.name IS NOT NULL)"
            " SELECT name FROM s WHERE name IS NOT NULL LIMIT ?2",
            (hub, limit),
        )
        return [row[0] for row in found]


class HistoryReader(SessionPart):
    """The part of SQLite's Reader for history that the SQL stores do not share."""

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE hub = ? AND at > ?){self._seen} ORDER BY number",
            (self._pk(hub_id), to_micros(at)),
        )
        return [row[0] for row in found]

    def newest_revision(self, hub_id: str) -> int:
        # Over all hubs: they share one sequence, and the last row is found at once.
        return int(self._one("SELECT max(pk) FROM revisions") or 0)

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        # The plus prevents SQLite from scanning all revisions of the hub: the few newer ones are at
        # the end of the table.
        found = self._all(
            "SELECT id FROM memories m WHERE pk IN (SELECT memory FROM revisions"
            f" WHERE pk > ? AND +hub = ?){self._seen} ORDER BY number LIMIT ?",
            (sequence, self._pk(hub_id), limit),
        )
        return [row[0] for row in found]

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        found = self._all(
            "SELECT NOT EXISTS (SELECT 1 FROM turns t WHERE t.hub = a.hub"
            " AND t.session IS a.session AND t.pk > min(a.pk, b.pk) AND t.pk < max(a.pk, b.pk))"
            " AND a.session IS b.session FROM json_each(?) p"
            " CROSS JOIN turns a ON a.hub = ? AND a.id = p.value ->> 0"
            " CROSS JOIN turns b ON b.hub = a.hub AND b.id = p.value ->> 1 ORDER BY p.key",
            (self._array(pairs), self._pk(hub_id)),
        )
        return [bool(row[0]) for row in found]


class SqliteReader(MemoriesReader, HistoryReader, FindingReader, ReaderDefaults):
    """The Reader of the contract, on one connection inside one transaction."""

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        # Whether there is any, as each recall asks about turns without their words: mostly none.
        before = self._read_before(hub_id) if limit == 1 and not after else None
        if before is not None and kind in before.kinds_without_records:
            return []
        found = super().records(hub_id, kind, limit=limit, after=after)
        if before is not None and not found:
            before.kinds_without_records.add(kind)
        return found

    def statistics(self, hub_id: str) -> Statistics:
        hub = self._pk(hub_id)

        def counted(column: str) -> dict[str, int]:
            found = self._all(
                f"SELECT {column}, count(*) FROM memories m WHERE hub = ?{self._seen}"
                " AND forgotten_at IS NULL AND quarantine = '' GROUP BY 1 ORDER BY 2 DESC, 1",
                (hub,),
            )
            return dict(found)

        def count(table: str, only: str = "") -> int:
            return int(self._one(f"SELECT count(*) FROM {table} WHERE hub = ?{only}", (hub,)))

        totals = self._one(
            "SELECT count(*), count(forgotten_at), total(quarantine <> ''), total(pinned),"
            " total(octet_length(content)), min(created_at), max(created_at),"
            " total(forgotten_at IS NULL AND quarantine = '')"
            f" FROM memories m WHERE hub = ?{self._seen}",
            (hub,),
        )
        return Statistics(
            hub=self._one("SELECT name FROM hubs WHERE pk = ?", (hub,)) or "",
            memories=totals[0],
            visible=int(totals[7]),
            forgotten=totals[1],
            quarantined=int(totals[2]),
            pinned=int(totals[3]),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=count("revisions", self._of_seen("memory")),
            changes=count("changes", self._seen_changes("changes")),
            passages=self._count_passages(hub),
            vectors=self._count_vectors(hub),
            content_bytes=int(totals[4]),
            receipts=count("receipts", self._of_hub),
            oldest=None if totals[5] is None else from_micros(totals[5]),
            newest=None if totals[6] is None else from_micros(totals[6]),
            turns=count("turns", self._of_hub),
            conflicts=len(self.clashes(hub_id)),
        )

    def _count_passages(self, hub: int) -> int:
        """Counts the passages of memories and turns that the viewer sees."""
        if not self._seen:
            return int(self._one("SELECT count(*) FROM passages WHERE hub = ?", (hub,)))
        return int(
            self._one(
                "SELECT (SELECT count(*) FROM passages p JOIN memories m ON m.pk = p.memory"
                f" WHERE p.hub = ?1{self._seen}) + (SELECT count(*) FROM passages"
                f" WHERE hub = ?1 AND turn IS NOT NULL{self._of_hub})",
                (hub,),
            )
        )

    def _count_vectors(self, hub: int) -> int:
        if not self._seen:
            return int(self._one("SELECT count(*) FROM vectors WHERE hub = ?", (hub,)))
        return int(
            self._one(
                "SELECT count(*) FROM vectors v JOIN passages p ON p.pk = v.passage"
                " LEFT JOIN memories m ON m.pk = p.memory WHERE v.hub = ?"
                f" AND ((p.memory IS NOT NULL{self._seen})"
                f" OR (p.turn IS NOT NULL{self._of_hub}))",
                (hub,),
            )
        )
