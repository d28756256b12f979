"""Writes derived state: passages, words, trigrams, vectors, and their totals. All of it can be
dropped and rebuilt at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors import NotFound
from holdfast.store import rows as shared
from holdfast.store.rows import passage_checksum, turn_entries, vector_checksum
from holdfast.store.sqlite import search
from holdfast.store.sqlite.schema import DERIVED, DROP_DERIVED
from holdfast.store.sqlite.session import SessionPart
from holdfast.store.values import VectorRow
from holdfast.text.analysis.terms import trigram_text

if TYPE_CHECKING:
    import apsw

    from holdfast.domain.hub import Viewer
    from holdfast.store.sqlite.rows import PostingCache
    from holdfast.store.values import IndexEntry


class Added:
    """A memory that was added in this transaction: its row, and whether it has index entries."""

    __slots__ = ("indexed", "pk")

    def __init__(self, pk: int) -> None:
        self.pk, self.indexed = pk, False


class IndexWriter(SessionPart):
    """The part of SQLite's Writer for derived state. Totals are counted in memory, and written at
    the end of the transaction or before they are read."""

    def __init__(
        self, connection: apsw.Connection, viewer: Viewer | None, postings: PostingCache
    ) -> None:
        super().__init__(connection, viewer)
        self._postings = postings
        # Runs a statement that returns nothing: with one cursor, as making one takes longer than
        # some of them.
        self._do = connection.cursor().execute
        self._added: dict[tuple[int, str], Added] = {}
        # By hub: passages and terms. By hub and model: vectors, passages, and the newest passage.
        self._words: dict[int, tuple[int, int]] = {}
        self._vectors: dict[tuple[int, str], tuple[int, int, int]] = {}

    def _write_totals(self) -> None:
        super()._write_totals()
        if not (self._words or self._vectors):
            return
        words, self._words = self._words, {}
        for hub, (passages, terms) in words.items():
            self._do(
                "UPDATE word_totals SET passages = passages + ?, terms = terms + ? WHERE hub = ?",
                (passages, terms, hub),
            )
        vectors, self._vectors = self._vectors, {}
        for (hub, model), (size, passages, newest) in vectors.items():
            self._do(
                "INSERT INTO vector_totals (hub, model, size, passages, newest, removals)"
                " VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT (hub, model) DO UPDATE"
                " SET size = size + excluded.size, passages = passages + excluded.passages,"
                " newest = max(newest, excluded.newest)",
                (hub, model, size, passages, newest),
            )

    def index(
        self, hub_id: str, memory_id: str, text: str, entries: Sequence[IndexEntry], model: str
    ) -> None:
        hub = self._pk(hub_id)
        memory = self._memory_pk(hub, memory_id)
        if memory is None:
            raise NotFound(f"There is no memory {memory_id} to be indexed.")
        added = self._added.get((hub, memory_id))
        if added is None or added.indexed:
            self._unindex(hub, "memory", memory)
        else:
            added.indexed = True
        self._add_passages(hub_id, ("memory", memory, memory_id), text, entries, model)

    def _add_passages(
        self,
        hub_id: str,
        owner: tuple[str, int, str],
        text: str,
        entries: Sequence[IndexEntry],
        model: str,
    ) -> None:
        """Adds the passages of a memory or a turn; `owner` says which, with its row and its id. The
        substring index refers to the owner by its first passage."""
        column, pk, owner_id = owner
        hub, terms = self._pk(hub_id), 0
        vectors: list[VectorRow] = []
        first = 0
        for entry in entries:
            length = len(entry.body) + len(entry.head)
            terms += length
            fields = (
                entry.ordinal,
                entry.start,
                entry.end,
                shared.dumps(list(entry.headings)) if entry.headings else "[]",
                " ".join(entry.body),
                " ".join(entry.head),
                length,
                entry.windows,
            )
            self._do(
                f'INSERT INTO passages (hub, {column}, ordinal, start, "end", headings, body, head,'
                " length, windows, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (hub, pk, *fields, passage_checksum(hub_id, owner_id, fields)),
            )
            passage = self._connection.last_insert_rowid()
            first = first or passage
            self._do(
                "INSERT INTO words (rowid, body, head) VALUES (?, ?, ?)",
                (passage, search.prefixed(hub, entry.body), search.prefixed(hub, entry.head)),
            )
            self._postings.add(hub, passage, {*entry.body, *entry.head})
            vectors += [VectorRow(passage, n, v) for n, v in enumerate(entry.vectors)]
        if not entries:
            return
        self._do(
            "INSERT INTO trigrams (rowid, text) VALUES (?, ?)",
            (first, search.prefixed(hub, search.indexed_trigrams(text))),
        )
        counted = self._words.get(hub, (0, 0))
        self._words[hub] = (counted[0] + len(entries), counted[1] + terms)
        self._add_vectors(hub_id, model, vectors)

    def unindex(self, hub_id: str, memory_id: str) -> None:
        hub = self._pk(hub_id)
        memory = self._memory_pk(hub, memory_id)
        if memory is not None:
            self._unindex(hub, "memory", memory)

    def _memory_pk(self, hub: int, memory_id: str) -> int | None:
        if (added := self._added.get((hub, memory_id))) is not None:
            return added.pk
        pk: int | None = self._one(
            "SELECT pk FROM memories WHERE hub = ? AND id = ?", (hub, memory_id)
        )
        return pk

    def _unindex(self, hub: int, column: str, pk: int) -> None:
        """Removes the passages of a memory or a turn, by its row."""
        self._write_totals()
        passages, terms = self._one(
            f"SELECT count(*), coalesce(sum(length), 0) FROM passages WHERE {column} = ?", (pk,)
        )
        if not passages:
            return
        self._postings.clear()
        for model, gone, emptied in self._all(
            "SELECT v.model, count(*), count(DISTINCT v.passage) FROM passages p"
            f" JOIN vectors v ON v.passage = p.pk WHERE p.{column} = ? GROUP BY v.model",
            (pk,),
        ):
            self._do(
                "UPDATE vector_totals SET size = size - ?, passages = passages - ?,"
                " removals = removals + ? WHERE hub = ? AND model = ?",
                (gone, emptied, gone, hub, model),
            )
        for table in ("words", "trigrams"):
            self._do(
                f"DELETE FROM {table} WHERE rowid IN (SELECT pk FROM passages WHERE {column} = ?)",
                (pk,),
            )
        self._do(f"DELETE FROM passages WHERE {column} = ?", (pk,))
        self._do(
            "UPDATE word_totals SET passages = passages - ?, terms = terms - ? WHERE hub = ?",
            (passages, terms, hub),
        )

    def set_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        hub = self._pk(hub_id)
        found = self._all(
            "SELECT p.pk FROM json_each(?) j CROSS JOIN passages p ON p.pk = j.value"
            " WHERE p.hub = ? AND NOT EXISTS"
            " (SELECT 1 FROM vectors WHERE hub = p.hub AND model = ? AND passage = p.pk)",
            (self._array(sorted({row.passage_id for row in vectors})), hub, model),
        )
        waiting = {row[0] for row in found}
        self._add_vectors(hub_id, model, [row for row in vectors if row.passage_id in waiting])

    def _add_vectors(self, hub_id: str, model: str, vectors: Sequence[VectorRow]) -> None:
        if not vectors:
            return
        hub = self._pk(hub_id)
        self._connection.executemany(
            'INSERT INTO vectors (passage, hub, model, "window", vector, checksum)'
            " VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    *(row.passage_id, hub, model, row.window, row.vector),
                    vector_checksum(hub_id, model, *row),
                )
                for row in vectors
            ],
        )
        passages = {row.passage_id for row in vectors}
        size, held, newest = self._vectors.get((hub, model), (0, 0, 0))
        self._vectors[hub, model] = (
            *(size + len(vectors), held + len(passages)),
            max(newest, *passages),
        )

    def _index_turn(self, hub_id: str, pk: int, turn_id: str, content: str) -> None:
        entries = turn_entries(content)
        self._add_passages(hub_id, ("turn", pk, turn_id), trigram_text(content), entries, "")

    def index_turns(self, hub_id: str, turn_ids: Sequence[str]) -> None:
        hub = self._pk(hub_id)
        for turn_id in turn_ids:
            found = self._one(
                "SELECT pk, content FROM turns t WHERE hub = ? AND id = ?"
                " AND NOT EXISTS (SELECT 1 FROM passages p WHERE p.turn = t.pk)",
                (hub, turn_id),
            )
            if found is not None:
                pk, content = found
                self._index_turn(hub_id, pk, turn_id, content)

    def drop_derived(self) -> None:
        self._write_totals()
        last = self._one("SELECT seq FROM sqlite_sequence WHERE name = 'passages'") or 0
        self._postings.clear()
        self._do(DROP_DERIVED + DERIVED)
        # Passage ids are never reused: another process may be making a vector for one, and must not
        # assign it to another passage.
        self._do("INSERT INTO sqlite_sequence (name, seq) VALUES ('passages', ?)", (last,))
        self._do("INSERT INTO word_totals (hub) SELECT pk FROM hubs")
        for hub_id, pk, turn_id, content in self._connection.execute(
            "SELECT h.id, t.pk, t.id, t.content FROM turns t JOIN hubs h ON h.pk = t.hub"
        ):
            self._index_turn(hub_id, pk, turn_id, content)


def rewrite_word_indexes(connection: apsw.Connection) -> None:
    """Rewrites the word indexes: deleted entries are only marked as deleted until then."""
    for table in ("words", "trigrams"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
