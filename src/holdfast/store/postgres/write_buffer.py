"""Buffers the rows of a write transaction, so that many can be sent at once: with COPY where they
are many, with INSERT where they are few. Both ways write the same rows. A table with row level
security takes no COPY from a role that the policies hold for, so rows are copied into a temporary
table with the same columns first and inserted from there, which is about as fast.

The buffer is flushed before a statement that could see its rows (session.py), at the end of the
transaction, or when it is full. Then memories, changes, revisions, turns and their search rows are
inserted, one table after the other. An invalid row is reported at that time, and the whole
transaction fails.

Also counts the passages of a hub, their length, and the passages with each term. The changes of one
transaction are written once, at its end or before they are read: a row that is updated a thousand
times in one transaction leaves a thousand row versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from holdfast.errors import NotFound
from holdfast.store.postgres.reader import Rows
from holdfast.store.postgres.rows import ENCODERS, PLACES
from holdfast.store.postgres.schema import (
    CHANGES,
    MEMORIES,
    PASSAGES,
    REVISIONS,
    SUBSTRINGS,
    TERMS,
    TURNS,
    VECTORS,
    WORDS,
    Table,
)
from holdfast.store.postgres.search import fitting_terms, lexemes, term_of, trigram_hashes
from holdfast.store.postgres.vectors import index_vectors
from holdfast.store.rows import turn_entries
from holdfast.store.values import VectorRow
from holdfast.text.analysis.terms import trigram_text

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session
    from holdfast.store.values import IndexEntry


# Below this many rows, the extra statements of COPY take longer than single INSERTs.
COPY_FROM = 100

Row = Sequence[Any]


def _names(table: Table) -> str:
    return ", ".join(column.name for column in table.written)


def _insert(table: Table) -> str:
    places = (PLACES.get(column.type, "%s") for column in table.written)
    return f"INSERT INTO {table.name} ({_names(table)}) VALUES ({', '.join(places)})"


class Copier:
    """Inserts rows into PostgreSQL in one transaction, many at once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: set[str] = set()
        self._may_stage: bool | None = None

    def send(self, table: Table, many: Sequence[Row], *, otherwise: str = "") -> None:
        """Inserts the rows; `otherwise` is the ON CONFLICT clause."""
        if not many:
            return
        if len(many) < COPY_FROM or not self._can_stage():
            self._session.many(_insert(table) + otherwise, many)
        else:
            self._stage(table, many, otherwise)

    def _can_stage(self) -> bool:
        """Whether this role may create temporary tables; by default every role may."""
        if self._may_stage is None:
            self._may_stage = bool(
                self._session.value("SELECT has_database_privilege(current_database(), 'TEMP')")
            )
        return self._may_stage

    def _stage(self, table: Table, many: Sequence[Row], otherwise: str) -> None:
        staged = f"incoming_{table.name}"
        if staged not in self._made:
            columns = ", ".join(f"{one.name} {one.type}" for one in table.written)
            self._session.run(f"CREATE TEMPORARY TABLE {staged} ({columns}) ON COMMIT DROP")
            self._made.add(staged)
        self._copy(staged, table, many)
        names = _names(table)
        # Citus would COPY the rows to its nodes, which row level security does not allow; it sends
        # INSERTs where rows are returned.
        returning = " RETURNING hub_id" if self._session.spread else ""
        self._session.run(
            f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {staged}{otherwise}{returning}"
        )
        self._session.run(f"TRUNCATE {staged}")

    def _copy(self, into: str, table: Table, many: Sequence[Row]) -> None:
        kinds = [column.type for column in table.written]
        encoders = [(at, ENCODERS[kind]) for at, kind in enumerate(kinds) if kind in ENCODERS]
        self._session.copy(
            f"COPY {into} ({_names(table)}) FROM STDIN (FORMAT binary)",
            ["bytea" if kind in ENCODERS else kind for kind in kinds],
            _encoded(many, encoders) if encoders else many,
        )


