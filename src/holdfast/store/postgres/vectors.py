"""Reading vectors: as they were stored, in the order of their passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.store.postgres import rows
from holdfast.store.postgres.search import SearchReader
from holdfast.store.values import Candidate, VectorRow, VectorState

# Windows that the index names for each passage that is wanted: as for every index, since a passage
# has several windows, and what the index misses is made up for by asking for more.
_NAMED_PER_WANTED = 4
# How far the index looks: with 200, at least 95 % of the ten nearest are found (see the tests).
_EF_SEARCH = 200
# Rows of other large hubs in the same part that it may pass over before it gives up.
_SCANNED_MAX = 200_000

# No model has this number, so what is asked of it has no answer.
_NO_SUCH_MODEL = -1


class VectorsReader(SearchReader):
    """The part of the Reader that is about vectors."""

    def _model(self, name: str) -> int:
        """The number that stands for the model's name in every row."""
        found = self._session.value("SELECT model FROM models WHERE name = %(name)s", name=name)
        return _NO_SUCH_MODEL if found is None else int(found)

    def vector_models(self, hub_id: str) -> list[str]:
        self._write_counts()
        found = self._session.all(
            "SELECT o.name FROM vector_totals t JOIN models o ON o.model = t.model"
            " WHERE t.hub_id = %(hub)s AND t.size > 0 ORDER BY o.name",
            hub=self._session.hub(hub_id),
        )
        return [row[0] for row in found]

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        self._write_counts()
        row = self._session.row(
            "SELECT size, passages, newest, removals FROM vector_totals"
            " WHERE hub_id = %(hub)s AND model = %(model)s",
            hub=self._session.hub(hub_id),
            model=self._model(model),
        )
        return VectorState(*(row or (0, 0, 0, 0)))

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterator[VectorRow]:
        for row in self._session.scan_bytes(
            "SELECT passage, window_no, vector FROM vectors WHERE hub_id = %(hub)s"
            " AND model = %(model)s AND passage > %(after)s ORDER BY passage, window_no",
            hub=self._session.hub(hub_id),
            model=self._model(model),
            after=after,
        ):
            yield VectorRow(*row)

    def vector_index(self, hub_id: str, model: str) -> int:
        found = self._session.value(
            "SELECT t.indexed FROM vector_totals t JOIN models o ON o.model = t.model"
            " WHERE t.hub_id = %(hub)s AND o.name = %(name)s",
            hub=self._session.hub(hub_id),
            name=model,
        )
        return found or 0

    def nearest(
        self,
        hub_id: str,
        model: str,
        question: Sequence[float],
        *,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[VectorRow]:
        hub, number = self._session.hub(hub_id), self._model(model)
        named = limit * _NAMED_PER_WANTED
        # With sorting out of the way the order comes from the index. It goes on until enough rows
        # of this hub are found, and its answer is put in order by who asked.
        self._session.run(
            "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
            " set_config('hnsw.ef_search', %(ef)s, true),"
            " set_config('hnsw.max_scan_tuples', %(scanned)s, true),"
            " set_config('enable_sort', 'off', true)",
            ef=str(max(_EF_SEARCH, min(1000, named))),
            scanned=str(_SCANNED_MAX),
        )
        # The model's number and the length stand in the statement itself: that is how the server
        # knows which index is meant.
        length = len(question)
        found = self._session.all(
            "SELECT e.passage FROM embeddings e WHERE e.hub_id = %(hub)s"
            f" AND e.model = {number} ORDER BY e.embedding::halfvec({length})"
            f" <=> %(question)s::halfvec({length}) LIMIT %(named)s",
            hub=hub,
            question=f"[{','.join(f'{value:.6g}' for value in question)}]",
            named=named,
        )
        self._session.run("SELECT set_config('enable_sort', 'on', true)")
        rows_found = self._session.scan_bytes(
            "SELECT passage, window_no, vector FROM vectors WHERE hub_id = %(hub)s"
            " AND model = %(model)s AND passage = ANY(%(passages)s::bigint[])"
            " ORDER BY passage, window_no",
            hub=hub,
            model=number,
            passages=sorted({row[0] for row in found}.union(also)),
        )
        return [VectorRow(*row) for row in rows_found]

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        found = self._session.all(
            "SELECT v.passage, v.window_no, v.vector FROM memories m"
            " JOIN passages p ON p.hub_id = m.hub_id AND p.memory = m.number"
            " JOIN vectors v ON v.hub_id = m.hub_id AND v.model = %(model)s"
            " AND v.passage = p.passage"
            f" WHERE m.hub_id = %(hub)s AND m.id = %(id)s{self._seen}"
            " ORDER BY p.ordinal, v.window_no",
            hub=self._session.hub(hub_id),
            model=self._model(model),
            id=memory_id,
        )
        return [VectorRow(*row) for row in found]

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        found = self._session.all(
            f"SELECT {rows.PASSAGE_COLUMNS} FROM passages p"
            " JOIN memories m ON m.hub_id = p.hub_id AND m.number = p.memory"
            " WHERE p.hub_id = %(hub)s AND p.passage > %(after)s AND NOT EXISTS"
            " (SELECT 1 FROM vectors v WHERE v.hub_id = %(hub)s AND v.model = %(model)s"
            " AND v.passage = p.passage) ORDER BY p.passage LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            model=self._model(model),
            after=after,
            limit=limit,
        )
        return [rows.candidate_from_row(row) for row in found]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        self._write_counts()
        passages = self._session.value(
            "SELECT passages FROM hub_counts WHERE hub_id = %(hub)s", hub=self._session.hub(hub_id)
        )
        return int((passages or 0) - self.vector_state(hub_id, model).passages)
