"""Rows of the tables to values and back; the only place that knows the column order.

A row that is read ends with its checksum, which is compared before anything is made of the row.

Values that a recall never meets are imported where they are made: their classes cost it time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.memory import (
    BOUNDARIES,
    CONTENT_TYPES,
    COUNTERS,
    KINDS,
    LAYERS,
    SOURCES,
    STABILITIES,
    STATES,
    TIMES,
    TRUSTS,
    Memory,
    Origin,
)
from holdfast.domain.records import field_from_plain
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

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub

FIELDS = tuple(name for name in Memory._fields if name != "hub_id")
# Counters come last, and are not part of the checksum.
COUNTERS_AT = len(FIELDS) - len(COUNTERS)
assert set(FIELDS[COUNTERS_AT:]) == COUNTERS
_STORED = (*FIELDS, "checksum", "counters_check")
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
# Columns with few values: thousands of memories that are kept share one text of each.
_NAMED = (
    ("content_type", CONTENT_TYPES),
    ("kind", KINDS),
    ("stability", STABILITIES),
    ("boundary", BOUNDARIES),
    ("state", STATES),
    ("layer", LAYERS),
    ("trust", TRUSTS),
    ("source", SOURCES),
)
_NAMES_AT = tuple((Memory._fields.index(name), {one: one for one in few}) for name, few in _NAMED)


def memory_from_row(row: Row, hub_id: str) -> Memory:
    """A memory from a row of COLUMNS; StoreDamaged where it fails its checksum."""
    if not is_memory_intact(row, hub_id):
        raise damaged_row("memories", f"#{row[1]}")
    values = [*row[:_HUB_ID_AT], hub_id, *row[_HUB_ID_AT:-2]]
    for at in _TIMES_AT:
        micros = values[at]
        if micros is not None:
            values[at] = from_micros(micros)
    for at, names in _NAMES_AT:
        values[at] = names.get(values[at], values[at])
    tags = values[_TAGS_AT]
    values[_TAGS_AT] = () if tags == "[]" else _tags(tags)
    values[_PINNED_AT] = bool(values[_PINNED_AT])
    if values[_ORIGIN_AT] is not None:
        values[_ORIGIN_AT] = Origin(*json.loads(values[_ORIGIN_AT]))
    metadata = values[_METADATA_AT]
    values[_METADATA_AT] = _NO_METADATA if metadata == "{}" else json.loads(metadata)
    return Memory._make(values)


@lru_cache(maxsize=1_024)
def _tags(written: str) -> tuple[str, ...]:
    """The tags of a row: most memories share theirs with others."""
    return tuple(json.loads(written))


def checked_columns(row: Row) -> Row:
    """Of a row of COLUMNS, the columns of `caches.CHECKED`."""
    return (row[0], row[-2], *row[COUNTERS_AT:-2], row[-1])


def is_memory_intact(row: Row, hub_id: str) -> bool:
    """Whether a row of MEMORY_COLUMNS matches its checksum and the check of its counters."""
    return is_intact("memories", hub_id, row[:COUNTERS_AT], row[-2]) and are_counters_intact(
        row[COUNTERS_AT:-2], row[-1]
    )


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
    checksum = row_checksum("memories", memory.hub_id, values[:COUNTERS_AT])
    return [*values, checksum, counters_check(*values[COUNTERS_AT:])]


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
CHANGE_COLUMNS = "id, at, actor, action, reason, undoes, undone_by, checksum"
# A revision without its change set or its memory is read as well, and fails its checksum.
REVISIONS = (
    "SELECT r.pk, c.id, m.id, r.version, r.at, r.fields, r.checksum FROM revisions r"
    " LEFT JOIN changes c ON c.pk = r.change LEFT JOIN memories m ON m.pk = r.memory"
)
RECEIPT_COLUMNS = "memory_id, number, at, actor, reason, revisions, checksum"
TURN_COLUMNS = "id, role, content, at, source, session, speaker, trust, checksum"
AGREED_COLUMNS = "path, text, at, checksum"
CLASH_COLUMNS = "id, memory_id, path, in_store, in_file, at, settled_at, checksum"


def hub_from_row(row: Row) -> Hub:
    require_intact("hubs", row[0], row[:-1], row[-1])
    return shared.hub_from_row(row[:-1])
