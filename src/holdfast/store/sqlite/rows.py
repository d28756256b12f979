"""Rows of the tables to values and back; the only place that knows the column order.

Values that a recall never meets are imported where they are made: their classes cost it time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.memory import TIMES, Memory, Origin
from holdfast.store.rows import Row, dumps

_STORED = tuple(name for name in Memory._fields if name != "hub_id")
COLUMNS = ", ".join(_STORED)
MEMORY_COLUMNS = ", ".join(f"m.{name}" for name in _STORED)
INSERT_MEMORY = f"INSERT INTO memories (hub, {COLUMNS}) VALUES (?, {', '.join('?' * len(_STORED))})"
UPDATE_MEMORY = (
    "UPDATE memories SET "
    + ", ".join(f"{name} = ?" for name in _STORED)
    + " WHERE hub = ? AND id = ?"
)

_HUB_ID_AT = Memory._fields.index("hub_id")
_TIMES_AT = tuple(i for i, name in enumerate(Memory._fields) if name in TIMES)
_TAGS_AT = Memory._fields.index("tags")
_PINNED_AT = Memory._fields.index("pinned")
_ORIGIN_AT = Memory._fields.index("origin")
_METADATA_AT = Memory._fields.index("metadata")
_NO_METADATA: Mapping[str, Any] = {}


def memory_from_row(row: Row, hub_id: str) -> Memory:
    values = [*row[:_HUB_ID_AT], hub_id, *row[_HUB_ID_AT:]]
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = from_micros(values[at])
    tags = values[_TAGS_AT]
    values[_TAGS_AT] = () if tags == "[]" else tuple(json.loads(tags))
    values[_PINNED_AT] = bool(values[_PINNED_AT])
    if values[_ORIGIN_AT] is not None:
        values[_ORIGIN_AT] = Origin(*json.loads(values[_ORIGIN_AT]))
    metadata = values[_METADATA_AT]
    values[_METADATA_AT] = _NO_METADATA if metadata == "{}" else json.loads(metadata)
    return Memory._make(values)


def memory_to_row(memory: Memory) -> list[Any]:
    values: list[Any] = list(memory)
    for at in _TIMES_AT:
        if values[at] is not None:
            values[at] = to_micros(values[at])
    values[_TAGS_AT] = dumps(list(memory.tags)) if memory.tags else "[]"
    values[_PINNED_AT] = int(memory.pinned)
    values[_ORIGIN_AT] = None if memory.origin is None else dumps(list(memory.origin))
    values[_METADATA_AT] = dumps(dict(memory.metadata)) if memory.metadata else "{}"
    del values[_HUB_ID_AT]
    return values


HUB_COLUMNS = "id, name, owner, created_at, numbers, state"


CHANGE_COLUMNS = "id, at, actor, action, reason, undoes, undone_by"


REVISIONS = (
    "SELECT r.pk, c.id, m.id, r.version, r.at, r.fields FROM revisions r"
    " JOIN changes c ON c.pk = r.change JOIN memories m ON m.pk = r.memory"
)
TURN_COLUMNS = "id, role, content, at, source, session"


CLASH_COLUMNS = "id, memory_id, path, in_store, in_file, at, settled_at"
