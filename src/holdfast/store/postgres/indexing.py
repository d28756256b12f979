"""Writing what is derived: passages, their words, substrings, vectors; and emptying all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.store.postgres import lexemes, vector_index
from holdfast.store.postgres.schema import DERIVED
from holdfast.store.postgres.waiting import Index, size_bytes
from holdfast.store.postgres.write_buffer import SendingWriter
from holdfast.text.terms import terms as terms_of

if TYPE_CHECKING:
    from holdfast.store.values import IndexEntry, VectorRow

# Turns whose words are made again at a time.
_TURNS_PER_PART = 500


class IndexWriter(SendingWriter):
    """The part of the Writer that is about derived state."""

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
        # What comes later takes the place of what waits.
        self._waiting.indexes[hub, memory_id] = index
        self._hold(size_bytes(index))

    def unindex(self, hub_id: str, memory_id: str) -> None:
        hub = self._session.hub(hub_id)
        self._waiting.indexes.pop((hub, memory_id), None)
        if (hub, memory_id) in self._bare:
            return
        memory = self._number(hub, memory_id)
        if memory is not None:
            self._unindex(hub, [memory])

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

    # Everything derived

    def drop_derived(self) -> None:
        self._session.whole("dropped what is derived of all")
        self._session.release()
        self._counts.clear()
        for hub, hub_id in self._session.all("SELECT hub_id, id FROM hubs"):
            self._session.hub(hub_id)
            vector_index.forget(self._session, hub)
            for table in DERIVED:
                if table == "vector_totals":
                    # What was taken away stays counted, so that no cache takes new for old.
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
            for place, content in found:
                self._index_turn(hub, place, content)
            last = found[-1][0]

    def _index_turn(self, hub: int, place: Any, content: str) -> None:
        words = lexemes.marked(hub, terms_of(content))
        self._session.put(
            "INSERT INTO turn_words (hub_id, place, words)"
            " VALUES (%s, %s, array_to_tsvector(%s::text[])) ON CONFLICT (hub_id, place)"
            # Not `excluded.words`: the words of the table are not for everybody to read.
            " DO UPDATE SET words = array_to_tsvector(%s::text[])",
            (hub, place, words, words),
        )
