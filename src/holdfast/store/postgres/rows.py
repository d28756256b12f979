"""Converts rows of the tables to values and back, and a Filter with its conditions to SQL: the same
tests as `Filter.admits` and `holds` in `domain.query`, on the table alias `m`. The only place that
knows the column order."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from holdfast.domain.access import Viewer
from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.hub import Hub
from holdfast.domain.memory import COUNTERS, TIMES, Memory, Origin
from holdfast.domain.query import FIELDS, Comparison, Condition, Filter, Order, ascii_lower, kind_of
from holdfast.store import rows as shared
from holdfast.store.checksums import (
    are_counters_intact,
    counters_check,
    damaged_row,
    is_intact,
    require_intact,
    row_checksum,
)
from holdfast.store.rows import Row, dumps
from holdfast.store.values import Candidate

_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
# jsonb holds no NUL; a value with one in it cannot be asked for.
_METADATA = r"replace(m.metadata, '\u0000', '\ufffd')::jsonb"


class Bindings:
    """Values of a statement under names that no other condition uses."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> str:
        name = f"where_{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"


def condition_sql(condition: Condition, bindings: Bindings) -> str:
    """The condition; its values are added to the bindings."""
    if isinstance(condition, Comparison):
        test = _on_field if condition.field else _on_metadata
        return f"(({test(condition, bindings)}) IS TRUE)"
    parts = [condition_sql(part, bindings) for part in condition.parts]
    joined = (" AND " if condition.kind == "and" else " OR ").join(parts)
    return f"{'NOT ' if condition.kind == 'not' else ''}({joined})"


def _on_field(test: Comparison, bindings: Bindings) -> str:
    assert test.field in FIELDS  # it is written into the statement
    column = f"m.{test.field}"
    if test.field == "tags":
        if test.operator == "exists":
            return "cardinality(m.tags) > 0"
        return f"m.tags @> {bindings.add([test.value])}::text[]"
    if test.operator == "exists":
        return f"{column} IS NOT NULL"
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        equal = test._replace(operator="eq")
        return _any_of([_compared(column, equal, one, bindings) for one in test.value])
    return _compared(column, test, test.value, bindings)


def _on_metadata(test: Comparison, bindings: Bindings) -> str:
    found = _METADATA
    for name in test.path:
        found = f"({found} -> {bindings.add(name)}::text)"
    if test.operator == "exists":
        return f"jsonb_typeof({found}) <> 'null'"
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        equal = test._replace(operator="eq")
        return _any_of([_typed(found, equal, one, bindings) for one in test.value])
    if test.operator == "contains":
        item = bindings.add(json.dumps([test.value], ensure_ascii=False))
        parts = [f"(jsonb_typeof({found}) = 'array' AND {found} @> {item}::jsonb)"]
        if isinstance(test.value, str):
            parts.append(_typed(found, test, test.value, bindings))
        return _any_of(parts)
    return _typed(found, test, test.value, bindings)


def _any_of(parts: list[str]) -> str:
    return " OR ".join(parts) or "false"


def _typed(found: str, test: Comparison, value: Any, bindings: Bindings) -> str:
    """CASE, because a cast of a value of another type would be an error."""
    kind, cast = {
        "text": ("string", f"({found} #>> '{{}}') COLLATE \"C\""),
        "number": ("number", f"({found})::numeric"),
        "flag": ("boolean", f"({found})::boolean"),
    }[kind_of(value)]
    compared = _compared(cast, test, value, bindings)
    return f"CASE WHEN jsonb_typeof({found}) = '{kind}' THEN {compared} ELSE false END"


def _compared(column: str, test: Comparison, value: Any, bindings: Bindings) -> str:
    match test.operator:
        case "contains":
            return f"strpos({column}, {bindings.add(value)}::text) > 0"
        case "icontains":
            lower = f'lower({column} COLLATE "C")'
            return f"strpos({lower}, {bindings.add(ascii_lower(str(value)))}::text) > 0"
        case operator:
            return f"{column} {_SIGNS[operator]} {_bound(value, bindings)}"


def _bound(value: Any, bindings: Bindings) -> str:
    if isinstance(value, datetime):
        return f"{bindings.add(to_micros(value))}::bigint"
    if isinstance(value, bool):
        return f"{bindings.add(value)}::boolean"
    if isinstance(value, int | float):
        return f"{bindings.add(repr(value))}::numeric"
    return f"{bindings.add(value)}::text"


