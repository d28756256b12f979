"""The Writer of the store contract: canonical rows, inside the one transaction that `write()`
opened, and the search index: passages, terms, trigrams and vectors of memories and turns, all of
which is derived and can be dropped and rebuilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.change import Change
from holdfast.domain.clock import to_micros
from holdfast.domain.records import NO_HUB, Turn
from holdfast.errors import NotFound
from holdfast.store import rows as shared
from holdfast.store.postgres import rows
from holdfast.store.postgres.schema import DERIVED, OF_A_HUB
from holdfast.store.postgres.session import NO_SUCH_HUB
from holdfast.store.postgres.vectors import unindex_hub
from holdfast.store.postgres.write_buffer import (
    TURN_BYTES_PER_CHAR,
    BufferedWriter,
    Index,
    Owned,
    size_bytes,
)
from holdfast.store.rows import (
    ACCESS_WEIGHT,
    ACCESSED_AT_WEIGHT,
    MENTION_WEIGHT,
    SHOWN_WEIGHT,
    sealed,
    turn_entries,
)
from holdfast.store.sql import SqlWriter
from holdfast.text.analysis.terms import trigram_text

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub, HubState
    from holdfast.domain.memory import Memory
    from holdfast.domain.records import Record
    from holdfast.store.values import IndexEntry, VectorRow


# Turns that are indexed again at a time.
_TURNS_PER_PART = 500


class IndexWriter(BufferedWriter):
    """The part of PostgreSQL's Writer for derived rows."""

    def _number(self, hub: int, memory_id: str) -> int | None:
        number: int | None = self._session.value(
            "SELECT number FROM memories WHERE hub_id = %(hub)s AND id = %(id)s",
            hub=hub,
            id=memory_id,
        )
        return number

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        hub, index = self._session.hub(hub_id), Index(text, entries, model)
        # Replaces an index that is still in the buffer.
        self._pending.indexes[hub, memory_id] = index
        self._hold(size_bytes(index))

    def unindex(self, hub_id: str, memory_id: str) -> None:
        hub = self._session.hub(hub_id)
        self._pending.indexes.pop((hub, memory_id), None)
        if (hub, memory_id) in self._bare:
            return
        memory = self._number(hub, memory_id)
        if memory is not None:
            self._unindex(hub, "memory", [memory])

    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        if not vectors:
            return
        hub = self._session.hub(hub_id)
        waiting = {
            row[0]
            for row in self._session.all(
                "SELECT p.passage FROM passages p WHERE p.hub_id = %(hub)s"
                " AND p.passage = ANY(%(ids)s::bigint[]) EXCEPT SELECT v.passage FROM vectors v"
                " WHERE v.hub_id = %(hub)s AND v.model = %(model)s"
                " AND v.passage = ANY(%(ids)s::bigint[])",
                hub=hub,
                ids=sorted({row.passage_id for row in vectors}),
                model=self._model(model),
            )
        }
        self._add_vectors(hub, model, [row for row in vectors if row.passage_id in waiting])

    # All derived rows

    def drop_derived(self) -> None:
        self._session.whole("dropped what is derived of all")
        self._session.release()
        self._counts.clear()
        for hub, hub_id in self._session.all("SELECT hub_id, id FROM hubs"):
            self._session.hub(hub_id)
            unindex_hub(self._session, hub)
            for table in DERIVED:
                if table == "vector_totals":
                    # Removals stay counted, so that no cache mistakes new vectors for old ones.
                    self._session.put(
                        "UPDATE vector_totals SET removals = removals + size, size = 0,"
                        " passages = 0, indexed = 0 WHERE hub_id = %s",
                        (hub,),
                    )
                    continue
                self._session.put(f"DELETE FROM {table} WHERE hub_id = %s", (hub,))
            self._session.put(
                "UPDATE hub_counts SET passages = 0, terms = 0 WHERE hub_id = %s", (hub,)
            )
            self._index_turns(hub)

    def _index_turns(self, hub: int) -> None:
        last = 0
        while True:
            found = self._session.all(
                "SELECT place, content FROM turns WHERE hub_id = %(hub)s AND place > %(last)s"
                " ORDER BY place LIMIT %(part)s",
                hub=hub,
                last=last,
                part=_TURNS_PER_PART,
            )
            if not found:
                return
            self._add_turns(hub, found)
            last = found[-1][0]

    def _add_turns(self, hub: int, turns: Sequence[tuple[int, str]]) -> None:
        """Adds the index entries of turns: the place and the content of each."""
        owned = [
            Owned(hub, "turn", place, Index(trigram_text(content), turn_entries(content), ""))
            for place, content in turns
        ]
        _, passage_ids = self._next(0, sum(len(one.made.entries) for one in owned))
        self._send_indexes(owned, iter(passage_ids))


