"""Writing: rows into tables, inside the one transaction that `write()` opened. What is derived from
them stands in `indexing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import to_micros
from holdfast.errors import NotFound
from holdfast.store import rows as shared
from holdfast.store.single_writer import WriterDefaults
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.indexing import IndexWriter
from holdfast.store.sqlite.reader import SqliteReader
from holdfast.store.sqlite.records import RecordsWriter

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub, HubState
    from holdfast.domain.memory import Memory
    from holdfast.domain.mirror import Agreed, Clash
    from holdfast.domain.turn import Turn


class SqliteWriter(SqliteReader, IndexWriter, RecordsWriter, WriterDefaults):
    """The Writer of the contract."""

    def add_hub(self, hub: Hub) -> None:
        self._do(
            f"INSERT INTO hubs ({rows.HUB_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.numbers, hub.state),
        )
        self._pks.pop(hub.id, None)
        self._do("INSERT INTO word_totals (hub) VALUES (?)", (self._pk(hub.id),))

    def rename_hub(self, hub_id: str, name: str) -> None:
        self._do("UPDATE hubs SET name = ? WHERE id = ?", (name, hub_id))

    def set_hub_state(self, hub_id: str, state: HubState, numbers: int) -> None:
        self._do("UPDATE hubs SET state = ?, numbers = ? WHERE id = ?", (state, numbers, hub_id))

    def drop_hub(self, hub_id: str) -> None:
        hub = self._pk(hub_id)
        self._do("DELETE FROM words WHERE rowid IN (SELECT pk FROM passages WHERE hub = ?)", (hub,))
        self._do(
            "DELETE FROM trigrams WHERE rowid IN (SELECT pk FROM memories WHERE hub = ?)", (hub,)
        )
        self._do(
            "DELETE FROM turn_words WHERE rowid IN (SELECT pk FROM turns WHERE hub = ?)", (hub,)
        )
        self._do("DELETE FROM records WHERE hub = ?", (hub,))
        self._do("DELETE FROM hubs WHERE pk = ?", (hub,))
        self._pks.pop(hub_id, None)

    def take_numbers(self, hub_id: str, count: int) -> int:
        hub = self._pk(hub_id)
        self._do("UPDATE hubs SET numbers = numbers + ? WHERE pk = ?", (count, hub))
        if not self._connection.changes():
            raise NotFound(f"There is no hub {hub_id}.")
        return int(self._one("SELECT numbers FROM hubs WHERE pk = ?", (hub,)) - count + 1)

    def add_memory(self, memory: Memory) -> None:
        self._do(rows.INSERT_MEMORY, (self._pk(memory.hub_id), *rows.memory_to_row(memory)))

    def set_memory(self, memory: Memory) -> None:
        self._do(
            rows.UPDATE_MEMORY, (*rows.memory_to_row(memory), self._pk(memory.hub_id), memory.id)
        )
        if not self._connection.changes():
            raise NotFound(f"There is no memory {memory.id} to be changed.")

    def add_change(self, change: Change) -> None:
        self._do(
            f"INSERT INTO changes (hub, {rows.CHANGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self._pk(change.hub_id), *shared.change_to_row(change)),
        )

    def mark_undone(self, hub_id: str, change_id: str, by: str | None) -> None:
        self._do(
            "UPDATE changes SET undone_by = ? WHERE hub = ? AND id = ?",
            (by, self._pk(hub_id), change_id),
        )

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
        self._do(
            "INSERT INTO revisions (hub, memory, change, version, at, fields) VALUES (?,"
            " (SELECT pk FROM memories WHERE hub = ? AND id = ?),"
            " (SELECT pk FROM changes WHERE hub = ? AND id = ?), ?, ?, ?)",
            (
                hub,
                hub,
                memory_id,
                hub,
                change_id,
                version,
                to_micros(at),
                shared.fields_to_row(fields),
            ),
        )

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None:
        self._do(
            "INSERT INTO receipts (hub, memory_id, number, at, actor, reason, revisions)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (self._pk(hub_id), *shared.receipt_to_row(receipt)),
        )

    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        from holdfast.domain.turn import Turn

        hub = self._pk(hub_id)
        if isinstance(row, Change):
            self._do(
                "UPDATE changes SET reason = ? WHERE hub = ? AND id = ?", (row.reason, hub, row.id)
            )
        elif isinstance(row, Revision):
            self._do(
                "UPDATE revisions SET fields = ? WHERE hub = ? AND pk = ?",
                (shared.fields_to_row(row.fields), hub, row.sequence),
            )
        elif isinstance(row, Turn):
            self._correct_turn(hub, row)
        elif isinstance(row, Receipt):
            self._do(
                "UPDATE receipts SET reason = ? WHERE hub = ? AND memory_id = ? AND at = ?",
                (row.reason, hub, row.memory_id, to_micros(row.at)),
            )
        else:
            self._do(
                "UPDATE clashes SET in_store = ?, in_file = ? WHERE hub = ? AND id = ?",
                (row.in_store, row.in_file, hub, row.id),
            )

    def _correct_turn(self, hub: int, turn: Turn) -> None:
        pk = self._one("SELECT pk FROM turns WHERE hub = ? AND id = ?", (hub, turn.id))
        if pk is None:
            return
        self._do(
            "UPDATE turns SET content = ?, source = ?, session = ? WHERE pk = ?",
            (turn.content, turn.source, turn.session, pk),
        )
        self._do("DELETE FROM turn_words WHERE rowid = ?", (pk,))
        self._index_turn(hub, pk, turn.content)

    def add_turn(self, turn: Turn) -> None:
        hub = self._pk(turn.hub_id)
        self._do(
            f"INSERT INTO turns (hub, {rows.TURN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (hub, *shared.turn_to_row(turn)),
        )
        self._index_turn(hub, self._connection.last_insert_rowid(), turn.content)

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        hub = self._pk(hub_id)
        oldest = self._one(
            "SELECT pk FROM turns WHERE hub = ? ORDER BY pk DESC LIMIT 1 OFFSET ?", (hub, keep)
        )
        if oldest is None:
            return 0
        gone = "SELECT pk FROM turns WHERE hub = ? AND pk <= ?"
        self._do(f"DELETE FROM turn_words WHERE rowid IN ({gone})", (hub, oldest))
        self._do("DELETE FROM turns WHERE hub = ? AND pk <= ?", (hub, oldest))
        return int(self._connection.changes())

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None:
        self._do(
            "INSERT OR REPLACE INTO agreed (hub, path, text, at) VALUES (?, ?, ?, ?)",
            (self._pk(hub_id), agreed.path, agreed.text, to_micros(agreed.at)),
        )

    def drop_agreed(self, hub_id: str, path: str) -> None:
        self._do("DELETE FROM agreed WHERE hub = ? AND path = ?", (self._pk(hub_id), path))

    def add_clash(self, hub_id: str, clash: Clash) -> None:
        self._do(
            f"INSERT INTO clashes (hub, {rows.CLASH_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self._pk(hub_id), *shared.clash_to_row(clash)),
        )

    def settle_clash(self, hub_id: str, clash_id: str, at: datetime) -> None:
        self._do(
            "UPDATE clashes SET settled_at = ? WHERE hub = ? AND id = ?",
            (to_micros(at), self._pk(hub_id), clash_id),
        )

    def purge(self, hub_id: str, memory_id: str) -> int:
        hub = self._pk(hub_id)
        memory = self._memory_pk(hub, memory_id)
        if memory is None:
            return 0
        self._unindex(hub, memory)
        changes = [
            row[0] for row in self._all("SELECT change FROM revisions WHERE memory = ?", (memory,))
        ]
        self._do(
            "DELETE FROM clashes WHERE hub = ? AND (memory_id = ?"
            " OR (SELECT content FROM memories WHERE pk = ?) IN (in_store, in_file))",
            (hub, memory_id, memory),
        )
        self._do("DELETE FROM memories WHERE pk = ?", (memory,))
        for change in changes:
            self._do(
                "DELETE FROM changes WHERE pk = ?"
                " AND NOT EXISTS (SELECT 1 FROM revisions WHERE change = ?)",
                (change, change),
            )
        return len(changes)

    # Counters

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        hub = self._pk(hub_id)
        self._connection.executemany(
            "UPDATE memories SET access_count = access_count + 1, accessed_at = ?"
            " WHERE hub = ? AND id = ?",
            [(to_micros(at), hub, memory_id) for memory_id in memory_ids],
        )

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        hub = self._pk(hub_id)
        self._connection.executemany(
            "UPDATE memories SET shown_count = shown_count + 1 WHERE hub = ? AND id = ?",
            [(hub, memory_id) for memory_id in memory_ids],
        )

    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        hub = self._pk(hub_id)
        self._connection.executemany(
            "UPDATE memories SET mention_count = mention_count + 1 WHERE hub = ? AND id = ?",
            [(hub, memory_id) for memory_id in memory_ids],
        )