_FIELDS = tuple(name for name in Memory._fields if name != "hub_id")
# Counters come last, and are not part of the checksum.
_COUNTERS_AT = len(_FIELDS) - len(COUNTERS)
STORED = (*_FIELDS, "checksum", "counters_check")
COLUMNS = ", ".join(STORED)
MEMORY_COLUMNS = ", ".join(f"m.{name}" for name in STORED)
UPDATE_MEMORY = (
    "UPDATE memories SET "
    + ", ".join(f"{name} = %s" for name in STORED)
    + " WHERE hub_id = %s AND id = %s"
)

_HUB_ID_AT = Memory._fields.index("hub_id")
_TIMES_AT = tuple(i for i, name in enumerate(Memory._fields) if name in TIMES)
_TAGS_AT = Memory._fields.index("tags")
_ORIGIN_AT = Memory._fields.index("origin")
_METADATA_AT = Memory._fields.index("metadata")


def memory_from_row(row: Row, hub_id: str) -> Memory:
    if not is_memory_intact(row, hub_id):
        raise damaged_row("memories", f"#{row[1]}")
    values = [*row[:_HUB_ID_AT], hub_id, *row[_HUB_ID_AT:-2]]
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = from_micros(values[at])
    values[_TAGS_AT] = tuple(values[_TAGS_AT])
    if values[_ORIGIN_AT] is not None:
        values[_ORIGIN_AT] = Origin(*json.loads(values[_ORIGIN_AT]))
    values[_METADATA_AT] = json.loads(values[_METADATA_AT])
    return Memory._make(values)


def is_memory_intact(row: Row, hub_id: str) -> bool:
    """Whether a row of MEMORY_COLUMNS matches its checksum and the check of its counters."""
    return is_intact("memories", hub_id, row[:_COUNTERS_AT], row[-2]) and are_counters_intact(
        row[_COUNTERS_AT:-2], row[-1]
    )


def memory_to_row(memory: Memory) -> list[Any]:
    values: list[Any] = list(memory)
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = to_micros(values[at])
    values[_TAGS_AT] = list(memory.tags)
    values[_ORIGIN_AT] = None if memory.origin is None else dumps(list(memory.origin))
    values[_METADATA_AT] = dumps(dict(memory.metadata)) if memory.metadata else "{}"
    del values[_HUB_ID_AT]
    checksum = row_checksum("memories", memory.hub_id, values[:_COUNTERS_AT])
    return [*values, checksum, counters_check(*values[_COUNTERS_AT:])]


def to_column(name: str, value: Any) -> Any:
    """A field of a memory as its column holds it; a list as a tuple, which can be compared."""
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
    hub = shared.hub_from_row(row[:6])
    require_intact("hubs", hub.id, hub_fields(hub), row[6])
    return hub


def hub_fields(hub: Hub) -> Row:
    """What the checksum of a hub covers: all but the numbers given out, which are in another table
    and are checked against the memories."""
    return (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.state)


CHANGE_COLUMNS = "c.id, c.at, c.actor, c.action, c.reason, c.undoes, c.undone_by, c.checksum"


REVISIONS = (
    "SELECT r.sequence, r.change_id, m.id, r.version, r.at, r.fields, r.checksum FROM revisions r"
    " JOIN memories m ON m.hub_id = r.hub_id AND m.number = r.memory"
)
RECEIPT_COLUMNS = "memory_id, number, at, actor, reason, revisions, checksum"
TURN_COLUMNS = "t.id, t.role, t.content, t.at, t.source, t.session, t.speaker, t.trust, t.checksum"
AGREED_COLUMNS = "path, text, at, checksum"


CLASH_COLUMNS = "c.id, c.memory_id, c.path, c.in_store, c.in_file, c.at, c.settled_at, c.checksum"


PASSAGE_COLUMNS = (
    "m.id, p.passage, p.ordinal, p.starts, p.ends, p.headings, p.body, p.head, p.windows"
)


def candidate_from_row(row: Row) -> Candidate:
    return Candidate(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])


HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The column a list is sorted by, and whether it is descending; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
    "happened": (HAPPENED, True),
}

