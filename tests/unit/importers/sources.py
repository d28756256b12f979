"""Small sources in the formats of other programs, written by this code; and what each must become.

The formats were compared with files of the real programs where those could be installed:
docs/reference/importers.md says which.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple


class Case(NamedTuple):
    """A source: which importer reads it, how it is made, and the texts that it holds by scope."""

    name: str
    program: str
    make: Callable[[Path], Path]
    texts: dict[str, set[str]]
    options: Mapping[str, str] = MappingProxyType({})

    @property
    def all_texts(self) -> set[str]:
        return {text for texts in self.texts.values() for text in texts}


def database(path: Path, statements: str, rows: dict[str, Iterable[tuple[Any, ...]]]) -> Path:
    """A SQLite file with these tables and rows."""
    with sqlite3.connect(path) as connection:
        connection.executescript(statements)
        for table, values in rows.items():
            for row in values:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
    connection.close()
    return path


def lines(path: Path, values: Iterable[Any]) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


# mcp-memory

GRAPH = [
    {
        "type": "entity",
        "name": "Maria Lopez",
        "entityType": "person",
        "observations": ["Prefers green tea", "Maria Lopez plays chess"],
    },
    {"type": "entity", "name": "Orion", "entityType": "project", "observations": []},
    {"type": "relation", "from": "Maria Lopez", "to": "Orion", "relationType": "works_on"},
]
GRAPH_TEXTS = {
    "Maria Lopez: Prefers green tea",
    "Maria Lopez plays chess",
    "Orion is a project.",
    "Maria Lopez works on Orion",
}


def mcp_lines(folder: Path) -> Path:
    return lines(folder / "memory.jsonl", GRAPH)


def mcp_graph(folder: Path) -> Path:
    path = folder / "graph.json"
    graph = {"entities": GRAPH[:2], "relations": GRAPH[2:]}
    path.write_text(json.dumps(graph, indent=2))
    return path


# mem0


def payload(text: str, user: str, **more: Any) -> dict[str, Any]:
    times = {"created_at": "2025-03-01T10:00:00+00:00", "updated_at": "2025-03-02T10:00:00+00:00"}
    return {"data": text, "hash": "0" * 32, "user_id": user, **times, **more}


MEM0 = {
    "m-1": payload("Alice prefers aisle seats", "alice", topic="travel", priority=3),
    "m-2": payload("Alice is allergic to nuts", "alice", run_id="trip-1"),
    "m-3": payload("Lives in Lisbon", "bob", agent_id="concierge", role="user"),
}
MEM0_TEXTS = {
    "alice": {"Alice prefers aisle seats", "Alice is allergic to nuts"},
    "bob": {"Lives in Lisbon"},
}


def mem0_qdrant(folder: Path) -> Path:
    place = folder / "qdrant" / "collection" / "mem0"
    place.mkdir(parents=True)
    points = [
        (name, pickle.dumps({"id": name, "vector": [0.0] * 4, "payload": values}))
        for name, values in MEM0.items()
    ]
    database(
        place / "storage.sqlite",
        "CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)",
        {"points": points},
    )
    return folder / "qdrant"


def mem0_chroma(folder: Path) -> Path:
    embeddings = [(n, "segment", name, b"\0", "now") for n, name in enumerate(MEM0, 1)]
    metadata = [
        (n, key, *((value, None) if isinstance(value, str) else (None, value)), None, None)
        for n, values in enumerate(MEM0.values(), 1)
        for key, value in values.items()
    ]
    database(
        folder / "chroma.sqlite3",
        "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id, embedding_id, seq_id,"
        " created_at);"
        "CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value"
        " INTEGER, float_value REAL, bool_value INTEGER)",
        {"embeddings": embeddings, "embedding_metadata": metadata},
    )
    return folder


def chroma(folder: Path) -> Path:
    """Two collections, as chromadb 1.5 lays them out; an entry without a document is left out."""
    document = "chroma:document"
    database(
        folder / "chroma.sqlite3",
        "CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT);"
        "CREATE TABLE segments (id TEXT PRIMARY KEY, type, scope, collection);"
        "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id, embedding_id, seq_id,"
        " created_at);"
        "CREATE TABLE embedding_metadata (id INTEGER, key TEXT, string_value TEXT, int_value"
        " INTEGER, float_value REAL, bool_value INTEGER);"
        "CREATE TABLE embedding_metadata_array (id INTEGER, key TEXT, string_value TEXT, int_value"
        " INTEGER, float_value REAL, bool_value INTEGER)",
        {
            "collections": [("c1", "notes"), ("c2", "wiki")],
            "segments": [("s1", "sqlite", "METADATA", "c1"), ("s2", "sqlite", "METADATA", "c2")],
            "embeddings": [
                (1, "s1", "a", b"\0", "2025-03-01 10:00:00"),
                (2, "s1", "b", b"\0", "2025-03-01 10:00:00"),
                (3, "s2", "a", b"\0", "2025-03-01 10:00:00"),
                (4, "s2", "b", b"\0", "2025-03-01 10:00:00"),
            ],
            "embedding_metadata": [
                (1, document, "Deploys run on Fridays", None, None, None),
                (1, "team", "core", None, None, None),
                (1, "n", None, 3, None, None),
                (1, "sure", None, None, 0.5, None),
                (1, "done", None, None, None, 1),
                (2, document, "The staging server is heron", None, None, None),
                (3, document, "Ada prefers tabs", None, None, None),
                (4, "team", "web", None, None, None),
            ],
            "embedding_metadata_array": [
                (1, "labels", "red", None, None, None),
                (1, "labels", "blue", None, None, None),
            ],
        },
    )
    return folder


def mem0_faiss(folder: Path) -> Path:
    (folder / "mem0.faiss").write_bytes(b"")
    (folder / "mem0.json").write_text(json.dumps({"docstore": MEM0, "index_to_id": {}}))
    return folder


def mem0_faiss_pickled(folder: Path) -> Path:
    (folder / "mem0.faiss").write_bytes(b"")
    (folder / "mem0.pkl").write_bytes(pickle.dumps((MEM0, {})))
    return folder


def mem0_history(folder: Path) -> Path:
    def event(memory: str, old: str | None, new: str | None, what: str) -> tuple[Any, ...]:
        at = "2025-03-01T10:00:00+00:00"
        name = f"{memory}-{what}"
        return (name, memory, old, new, what, at, at, int(what == "DELETE"), None, "user")

    return database(
        folder / "history.db",
        "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory"
        " TEXT, event TEXT, created_at DATETIME, updated_at DATETIME, is_deleted INTEGER,"
        " actor_id TEXT, role TEXT)",
        {
            "history": [
                event("m-1", None, "Alice prefers window seats", "ADD"),
                event("m-1", "Alice prefers window seats", "Alice prefers aisle seats", "UPDATE"),
                event("m-2", None, "Alice is allergic to nuts", "ADD"),
                event("m-9", None, "Gone", "ADD"),
                event("m-9", "Gone", None, "DELETE"),
            ]
        },
    )


def mem0_export(folder: Path) -> Path:
    path = folder / "export.json"
    results = [
        {
            "id": name,
            "memory": values["data"],
            "metadata": {"topic": values["topic"]} if "topic" in values else None,
            "categories": ["travel"],
            **{key: value for key, value in values.items() if key.endswith(("_id", "_at"))},
        }
        for name, values in MEM0.items()
    ]
    relations = [{"source": "alice", "relationship": "travels_with", "target": "bob"}]
    path.write_text(json.dumps({"results": results, "relations": relations}))
    return path


# mcp-memory-service


def memory_service(folder: Path) -> Path:
    def row(number: int, text: str, **more: Any) -> tuple[Any, ...]:
        at, stamp = "2025-03-01T10:00:00Z", 1740823200.0
        return (
            *(number, f"hash-{number}", text, more.get("tags", ""), more.get("kind", "note")),
            *(json.dumps({"project": "atlas"}), stamp, stamp, at, at, more.get("deleted")),
            *(more.get("store", "default"), more.get("superseded")),
        )

    return database(
        folder / "sqlite_vec.db",
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT, content TEXT, tags TEXT,"
        " memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT,"
        " updated_at_iso TEXT, deleted_at REAL, store TEXT, superseded_by TEXT);"
        "CREATE TABLE memory_graph (source_hash TEXT, target_hash TEXT, relationship_type TEXT)",
        {
            "memories": [
                row(1, "The staging server is db-7", tags="infra,work"),
                row(2, "We chose PostgreSQL", kind="decision", store="ledger"),
                row(3, "Deleted", deleted=1740823200.0),
                row(4, "Superseded", superseded="hash-1"),
            ],
            "memory_graph": [("hash-1", "hash-2", "supports")],
        },
    )


# langgraph

STORE = [
    ("memories.alice", "m1", {"content": "Prefers dark mode", "source": "chat"}),
    ("memories.alice", "m2", {"kind": "Memory", "content": {"content": "Works at Acme"}}),
    ("memories.bob", "m3", {"name": "Bob", "likes": ["tea", "chess"]}),
]
STORE_TEXTS = {
    "memories.alice": {"Prefers dark mode", "Works at Acme"},
    "memories.bob": {"name: Bob\nlikes: tea, chess"},
}


def langgraph_sqlite(folder: Path) -> Path:
    at = "2025-03-01 10:00:00"
    return database(
        folder / "store.db",
        "CREATE TABLE store (prefix text, key text, value text, created_at TIMESTAMP, updated_at"
        " TIMESTAMP, expires_at TIMESTAMP, ttl_minutes REAL)",
        {
            "store": [
                (prefix, key, json.dumps(value).encode(), at, at, None, None)
                for prefix, key, value in STORE
            ]
        },
    )


def langgraph_lines(folder: Path) -> Path:
    return lines(
        folder / "store.jsonl",
        [{"prefix": prefix, "key": key, "value": value} for prefix, key, value in STORE],
    )


# claude-mem


def claude_mem(folder: Path) -> Path:
    at, stamp = "2025-03-01T10:00:00Z", 1740823200000
    database(
        folder / "claude-mem.db",
        "CREATE TABLE observations (id INTEGER, memory_session_id TEXT, project TEXT, text TEXT,"
        " type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,"
        " files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT,"
        " created_at_epoch INTEGER);"
        "CREATE TABLE session_summaries (id INTEGER, memory_session_id TEXT, project TEXT, request"
        " TEXT, learned TEXT, completed TEXT, next_steps TEXT, created_at TEXT, created_at_epoch"
        " INTEGER)",
        {
            "observations": [
                (
                    *(1, "s1", "atlas", None, "bugfix", "Fixed rounding", "in totals"),
                    *('["Totals are rounded half even"]', "The total was rounded twice."),
                    *('["gotcha"]', '["a.py"]', '["b.py"]', 1, at, stamp),
                ),
                (
                    *(2, "s2", "orion", "Keep the old API for a year", "decision", "Keep it", ""),
                    *(None, None, None, None, None, None, at, stamp),
                ),
            ],
            "session_summaries": [
                (1, "s1", "atlas", "Fix rounding", "Use Decimal", "Done", None, at, stamp)
            ],
        },
    )
    return folder


CLAUDE_MEM_TEXTS = {
    "atlas": {
        "The total was rounded twice.\n\n- Totals are rounded half even",
        "Request: Fix rounding\nLearned: Use Decimal\nCompleted: Done",
    },
    "orion": {"Keep the old API for a year"},
}


# Notes

COFFEE = """---
title: Coffee Brewing
type: note
permalink: notes/coffee
tags: [coffee, brewing]
created: 2025-03-01
---

