"""Writing what is derived: passages, their words, substrings, vectors, and how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.errors import NotFound
from holdfast.store.postgres import lexemes, nearest
from holdfast.store.postgres.schema import DERIVED
from holdfast.store.postgres.vectors import VectorsReader
from holdfast.store.values import VectorRow
from holdfast.text.terms import terms as terms_of

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session
    from holdfast.store.values import IndexEntry

# Turns whose words are made again at a time.
_TURNS_PER_PART = 500


# The large tables that are read by more than one index.
_ANALYSED = ("memories", "passages", "words", "substrings", "changes", "revisions", "terms")
_ANALYSED_FROM = 1_000


def _grown(before: int, after: int) -> bool:
    """Whether a hub has come to 1,000, 10,000, 100,000 … passages."""
    return after >= _ANALYSED_FROM and len(str(after)) > len(str(max(before, 0)))


class _Counts:
    """What one transaction adds to the counts of a hub. Written once, at its end: a row that is
    changed a thousand times in one transaction is a thousand rows long."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.passages = 0
        self.length = 0


class IndexWriter(VectorsReader):
    """The part of the Writer that is about derived state."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._counts: dict[int, _Counts] = {}

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
        hub = self._session.hub(hub_id)
        found = self._session.row(
            "SELECT m.number, ARRAY(SELECT nextval('passage_ids')"
            " FROM generate_series(1, %(count)s)) FROM memories m"
            " WHERE m.hub_id = %(hub)s AND m.id = %(id)s",
            hub=hub,
            id=memory_id,
            count=len(entries),
        )
        if found is None:
            raise NotFound(f"There is no memory {memory_id} to be indexed.")
        memory, ids = found
        self._unindex(hub, memory)
        if not entries:
            return
        numbered = list(zip(ids, entries, strict=True))
        vectors = [
            VectorRow(passage, window, vector)
            for passage, entry in numbered
            for window, vector in enumerate(entry.vectors)
        ]
        # Sent one after the other without waiting for each answer.
        with self._session.connection.pipeline():
            self._add_passages(hub, memory, numbered)
            self._session.put(
                "INSERT INTO substrings (hub_id, memory, grams) VALUES (%s, %s, %s::integer[])",
                (hub, memory, lexemes.grams(hub, text)),
            )
            self._add_vectors(hub, model, vectors)

    def _add_passages(
        self, hub: int, memory: int, numbered: Sequence[tuple[int, IndexEntry]]
    ) -> None:
        counts = self._counts.setdefault(hub, _Counts())
        counts.passages += len(numbered)
        for passage, entry in numbered:
            together = (*entry.body, *entry.head)
            counts.length += len(together)
            held = lexemes.marked(hub, together)
            counts.terms.update(map(lexemes.unmarked, held))
            # One row at a time: a list of lists would have to be square.
            self._session.put(
                "INSERT INTO passages (hub_id, passage, memory, ordinal, starts, ends, headings,"
                " body, head, windows) VALUES (%s, %s, %s, %s, %s, %s, %s::text[], %s, %s, %s)",
                (
                    hub,
                    passage,
                    memory,
                    entry.ordinal,
                    entry.start,
                    entry.end,
                    list(entry.headings),
                    " ".join(entry.body),
                    " ".join(entry.head),
                    entry.windows,
                ),
            )
            self._session.put(
                "INSERT INTO words (hub_id, passage, memory, length, words)"
                " VALUES (%s, %s, %s, %s, array_to_tsvector(%s::text[]))",
                (hub, passage, memory, len(together), held),
            )

    def _write_counts(self) -> None:
        waiting, self._counts = self._counts, {}
        for hub, counts in waiting.items():
            self._count_terms(hub, {name: n for name, n in counts.terms.items() if n > 0})
            self._uncount_terms(hub, {name: -n for name, n in counts.terms.items() if n < 0})
            passages = self._session.value(
                "UPDATE hub_counts SET passages = passages + %(passages)s,"
                " terms = terms + %(length)s WHERE hub_id = %(hub)s RETURNING passages",
                passages=counts.passages,
                length=counts.length,
                hub=hub,
            )
            if passages is not None and _grown(passages - counts.passages, passages):
                self._analyse(hub)

    def _analyse(self, hub: int) -> None:
        """Lets the server look at the tables the hub is in. It does so by itself, but up to a
        minute later, and until then it takes a large hub for a small one and reads all of it."""
        found = self._session.value(
            "SELECT w.tableoid::regclass::text FROM words w WHERE w.hub_id = %(hub)s LIMIT 1",
            hub=hub,
        )
        if found is not None:
            part = found.rpartition(".")[2].removeprefix("words")
            names = ", ".join(f"{table}{part}" for table in _ANALYSED)
            self._session.run(f"ANALYZE {names}")

    def _count_terms(self, hub: int, held: Mapping[str, int]) -> None:
        if not held:
            return
        names = sorted(held)
        self._session.put(
            "INSERT INTO terms (hub_id, term, passages)"
            " SELECT %s, t.term, t.passages FROM unnest(%s::text[], %s::bigint[])"
            " AS t (term, passages) ON CONFLICT (hub_id, term) DO UPDATE"
            " SET passages = terms.passages + excluded.passages",
            (hub, names, [held[name] for name in names]),
        )

    def unindex(self, hub_id: str, memory_id: str) -> None:
        hub = self._session.hub(hub_id)
        memory = self._number(hub, memory_id)
        if memory is not None:
            self._unindex(hub, memory)

    def _unindex(self, hub: int, memory: int) -> None:
        gone = self._session.all(
            "DELETE FROM words WHERE hub_id = %(hub)s AND memory = %(memory)s"
            " RETURNING passage, length, tsvector_to_array(words)",
            hub=hub,
            memory=memory,
        )
        if not gone:
            return
        passages = [row[0] for row in gone]
        counts = self._counts.setdefault(hub, _Counts())
        counts.passages -= len(passages)
        counts.length -= sum(row[1] for row in gone)
        counts.terms.subtract(lexemes.unmarked(lexeme) for row in gone for lexeme in row[2])
        self._drop_vectors(hub, passages)
        for table in ("substrings", "passages"):
            self._session.put(
                f"DELETE FROM {table} WHERE hub_id = %s AND memory = %s", (hub, memory)
            )

    def _uncount_terms(self, hub: int, held: Mapping[str, int]) -> None:
        if not held:
            return
        names = sorted(held)
        self._session.put(
            "UPDATE terms SET passages = terms.passages - t.passages"
            " FROM unnest(%s::text[], %s::bigint[]) AS t (term, passages)"
            " WHERE terms.hub_id = %s AND terms.term = t.term",
            (names, [held[name] for name in names], hub),
        )
        # A word that nothing holds any more must not be left in a list of words.
        self._session.put(
            "DELETE FROM terms WHERE hub_id = %s AND term = ANY(%s::text[]) AND passages <= 0",
            (hub, names),
        )

    # Vectors

    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        if not vectors:
            return
        hub = self._session.hub(hub_id)
        waiting = {
            row[0]
            for row in self._session.all(
                "SELECT p.passage FROM passages p WHERE p.hub_id = %(hub)s"
                " AND p.passage = ANY(%(ids)s::bigint[]) AND NOT EXISTS"
                " (SELECT 1 FROM vectors v WHERE v.hub_id = %(hub)s AND v.model = %(model)s"
                " AND v.passage = p.passage)",
                hub=hub,
                ids=sorted({row.passage_id for row in vectors}),
                model=self._model(model),
            )
        }
        self._add_vectors(hub, model, [row for row in vectors if row.passage_id in waiting])

    def _add_vectors(self, hub: int, model: str, vectors: Sequence[VectorRow]) -> None:
        if not vectors:
            return
        number = self._model_number(model)
        passages = {row.passage_id for row in vectors}
        self._session.put(
            "INSERT INTO vectors (hub_id, model, passage, window_no, vector)"
            " SELECT %s, %s, v.passage, v.window_no, v.vector"
            " FROM unnest(%s::bigint[], %s::integer[], %s::bytea[])"
            " AS v (passage, window_no, vector)",
            (
                hub,
                number,
                [row.passage_id for row in vectors],
                [row.window for row in vectors],
                [row.vector for row in vectors],
            ),
        )
        indexed = self._session.value(
            "INSERT INTO vector_totals AS t (hub_id, model, size, passages, newest, removals)"
            " VALUES (%(hub)s, %(model)s, %(size)s, %(passages)s, %(newest)s, 0)"
            " ON CONFLICT (hub_id, model) DO UPDATE"
            " SET size = t.size + excluded.size, passages = t.passages + excluded.passages,"
            " newest = greatest(t.newest, excluded.newest) RETURNING indexed",
            hub=hub,
            model=number,
            size=len(vectors),
            passages=len(passages),
            newest=max(passages),
        )
        if indexed:
            nearest.copy(self._session, hub, number, indexed, sorted(passages))

    def _model_number(self, name: str) -> int:
        number = self._model(name)
        if number < 0:
            # A writer of another hub may be adding it: then this waits for it, and finds it.
            self._session.put(
                "INSERT INTO models (model, name) VALUES (nextval('model_ids'), %s)"
                " ON CONFLICT (name) DO NOTHING",
                (name,),
            )
            number = self._model(name)
        return number

    def _drop_vectors(self, hub: int, passages: Sequence[int]) -> None:
        models = self._session.all(
            "SELECT model, indexed FROM vector_totals WHERE hub_id = %(hub)s AND size > 0", hub=hub
        )
        for model, indexed in models:
            if indexed:
                self._session.put(
                    "DELETE FROM embeddings WHERE hub_id = %s AND model = %s"
                    " AND passage = ANY(%s::bigint[])",
                    (hub, model, list(passages)),
                )
            gone = self._session.all(
                "DELETE FROM vectors WHERE hub_id = %(hub)s AND model = %(model)s"
                " AND passage = ANY(%(passages)s::bigint[]) RETURNING passage",
                hub=hub,
                model=model,
                passages=list(passages),
            )
            if gone:
                self._session.put(
                    "UPDATE vector_totals SET size = size - %s, passages = passages - %s,"
                    " removals = removals + %s WHERE hub_id = %s AND model = %s",
                    (len(gone), len(set(gone)), len(gone), hub, model),
                )

    # Everything derived

    def drop_derived(self) -> None:
        self._session.whole("dropped what is derived of all")
        self._counts.clear()
        for hub, hub_id in self._session.all("SELECT hub_id, id FROM hubs"):
            self._session.hub(hub_id)
            nearest.forget(self._session, hub)
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
        self._session.put(
            "INSERT INTO turn_words (hub_id, place, words)"
            " VALUES (%s, %s, array_to_tsvector(%s::text[])) ON CONFLICT (hub_id, place)"
            " DO UPDATE SET words = excluded.words",
            (hub, place, lexemes.marked(hub, terms_of(content))),
        )
