"""Memory servers that agents use over MCP or hooks: the knowledge graph of the reference server
`@modelcontextprotocol/server-memory` (JSON Lines, or what its tool `read_graph` answers), the
databases of mcp-memory-service and of claude-mem."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.source_files import (
    Database,
    json_lines,
    open_database,
    opened,
    parse_json,
    read_text,
)


def read_mcp_memory(path: str, options: Options) -> Iterator[Found]:
    """A record for each observation and relation, and for each entity that has no observation."""
    known = 0
    skipped: list[Skipped] = []
    for place, value in _values(path):
        if isinstance(value, ValueError):
            skipped.append(Skipped(place, str(value)))
            continue
        found = list(_records(place, value))
        known += any(isinstance(one, Record) for one in found)
        yield from found
    if not known and skipped:
        raise InvalidInput(
            f"{path} is no memory file of the MCP server: {skipped[0].reason}.",
            hint="Name the file in MEMORY_FILE_PATH of the server.",
        )
    yield from skipped


def _values(path: str) -> Iterator[tuple[str, Any]]:
    with opened(path) as file:
        head = file.read(4_096).lstrip(b"\xef\xbb\xbf \t\r\n")
    first = head.split(b"\n", 1)[0]
    if head.startswith((b"{", b"[")) and not re.search(rb'"type"\s*:', first):
        yield from _graph(path, parse_json(read_text(path), path))
        return
    for number, value in json_lines(path):
        yield f"line {number}", value


def _graph(path: str, graph: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(graph, dict) or not isinstance(graph.get("entities"), list):
        raise InvalidInput(
            f"{path} holds no entities, so it is no memory file of the MCP server.",
            hint="Name the file in MEMORY_FILE_PATH of the server.",
        )
    for kind, values in (("entity", graph["entities"]), ("relation", graph.get("relations"))):
        for number, one in enumerate(values if isinstance(values, list) else [], 1):
            if isinstance(one, dict):
                yield f"{kind} {number}", {**one, "type": kind}


def _records(place: str, value: Any) -> Iterator[Found]:
    match value:
        case {"type": "entity", "name": str(name), "entityType": str(type_)}:
            given = value.get("observations")
            listed = given if isinstance(given, list) else []
            observations = [one for one in listed if isinstance(one, str) and one.strip()]
            for text in observations:
                yield Record(
                    f"observation:{digest(name, text)}",
                    about(name, text),
                    tags=(name, type_),
                    noted={"entity": name, "entity_type": type_, "observation": text},
                )
            if not observations:
                yield Record(
                    f"entity:{digest(name)}",
                    f"{name} is a {_words(type_)}.",
                    tags=(name, type_),
                    noted={"entity": name, "entity_type": type_},
                )
        case {"type": "relation", "from": str(left), "to": str(right), "relationType": str(type_)}:
            yield Record(
                f"relation:{digest(left, type_, right)}",
                f"{left} {_words(type_)} {right}",
                tags=(left, right),
                noted={"relation": {"from": left, "type": type_, "to": right}},
            )
        case _:
            yield Skipped(place, "it is neither an entity nor a relation")


def about(name: str, text: str) -> str:
    """An observation of a memory server as a sentence with the name that it is about."""
    return text if name.casefold() in text.casefold() else f"{name}: {text}"


def _words(name: str) -> str:
    """`works_at` and `worksAt` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip()


MCP_MEMORY = Importer(
    "mcp-memory",
    "MCP reference server (server-memory)",
    "its memory.jsonl or memory.json, or the saved answer of `read_graph`",
    read_mcp_memory,
    (
        Row("entity with observations", "a memory for each: `NAME: observation`", "name, type"),
        Row("entity without observations", "a memory `NAME is a TYPE.`", "name, type"),
        Row("relation", "a memory `FROM relation TO`", "from, type, to"),
    ),
    example="memory.jsonl",
    tried="a file that @modelcontextprotocol/server-memory 2026.8.31 wrote (5 observations and 2"
    " relations in, 7 memories out), and which it reads again after an export",
)


_SERVICE = "mcp-memory-service"
# As many relations of one memory are noted.
_RELATED_MAX = 50


def read_mcp_memory_service(path: str, options: Options) -> Iterator[Found]:
    """A record for each memory that is neither deleted nor superseded."""
    with open_database(path, _SERVICE) as database:
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


