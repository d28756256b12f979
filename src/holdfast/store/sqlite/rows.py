"""Rows of the tables to values and back; the only place that knows the column order.

Values that a recall never meets are imported where they are made: their classes cost it time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.codec import fields_from_plain, fields_to_plain
from holdfast.domain.hub import Hub
from holdfast.domain.memory import TIMES, Memory, Origin

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.mirror import Clash
    from holdfast.domain.turn import Turn

Row = tuple[Any, ...]

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


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


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


def hub_from_row(row: Row) -> Hub:
    return Hub(row[0], row[1], row[2], from_micros(row[3]), row[4], row[5])


CHANGE_COLUMNS = "id, at, actor, action, reason, undoes, undone_by"


def change_from_row(row: Row, hub_id: str) -> Change:
    from holdfast.domain.change import Change

    return Change(row[0], hub_id, from_micros(row[1]), *row[2:])


REVISIONS = (
    "SELECT r.pk, c.id, m.id, r.version, r.at, r.fields FROM revisions r"
    " JOIN changes c ON c.pk = r.change JOIN memories m ON m.pk = r.memory"
)


def revision_from_row(row: Row) -> Revision:
    from holdfast.domain.change import Revision

    fields = {} if row[5] == "{}" else fields_from_plain(json.loads(row[5]))
    return Revision(row[0], row[1], row[2], row[3], from_micros(row[4]), fields)


def fields_to_row(fields: Mapping[str, tuple[Any, Any]]) -> str:
    return dumps(fields_to_plain(fields)) if fields else "{}"


def receipt_from_row(row: Row) -> Receipt:
    from holdfast.domain.change import Receipt

    return Receipt(row[0], row[1], from_micros(row[2]), *row[3:])


TURN_COLUMNS = "id, role, content, at, source, session"


def turn_from_row(row: Row, hub_id: str) -> Turn:
    from holdfast.domain.turn import Turn

    return Turn(row[0], hub_id, row[1], row[2], from_micros(row[3]), row[4], row[5])


CLASH_COLUMNS = "id, memory_id, path, in_store, in_file, at, settled_at"


def clash_from_row(row: Row) -> Clash:
    from holdfast.domain.mirror import Clash

    settled = None if row[6] is None else from_micros(row[6])
    clash_id, memory_id, path, in_store, in_file = row[:5]
    return Clash(clash_id, memory_id, path, in_store, in_file, from_micros(row[5]), settled)
