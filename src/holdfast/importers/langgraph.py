"""Stores of LangGraph, in which langmem keeps memories: the SQLite file of `SqliteStore`, or the
rows of the table `store` as JSON Lines (from `PostgresStore`)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.sqlite import is_sqlite, open_database
from holdfast.importers.text_files import json_lines

# Under one of these names a value has its text.
_TEXTS = ("content", "text", "memory", "data", "fact", "value")


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each item."""
    if not is_sqlite(path):
        for number, value in json_lines(path):
            yield _item(f"line {number}", value)
        return
    with open_database(path, "LangGraph") as database:
        database.require("store", ("prefix", "key", "value"))
        for row in database.rows("SELECT * FROM store ORDER BY prefix, key"):
            yield _item(f"{row['prefix']}/{row['key']}", row)


def _item(place: str, row: Any) -> Found:
    if not isinstance(row, dict):
        return Skipped(place, str(row) if isinstance(row, ValueError) else "it is no item")
    prefix = row.get("prefix", row.get("namespace"))
    if isinstance(prefix, list):
        prefix = ".".join(str(part) for part in prefix)
    value = _value(row.get("value"))
    if not isinstance(prefix, str) or "key" not in row or value is None:
        return Skipped(place, "it has no namespace, key or value")
    text = _text(value)
    if not text.strip():
        return Skipped(place, "it holds no text")
    return Record(
        f"{prefix}/{row['key']}",
        text,
        created=moment(row.get("created_at")),
        updated=moment(row.get("updated_at")),
        expires=moment(row.get("expires_at")),
        scope=prefix,
        labels=tuple(prefix.split(".")),
        key=str(row["key"]),
        # As the adapter for LangGraph keeps it.
        metadata={"value": value} if isinstance(value, Mapping) else {},
        noted={"namespace": prefix, "key": str(row["key"])},
    )


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _text(value: Any) -> str:
    """The text of a value. langmem puts it one level down."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    for name in _TEXTS:
        inner = value.get(name)
        if isinstance(inner, str) and inner.strip():
            return inner
    if isinstance(inner := value.get("content"), Mapping):
        return _text(inner)
    # A profile: its fields, as lines.
    return "\n".join(f"{key}: {_line(one)}" for key, one in value.items())


def _line(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(str(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


IMPORTER = Importer(
    "langgraph",
    "LangGraph and langmem",
    "the SQLite file of a `SqliteStore`, or JSON Lines with the rows of the table `store`"
    " (PostgreSQL: `SELECT row_to_json(store) FROM store`)",
    read,
    (
        Row("item with a text (content, text, memory, data, fact, value)", "a memory", "key"),
        Row("item without one, such as a profile", "a memory with a line for each field", "key"),
        Row("namespace", "the scope: a hub of its own with `--split`", "namespace"),
        Row("the value itself", "metadata, as `value`"),
        Row("created_at, updated_at", "valid from", "both times"),
        Row("expires_at", "expires at"),
        Row("vectors, ttl_minutes", "nothing: vectors are made anew"),
    ),
    scopes="namespace",
    example="store.db",
    tried="a file that langgraph-checkpoint-sqlite 3.1.2 wrote (4 items in, 4 out); JSON"
    " Lines by the columns of it",
)
