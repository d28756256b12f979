"""Converts rows of the tables to values and back, and a Filter with its conditions to SQL: the same
tests as `Filter.admits` and `holds` in `domain.query`, on the table alias `m`. The only place that
knows the column order."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from struct import pack
from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.hub import Hub, Viewer
from holdfast.domain.memory import TIMES, Memory
from holdfast.domain.query import Comparison, Filter, kind_of
from holdfast.store import rows as shared
from holdfast.store.filters import HAPPENED, FilterSql, any_of, each_equal
from holdfast.store.rows import MEMORY_COLUMNS as MEMORY_COLUMNS
from holdfast.store.rows import MEMORY_STORED as MEMORY_STORED
from holdfast.store.rows import Row, dumps, require_intact
from holdfast.store.rows import is_memory_intact as is_memory_intact
from holdfast.store.rows import memory_from_row as memory_from_row
from holdfast.store.values import Candidate

UPDATE_MEMORY = (
    "UPDATE memories SET "
    + ", ".join(f"{name} = %s" for name in MEMORY_STORED)
    + " WHERE hub_id = %s AND id = %s"
)


def memory_to_row(memory: Memory) -> list[Any]:
    return shared.memory_to_row(memory, list(memory.tags), memory.pinned)


def to_column(name: str, value: Any) -> Any:
    """A field of a memory as its PostgreSQL column holds it; a list as a tuple, which can be
    compared."""
    if value is None:
        return None
    if name in TIMES:
        return to_micros(value)
    if name == "tags":
        return tuple(value)
    if name == "origin":
        return dumps(list(value))
    if name == "metadata":
        return dumps(dict(value)) if value else "{}"
    return value


_HUB = "SELECT h.id, h.name, h.owner, h.created_at, c.numbers, h.state, h.checksum"
_WITH_COUNTS = " FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
HUBS = f"{_HUB}{_WITH_COUNTS}"
# One hub, with its number and what is counted of it; the first also names the hub for the
# transaction, the second is for a number that is known: on Citus, a query of one node.
_MORE = ", h.hub_id, c.passages, c.terms"
NAMED_HUB = (
    f"{_HUB}{_MORE}, set_config('holdfast.hubs',"
    f" current_setting('holdfast.hubs') || ',' || h.hub_id, true){_WITH_COUNTS}"
    " WHERE h.id = %(hub)s"
)
NUMBERED_HUB = f"{_HUB}{_MORE}{_WITH_COUNTS} AND c.hub_id = %(number)s WHERE h.hub_id = %(number)s"


def hub_from_row(row: Row) -> Hub:
    """A hub from a row of HUBS, or of a query that begins like it."""
    hub = shared.hub_from_row(row)
    require_intact("hubs", hub.id, hub_fields(hub), row[6])
    return hub


def hub_fields(hub: Hub) -> Row:
    """The fields of a hub's checksum: all but the numbers given out, which are in another table
    and are checked against the memories."""
    return (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.state)


PASSAGE_COLUMNS = (
    "m.id, p.passage, p.ordinal, p.starts, p.ends, p.headings, p.body, p.head, p.windows"
)


def candidate_from_row(row: Row) -> Candidate:
    return Candidate(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])


# The same test as Viewer.sees.
SEEN = " AND (m.boundary = ANY(%(viewer_sees)s) OR m.owner = %(viewer)s)"


def viewer_values(viewer: Viewer | None) -> dict[str, Any]:
    """The values of SEEN, PostgreSQL's test of what a viewer may see."""
    if viewer is None:
        return {}
    # PostgreSQL stores no NUL, so an actor with one in its name owns nothing.
    name = None if "\0" in viewer.actor else viewer.actor
    return {"viewer": name, "viewer_sees": list(viewer.boundaries)}


# Both bounds are always given: for one bound the planner assumes a third of all rows, and would
# read the whole table rather than use the index of times.
_NEVER = 2**62
# jsonb holds no NUL; a value with one in it cannot be asked for.
_METADATA = r"replace(m.metadata, '\u0000', '\ufffd')::jsonb"