# Coffee Brewing

Prose with a [[Water|link]].

## Observations
- [method] Pour over gives clarity #technique (from a book)
- [ ] buy filters

## Relations
- requires [[Grinder]]
"""


def basic_memory(folder: Path) -> Path:
    place = folder / "main"
    (place / "notes").mkdir(parents=True)
    (place / "notes" / "Coffee Brewing.md").write_text(COFFEE)
    (place / ".obsidian").mkdir()
    (place / ".obsidian" / "hidden.md").write_text("Hidden")
    return place


BASIC_TEXTS = {
    "Coffee Brewing: Pour over gives clarity",
    "Coffee Brewing requires Grinder",
    "# Coffee Brewing\n\nProse with a [[Water|link]].\n\n## Observations\n- [ ] buy filters",
}


def vault(folder: Path) -> Path:
    place = folder / "Vault"
    (place / "Daily").mkdir(parents=True)
    (place / "Daily" / "plan.md").write_text("---\nrating: 5\n---\nThe plan #work is [[Heron]].")
    (place / "Heron.md").write_text("A bird.")
    (place / "empty.md").write_text("")
    (place / "elsewhere.md").symlink_to("/etc/hostname")
    return place


def openclaw(folder: Path) -> Path:
    place = folder / "workspace"
    (place / "memory").mkdir(parents=True)
    (place / "MEMORY.md").write_text(
        "# Memory\n\n## Home\n\n- The cat is called Miso\n- Lives by"
        " the sea\n  in Porto\n\nA paragraph.\n"
    )
    (place / "USER.md").write_text("Name: Ana\n")
    (place / "SOUL.md").write_text("Be kind.\n")
    (place / "memory" / "2025-03-01.md").write_text("Went sailing.\n")
    return place


OPENCLAW_TEXTS = {
    "The cat is called Miso",
    "Lives by the sea\n  in Porto",
    "A paragraph.",
    "Name: Ana",
    "Went sailing.",
}


# Letta


def letta(folder: Path) -> Path:
    path = folder / "agent.af"
    message = {"role": "user", "content": [{"type": "text", "text": "Hello"}]}
    value = {
        "agents": [{"id": "agent-0", "name": "Sam", "block_ids": ["b-0"], "messages": [message]}],
        "blocks": [{"id": "b-0", "label": "human", "value": "Ana likes tea", "limit": 5000}],
        "tools": [],
    }
    path.write_text(json.dumps(value))
    return path


def letta_older(folder: Path) -> Path:
    path = folder / "older.af"
    block = {"label": "human", "value": "Ana likes tea", "created_at": "2025-03-01T10:00:00"}
    path.write_text(json.dumps({"name": "Sam", "core_memory": [block], "messages": []}))
    return path


def letta_passages(folder: Path) -> Path:
    path = folder / "passages.json"
    at = "2025-03-01T10:00:00Z"
    values = [{"id": "p-1", "text": "Ana sails", "created_at": at, "tags": ["sea"]}, {"id": "p-2"}]
    path.write_text(json.dumps(values))
    return path


# Graphiti


def graphiti(folder: Path) -> Path:
    path = folder / "graph.json"
    at = "2025-03-01T10:00:00Z"
    episode = {"uuid": "e-1", "name": "chat", "content": "I moved to Porto", "valid_at": at}
    fact = {"uuid": "f-1", "fact": "Alice lives in Lisbon", "valid_at": at, "invalid_at": at}
    entity = {"uuid": "n-1", "name": "Alice", "summary": "An architect", "labels": ["Person"]}
    bare = {"uuid": "n-2", "name": "Porto", "summary": ""}
    value = {
        "episodes": [{**episode, "group_id": "alice"}],
        "edges": [{**fact, "group_id": "alice"}],
        "nodes": [{**entity, "group_id": "alice"}, bare],
    }
    path.write_text(json.dumps(value))
    return path


# Data exports of chat services


def _node(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "create_time": 1740823200.0, "content": content, **more}
    return {"id": name, "parent": parent, "children": [], "message": message}


def _chatgpt() -> list[dict[str, Any]]:
    nodes = [
        {"id": "root", "parent": None, "children": ["a"], "message": None},
        _node("a", "root", "user", "What is a heron?"),
        _node("b", "a", "assistant", "A branch that was dropped."),
        _node("c", "a", "assistant", "A bird."),
        _node("d", "c", "assistant", "Likes birds", recipient="bio"),
    ]
    profile = _node("p", "root", "user", "")
    profile["message"]["content"] = {
        "content_type": "model_editable_context",
        "model_set_context": "1. [2025-02-01]. Has a telescope\n\n2. Lives in Porto",
    }
    return [
        {
            "conversation_id": "conv-1",
            "title": "Herons",
            "create_time": 1740823200.0,
            "update_time": 1740823260.0,
            "current_node": "d",
            "mapping": {one["id"]: one for one in [*nodes, profile]},
        }
    ]


CHATGPT_TEXTS = {
    "[2025-03-01 10:00] User: What is a heron?\n\n[2025-03-01 10:00] Assistant: A bird.",
    "Likes birds",
    "Has a telescope",
    "Lives in Porto",
}


def chatgpt_zip(folder: Path) -> Path:
    return packed(folder / "chatgpt.zip", {"conversations.json": _chatgpt(), "user.json": {}})


def chatgpt_file(folder: Path) -> Path:
    path = folder / "conversations.json"
    path.write_text(json.dumps(_chatgpt()))
    return path


def packed(path: Path, files: Mapping[str, Any]) -> Path:
    """A zip archive of JSON files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            archive.writestr(name, json.dumps(value))
    return path


