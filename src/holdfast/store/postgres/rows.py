"""Rows of the tables to values and back; the only place that knows the column order.

Times are whole microseconds since 1970, as on every store: a cursor of one is a cursor of another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.codec import fields_from_plain, fields_to_plain
from holdfast.domain.hub import Hub
from holdfast.domain.memory import TIMES, Memory, Origin
from holdfast.domain.mirror import Clash
from holdfast.domain.turn import Turn
from holdfast.store.values import Candidate

Row = tuple[Any, ...]

STORED = tuple(name for name in Memory._fields if name != "hub_id")
COLUMNS = ", ".join(STORED)
MEMORY_COLUMNS = ", ".join(f"m.{name}" for name in STORED)
INSERT_MEMORY = (
    f"INSERT INTO memories (hub_id, {COLUMNS}) VALUES (%s, {', '.join(['%s'] * len(STORED))})"
)
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


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def memory_from_row(row: Row, hub_id: str) -> Memory:
    values = [*row[:_HUB_ID_AT], hub_id, *row[_HUB_ID_AT:]]
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = from_micros(values[at])
    values[_TAGS_AT] = tuple(values[_TAGS_AT])
    if values[_ORIGIN_AT] is not None:
        values[_ORIGIN_AT] = Origin(*json.loads(values[_ORIGIN_AT]))
    values[_METADATA_AT] = json.loads(values[_METADATA_AT])
    return Memory._make(values)


def memory_to_row(memory: Memory) -> list[Any]:
    values: list[Any] = list(memory)
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = to_micros(values[at])
    values[_TAGS_AT] = list(memory.tags)
    values[_ORIGIN_AT] = None if memory.origin is None else dumps(list(memory.origin))
    values[_METADATA_AT] = dumps(dict(memory.metadata)) if memory.metadata else "{}"
    del values[_HUB_ID_AT]
    return values


HUBS = (
    "SELECT h.id, h.name, h.owner, h.created_at, c.numbers, h.state"
    " FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
)


def hub_from_row(row: Row) -> Hub:
    return Hub(row[0], row[1], row[2], from_micros(row[3]), row[4], row[5])


CHANGE_COLUMNS = "c.id, c.at, c.actor, c.action, c.reason, c.undoes, c.undone_by"


def change_from_row(row: Row, hub_id: str) -> Change:
    return Change(row[0], hub_id, from_micros(row[1]), *row[2:])


REVISIONS = (
    "SELECT r.sequence, r.change_id, m.id, r.version, r.at, r.fields FROM revisions r"
    " JOIN memories m ON m.hub_id = r.hub_id AND m.number = r.memory"
)


def revision_from_row(row: Row) -> Revision:
    fields = {} if row[5] == "{}" else fields_from_plain(json.loads(row[5]))
    return Revision(row[0], row[1], row[2], row[3], from_micros(row[4]), fields)


def fields_to_row(fields: Mapping[str, tuple[Any, Any]]) -> str:
    return dumps(fields_to_plain(fields)) if fields else "{}"


def receipt_from_row(row: Row) -> Receipt:
    return Receipt(row[0], row[1], from_micros(row[2]), *row[3:])


TURN_COLUMNS = "t.id, t.role, t.content, t.at, t.source, t.session"


def turn_from_row(row: Row, hub_id: str) -> Turn:
    return Turn(row[0], hub_id, row[1], row[2], from_micros(row[3]), row[4], row[5])


CLASH_COLUMNS = "c.id, c.memory_id, c.path, c.in_store, c.in_file, c.at, c.settled_at"


def clash_from_row(row: Row) -> Clash:
    settled = None if row[6] is None else from_micros(row[6])
    clash_id, memory_id, path, in_store, in_file = row[:5]
    return Clash(clash_id, memory_id, path, in_store, in_file, from_micros(row[5]), settled)


PASSAGE_COLUMNS = (
    "m.id, p.passage, p.ordinal, p.starts, p.ends, p.headings, p.body, p.head, p.windows"
)


def candidate_from_row(row: Row) -> Candidate:
    return Candidate(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])
