"""Converts rows of the tables to values and back; the only place that knows the column order.

Times are microseconds since 1970, as on every store, so that a cursor of one is valid on another.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.memory import TIMES, Memory, Origin
from holdfast.store.rows import Row, dumps
from holdfast.store.values import Candidate

STORED = tuple(name for name in Memory._fields if name != "hub_id")
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
CHANGE_COLUMNS = "c.id, c.at, c.actor, c.action, c.reason, c.undoes, c.undone_by"


REVISIONS = (
    "SELECT r.sequence, r.change_id, m.id, r.version, r.at, r.fields FROM revisions r"
    " JOIN memories m ON m.hub_id = r.hub_id AND m.number = r.memory"
)
TURN_COLUMNS = "t.id, t.role, t.content, t.at, t.source, t.session"


CLASH_COLUMNS = "c.id, c.memory_id, c.path, c.in_store, c.in_file, c.at, c.settled_at"


PASSAGE_COLUMNS = (
    "m.id, p.passage, p.ordinal, p.starts, p.ends, p.headings, p.body, p.head, p.windows"
)


def candidate_from_row(row: Row) -> Candidate:
    return Candidate(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])
