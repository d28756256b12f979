"""Rows of the tables to values and back; the only place that knows the column order.

A row that is read ends with its checksum, which is compared before anything is made of the row.

Values that a recall never meets are imported where they are made: their classes cost it time.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_micros
from holdfast.domain.memory import TIMES, Memory
from holdfast.domain.records import field_from_plain
from holdfast.store import rows as shared
from holdfast.store.rows import COUNTERS_AT, MEMORY_STORED, Row, dumps, require_intact, sealed
from holdfast.store.rows import MEMORY_COLUMNS as MEMORY_COLUMNS

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub

COLUMNS = ", ".join(MEMORY_STORED)
_PLACES = ", ".join("?" * len(MEMORY_STORED))
INSERT_MEMORY = f"INSERT INTO memories (hub, {COLUMNS}) VALUES (?, {_PLACES})"
UPDATE_MEMORY = f"UPDATE memories SET ({COLUMNS}) = ({_PLACES}) WHERE hub = ? AND id = ?"


def memory_from_row(row: Row, hub_id: str) -> Memory:
    return shared.memory_from_row(row, hub_id, _tags)


@lru_cache(maxsize=1_024)
def _tags(written: str) -> tuple[str, ...]:
    """The tags of a row: most memories share theirs with others."""
    return tuple(json.loads(written))


def checked_columns(row: Row) -> Row:
    """Of a row of COLUMNS, the columns of `caches.CHECKED`."""
    return (row[0], row[-2], *row[COUNTERS_AT:-2], row[-1])


def memory_to_row(memory: Memory) -> list[Any]:
    tags = dumps(list(memory.tags)) if memory.tags else "[]"
    return shared.memory_to_row(memory, tags, int(memory.pinned))


def field_to_column(name: str, plain: Any) -> Any:
    """A field as a revision has it, as its column has it."""
    value = field_from_plain(name, plain)
    if value is None:
        return None
    if name in TIMES:
        return to_micros(value)
    if name == "pinned":
        return int(value)
    if name in ("tags", "origin"):
        return dumps(list(value))
    return dumps(dict(value)) if name == "metadata" else value


HUB_COLUMNS = "id, name, owner, created_at, numbers, state, checksum"


def hub_from_row(row: Row) -> Hub:
    require_intact("hubs", row[0], row[:-1], row[-1])
    return shared.hub_from_row(row)


def hub_to_row(hub: Hub) -> Row:
    fields = (hub.id, hub.name, hub.owner, to_micros(hub.created_at), hub.numbers, hub.state)
    return sealed("hubs", hub.id, fields)
