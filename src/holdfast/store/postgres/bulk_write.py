"""Inserts many rows: with COPY where they are many, with INSERT where they are few. Both ways write
the same rows. A table with row level security takes no COPY from a role that the policies hold for,
so rows are copied into a temporary table with the same columns first and inserted from there, which
is about as fast.

Also counts the passages of a hub, their length, and the passages with each term. The changes of one
transaction are written once, at its end or before they are read: a row that is updated a thousand
times in one transaction leaves a thousand row versions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.memory import TIMES
from holdfast.store.postgres import rows
from holdfast.store.postgres.reader import VectorsReader

if TYPE_CHECKING:
    from holdfast.store.postgres.session import Session


# Below this many rows, the extra statements of COPY take longer than single INSERTs.
COPY_FROM = 100

Row = Sequence[Any]


class Table(NamedTuple):
    """A table that is written in bulk: its columns and types, in the order of a row's values."""

    name: str
    columns: tuple[tuple[str, str], ...]

    @property
    def names(self) -> str:
        return ", ".join(name for name, _ in self.columns)

    @property
    def insert(self) -> str:
        places = (_PLACES.get(kind, "%s") for _, kind in self.columns)
        return f"INSERT INTO {self.name} ({self.names}) VALUES ({', '.join(places)})"


def _columns(listed: str) -> tuple[tuple[str, str], ...]:
    """Columns from 'name type, name type'."""
    return tuple((part.split()[0], part.split()[1]) for part in listed.split(","))


_NUMBERS = (
    *("number", "version", "access_count", "shown_count", "mention_count"),
    *("checksum", "counters_check"),
)
_OTHER_TYPES = {"tags": "text[]", "pinned": "bool", **dict.fromkeys(_NUMBERS, "int8")}
_OTHER_TYPES |= dict.fromkeys(TIMES, "int8")

MEMORIES = Table(
    "memories",
    (("hub_id", "int8"), *((name, _OTHER_TYPES.get(name, "text")) for name in rows.MEMORY_STORED)),
)
CHANGES = Table(
    "changes",
    _columns(
        "hub_id int8, id text, at int8, actor text, action text, reason text, undoes text,"
        " undone_by text, checksum int8, place int8"
    ),
)
REVISIONS = Table(
    "revisions",
    _columns(
        "hub_id int8, memory int8, version int8, change_id text, at int8, fields text,"
        " checksum int8, sequence int8"
    ),
)
TURNS = Table(
    "turns",
    _columns(
        "hub_id int8, id text, role text, content text, at int8, source text, session text,"
        " speaker text, trust text, checksum int8, place int8"
    ),
)
PASSAGES = Table(
    "passages",
    _columns(
        "hub_id int8, passage int8, memory int8, turn int8, ordinal int4, starts int4, ends int4,"
        " headings text[], body text, head text, windows int4"
    ),
)
VECTORS = Table(
    "vectors",
    _columns("hub_id int8, model int4, passage int8, window_no int4, vector bytea"),
)
WORDS = Table(
    "words",
    _columns("hub_id int8, passage int8, memory int8, turn int8, length int4, words tsvector"),
)
SUBSTRINGS = Table(
    "substrings", _columns("hub_id int8, passage int8, memory int8, turn int8, grams int4[]")
)
TERMS = Table("terms", _columns("hub_id int8, term text, passages int8"))


class Copier:
    """Inserts rows in one transaction."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._made: set[str] = set()
        self._may_stage: bool | None = None

    def send(self, table: Table, many: Sequence[Row], *, otherwise: str = "") -> None:
        """Inserts the rows; `otherwise` is the ON CONFLICT clause."""
        if not many:
            return
        if len(many) < COPY_FROM or not self._can_stage():
            self._session.many(table.insert + otherwise, many)
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
            columns = ", ".join(f"{name} {kind}" for name, kind in table.columns)
            self._session.run(f"CREATE TEMPORARY TABLE {staged} ({columns}) ON COMMIT DROP")
            self._made.add(staged)
        self._copy(staged, table, many)
        names = table.names
        # Citus would COPY the rows to its nodes, which row level security does not allow; it sends
        # INSERTs where rows are returned.
        returning = " RETURNING hub_id" if self._session.spread else ""
        self._session.run(
            f"INSERT INTO {table.name} ({names}) SELECT {names} FROM {staged}{otherwise}{returning}"
        )
        self._session.run(f"TRUNCATE {staged}")

    def _copy(self, into: str, table: Table, many: Sequence[Row]) -> None:
        kinds = [kind for _, kind in table.columns]
        encoders = [(at, _ENCODERS[kind]) for at, kind in enumerate(kinds) if kind in _ENCODERS]
        self._session.copy(
            f"COPY {into} ({table.names}) FROM STDIN (FORMAT binary)",
            ["bytea" if kind in _ENCODERS else kind for kind in kinds],
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


# Encodings for a binary COPY. An array is its number of dimensions, a flag, the type of its
# elements, its length and lower bound, and then each element after its length in bytes.
_TEXT_OID, _INT4_OID = 25, 23
_NO_TEXTS = pack("!iii", 0, 0, _TEXT_OID)
_NO_NUMBERS = pack("!iii", 0, 0, _INT4_OID)


def _texts(values: Sequence[str]) -> bytes:
    if not values:
        return _NO_TEXTS
    parts = [pack("!iiiii", 1, 0, _TEXT_OID, len(values), 1)]
    for value in values:
        encoded = value.encode()
        parts += (len(encoded).to_bytes(4), encoded)
    return b"".join(parts)


def _numbers(values: Sequence[int]) -> bytes:
    if not values:
        return _NO_NUMBERS
    count = len(values)
    with_lengths = [4] * (2 * count)
    with_lengths[1::2] = values
    return pack(f"!{5 + 2 * count}i", 1, 0, _INT4_OID, count, 1, *with_lengths)


def _lexemes(values: Sequence[str]) -> bytes:
    """A tsvector: distinct lexemes, each ended by a zero byte and followed by its number of
    positions, 0. The server sorts them."""
    joined = "\0\0\0".join(values).encode()
    return len(values).to_bytes(4) + joined + (b"\0\0\0" if values else b"")


_ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "text[]": _texts,
    "int4[]": _numbers,
    "tsvector": _lexemes,
}
# Placeholders of an INSERT for types that need a cast.
_PLACES = {
    "text[]": "%s::text[]",
    "int4[]": "%s::integer[]",
    "tsvector": "array_to_tsvector(%s::text[])",
}


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
    """The changes of one transaction to the counts of a hub."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.passages = 0
        self.length = 0


class CountingWriter(VectorsReader):
    """The part of the Writer that counts."""

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