def claude_zip(folder: Path) -> Path:
    at = "2025-03-01T10:00:00.000000Z"
    said = [
        {"uuid": "1", "sender": "human", "text": "What is a heron?", "created_at": at},
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "A bird."}],
            "created_at": at,
        },
    ]
    conversation = {
        "uuid": "conv-1",
        "name": "Herons",
        "created_at": at,
        "updated_at": at,
        "chat_messages": said,
    }
    project = {
        "uuid": "p-1",
        "name": "Atlas",
        "description": "A map of birds",
        "docs": [{"uuid": "d-1", "filename": "list.md", "content": "Heron, egret"}],
    }
    memories = {
        "conversations_memory": "**Work context**\n\nKeeps a list of birds.\n\n**Personal**\n\n"
        "Lives in Porto.",
        "project_memories": {"p-1": "The map is due in May."},
    }
    return packed(
        folder / "claude.zip",
        {
            "conversations.json": [conversation],
            "projects.json": [project],
            "memories.json": [memories],
            "users.json": [{"uuid": "u"}],
        },
    )


CLAUDE_TEXTS = {
    "[2025-03-01 10:00] User: What is a heron?\n\n[2025-03-01 10:00] Assistant: A bird.",
    "A map of birds",
    "Heron, egret",
    "Keeps a list of birds.",
    "Lives in Porto.",
    "The map is due in May.",
}


