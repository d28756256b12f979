"""Writes the search index: passages, terms, trigrams and vectors of memories and turns. All of it
is derived, and can be dropped and rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.store.postgres.reader import unindex_hub
from holdfast.store.postgres.schema import DERIVED
from holdfast.store.postgres.write_buffer import (
    BufferedWriter,
    Index,
    Owned,
    size_bytes,
)
from holdfast.store.rows import turn_entries
from holdfast.text.analysis.terms import trigram_text

if TYPE_CHECKING:
    from holdfast.store.values import IndexEntry, VectorRow

# Turns that are indexed again at a time.
_TURNS_PER_PART = 500


class IndexWriter(BufferedWriter):
    """The part of the Writer for derived rows."""

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
