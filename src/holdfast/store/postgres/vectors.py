"""Vectors: the part of the Reader that is about them, and the rows of their index.

A vector is stored as a scale and one signed byte for each dimension. The index of them (see
`vector_index`) has the same numbers as half-precision vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.query import EVERYTHING
from holdfast.store.postgres import rows
from holdfast.store.postgres.search import ITS_PASSAGE, SearchReader
from holdfast.store.values import Candidate, VectorRow, VectorState

if TYPE_CHECKING:
    from holdfast.store.postgres.schema import Halfvec
    from holdfast.store.postgres.session import Session

# How many windows the index is asked for, for each passage wanted: the average number of windows of
# a passage and a quarter more, since some have more than others. The index measures exactly, so the
# best are among them; for long passages, further rounds are worth more than ever more windows.
_WINDOWS_FACTOR = 1.25
_WINDOWS_PER_WANTED_MAX = 4
# hnsw.ef_search, at least. Of the ten nearest among a million, the index finds 94 % with 400, 95 %
# with 600 and 98 % with 800, which takes 13 ms of the server (bench/postgres_nearest.py).
_EF_SEARCH = 800
# The maximum of the server.
_EF_SEARCH_MAX = 1_000
# How many rows of the index one search may visit before it stops.
_SCANNED_MAX = 200_000

SCALE_BYTES = 4
# Converts a blob to an array: a scale, and then one byte a number, from -128 to 127.
_NUMBERS = (
    "(SELECT array_agg(((get_byte(v.vector, i) # 128) - 128)::real ORDER BY i)"
    f" FROM generate_series({SCALE_BYTES}, octet_length(v.vector) - 1) AS i)"
)


def insert_embeddings(halfvec: Halfvec, condition: str = "") -> str:
    """The statement that adds vectors of one hub, model and length to the index."""
    return (
        "INSERT INTO embeddings (hub_id, model, passage, window_no, embedding)"
        f" SELECT v.hub_id, v.model, v.passage, v.window_no, {_NUMBERS}::{halfvec.type}"
        " FROM vectors v WHERE v.hub_id = %s AND v.model = %s AND octet_length(v.vector) = %s"
        f"{condition} ON CONFLICT (hub_id, model, passage, window_no) DO NOTHING"
    )


_ANYTHING = EVERYTHING._replace(turns=True)

# No model has this number, so queries for it return nothing.
_NO_SUCH_MODEL = -1


class _Vectors(NamedTuple):
    """The number of passages of a hub, the number of a model, and the state of its vectors."""

    of_hub: int
    model: int
    state: VectorState
    indexed: int


class VectorsReader(SearchReader):
    """The part of the Reader that is about vectors."""

    def _model(self, name: str) -> int:
        """The number of the model in every row."""
        found = self._session.value("SELECT model FROM models WHERE name = %(name)s", name=name)
        return _NO_SUCH_MODEL if found is None else int(found)

    def _vectors(self, hub_id: str, model: str) -> _Vectors:
        """The state of a hub's vectors of a model."""
        self._write_counts()
        hub = self._session.hub(hub_id)
        return self._once(("vectors", hub, model), lambda: self._find_vectors(hub, model))

    def _find_vectors(self, hub: int, model: str) -> _Vectors:
        row = self._session.row(
            "SELECT c.passages, o.model, t.size, t.passages, t.newest, t.removals, t.indexed"
            " FROM hub_counts c LEFT JOIN models o ON o.name = %(name)s"
            " LEFT JOIN vector_totals t ON t.hub_id = c.hub_id AND t.model = o.model"
            " WHERE c.hub_id = %(hub)s",
            hub=hub,
            name=model,
        )
        if row is None:
            return _Vectors(0, _NO_SUCH_MODEL, VectorState(0, 0, 0, 0), 0)
        number = _NO_SUCH_MODEL if row[1] is None else row[1]
        return _Vectors(row[0], number, VectorState(*(one or 0 for one in row[2:6])), row[6] or 0)

    def vector_models(self, hub_id: str) -> list[str]:
        self._write_counts()
        found = self._session.all(
            "SELECT o.name FROM vector_totals t JOIN models o ON o.model = t.model"
            " WHERE t.hub_id = %(hub)s AND t.size > 0 ORDER BY o.name",
            hub=self._session.hub(hub_id),
        )
        return [row[0] for row in found]

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        return self._vectors(hub_id, model).state

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
        return self._vectors(hub_id, model).indexed

    def nearest(
        self,
        hub_id: str,
        model: str,
        question: Sequence[float],
        *,
        limit: int,
        also: Sequence[int] = (),
    ) -> list[VectorRow]:
        known = self._vectors(hub_id, model)
        windows = known.state.size / max(1, known.state.passages)
        named = math.ceil(limit * min(_WINDOWS_FACTOR * windows, _WINDOWS_PER_WANTED_MAX))
        # The numbers of hub and model, and the length, are literals in the statement, so that the
        # planner can choose the hub's partial index.
        hub, length = self._session.hub(hub_id), len(question)
        halfvec = self._session.halfvec
        embedding = (
            f"e.embedding::{halfvec.type}({length}) {halfvec.distance}"
            f" %(question)s::{halfvec.type}({length})"
        )
        # One round trip.
        with self._session.connection.pipeline():
            # Without sorting, the order comes from the index. The scan continues until enough rows
            # are found, and the result is sorted here.
            self._session.configure(
                hnsw__iterative_scan="relaxed_order",
                hnsw__ef_search=str(max(_EF_SEARCH, min(_EF_SEARCH_MAX, named))),
                hnsw__max_scan_tuples=str(_SCANNED_MAX),
                enable_sort="off",
            )
            answer = self._session.run_bytes(
                "SELECT v.passage, v.window_no, v.vector FROM vectors v WHERE v.hub_id = %(hub)s"
                f" AND v.model = {known.model} AND v.passage IN (SELECT n.passage FROM"
                " (SELECT e.passage FROM embeddings e WHERE e.hub_id = %(hub)s"
                f" AND e.hub_id = {hub}::bigint AND e.model = {known.model}"
                f" ORDER BY {embedding} LIMIT %(named)s) AS n"
                " UNION SELECT unnest(%(also)s::bigint[]))",
                hub=hub,
                question=f"[{','.join(f'{value:.6g}' for value in question)}]",
                named=named,
                also=list(also),
            )
            self._session.configure(enable_sort="on")
        found = answer.fetchall()
        return [VectorRow(*row) for row in sorted(found)]

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        for owners, number, column, seen in (
            ("memories", "number", "memory", self._seen),
            ("turns", "place", "turn", self._of_hub),
        ):
            found = self._session.all(
                f"SELECT v.passage, v.window_no, v.vector FROM {owners} m"
                f" JOIN passages p ON p.hub_id = m.hub_id AND p.{column} = m.{number}"
                " JOIN vectors v ON v.hub_id = m.hub_id AND v.model = %(model)s"
                " AND v.passage = p.passage"
                f" WHERE m.hub_id = %(hub)s AND m.id = %(id)s{seen}"
                " ORDER BY p.ordinal, v.window_no",
                hub=self._session.hub(hub_id),
                model=self._model(model),
                id=memory_id,
            )
            if found:
                return [VectorRow(*row) for row in found]
        return []

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        owner, _ = self._owner("p", _ANYTHING)
        found = self._session.all(
            # A lateral join, so that each vector is looked up by its key: the server has no
            # statistics yet of vectors that are just being added, and would compare each passage
            # with all of them.
            f"SELECT {rows.PASSAGE_COLUMNS} FROM (SELECT n.passage FROM passages n"
            " LEFT JOIN LATERAL (SELECT v.passage FROM vectors v WHERE v.hub_id = %(hub)s"
            " AND v.model = %(model)s AND v.passage = n.passage LIMIT 1) AS v ON true"
            " WHERE n.hub_id = %(hub)s AND n.passage > %(after)s AND v.passage IS NULL"
            " ORDER BY n.passage LIMIT %(limit)s) AS w"
            f" CROSS JOIN LATERAL ({ITS_PASSAGE}) AS p CROSS JOIN LATERAL ({owner}) AS m"
            " ORDER BY w.passage",
            hub=self._session.hub(hub_id),
            model=self._model(model),
            after=after,
            limit=limit,
        )
        return [rows.candidate_from_row(row) for row in found]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        known = self._vectors(hub_id, model)
        return known.of_hub - known.state.passages


def index_vectors(
    session: Session, hub: int, model: int, length: int, passages: Sequence[int]
) -> None:
    """Adds the vectors of these passages to the index, except those of another length."""
    session.put(
        insert_embeddings(session.halfvec, " AND v.passage = ANY(%s::bigint[])"),
        (hub, model, length + SCALE_BYTES, list(passages)),
    )


def unindex_hub(session: Session, hub: int) -> None:
    """Removes a hub's rows from PostgreSQL's index of vectors, where there is one."""
    there = session.value("SELECT to_regclass('embeddings') IS NOT NULL")
    if there:
        session.put("DELETE FROM embeddings WHERE hub_id = %s", (hub,))
