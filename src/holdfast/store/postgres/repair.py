"""Repairs memories of a database that fail their checksums, from their revisions.

Only what can be proven is written: a row with values from its revisions in the place of its own is
the row as it was stored if its checksum matches then. Counters have no copies; damaged ones begin
anew. Damage to other tables is left: there is no copy of what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import to_micros
from holdfast.domain.memory import COUNTERS
from holdfast.errors import StoreDamaged
from holdfast.store.checksums import Values, counters_check, is_intact, restored
from holdfast.store.postgres import rows

if TYPE_CHECKING:
    from holdfast.domain.change import Revision
    from holdfast.store.postgres.writer import PostgresWriter

# What the counters of a memory begin with, in the order of its columns.
_COUNTERS_NEW = (0, 0, 1, None)
_COVERED = rows.STORED[: -len(COUNTERS) - 2]


def repair_memories(writer: PostgresWriter, hub_id: str) -> list[str]:
    """Repairs what it can of one hub; a sentence for each memory that was."""
    session = writer._session
    hub = session.hub(hub_id)
    query = f"SELECT {rows.MEMORY_COLUMNS} FROM memories m WHERE m.hub_id = %(hub)s"
    damaged = [row for row in session.all(query, hub=hub) if not rows.is_memory_intact(row, hub_id)]
    notes = []
    for row in damaged:
        values = dict(zip(rows.STORED, row, strict=True))
        found = _with_counters(values) if _is_proven(values, hub_id) else None
        if found is not None:
            notes.append(f"set the counters of memory #{row[1]} to what they start with")
        elif (found := _restored(writer, values, hub_id)) is not None:
            notes.append(f"restored memory #{row[1]} from its revisions")
        if found is not None:
            session.put(rows.UPDATE_MEMORY, (*(found[one] for one in rows.STORED), hub, row[0]))
    return notes


def _is_proven(values: Values, hub_id: str) -> bool:
    fields = tuple(_column(values[name]) for name in _COVERED)
    return is_intact("memories", hub_id, fields, values["checksum"])


def _column(value: Any) -> Any:
    """A value as it is stored; candidates have tuples in the place of lists."""
    return list(value) if isinstance(value, tuple) else value


def _with_counters(values: Values) -> Values:
    counters = dict(zip(rows.STORED[len(_COVERED) : -2], _COUNTERS_NEW, strict=True))
    return {**values, **counters, "counters_check": counters_check(*_COUNTERS_NEW)}


def _restored(writer: PostgresWriter, values: Values, hub_id: str) -> Values | None:
    try:
        revisions = writer.revisions(hub_id, str(values["id"]))
    except StoreDamaged:
        # What is damaged itself proves nothing.
        return None
    if not revisions:
        return None
    copies: dict[str, list[Any]] = {
        "version": [revisions[-1].version],
        "updated_at": [to_micros(revisions[-1].at)],
        "created_at": [to_micros(revisions[0].at)],
    }
    likely = {name: found[0] for name, found in copies.items()}
    for name, old, new in _changes(revisions):
        copies.setdefault(name, []).extend([new, old])
        likely[name] = new
    plain = {name: tuple(one) if isinstance(one, list) else one for name, one in values.items()}
    found = restored(plain, likely, copies, lambda one: _is_proven(one, hub_id))
    if found is None:
        return None
    found = {name: _column(one) for name, one in found.items()}
    intact = rows.is_memory_intact(tuple(found[name] for name in rows.STORED), hub_id)
    return found if intact else _with_counters(found)


def _changes(revisions: Sequence[Revision]) -> Iterator[tuple[str, Any, Any]]:
    """Every change of a field that the checksum covers, oldest first, as columns hold it."""
    for revision in revisions:
        for name, (old, new) in revision.fields.items():
            if name in _COVERED:
                yield name, rows.to_column(name, old), rows.to_column(name, new)