class PostgresFilterSql(FilterSql):
    """Values are bound by name, so that a filter of memories and one of turns share them."""

    HAS_TAGS = "cardinality(m.tags) > 0"
    POSITION = "strpos"
    LOWER = 'lower({0} COLLATE "C")'
    MOMENTS = (
        ("since", f"{HAPPENED} >= {{0}} AND {HAPPENED} < {_NEVER}"),
        ("until", f"{HAPPENED} < {{0}} AND {HAPPENED} > -{_NEVER}"),
        *FilterSql.MOMENTS[2:],
    )

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def bind(self, value: Any, name: str = "") -> str:
        name = name or f"where_{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"

    def constant(self, value: Any) -> str:
        if isinstance(value, datetime):
            return f"{self.bind(to_micros(value))}::bigint"
        if isinstance(value, bool):
            return f"{self.bind(value)}::boolean"
        if isinstance(value, int | float):
            return f"{self.bind(repr(value))}::numeric"
        return f"{self.bind(value)}::text"

    def among(self, column: str, allowed: Sequence[str], name: str) -> str:
        return f"{column} = ANY({self.bind(list(allowed), name)})"

    def tagged(self, tags: Sequence[Any]) -> str:
        return f"m.tags @> {self.bind(list(tags))}::text[]"

    def equals(self, column: str, value: str, name: str) -> str:
        bound = self.bind(value, name)
        return f"{column}_hash = hashtextextended({bound}, 0) AND {column} = {bound}"

    def came_from(self, source: str) -> str:
        bound = self.bind(source, "came_from")
        folder, file = self.bind(source.rstrip("/") + "/"), self.bind("/" + source)
        return (
            f"(m.source = {bound} OR m.source_agent = {bound} OR m.source_path = {bound}"
            f" OR starts_with(m.source_path, {folder})"
            f" OR right(m.source_path, length({file})) = {file})"
        )

    def pinned(self, wanted: bool) -> str:
        return "m.pinned" if wanted else "NOT m.pinned"

    def on_metadata(self, test: Comparison) -> str:
        found = _METADATA
        for name in test.path:
            found = f"({found} -> {self.bind(name)}::text)"
        if test.operator == "exists":
            return f"jsonb_typeof({found}) <> 'null'"
        if test.operator != "contains":
            return any_of([self._typed(found, one, one.value) for one in each_equal(test)])
        item = self.bind(json.dumps([test.value], ensure_ascii=False))
        parts = [f"(jsonb_typeof({found}) = 'array' AND {found} @> {item}::jsonb)"]
        if isinstance(test.value, str):
            parts.append(self._typed(found, test, test.value))
        return any_of(parts)

    def _typed(self, found: str, test: Comparison, value: Any) -> str:
        """CASE, because a cast of a value of another type would be an error."""
        kind, cast = {
            "text": ("string", f"({found} #>> '{{}}') COLLATE \"C\""),
            "number": ("number", f"({found})::numeric"),
            "flag": ("boolean", f"({found})::boolean"),
        }[kind_of(value)]
        compared = self.compared(cast, test, value)
        return f"CASE WHEN jsonb_typeof({found}) = '{kind}' THEN {compared} ELSE false END"


def where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The conditions of a filter for PostgreSQL (beginning with ' AND ', or empty) and their
    values."""
    sql = PostgresFilterSql()
    return sql.where(wanted), sql.values


def where_turns(wanted: Filter) -> str | None:
    """The conditions of a filter on turns for PostgreSQL, with values that `where` gives too; None
    if no turn can count."""
    return PostgresFilterSql().where_turns(wanted)


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


ENCODERS: dict[str, Callable[[Any], bytes]] = {
    "text[]": _texts,
    "int4[]": _numbers,
    "tsvector": _lexemes,
}
# Placeholders of an INSERT for types that need a cast.
PLACES = {
    "text[]": "%s::text[]",
    "int4[]": "%s::integer[]",
    "tsvector": "array_to_tsvector(%s::text[])",
}
