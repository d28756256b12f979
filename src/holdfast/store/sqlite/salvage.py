"""Reads every row of a table that may be damaged, and reports those that cannot be read.

An intact table is read in one pass. If that fails, its rows are looked up one by one, by every key
that the table or its indexes still have, so that a broken page loses only its own rows.

Also lists the columns that the checksum of each table covers, for checks and repairs, and replaces
impossible values in the fields of a memory (`repaired`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import apsw

from holdfast.domain import memory as domain
from holdfast.store.rows import (
    COUNTERS_AT,
    MEMORY_FIELDS,
    Row,
    Values,
    are_counters_intact,
    is_intact,
    passage_checksum,
    vector_checksum,
)
from holdfast.store.sql import TABLES


class Table(NamedTuple):
    """A table of a damaged SQLite file with checksums. `key` identifies its rows: the row number,
    or the columns of the primary key. `fields` are the columns that the checksum covers, as
    expressions."""

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
        """A SELECT of the key, the hub's id, the fields, and their checks."""
        key = ", ".join(f"t.{name}" for name in self.key)
        hub = "t.id" if self.name == "hubs" else "h.id"
        of_hub = "" if self.name == "hubs" else " LEFT JOIN hubs h ON h.pk = t.hub"
        checks = "t.checksum" + (", t.counters_check" if self.name == "memories" else "")
        fields = ", ".join(self.fields)
        # Reads the table itself, not an index that may have the same columns.
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


def _table(name: str, key: str = "pk", columns: str = "") -> Table:
    """A table with a checksum over its columns unchanged."""
    named = tuple((columns or TABLES[name].columns.removesuffix(", checksum")).split(", "))
    first = tuple(key.split())
    hub = () if name == "hubs" else ("hub",)
    stored = dict.fromkeys((*first, *hub, *named, "checksum"))
    return Table(name, first, tuple(stored), tuple(f"t.{column}" for column in named))