# The same test as Viewer.sees.
SEEN = " AND (m.boundary = ANY(%(viewer_sees)s) OR m.owner = %(viewer)s)"


def viewer_values(viewer: Viewer | None) -> dict[str, Any]:
    """The values of SEEN."""
    if viewer is None:
        return {}
    # PostgreSQL stores no NUL, so an actor with one in its name owns nothing.
    name = None if "\0" in viewer.actor else viewer.actor
    return {"viewer": name, "viewer_sees": list(viewer.boundaries)}


# Each list of a filter and its column.
_LISTS = (
    ("states", "state"),
    ("categories", "category"),
    ("kinds", "kind"),
    ("stabilities", "stability"),
    ("layers", "layer"),
    ("sources", "source"),
    ("trusts", "trust"),
)
# Both bounds are always given: for one bound the planner assumes a third of all rows, and would
# read the whole table rather than use the index of times.
_NEVER = 2**62
_MOMENTS = (
    ("since", f"{HAPPENED} >= %(since)s AND {HAPPENED} < {_NEVER}"),
    ("until", f"{HAPPENED} < %(until)s AND {HAPPENED} > -{_NEVER}"),
    ("known_by", "m.created_at <= %(known_by)s"),
    ("alive_at", "(m.expires_at IS NULL OR m.expires_at > %(alive_at)s)"),
    (
        "holds_at",
        "m.superseded_by IS NULL AND (m.valid_until IS NULL OR m.valid_until > %(holds_at)s)",
    ),
)


def where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The conditions (beginning with ' AND ', or empty) and their values."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for field, column in _LISTS:
        if allowed := getattr(wanted, field):
            parts.append(f"m.{column} = ANY(%({field})s)")
            values[field] = list(allowed)
    if wanted.tags:
        parts.append("m.tags @> %(tags)s::text[]")
        values["tags"] = list(wanted.tags)
    if wanted.key is not None:
        parts.append("m.key_hash = hashtextextended(%(key)s, 0) AND m.key = %(key)s")
        values["key"] = wanted.key
    if wanted.session is not None:
        parts.append(
            "m.session_hash = hashtextextended(%(session)s, 0) AND m.session = %(session)s"
        )
        values["session"] = wanted.session
    if wanted.came_from is not None:
        parts.append(
            "(m.source = %(came_from)s OR m.source_agent = %(came_from)s"
            " OR m.source_path = %(came_from)s OR starts_with(m.source_path, %(in_folder)s)"
            " OR right(m.source_path, length(%(as_file)s)) = %(as_file)s)"
        )
        values["came_from"] = wanted.came_from
        values["in_folder"] = wanted.came_from.rstrip("/") + "/"
        values["as_file"] = "/" + wanted.came_from
    if wanted.pinned is not None:
        parts.append("m.pinned" if wanted.pinned else "NOT m.pinned")
    if wanted.forgotten is not None:
        parts.append(f"m.forgotten_at IS {'NOT ' if wanted.forgotten else ''}NULL")
    if wanted.quarantined is not None:
        parts.append(f"m.quarantine {'<>' if wanted.quarantined else '='} ''")
    for field, condition in _MOMENTS:
        if (moment := getattr(wanted, field)) is not None:
            parts.append(condition)
            values[field] = to_micros(moment)
    if wanted.where is not None:
        bindings = Bindings()
        parts.append(condition_sql(wanted.where, bindings))
        values |= bindings.values
    return "".join(f" AND {part}" for part in parts), values


_TURN_MOMENTS = (
    ("since", "t.at >= %(since)s"),
    ("until", "t.at < %(until)s"),
    ("known_by", "t.at <= %(known_by)s"),
)


def where_turns(wanted: Filter) -> str | None:
    """The same for turns, on the table alias `t`, with values that `where` gives too; None where no
    turn can count."""
    if not wanted.admits_turns():
        return None
    parts: list[str] = []
    if wanted.session is not None:
        parts.append(
            "t.session_hash = hashtextextended(%(session)s, 0) AND t.session = %(session)s"
        )
    if wanted.came_from is not None:
        parts.append("t.source = %(came_from)s")
    if wanted.trusts:
        parts.append("t.trust = ANY(%(trusts)s)")
    parts += [condition for field, condition in _TURN_MOMENTS if getattr(wanted, field) is not None]
    return "".join(f" AND {part}" for part in parts)