def _encoded(
    many: Iterable[Row], encoders: Sequence[tuple[int, Callable[[Any], bytes]]]
) -> Iterable[Row]:
    for row in many:
        values = list(row)
        for at, encode in encoders:
            values[at] = encode(values[at])
        yield values


# The large tables with more than one index.
_ANALYSED = ("memories", "passages", "words", "substrings", "changes", "revisions", "terms")
_ANALYSED_FROM = 1_000
# ANALYZE takes a second at most, however large the tables are: as long as inserting this many.
_ALWAYS_ANALYSED_FROM = 10_000
# A hub that is less than this share of its table is one of many, and the planner's estimate is
# right.
_SHARE = 1 / 8
# Below this many terms, one statement that names them all is faster than a COPY.
_COPIED_FROM = 1_000


def _grown(before: int, after: int) -> bool:
    """Whether a hub has reached 1,000, 10,000, 100,000 … passages."""
    return after >= _ANALYSED_FROM and len(str(after)) > len(str(max(before, 0)))


class Counts:
    """The changes of one PostgreSQL transaction to the counts of a hub."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.passages = 0
        self.length = 0


class CountingWriter(Rows):
    """The part of PostgreSQL's Writer that counts passages and terms."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._counts: dict[int, Counts] = {}
        self._copier = Copier(session)

    def _counts_of(self, hub: int) -> Counts:
        return self._counts.setdefault(hub, Counts())

    def _write_counts(self) -> None:
        waiting, self._counts = self._counts, {}
        for hub, counts in waiting.items():
            more = {name: n for name, n in counts.terms.items() if n > 0}
            fewer = {name: -n for name, n in counts.terms.items() if n < 0}
            # In one round trip, unless terms are copied, which a pipeline does not allow.
            few = len(more) < _COPIED_FROM
            with self._session.connection.pipeline() if few else nullcontext():
                self._count_terms(hub, more)
                self._uncount_terms(hub, fewer)
                counted = self._session.run(
                    "UPDATE hub_counts SET passages = passages + %(passages)s,"
                    " terms = terms + %(length)s WHERE hub_id = %(hub)s RETURNING passages",
                    passages=counts.passages,
                    length=counts.length,
                    hub=hub,
                )
            row = counted.fetchone()
            if row is not None and _grown(row[0] - counts.passages, row[0]):
                self._analyse(hub, row[0])

    def _analyse_if_large(self, hub: int) -> None:
        self._write_counts()
        passages = self._session.value(
            "SELECT passages FROM hub_counts WHERE hub_id = %(hub)s", hub=hub
        )
        if passages is not None and passages >= _ANALYSED_FROM:
            self._analyse(hub, passages)

    def _analyse(self, hub: int, passages: int) -> None:
        """Runs ANALYZE on the partitions of the hub. Autovacuum would do so up to a minute later,
        and until then the planner takes a large hub for a small one and reads all of it. On Citus
        it is left to autovacuum: a node's catalog cannot be joined with the hub's rows, nor a
        single shard analysed by its name."""
        if self._session.spread:
            return
        found = self._session.row(
            "SELECT p.tableoid::regclass::text, (SELECT c.reltuples FROM pg_class c"
            " WHERE c.oid = p.tableoid) FROM passages p WHERE p.hub_id = %(hub)s LIMIT 1",
            hub=hub,
        )
        if found is None:
            return
        table, known = found
        if passages < _ALWAYS_ANALYSED_FROM and passages < known * _SHARE:
            return
        part = table.rpartition(".")[2].removeprefix("passages")
        names = ", ".join(f"{one}{part}" for one in _ANALYSED)
        self._session.run(f"ANALYZE {names}")

    def _count_terms(self, hub: int, held: Mapping[str, int]) -> None:
        if not held:
            return
        names = sorted(held)
        added = " SET passages = terms.passages + excluded.passages"
        otherwise = f" ON CONFLICT (hub_id, term) DO UPDATE{added}"
        if len(names) >= _COPIED_FROM:
            many = [(hub, name, held[name]) for name in names]
            self._copier.send(TERMS, many, otherwise=otherwise)
            return
        self._session.put(
            "INSERT INTO terms (hub_id, term, passages)"
            " SELECT %s, t.term, t.passages FROM unnest(%s::text[], %s::bigint[])"
            f" AS t (term, passages){otherwise}",
            (hub, names, [held[name] for name in names]),
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
        # No word of purged text may remain in the table.
        self._session.put(
            "DELETE FROM terms WHERE hub_id = %s AND term = ANY(%s::text[]) AND passages <= 0",
            (hub, names),
        )


# Enough that COPY pays many times over; about a second of the server's work.
ROWS_MAX = 10_000
# The buffer may take about three times this much memory.
BYTES_MAX = 16_000_000
# The estimated size of a row without its long texts.
_ROW_BYTES = 500
# The estimated size of a passage's terms and trigrams, for each character of its text.
_INDEX_BYTES_PER_CHAR = 4

# A turn's own text, and its index, which is made when it is sent.
TURN_BYTES_PER_CHAR = 1 + _INDEX_BYTES_PER_CHAR

Key = tuple[int, str]  # a hub's number and a memory's id


class Index(NamedTuple):
    """The search index entries of one memory."""

    text: str
    entries: Sequence[IndexEntry]
    model: str


OwnerKind: TypeAlias = Literal["memory", "turn"]


class Owned(NamedTuple):
    """The index entries of a memory, by its number, or of a turn, by its place."""

    hub: int
    kind: OwnerKind
    number: int
    made: Index

    @property
    def columns(self) -> tuple[int | None, int | None]:
        """The values of the columns `memory` and `turn`."""
        return (self.number, None) if self.kind == "memory" else (None, self.number)


class PendingRows:
    """The rows that wait to be sent to PostgreSQL, by table, without the numbers that the server or
    another row assigns."""

    def __init__(self) -> None:
        self.memories: list[Sequence[Any]] = []
        self.changes: list[Sequence[Any]] = []
        # Hub, id of the memory, and the rest; the memory's number is looked up at the flush.
        self.revisions: list[tuple[int, str, Sequence[Any]]] = []
        self.turns: list[Sequence[Any]] = []
        self.indexes: dict[Key, Index] = {}
        # The last number assigned in each hub.
        self.given_out: dict[int, int] = {}
        self.rows = self.bytes = 0

    def count(self, size_bytes: int = 0) -> None:
        """Counts one more row, with texts of this size."""
        self.rows += 1
        self.bytes += _ROW_BYTES + size_bytes

    @property
    def is_full(self) -> bool:
        return self.rows >= ROWS_MAX or self.bytes >= BYTES_MAX


def size_bytes(index: Index) -> int:
    """The estimated size of an index in the buffer."""
    vectors = sum(len(one) for entry in index.entries for one in entry.vectors)
    return len(index.text) * _INDEX_BYTES_PER_CHAR + vectors


# How many new memories are remembered with their number; others are looked up.
_NEW_MAX = 2 * ROWS_MAX


class BufferedWriter(CountingWriter):
    """The part of the Writer that buffers rows and sends them."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._pending = PendingRows()
        # Memories of this transaction, and those of them that are not indexed yet.
        self._new: dict[Key, int] = {}
        self._bare: set[Key] = set()
        self._models: dict[str, int] = {}
        # The last number given out in each hub, as far as it is known.
        self._numbers: dict[int, int] = {}

    def _note_numbers(self, hub: int, numbers: int) -> None:
        # What is buffered is newer than the table.
        self._numbers.setdefault(hub, numbers)

    def _hold(self, size_bytes: int = 0) -> None:
        """Counts a buffered row, and flushes the buffer if it is full."""
        self._pending.count(size_bytes)
        self._session.hold(self._send)
        if self._pending.is_full:
            self._session.release()

    def _write_counts(self) -> None:
        self._session.release()
        super()._write_counts()

    def _send(self) -> None:
        pending, self._pending = self._pending, PendingRows()
        numbers = self._numbers_of(pending)
        self._unindex_known(pending, numbers)
        indexes = {key: index for key, index in pending.indexes.items() if index.entries}
        entries = [turn_entries(row[3]) for row in pending.turns]
        passages = sum(len(index.entries) for index in indexes.values())
        passages += sum(map(len, entries))
        placed = len(pending.changes) + len(pending.revisions) + len(pending.turns)
        places, passage_ids = self._next(placed, passages)
        few = pending.rows + passages < COPY_FROM
        # A few rows are sent in a pipeline, without pending for each answer.
        with self._session.connection.pipeline() if few else nullcontext():
            turns = self._send_rows(pending, numbers, iter(places))
            self._send_indexes(
                [
                    *(Owned(key[0], "memory", numbers[key], one) for key, one in indexes.items()),
                    *(
                        Owned(hub, "turn", place, Index(trigram_text(row[3]), made, ""))
                        for (hub, place), made, row in zip(
                            turns, entries, pending.turns, strict=True
                        )
                    ),
                ],
                iter(passage_ids),
            )
        self._bare.difference_update(pending.indexes)
        if len(self._new) > _NEW_MAX:
            self._new.clear()
            self._bare.clear()

    def _numbers_of(self, pending: PendingRows) -> Mapping[Key, int]:
        """The numbers of the memories that revisions and indexes refer to; raises NotFound for one
        that does not exist. Those of this transaction are known."""
        asked: dict[int, set[str]] = {}
        for key in (*(one[:2] for one in pending.revisions), *pending.indexes):
            if key not in self._new:
                asked.setdefault(key[0], set()).add(key[1])
        if not asked:
            return self._new
        found = dict(self._new)
        for hub, ids in asked.items():
            for memory_id, number in self._session.all(
                "SELECT id, number FROM memories WHERE hub_id = %(hub)s AND id = ANY(%(ids)s)",
                hub=hub,
                ids=sorted(ids),
            ):
                found[hub, memory_id] = number
        for hub, memory_id, _ in pending.revisions:
            if (hub, memory_id) not in found:
                raise NotFound(f"There is no memory {memory_id} for this revision.")
        for hub, memory_id in pending.indexes:
            if (hub, memory_id) not in found:
                raise NotFound(f"There is no memory {memory_id} to be indexed.")
        return found

    def _next(self, places: int, passages: int) -> tuple[list[int], list[int]]:
        """Numbers for rows that have an order."""
        if not (places or passages):
            return [], []
        row = self._session.row(
            "SELECT ARRAY(SELECT nextval('places') FROM generate_series(1, %(places)s)),"
            " ARRAY(SELECT nextval('passage_ids') FROM generate_series(1, %(passages)s))",
            places=places,
            passages=passages,
        )
        return row[0], row[1]

    def _send_rows(
        self, pending: PendingRows, numbers: Mapping[Key, int], places: Iterator[int]
    ) -> list[tuple[int, int]]:
        """Returns the hub and the place of each turn."""
        for hub, given_out in pending.given_out.items():
            self._session.put(
                "UPDATE hub_counts SET numbers = %s WHERE hub_id = %s", (given_out, hub)
            )
        send = self._copier.send
        send(MEMORIES, pending.memories)
        send(CHANGES, [(*row, next(places)) for row in pending.changes])
        send(
            REVISIONS,
            [
                (hub, numbers[hub, memory_id], *rest, next(places))
                for hub, memory_id, rest in pending.revisions
            ],
        )
        turns = [(*row, next(places)) for row in pending.turns]
        send(TURNS, turns)
        return [(row[0], row[-1]) for row in turns]

    def _send_indexes(self, owned: Sequence[Owned], passage_ids: Iterator[int]) -> None:
        passages: list[Row] = []
        words: list[Row] = []
        substrings: list[Row] = []
        vectors: dict[tuple[int, str], list[VectorRow]] = {}
        for owner in owned:
            hub, index = owner.hub, owner.made
            counts = self._counts_of(hub)
            counts.passages += len(index.entries)
            for entry in index.entries:
                passage = next(passage_ids)
                if entry is index.entries[0]:
                    grams = trigram_hashes(hub, index.text)
                    substrings.append((hub, passage, *owner.columns, grams))
                together = (*entry.body, *entry.head)
                held = fitting_terms(hub, together)
                counts.length += len(together)
                counts.terms.update(held)
                passages.append(_passage_row(hub, passage, owner.columns, entry))
                words.append((hub, passage, *owner.columns, len(together), lexemes(hub, held)))
                if entry.vectors:
                    vectors.setdefault((hub, index.model), []).extend(
                        VectorRow(passage, window, one) for window, one in enumerate(entry.vectors)
                    )
        self._copier.send(PASSAGES, passages)
        self._copier.send(WORDS, words)
        self._copier.send(SUBSTRINGS, substrings)
        for (hub, model), some in vectors.items():
            self._add_vectors(hub, model, some)

    # Existing index entries

    def _unindex_known(self, pending: PendingRows, numbers: Mapping[Key, int]) -> None:
        """Deletes the index entries of memories that are indexed again."""
        known: dict[int, list[int]] = {}
        for key in pending.indexes:
            if key not in self._bare:
                known.setdefault(key[0], []).append(numbers[key])
        for hub, memories in known.items():
            self._unindex(hub, "memory", memories)

    def _unindex(self, hub: int, kind: OwnerKind, numbers: Sequence[int]) -> None:
        """Deletes the index entries of memories, by number, or of turns, by place."""
        # Read first: the role of programs may not read what it deletes (RETURNING), and the lock of
        # the hub keeps the rows from changing.
        gone = self._session.all(
            "SELECT w.passage, w.length, tsvector_to_array(w.words) FROM named_words w"
            f" WHERE w.hub_id = %(hub)s AND w.{kind} = ANY(%(numbers)s::bigint[])",
            hub=hub,
            numbers=list(numbers),
        )
        if not gone:
            return
        passages = [row[0] for row in gone]
        counts = self._counts_of(hub)
        counts.passages -= len(passages)
        counts.length -= sum(row[1] for row in gone)
        counts.terms.subtract(term_of(lexeme) for row in gone for lexeme in row[2])
        self._drop_vectors(hub, passages)
        self._session.put(
            "DELETE FROM substrings WHERE hub_id = %s AND passage = ANY(%s::bigint[])",
            (hub, passages),
        )
        for table in ("words", "passages"):
            self._session.put(
                f"DELETE FROM {table} WHERE hub_id = %s AND {kind} = ANY(%s::bigint[])",
                (hub, list(numbers)),
            )

    # Vectors

    def _add_vectors(self, hub: int, model: str, vectors: Sequence[VectorRow]) -> None:
        if not vectors:
            return
        number = self._model_number(model)
        passages = {row.passage_id for row in vectors}
        self._copier.send(VECTORS, [(hub, number, *row) for row in vectors])
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
            index_vectors(self._session, hub, number, indexed, sorted(passages))

    def _model(self, name: str) -> int:
        if name not in self._models:
            number = super()._model(name)
            if number < 0:
                return number
            # Models are never deleted.
            self._models[name] = number
        return self._models[name]

    def _model_number(self, name: str) -> int:
        number = self._model(name)
        if number < 0:
            # If a writer of another hub is adding it, this waits for that and then finds it.
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


def _passage_row(
    hub: int, passage: int, owner: tuple[int | None, int | None], entry: IndexEntry
) -> Row:
    return (
        hub,
        passage,
        *owner,
        entry.ordinal,
        entry.start,
        entry.end,
        list(entry.headings),
        " ".join(entry.body),
        " ".join(entry.head),
        entry.windows,
    )