# Tables


def csv_table(folder: Path) -> Path:
    path = folder / "facts.csv"
    path.write_text(
        "\ufeffwhen;what;who;labels\n2025-03-01;Likes tea;ann;a, b\n;;bob;\n2025-03-02;Has a cat"
        ";bob;\n",
        encoding="utf-8",
    )
    return path


TABLE_TEXTS = {"ann": {"Likes tea"}, "bob": {"Has a cat"}}


def json_lines_table(folder: Path) -> Path:
    rows = [
        {"text": "Likes tea", "user_id": "ann", "created": 1740823200, "tags": ["a"], "weight": 2},
        {"text": "Has a cat", "user_id": "bob", "id": 7},
    ]
    return lines(folder / "facts.jsonl", rows)


def json_table(folder: Path) -> Path:
    path = folder / "facts.json"
    path.write_text(json.dumps({"items": [{"content": "Likes tea"}, {"content": "Has a cat"}]}))
    return path


CASES = [
    Case("mcp-memory lines", "mcp-memory", mcp_lines, {"": GRAPH_TEXTS}),
    Case("mcp-memory graph", "mcp-memory", mcp_graph, {"": GRAPH_TEXTS}),
    Case("mem0 qdrant", "mem0", mem0_qdrant, MEM0_TEXTS),
    Case("mem0 chroma", "mem0", mem0_chroma, MEM0_TEXTS),
    Case(
        "chroma",
        "chroma",
        chroma,
        {
            "notes": {"Deploys run on Fridays", "The staging server is heron"},
            "wiki": {"Ada prefers tabs"},
        },
    ),
    Case("mem0 faiss", "mem0", mem0_faiss, MEM0_TEXTS),
    Case("mem0 faiss pickled", "mem0", mem0_faiss_pickled, MEM0_TEXTS),
    Case("mem0 history", "mem0", mem0_history, {"": MEM0_TEXTS["alice"]}),
    Case("mem0 export", "mem0", mem0_export, {**MEM0_TEXTS, "": {"alice travels with bob"}}),
    Case(
        "mcp-memory-service",
        "mcp-memory-service",
        memory_service,
        {"": {"The staging server is db-7"}, "ledger": {"We chose PostgreSQL"}},
    ),
    Case("langgraph sqlite", "langgraph", langgraph_sqlite, STORE_TEXTS),
    Case("langgraph lines", "langgraph", langgraph_lines, STORE_TEXTS),
    Case("claude-mem", "claude-mem", claude_mem, CLAUDE_MEM_TEXTS),
    Case("basic-memory", "basic-memory", basic_memory, {"": BASIC_TEXTS}),
    Case("markdown", "markdown", vault, {"": {"The plan #work is [[Heron]].", "A bird."}}),
    Case("openclaw", "openclaw", openclaw, {"": OPENCLAW_TEXTS}),
    Case("letta", "letta", letta, {"Sam": {"Ana likes tea", "User: Hello"}}),
    Case("letta older", "letta", letta_older, {"Sam": {"Ana likes tea"}}),
    Case("letta passages", "letta", letta_passages, {"": {"Ana sails"}}),
    Case(
        "graphiti",
        "graphiti",
        graphiti,
        {"alice": {"I moved to Porto", "Alice lives in Lisbon", "Alice: An architect"}},
    ),
    Case("chatgpt zip", "chatgpt", chatgpt_zip, {"": CHATGPT_TEXTS}),
    Case("chatgpt file", "chatgpt", chatgpt_file, {"": CHATGPT_TEXTS}),
    Case("claude zip", "claude", claude_zip, {"": CLAUDE_TEXTS}),
    Case(
        "csv",
        "csv",
        csv_table,
        TABLE_TEXTS,
        {"text": "what", "created": "when", "scope": "who", "tags": "labels"},
    ),
    Case("json lines", "json", json_lines_table, TABLE_TEXTS),
    Case("json", "json", json_table, {"": {"Likes tea", "Has a cat"}}),
]
