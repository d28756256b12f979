"""The database of mcp-memory-service (its sqlite-vec backend)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.sqlite import Database, open_database

_PROGRAM = "mcp-memory-service"
# As many relations of one memory are noted.
_RELATED_MAX = 50


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each memory that is neither deleted nor superseded."""
    with open_database(path, _PROGRAM) as database:
        database.require("memories", ("content_hash", "content", "tags", "metadata"))
        related = _related(database)
        for row in database.rows("SELECT * FROM memories ORDER BY id"):
            name = str(row["content_hash"])
            if row.get("deleted_at") is not None:
                yield Skipped(name, "it was deleted there")
            elif row.get("superseded_by"):
                yield Skipped(name, "it was superseded there")
            elif not str(row["content"] or "").strip():
                yield Skipped(name, "it is empty")
            else:
                yield _record(name, row, related.get(name, []))


def _record(name: str, row: dict[str, Any], related: list[dict[str, str]]) -> Record:
    kind = str(row.get("memory_type") or "")
    tags = [tag.strip() for tag in str(row["tags"] or "").split(",")]
    store = str(row.get("store") or "")
    return Record(
        name,
        str(row["content"]),
        created=moment(row.get("created_at")) or moment(row.get("created_at_iso")),
        updated=moment(row.get("updated_at")) or moment(row.get("updated_at_iso")),
        category="decision" if kind == "decision" else None,
        tags=[tag for tag in tags if tag and tag != "untagged"],
        scope="" if store == "default" else store,
        metadata=_metadata(row["metadata"]),
        noted={
            "type": kind,
            "related": related,
            "parent": row.get("parent_id"),
            "confidence": row.get("confidence"),
            "version": row.get("version"),
        },
    )


def _metadata(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text) if isinstance(text, str) and text else {}
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _related(database: Database) -> dict[str, list[dict[str, str]]]:
    """The other memories that each is connected with, and how."""
    found: dict[str, list[dict[str, str]]] = defaultdict(list)
    if not {"source_hash", "target_hash"} <= (there := database.columns("memory_graph")):
        return found
    kind = "relationship_type" if "relationship_type" in there else "'related' AS relationship_type"
    query = f"SELECT source_hash, target_hash, {kind} FROM memory_graph ORDER BY rowid"
    for row in database.rows(query):
        one = found[str(row["source_hash"])]
        if len(one) < _RELATED_MAX:
            one.append({"id": str(row["target_hash"]), "type": str(row["relationship_type"])})
    return found


IMPORTER = Importer(
    "mcp-memory-service",
    "mcp-memory-service",
    "its SQLite file, sqlite_vec.db",
    read,
    (
        Row("memory", "a memory with its text, tags, times and metadata", "type, version"),
        Row("memory type `decision`", "category decision; others are picked by the rules", "type"),
        Row("store, where it is not `default`", "the scope: a hub of its own with `--split`"),
        Row("created_at, updated_at", "valid from", "both times"),
        Row("connections (memory_graph)", "no place of their own", "related: id and type"),
        Row("deleted or superseded memory", "left out, and counted"),
        Row("vectors, confidence, beliefs, sync tables", "vectors are made anew", "confidence"),
    ),
    scopes="project",
    example="~/.local/share/mcp-memory/sqlite_vec.db",
    tried="a database that mcp-memory-service 12.2.0 wrote (3 rows in, 2 out, 1 deleted)",
)
