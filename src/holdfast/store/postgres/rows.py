"""Converts rows of the tables to values and back; the only place that knows the column order.

Times are microseconds since 1970, as on every store, so that a cursor of one is valid on another.
"""

from __future__ import annotations

import json
from typing import Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.hub import Hub
from holdfast.domain.memory import COUNTERS, TIMES, Memory, Origin
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


HUBS = (
    "SELECT h.id, h.name, h.owner, h.created_at, c.numbers, h.state, h.checksum"
    " FROM hubs h JOIN hub_counts c ON c.hub_id = h.hub_id"
)


def hub_from_row(row: Row) -> Hub:
    hub = shared.hub_from_row(row[:-1])
    require_intact("hubs", hub.id, hub_fields(hub), row[-1])
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
TURN_COLUMNS = "t.id, t.role, t.content, t.at, t.source, t.session, t.checksum"
AGREED_COLUMNS = "path, text, at, checksum"


CLASH_COLUMNS = "c.id, c.memory_id, c.path, c.in_store, c.in_file, c.at, c.settled_at, c.checksum"


PASSAGE_COLUMNS = (
    "m.id, p.passage, p.ordinal, p.starts, p.ends, p.headings, p.body, p.head, p.windows"
)


def candidate_from_row(row: Row) -> Candidate:
    return Candidate(row[0], row[1], row[2], row[3], row[4], tuple(row[5]), row[6], row[7], row[8])
