"""The columns of each table that its checksum covers, and how a row is read with its hub's id.

For checks and repairs, which look at whole tables and must cope with rows that cannot be read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from holdfast.store.checksums import (
    are_counters_intact,
    is_intact,
    passage_checksum,
    vector_checksum,
)
from holdfast.store.rows import Row
from holdfast.store.sqlite.rows import COUNTERS_AT, FIELDS


class Table(NamedTuple):
    """A table with checksums. `key` is what its rows are found by: the row number, or the columns
    of the primary key. `fields` are the columns that the checksum covers, as expressions."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]
    fields: tuple[str, ...]
    joins: str = ""

    @property
    def has_row_numbers(self) -> bool:
        return self.key == ("pk",)

    @property
    def checked(self) -> str:
        """A SELECT of the key, the hub's id, the fields, and what they are checked against."""
        key = ", ".join(f"t.{name}" for name in self.key)
        hub = "t.id" if self.name == "hubs" else "h.id"
        of_hub = "" if self.name == "hubs" else " LEFT JOIN hubs h ON h.pk = t.hub"
        checks = "t.checksum" + (", t.counters_check" if self.name == "memories" else "")
        fields = ", ".join(self.fields)
        # Through the table itself, and not an index that may hold the same.
        return (
            f"SELECT {key}, {hub}, {fields}, {checks} FROM {self.name} t NOT INDEXED"
            f"{of_hub}{self.joins}"
        )

    def is_intact(self, row: Row) -> bool:
        """Whether a row of `checked` matches its checksum."""
        hub_id, *values = row[len(self.key) :]
        if hub_id is None and self.name == "records" and row[0] == 0:
            hub_id = ""  # Records that belong to no hub have hub 0.
        if not isinstance(hub_id, str):
            return False
        if self.name == "memories":
            return is_intact("memories", hub_id, values[:COUNTERS_AT], values[-2]) and (
                are_counters_intact(values[COUNTERS_AT:-2], values[-1])
            )
        *fields, checksum = values
        if self.name == "passages":
            memory_id, *rest = fields
            return isinstance(memory_id, str) and bool(
                _computed(passage_checksum, hub_id, memory_id, rest) == checksum
            )
        if self.name == "vectors":
            return bool(_computed(vector_checksum, hub_id, *fields) == checksum)
        return is_intact(self.name, hub_id, fields, checksum)


def _computed(compute: Any, *values: Any) -> Any:
    try:
        return compute(*values)
    except (TypeError, ValueError):
        return None


def _table(name: str, key: str, columns: str, *, hub: bool = True) -> Table:
    named = tuple(columns.split())
    fields = tuple(f"t.{column}" for column in named)
    first = tuple(key.split())
    stored = [*first, *(["hub"] if hub and "hub" not in first else []), *named, "checksum"]
    return Table(name, first, tuple(dict.fromkeys(stored)), fields)


HUBS = _table("hubs", "pk", "id name owner created_at numbers state", hub=False)
MEMORIES = _table("memories", "pk", " ".join(FIELDS))
MEMORIES = MEMORIES._replace(columns=(*MEMORIES.columns, "counters_check"))
CHANGES = _table("changes", "pk", "id at actor action reason undoes undone_by")
REVISIONS = Table(
    "revisions",
    ("pk",),
    ("pk", "hub", "memory", "change", "version", "at", "fields", "checksum"),
    ("c.id", "m.id", "t.version", "t.at", "t.fields"),
    " LEFT JOIN changes c ON c.pk = t.change AND c.hub = t.hub"
    " LEFT JOIN memories m ON m.pk = t.memory AND m.hub = t.hub",
)
RECEIPTS = _table("receipts", "pk", "memory_id number at actor reason revisions")
TURNS = _table("turns", "pk", "id role content at source session")
AGREED = _table("agreed", "hub path", "path text at")
CLASHES = _table("clashes", "pk", "id memory_id path in_store in_file at settled_at")
RECORDS = _table("records", "hub kind id", "kind id at body lookup due")
PASSAGES = Table(
    "passages",
    ("pk",),
    (),
    (
        *("m.id", "t.ordinal", "t.start", 't."end"', "t.headings"),
        *("t.body", "t.head", "t.length", "t.windows"),
    ),
    " LEFT JOIN memories m ON m.pk = t.memory AND m.hub = t.hub",
)
VECTORS = Table(
    "vectors",
    ("hub", "model", "passage", '"window"'),
    (),
    ("t.model", "t.passage", 't."window"', "t.vector"),
)

CANONICAL = (
    *(HUBS, MEMORIES, CHANGES, REVISIONS, RECEIPTS),
    *(TURNS, AGREED, CLASHES, RECORDS),
)
DERIVED = (PASSAGES, VECTORS)