HUBS = _table("hubs", columns="id, name, owner, created_at, numbers, state")
MEMORIES = _table("memories", columns=", ".join(MEMORY_FIELDS))
MEMORIES = MEMORIES._replace(columns=(*MEMORIES.columns, "counters_check"))
CHANGES = _table("changes")
REVISIONS = Table(
    "revisions",
    ("pk",),
    ("pk", "hub", "memory", "change", "version", "at", "fields", "checksum"),
    ("c.id", "m.id", "t.version", "t.at", "t.fields"),
    " LEFT JOIN changes c ON c.pk = t.change AND c.hub = t.hub"
    " LEFT JOIN memories m ON m.pk = t.memory AND m.hub = t.hub",
)
RECEIPTS, TURNS, CLASHES = _table("receipts"), _table("turns"), _table("clashes")
AGREED, RECORDS = _table("agreed", "hub path"), _table("records", "hub kind id")
PASSAGES = Table(
    "passages",
    ("pk",),
    (),
    (
        *("coalesce(m.id, o.id)", "t.ordinal", "t.start", 't."end"', "t.headings"),
        *("t.body", "t.head", "t.length", "t.windows"),
    ),
    " LEFT JOIN memories m ON m.pk = t.memory AND m.hub = t.hub"
    " LEFT JOIN turns o ON o.pk = t.turn AND o.hub = t.hub",
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


# The errors of reading a damaged file: SQLite's, and Python's for invalid values.
READ_ERRORS = (apsw.Error, UnicodeDecodeError, ValueError, OverflowError, MemoryError)
# Row numbers are probed up to here; a table has more only after many years.
_PROBES_MAX = 5_000_000
# Probes per statement: its result is small, and bisecting it down to one takes few more.
_PROBES_AT_ONCE = 16_384


class Unreadable(NamedTuple):
    """A row of a damaged SQLite file that exists but cannot be read."""

    key: Row
    error: str


def checked_rows(connection: apsw.Connection, table: Table) -> Iterator[Row | Unreadable]:
    """Every row of a table of a damaged file as `Table.checked` selects it."""
    size = len(table.key)
    seen: set[Row] = set()
    try:
        for row in connection.execute(table.checked):
            seen.add(row[:size])
            yield row
        return
    except READ_ERRORS as error:
        failure = _said(error)
    unreadable = False
    where = " AND ".join(f"t.{name} = ?" for name in table.key)
    for key in keys(connection, table):
        if key in seen:
            continue
        try:
            row = connection.execute(f"{table.checked} WHERE {where}", key).fetchone()
        except READ_ERRORS as error:
            unreadable = True
            yield Unreadable(key, _said(error))
        else:
            unreadable = unreadable or row is None
            yield Unreadable(key, "it is not where its key says") if row is None else row
    if not unreadable:
        # Something could not be read, possibly the key itself.
        yield Unreadable((), failure)


def raw_rows(connection: apsw.Connection, table: Table) -> Iterator[dict[str, Any] | Unreadable]:
    """Every row of a table of a damaged file, by column; unreadable ones as far as they can be
    read."""
    names = table.columns
    seen: set[Row] = set()
    try:
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {table.name} NOT INDEXED"):
            values = dict(zip(names, row, strict=True))
            seen.add(tuple(values[name] for name in table.key))
            yield values
        # An index may still have rows that a page has lost.
        others = keys(connection, table)
    except READ_ERRORS:
        others = probed_keys(connection, table)
        if not table.has_row_numbers:
            # The key is text, which itself may be undecodable.
            for values in _rows_as_bytes(connection, table):
                key = tuple(values[name] for name in table.key)
                if key not in seen:
                    seen.add(key)
                    yield values
    for key in others:
        if key not in seen:
            values = raw_row(connection, table, key) or {}
            yield values or Unreadable(key, "none of its columns can be read")


def _rows_as_bytes(connection: apsw.Connection, table: Table) -> Iterator[dict[str, Any]]:
    """The rows of a table up to the first that cannot be read, with bytes instead of invalid
    text."""
    columns = ", ".join(f"typeof({name}), CAST({name} AS BLOB)" for name in table.columns)
    with suppress(*READ_ERRORS):
        for row in connection.execute(f"SELECT {columns} FROM {table.name} NOT INDEXED"):
            pairs = zip(row[::2], row[1::2], strict=True)
            yield dict(zip(table.columns, (_value(*pair) for pair in pairs), strict=True))


def _value(kind: Any, data: Any) -> Any:
    try:
        if kind == "integer":
            return int(data)
        return data.decode() if kind == "text" else data
    except UnicodeDecodeError:
        return data


def copies_in_indexes(connection: apsw.Connection, table: Table, key: Row) -> dict[str, list[Any]]:
    """The values that the indexes of a table have for the columns of one of its rows."""
    found: dict[str, list[Any]] = {}
    where = " AND ".join(f"{name} = ?" for name in table.key)
    for index, only in _indexes(connection, table.name):
        with suppress(*READ_ERRORS):
            names = [
                name
                for (name,) in connection.execute(
                    "SELECT name FROM pragma_index_info(?)", (index,)
                ).fetchall()
                if name in table.columns
            ]
            query = f"SELECT {', '.join(map(str, names))} FROM {table.name} INDEXED BY {index}"
            # The plus keeps the lookup in the index, which is scanned.
            lookup = where if not table.has_row_numbers else "+pk = ?"
            both = f"{only} AND {lookup}" if only else f" WHERE {lookup}"
            for row in connection.execute(query + both, key).fetchall():
                for name, value in zip(names, row, strict=True):
                    found.setdefault(str(name), []).append(value)
    return found


def _said(error: BaseException) -> str:
    return str(error) or type(error).__name__


def keys(connection: apsw.Connection, table: Table) -> list[Row]:
    """The keys of all rows that a table of a damaged file or its index still has."""
    columns = ", ".join(table.key)
    found: dict[Row, None] = {}
    ways = [f"SELECT {columns} FROM {table.name} NOT INDEXED"]
    ways += [
        f"SELECT {columns} FROM {table.name} INDEXED BY {index}{only}"
        for index, only in _indexes(connection, table.name)
    ]
    for way in ways:
        _collect(connection, way, found)
        _collect(connection, f"{way} ORDER BY {', '.join(f'{c} DESC' for c in table.key)}", found)
    return sorted(found, key=lambda key: tuple((type(part).__name__, part) for part in key))


def probed_keys(connection: apsw.Connection, table: Table) -> list[Row]:
    """The keys of all rows that a table of a damaged file still has, and every assigned row number
    that has a row."""
    found = dict.fromkeys(keys(connection, table))
    if table.has_row_numbers:
        highest = max((key[0] for key in found), default=0)
        with suppress(*READ_ERRORS):
            row = connection.execute(
                "SELECT seq FROM sqlite_sequence WHERE name = ?", (table.name,)
            ).fetchone()
            if row is not None and isinstance(row[0], int):
                highest = max(highest, row[0])
        last = min(highest, _PROBES_MAX)
        for first in range(1, last + 1, _PROBES_AT_ONCE):
            found |= dict.fromkeys(
                _probed(connection, table, first, min(first + _PROBES_AT_ONCE - 1, last))
            )
    return list(found)


def _probed(connection: apsw.Connection, table: Table, first: int, last: int) -> Iterator[Row]:
    """The row numbers in a range that have a row. Each is looked up by itself, because a scan ends
    at a damaged page, but with one statement for all; if that fails, with one for each half."""
    query = (
        "WITH RECURSIVE probes(pk) AS (SELECT ?1 UNION ALL SELECT pk + 1 FROM probes WHERE pk < ?2)"
        f" SELECT pk FROM probes WHERE EXISTS (SELECT 1 FROM {table.name} AS it"
        " WHERE it.pk = probes.pk)"
    )
    try:
        yield from connection.execute(query, (first, last)).fetchall()
    except READ_ERRORS:
        if first < last:
            middle = (first + last) // 2
            yield from _probed(connection, table, first, middle)
            yield from _probed(connection, table, middle + 1, last)


def raw_row(connection: apsw.Connection, table: Table, key: Row) -> dict[str, Any] | None:
    """A row, column by column, with bytes instead of invalid text; None if it does not exist.

    A column that cannot be read is left out.
    """
    where = " AND ".join(f"{name} = ?" for name in table.key)
    names = _columns(connection, table)
    query = f"SELECT {', '.join(names)} FROM {table.name} WHERE {where}"
    try:
        row = connection.execute(query, key).fetchone()
        return None if row is None else dict(zip(names, row, strict=True))
    except READ_ERRORS:
        pass
    values: dict[str, Any] = {}
    for name in names:
        for expression in (name, f"CAST({name} AS BLOB)"):
            try:
                row = connection.execute(
                    f"SELECT {expression} FROM {table.name} WHERE {where}", key
                ).fetchone()
            except READ_ERRORS:
                continue
            if row is not None:
                values[name] = row[0]
            break
    return values or None


def _columns(connection: apsw.Connection, table: Table) -> Sequence[str]:
    return table.columns or [
        f'"{name}"'
        for (name,) in connection.execute(
            "SELECT name FROM pragma_table_info(?)", (table.name,)
        ).fetchall()
    ]


def _collect(connection: apsw.Connection, query: str, found: dict[Row, None]) -> None:
    with suppress(*READ_ERRORS):
        for row in connection.execute(query):
            found[row] = None


def _indexes(connection: apsw.Connection, table: str) -> list[tuple[str, str]]:
    """The indexes of a table, each with the condition of one that covers only some rows."""
    try:
        found = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?", (table,)
        ).fetchall()
    except READ_ERRORS:
        return []
    out = []
    for name, sql in found:
        condition = " ".join(str(sql or "").split()).partition(" WHERE ")[2]
        if isinstance(name, str) and name.isidentifier():
            out.append((name, f" WHERE {condition}" if condition else ""))
    return out