_INSERT_RECORD = (
    "INSERT INTO records (hub_id, kind, id, at, body, lookup, due, checksum)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)


class PostgresWriter(IndexWriter, SqlWriter):
    """The Writer of the contract on PostgreSQL."""

    def finish(self) -> None:
        """Writes what is left before the transaction ends."""
        self._write_counts()

    def _own(self, hub_id: str) -> int:
        """The number of a hub; raises NotFound if there is none."""
        hub = self._session.hub(hub_id)
        if hub == NO_SUCH_HUB:
            raise NotFound(f"There is no hub {hub_id}.")
        return hub

    # Hubs

    def add_hub(self, hub: Hub) -> None:
        self._session.whole("made another")
        self._session.put(
            "INSERT INTO hubs (hub_id, id, name, owner, created_at, state, checksum)"
            " VALUES (nextval('hub_ids'), %s, %s, %s, %s, %s, %s)",
            sealed("hubs", hub.id, rows.hub_fields(hub)),
        )
        self._session.put(
            "INSERT INTO hub_counts (hub_id, numbers) VALUES (%s, %s)",
            (self._own(hub.id), hub.numbers),
        )

    def rename_hub(self, hub_id: str, name: str) -> None:
        self._session.whole("renamed it")
        self._set_hub(hub_id, name=name)

    def set_hub_state(self, hub_id: str, state: HubState, numbers: int) -> None:
        hub = self._session.hub(hub_id)
        self._set_hub(hub_id, state=state)
        self._session.put("UPDATE hub_counts SET numbers = %s WHERE hub_id = %s", (numbers, hub))
        self._numbers[hub] = numbers
        if state == "active":
            # All rows have been added, mostly since the last ANALYZE.
            self._analyse_if_large(hub)

    def _set_hub(self, hub_id: str, **new: Any) -> None:
        """Changes a hub, after comparing its checksum."""
        before = self.hub_by_id(hub_id)
        if before is not None:
            after = before._replace(**new)
            self._session.put(
                "UPDATE hubs SET name = %s, state = %s, checksum = %s WHERE hub_id = %s",
                (
                    *(after.name, after.state),
                    sealed("hubs", hub_id, rows.hub_fields(after))[-1],
                    self._session.hub(hub_id),
                ),
            )

    def drop_hub(self, hub_id: str) -> None:
        self._session.whole("dropped it")
        hub = self._session.hub(hub_id)
        self._session.release()
        self._new.clear()
        self._bare.clear()
        self._counts.pop(hub, None)
        self._numbers.pop(hub, None)
        unindex_hub(self._session, hub)
        for table in (*OF_A_HUB, "hubs"):
            self._session.put(f"DELETE FROM {table} WHERE hub_id = %s", (hub,))
        self._session.forget_hub(hub_id)

    def take_numbers(self, hub_id: str, count: int) -> int:
        hub, given_out = self._own(hub_id), self._pending.given_out
        if hub not in given_out:
            # Nobody else gives out numbers of this hub until the transaction ends.
            if hub not in self._numbers:
                with self._session.beside():
                    self._numbers[hub] = self._session.value(
                        "SELECT numbers FROM hub_counts WHERE hub_id = %(hub)s", hub=hub
                    )
            given_out[hub] = self._numbers[hub]
        first: int = given_out[hub] + 1
        given_out[hub] += count
        self._numbers[hub] = given_out[hub]
        self._hold()
        return first

    # Memories and their history

    def add_memory(self, memory: Memory) -> None:
        hub = self._own(memory.hub_id)
        self._pending.memories.append((hub, *rows.memory_to_row(memory)))
        self._new[hub, memory.id] = memory.number
        self._note_present(memory)
        self._bare.add((hub, memory.id))
        self._hold(len(memory.content))

    def set_memory(self, memory: Memory) -> None:
        self._note_present(memory)
        changed = self._session.put(
            rows.UPDATE_MEMORY, (*rows.memory_to_row(memory), self._own(memory.hub_id), memory.id)
        )
        if not changed:
            raise NotFound(f"There is no memory {memory.id} to be changed.")

    def add_change(self, change: Change) -> None:
        hub = self._own(change.hub_id)
        self._pending.changes.append((hub, *shared.change_to_row(change)))
        self._hold(len(change.reason))

    def add_revision(
        self,
        hub_id: str,
        change_id: str,
        memory_id: str,
        version: int,
        at: datetime,
        fields: Mapping[str, tuple[Any, Any]],
    ) -> None:
        row = shared.revision_to_row(hub_id, fields, change_id, memory_id, version, to_micros(at))
        self._pending.revisions.append(
            (self._own(hub_id), memory_id, (version, change_id, *row[3:]))
        )
        self._hold(len(row[4]))

    def purge(self, hub_id: str, memory_id: str) -> int:
        hub = self._session.hub(hub_id)
        number = self._number(hub, memory_id)
        if number is None:
            return 0
        self._unindex(hub, "memory", [number])
        self._new.pop((hub, memory_id), None)
        self._bare.discard((hub, memory_id))
        changes = self._session.all(
            "SELECT change_id FROM revisions WHERE hub_id = %(hub)s AND memory = %(memory)s",
            hub=hub,
            memory=number,
        )
        self._session.put(
            "DELETE FROM clashes WHERE hub_id = %s AND (memory_id = %s OR (SELECT m.content"
            " FROM memories m WHERE m.hub_id = %s AND m.number = %s) IN (in_store, in_file))",
            (hub, memory_id, hub, number),
        )
        self._session.put("DELETE FROM memories WHERE hub_id = %s AND number = %s", (hub, number))
        self._session.put(
            "DELETE FROM changes c WHERE c.hub_id = %s AND c.id = ANY(%s::text[]) AND NOT EXISTS"
            " (SELECT 1 FROM revisions r WHERE r.hub_id = %s AND r.change_id = c.id)",
            (hub, [row[0] for row in changes], hub),
        )
        return len(changes)

    # The conversation log and mirrored files

    def index_turns(self, hub_id: str, turn_ids: Sequence[str]) -> None:
        pass  # `add_turn` has done it.

    def add_turn(self, turn: Turn, *, words: bool = True) -> None:
        self._pending.turns.append((self._own(turn.hub_id), *shared.turn_to_row(turn)))
        self._hold(len(turn.content) * TURN_BYTES_PER_CHAR)

    def _reindex_turn(self, hub_id: str, place: int, turn: Turn) -> None:
        hub = self._own(hub_id)
        self._unindex(hub, "turn", [place])
        self._add_turns(hub, [(place, turn.content)])

    def prune_turns(self, hub_id: str, *, keep: int) -> int:
        hub = self._session.hub(hub_id)
        oldest = self._session.value(
            "SELECT place FROM turns WHERE hub_id = %(hub)s ORDER BY place DESC LIMIT 1"
            " OFFSET %(keep)s",
            hub=hub,
            keep=keep,
        )
        if oldest is None:
            return 0
        found = self._session.all(
            "SELECT place FROM turns WHERE hub_id = %(hub)s AND place <= %(oldest)s",
            hub=hub,
            oldest=oldest,
        )
        return self._drop_places(hub, [row[0] for row in found])

    def drop_turns(self, hub_id: str, turn_ids: Sequence[str]) -> int:
        hub = self._session.hub(hub_id)
        found = self._session.all(
            "SELECT place FROM turns WHERE hub_id = %(hub)s AND id = ANY(%(ids)s::text[])",
            hub=hub,
            ids=list(turn_ids),
        )
        return self._drop_places(hub, [row[0] for row in found])

    def _drop_places(self, hub: int, places: Sequence[int]) -> int:
        self._unindex(hub, "turn", places)
        return self._session.put(
            "DELETE FROM turns WHERE hub_id = %s AND place = ANY(%s::bigint[])", (hub, list(places))
        )

    # Records

    def swap_record(self, before: Record | None, after: Record | None) -> bool:
        one = before or after
        assert one is not None, "there is something to be put, or to be taken away"
        # No lock for records of no hub: the server makes writers wait for the row itself.
        hub = 0 if one.hub_id == NO_HUB else self._own(one.hub_id)
        if before is None:
            sql = f"{_INSERT_RECORD} ON CONFLICT DO NOTHING"
            return self._session.put(sql, (hub, *shared.record_to_row(one))) > 0
        same = "hub_id = %s AND kind = %s AND id = %s AND at = %s AND body = %s"
        same += " AND due IS NOT DISTINCT FROM %s::bigint"
        kind, name, at, body, _, due, _ = shared.record_to_row(before)
        there = (hub, kind, name, at, body, due)
        if after is None:
            return self._session.put(f"DELETE FROM records WHERE {same}", there) > 0
        _, _, new_at, new_body, _, new_due, checksum = shared.record_to_row(after)
        sql = f"UPDATE records SET at = %s, body = %s, due = %s, checksum = %s WHERE {same}"
        return self._session.put(sql, (new_at, new_body, new_due, checksum, *there)) > 0

    # Counters. Their check moves by as much as they do, so that counting hides no damage.

    def count_access(self, hub_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        self._count(
            hub_id,
            memory_ids,
            "access_count = m.access_count + n.times, accessed_at = %(at)s, counters_check ="
            f" m.counters_check + n.times * {ACCESS_WEIGHT}"
            f" + (%(at)s - coalesce(m.accessed_at, 0)) * {ACCESSED_AT_WEIGHT}",
            at=to_micros(at),
        )

    def count_shown(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, _added("shown_count", SHOWN_WEIGHT))

    def count_mention(self, hub_id: str, memory_ids: Sequence[str]) -> None:
        self._count(hub_id, memory_ids, _added("mention_count", MENTION_WEIGHT))

    def _count(self, hub_id: str, memory_ids: Sequence[str], change: str, **values: Any) -> None:
        if memory_ids:
            self._session.run(
                f"UPDATE memories m SET {change} FROM (SELECT i.id, count(*) AS times"
                " FROM unnest(%(ids)s::text[]) AS i (id) GROUP BY i.id) AS n"
                " WHERE m.hub_id = %(hub)s AND m.id = n.id",
                hub=self._session.hub(hub_id),
                ids=list(memory_ids),
                **values,
            )


def _added(counter: str, weight: int) -> str:
    return (
        f"{counter} = m.{counter} + n.times, counters_check = m.counters_check + n.times * {weight}"
    )