MCP_MEMORY_SERVICE = Importer(
    "mcp-memory-service",
    "mcp-memory-service",
    "its SQLite file, sqlite_vec.db",
    read_mcp_memory_service,
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


_CLAUDE_MEM = "claude-mem"
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")


def read_claude_mem(path: str, options: Options) -> Iterator[Found]:
    """A record for each observation and each summary of a session."""
    if os.path.isdir(path):
        path = os.path.join(path, "claude-mem.db")
    with open_database(path, _CLAUDE_MEM) as database:
        database.require("observations", ("id", "project", "text", "type", "created_at"))
        for row in database.rows("SELECT * FROM observations ORDER BY id"):
            yield _observation(row)
        yield from _summaries(database)


def _observation(row: dict[str, Any]) -> Found:
    facts = _list(row.get("facts"))
    narrative = row.get("narrative") or row.get("text") or row.get("subtitle") or ""
    parts = [str(narrative).strip(), "\n".join(f"- {fact}" for fact in facts)]
    text = "\n\n".join(part for part in parts if part) or str(row.get("title") or "")
    name = f"observation:{_session(row)}:{row['id']}"
    if not text.strip():
        return Skipped(name, "it is empty")
    kind = str(row["type"])
    return Record(
        name,
        text,
        created=_time(row),
        title=str(row.get("title") or ""),
        category="decision" if kind == "decision" else "project",
        kind="episodic",
        layer="library",
        tags=[kind, *_list(row.get("concepts"))],
        scope=str(row["project"] or ""),
        session=_session(row) or None,
        event=True,
        noted={
            "type": kind,
            "subtitle": row.get("subtitle"),
            "files_read": _list(row.get("files_read")),
            "files_modified": _list(row.get("files_modified")),
            "prompt_number": row.get("prompt_number"),
        },
    )


def _summaries(database: Database) -> Iterator[Found]:
    if not {"id", "project", "request"} <= database.columns("session_summaries"):
        return
    for row in database.rows("SELECT * FROM session_summaries ORDER BY id"):
        said = [(name, str(row.get(name) or "").strip()) for name in _SUMMARY]
        text = "\n".join(
            f"{name.replace('_', ' ').capitalize()}: {one}" for name, one in said if one
        )
        name = f"summary:{_session(row)}:{row['id']}"
        if not text:
            yield Skipped(name, "it is empty")
            continue
        yield Record(
            name,
            text,
            created=_time(row),
            title=str(row.get("request") or ""),
            category="project",
            kind="episodic",
            layer="library",
            tags=("session-summary",),
            scope=str(row["project"] or ""),
            session=_session(row) or None,
            event=True,
            noted={
                "files_read": _list(row.get("files_read")),
                "files_edited": _list(row.get("files_edited")),
            },
        )


def _session(row: dict[str, Any]) -> str:
    # Versions before 7 called it by the second name.
    return str(row.get("memory_session_id") or row.get("sdk_session_id") or "")


def _time(row: dict[str, Any]) -> Any:
    return moment(row.get("created_at_epoch")) or moment(row.get("created_at"))


def _list(text: Any) -> list[str]:
    """A JSON list of texts; what is not one is a text by itself."""
    if not isinstance(text, str) or not text.strip():
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


CLAUDE_MEM = Importer(
    "claude-mem",
    "claude-mem",
    "its folder (~/.claude-mem) or its database, claude-mem.db",
    read_claude_mem,
    (
        Row(
            "observation",
            "a document: the narrative and its facts; its title, and when it happened",
            "type, subtitle, files, prompt number",
        ),
        Row("observation of type `decision`", "category decision; others are of project"),
        Row("concepts, type", "tags", "type"),
        Row("summary of a session", "a document with a line for each part", "files"),
        Row("project", "the scope: a hub of its own with `--split`"),
        Row("memory_session_id", "session"),
        Row("user_prompts", "not taken in: `holdfast import claude-code` has the conversations"),
        Row("vectors (chroma), queues, tokens", "nothing: vectors are made anew"),
    ),
    scopes="project",
    example="~/.claude-mem",
    tried="a database that claude-mem 11.0.0 wrote, while its worker had it open (2"
    " observations and 1 summary in, 3 out)",
)
