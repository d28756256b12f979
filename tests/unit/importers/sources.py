"""Small sources in the formats of other programs, written by this code; and what each must become.

The formats were compared with files of the real programs where those could be installed:
docs/reference/importers.md says which.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
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


CASES = [
    Case("mcp-memory lines", "mcp-memory", mcp_lines, {"": GRAPH_TEXTS}),
    Case("mcp-memory graph", "mcp-memory", mcp_graph, {"": GRAPH_TEXTS}),
    Case("mem0 qdrant", "mem0", mem0_qdrant, MEM0_TEXTS),
    Case("mem0 chroma", "mem0", mem0_chroma, MEM0_TEXTS),
    Case("mem0 faiss", "mem0", mem0_faiss, MEM0_TEXTS),
    Case("mem0 faiss pickled", "mem0", mem0_faiss_pickled, MEM0_TEXTS),
    Case("mem0 history", "mem0", mem0_history, {"": MEM0_TEXTS["alice"]}),
    Case("mem0 export", "mem0", mem0_export, {**MEM0_TEXTS, "": {"alice travels with bob"}}),
]