# The year 9999; a later time is invalid.
_TIME_MAX = 253_402_300_799_000_000
# Fields with few possible values, and the most cautious one.
_ONE_OF: dict[str, tuple[tuple[str, ...], str]] = {
    "content_type": (domain.CONTENT_TYPES, "text"),
    "kind": (domain.KINDS, "semantic"),
    "stability": (domain.STABILITIES, "evolving"),
    "boundary": (domain.BOUNDARIES, "private"),
    "state": (domain.STATES, "active"),
    "layer": (domain.LAYERS, "long_term"),
    "trust": (domain.TRUSTS, "import"),
    "source": (domain.SOURCES, "sdk"),
}
_TEXTS = {
    "title": "(damaged)",
    "owner": "",
    "summary": "",
    "category": "fact",
    "state_reason": "",
    "quarantine": "",
}
_JSON = {"tags": "[]", "metadata": "{}", "origin": None}


def repaired(values: Values) -> Values:
    """A memory's row of a damaged file with every impossible value replaced."""
    out = dict(values)
    for name in MEMORY_FIELDS:
        value = values.get(name)
        if name in _ONE_OF:
            allowed, least = _ONE_OF[name]
            out[name] = value if value in allowed else least
        elif name in _TEXTS:
            out[name] = value if isinstance(value, str) else _TEXTS[name]
        elif name in _JSON:
            out[name] = value if _is_json(value) else _JSON[name]
        elif name in domain.TIMES:
            out[name] = value if isinstance(value, int) and 0 <= value < _TIME_MAX else None
        elif name == "pinned":
            out[name] = int(value == 1)
        elif name in ("number", "version"):
            out[name] = value if isinstance(value, int) and value > 0 else None
        else:
            out[name] = value if isinstance(value, str) else None
    return out


def _is_json(value: Any) -> bool:
    try:
        json.loads(value)
    except (TypeError, ValueError):
        return False
    return True
