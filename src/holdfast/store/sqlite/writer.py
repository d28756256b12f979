"""Writes rows, inside the transaction that `write()` opened. `indexing` writes derived rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_micros
from holdfast.errors import NotFound
from holdfast.store import rows as shared
from holdfast.store.rows import (
    ACCESS_WEIGHT,
    ACCESSED_AT_WEIGHT,
    MENTION_WEIGHT,
    SHOWN_WEIGHT,
)
from holdfast.store.sql import SqlWriter
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.indexing import Added, IndexWriter, rewrite_word_indexes
from holdfast.store.sqlite.reader import SqliteReader
from holdfast.store.values import WriterDefaults

if TYPE_CHECKING:
    import apsw

    from holdfast.domain.change import Change
    from holdfast.domain.hub import Hub, HubState, Viewer
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Turn
    from holdfast.store.sqlite.rows import PostingCache


class SqliteWriter(SqliteReader, IndexWriter, SqlWriter, WriterDefaults):
    """The Writer of the contract."""

    def _execute(self, sql: str, **values: Any) -> int:
        self._connection.execute(sql, values)
        return self._connection.changes()

    def __init__(
        self, connection: apsw.Connection, viewer: Viewer | None, postings: PostingCache
    ) -> None:
        IndexWriter.__init__(self, connection, viewer, postings)
        # The highest number assigned in each hub, and the row of the last added change set, cached
        # because a batch would read and write them again for each of its memories.
        self._numbers: dict[str, int] = {}
        # Hubs as this transaction has read or written them last.
        self._hubs: dict[str, Hub] = {}
        self._change_row: tuple[str, str, int] | None = None
        self._has_purged = False
        # Memories that were written, but have no revision for that yet.
        self._unrecorded: set[tuple[str, str]] = set()

    def _postings_of(self, hub: int, terms: Sequence[str], most: int) -> dict[str, list[int]]:
        known = self._postings.of(self._one("PRAGMA data_version"), hub, most)
        unknown = [term for term in terms if term not in known]
        if unknown:
            self._postings.keep(hub, most, super()._postings_of(hub, unknown, most))
        return {term: known[term] for term in terms}

    def finish(self) -> None:
        """Writes the totals; called before the commit."""
        self._write_totals()
        if self._has_purged:
            # Then a process that dies after the commit leaves no purged word in the file.
            rewrite_word_indexes(self._connection)
        if self._unrecorded:
            self._take_revision()

    def _take_revision(self) -> None:
        """Takes a revision number without writing the revision. Readers keep their caches as long
        as there is a revision for each number, because then they know which memories are new."""
        taken = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'revisions'"
        if not self._execute(taken):
            self._do("INSERT INTO sqlite_sequence (name, seq) VALUES ('revisions', 1)")

    def _write_totals(self) -> None:
        super()._write_totals()
        if not self._numbers:
            return
        taken, self._numbers = self._numbers, {}
        for hub_id, numbers in taken.items():
            self._set_hub(hub_id, numbers=numbers)

    def hub_by_id(self, hub_id: str) -> Hub | None:
        hub = super().hub_by_id(hub_id)
        if hub is not None:
            self._hubs[hub_id] = hub
        return hub

    def add_hub(self, hub: Hub) -> None:
        self._do(
            f"INSERT INTO hubs ({rows.HUB_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows.hub_to_row(hub),
        )
        self._pks.pop(hub.id, None)
        self._do("INSERT INTO word_totals (hub) VALUES (?)", (self._pk(hub.id),))

    def rename_hub(self, hub_id: str, name: str) -> None:
        self._set_hub(hub_id, name=name)

    def set_hub_state(self, hub_id: str, state: HubState, numbers: int) -> None:
        self._set_hub(hub_id, state=state, numbers=numbers)

    def _set_hub(self, hub_id: str, **new: Any) -> Hub | None:
        """Changes a hub, after comparing its checksum; returns None if it does not exist."""
        before = self._hubs.get(hub_id) or self.hub_by_id(hub_id)
        if before is None:
            return None
        after = self._hubs[hub_id] = before._replace(**new)
        # Only the changed columns: writing its name and id would write their indexes too.
        columns = ", ".join(f"{name} = ?" for name in (*new, "checksum"))
        values = (*new.values(), rows.hub_to_row(after)[-1])
        self._do(f"UPDATE hubs SET {columns} WHERE id = ?", (*values, hub_id))
        return after

    def drop_hub(self, hub_id: str) -> None:
        hub = self._pk(hub_id)
        self._write_totals()
        self._added.clear()
        self._postings.clear()
        for table in ("words", "trigrams"):
            self._do(
                f"DELETE FROM {table} WHERE rowid IN (SELECT pk FROM passages WHERE hub = ?)",
                (hub,),
            )
        self._do("DELETE FROM records WHERE hub = ?", (hub,))
        self._do("DELETE FROM hubs WHERE pk = ?", (hub,))
        self._pks.pop(hub_id, None)
        self._hubs.pop(hub_id, None)

    def take_numbers(self, hub_id: str, count: int) -> int:
        if (taken := self._numbers.get(hub_id)) is None:
            hub = self._hubs.get(hub_id) or self.hub_by_id(hub_id)
            if hub is None:
                raise NotFound(f"There is no hub {hub_id}.")
            taken = hub.numbers
        self._numbers[hub_id] = taken + count
        return taken + 1

    def add_memory(self, memory: Memory) -> None:
        hub = self._pk(memory.hub_id)
        self._do(rows.INSERT_MEMORY, (hub, *rows.memory_to_row(memory)))
        self._absent.discard((memory.hub_id, memory.content_hash))
        self._added[hub, memory.id] = Added(self._connection.last_insert_rowid())
        self._unrecorded.add((memory.hub_id, memory.id))

    def set_memory(self, memory: Memory) -> None:
        self._do(
            rows.UPDATE_MEMORY, (*rows.memory_to_row(memory), self._pk(memory.hub_id), memory.id)
        )
        if not self._connection.changes():
            raise NotFound(f"There is no memory {memory.id} to be changed.")
        self._absent.discard((memory.hub_id, memory.content_hash))
        self._unrecorded.add((memory.hub_id, memory.id))

    def add_change(self, change: Change) -> None:
        self._add("changes", change, change.hub_id)
        self._change_row = (change.hub_id, change.id, self._connection.last_insert_rowid())

    def add_revision(
        self,
        hub_id: str,
        change_id: str,
        memory_id: str,
        version: int,
        at: datetime,
        fields: Mapping[str, tuple[Any, Any]],
    ) -> None:
        hub = self._pk(hub_id)
        row = shared.revision_to_row(hub_id, fields, change_id, memory_id, version, to_micros(at))
        if self._change_row is None or self._change_row[:2] != (hub_id, change_id):
            found = self._one("SELECT pk FROM changes WHERE hub = ? AND id = ?", (hub, change_id))
            self._change_row = None if found is None else (hub_id, change_id, found)
        change = None if self._change_row is None else self._change_row[2]
        self._do(
            "INSERT INTO revisions (hub, change, memory, version, at, fields, checksum)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (hub, change, self._memory_pk(hub, memory_id), *row[2:]),
        )
        self._unrecorded.discard((hub_id, memory_id))

    def add_turn(self, turn: Turn, *, words: bool = True) -> None:
        self._add("turns", turn, turn.hub_id)
        if words:
            pk = self._connection.last_insert_rowid()
            self._index_turn(turn.hub_id, pk, turn.id, turn.content)

    def _reindex_turn(self, hub_id: str, place: int, turn: Turn) -> None:
        self._unindex(self._pk(hub_id), "turn", place)
        self._index_turn(hub_id, place, turn.id, turn.content)

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        hub = self._pk(hub_id)
        oldest = self._one(
            "SELECT pk FROM turns WHERE hub = ? ORDER BY pk DESC LIMIT 1 OFFSET ?", (hub, keep)
        )
        gone = self._all("SELECT id FROM turns WHERE hub = ? AND pk <= ?", (hub, oldest))
        return self.drop_turns(hub_id, [row[0] for row in gone])

    def drop_turns(self, hub_id: str, turn_ids: Sequence[str]) -> int:
        hub, gone = self._pk(hub_id), 0
        for turn_id in turn_ids:
            pk = self._one("SELECT pk FROM turns WHERE hub = ? AND id = ?", (hub, turn_id))
            if pk is not None:
                self._unindex(hub, "turn", pk)
                self._do("DELETE FROM turns WHERE pk = ?", (pk,))
                gone += 1
        return gone

    def purge(self, hub_id: str, memory_id: str) -> int:
        hub = self._pk(hub_id)
        memory = self._memory_pk(hub, memory_id)
        if memory is None:
            return 0
        self._has_purged = True
        self._unindex(hub, "memory", memory)
        self._added.pop((hub, memory_id), None)
        self._change_row = None
        changes = [
            row[0] for row in self._all("SELECT change FROM revisions WHERE memory = ?", (memory,))
        ]
        self._do(
            "DELETE FROM clashes WHERE hub = ? AND (memory_id = ?"
            " OR (SELECT content FROM memories WHERE pk = ?) IN (in_store, in_file))",
            (hub, memory_id, memory),
        )
        self._do("DELETE FROM memories WHERE pk = ?", (memory,))
        self._take_revision()
        for change in changes:
            self._do(
                "DELETE FROM changes WHERE pk = ?"
                " AND NOT EXISTS (SELECT 1 FROM revisions WHERE change = ?)",
                (change, change),
            )
        return len(changes)

    # Counters. Their check is changed by the same amounts, so that counting hides no damage.

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        hub, now = self._pk(hub_id), to_micros(at)
        self._connection.executemany(
            "UPDATE memories SET access_count = access_count + 1, accessed_at = ?,"
            f" counters_check = counters_check + {ACCESS_WEIGHT}"
            f" + (? - coalesce(accessed_at, 0)) * {ACCESSED_AT_WEIGHT} WHERE hub = ? AND id = ?",
            [(now, now, hub, memory_id) for memory_id in memory_ids],
        )

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, "shown_count", SHOWN_WEIGHT)

    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, "mention_count", MENTION_WEIGHT)

    def _count(self, hub_id: str, memory_ids: Sequence[str], counter: str, weight: int) -> None:
        hub = self._pk(hub_id)
        self._connection.executemany(
            f"UPDATE memories SET {counter} = {counter} + 1,"
            f" counters_check = counters_check + {weight} WHERE hub = ? AND id = ?",
            [(hub, memory_id) for memory_id in memory_ids],
        )
