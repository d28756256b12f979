"""Memories of mem0: its local vector store (Qdrant, Chroma or FAISS), its history database, or an
export as JSON. The vector store has all fields; the history knows no users."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from datetime import MAXYEAR, datetime, timedelta
from typing import Any

from holdfast.errors import InvalidInput, NotFound
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, moment
from holdfast.importers.chroma import entries
from holdfast.importers.source_files import (
    Database,
    PickleRefused,
    is_sqlite,
    json_lines,
    open_database,
    opened,
    read_json,
    unpickled,
)

_PROGRAM = "mem0"
# The names of what mem0 itself puts beside a memory; the rest is the user's metadata.
_OWN = frozenset(
    (
        *("id", "data", "memory", "text", "hash", "created_at", "updated_at", "user_id"),
        *("agent_id", "run_id", "app_id", "actor_id", "role", "metadata", "categories", "score"),
        *("text_lemmatized", "attributed_to", "expiration_date", "immutable", "owner"),
        *("event_date", "structured_attributes"),
    )
)

_IDS = ("user_id", "agent_id", "run_id", "role", "actor_id")


def read(path: str, options: Options) -> Iterator[Found]:
    """The memories of a mem0 export: a folder or file."""
    sources = _in_folder(path) if os.path.isdir(path) else [path]
    for source in sources:
        if is_sqlite(source):
            yield from _database(source)
        elif source.endswith(".pkl"):
            yield from _faiss(source, _unpickled(source))
        elif os.path.exists(os.path.splitext(source)[0] + ".faiss"):
            yield from _faiss(source, read_json(source))
        else:
            yield from _export(source)


def _in_folder(folder: str) -> list[str]:
    """The vector stores of a folder; its history where there is none."""
    inside = glob.escape(folder)
    found = [
        path
        for pattern in (
            *("storage.sqlite", "collection/*/storage.sqlite", "*/collection/*/storage.sqlite"),
            *("chroma.sqlite3", "*/chroma.sqlite3"),
        )
        for path in sorted(glob.glob(os.path.join(inside, pattern)))
    ]
    for index in sorted(glob.glob(os.path.join(inside, "**", "*.faiss"), recursive=True)):
        # What the vectors of an index belong to is beside it.
        named = (os.path.splitext(index)[0] + end for end in (".json", ".pkl"))
        found += [path for path in named if os.path.exists(path)][:1]
    found = found or sorted(glob.glob(os.path.join(inside, "history.db")))
    if not found:
        raise NotFound(
            f"There is no store of mem0 in {folder}: no storage.sqlite (Qdrant), chroma.sqlite3,"
            " *.faiss or history.db.",
            hint="Name the `path` of the vector store, ~/.mem0/history.db, or an export as JSON.",
        )
    return list(dict.fromkeys(found))


def _database(path: str) -> Iterator[Found]:
    with open_database(path, _PROGRAM) as database:
        tables = database.tables()
        if "points" in tables:
            yield from _qdrant(database)
        elif "embedding_metadata" in tables:
            yield from _chroma(database)
        elif "history" in tables:
            yield from _history(database)
        else:
            raise InvalidInput(
                f"{path} is no database of mem0: it has neither points (Qdrant) nor"
                " embedding_metadata (Chroma) nor a history.",
                hint="Name the vector store's folder, or ~/.mem0/history.db.",
            )


def _qdrant(database: Database) -> Iterator[Found]:
    database.require("points", ("id", "point"))
    for row in database.rows("SELECT rowid, point FROM points ORDER BY rowid"):
        try:
            point = unpickled(row["point"])
        except PickleRefused as error:
            yield Skipped(f"point {row['rowid']}", str(error))
            continue
        payload = point.get("payload") if isinstance(point, dict) else None
        if isinstance(payload, dict) and "data" in payload:
            yield _record(str(point.get("id")), payload)


def _chroma(database: Database) -> Iterator[Found]:
    other = None
    for entry in entries(database):
        if "data" in entry.values:
            other = False
            yield _record(entry.id, entry.values)
        elif other is None:
            other = True
    if other:
        raise InvalidInput(
            f"{database.path} holds documents that mem0 did not write.",
            hint="The importer `chroma` reads any collection.",
            command="Import them: `holdfast import chroma PATH`.",
        )


def _unpickled(path: str) -> Any:
    with opened(path) as file:
        try:
            stored = unpickled(file.read())
        except PickleRefused as error:
            raise InvalidInput(f"{path} is no FAISS store of mem0: {error}.") from None
    return {"docstore": stored[0]} if isinstance(stored, tuple) and stored else stored


def _faiss(path: str, stored: Any) -> Iterator[Found]:
    documents = stored.get("docstore") if isinstance(stored, dict) else None
    if not isinstance(documents, dict):
        raise InvalidInput(f"{path} is no FAISS store of mem0: it holds no documents.")
    for name, payload in documents.items():
        if isinstance(payload, dict) and "data" in payload:
            yield _record(str(name), payload)


def _history(database: Database) -> Iterator[Found]:
    """The last text of each memory. The history has no users: all of it has the same scope."""
    there = database.require("history", ("memory_id", "new_memory", "event"))
    times = [name for name in ("created_at", "updated_at") if name in there]
    deleted = "is_deleted" if "is_deleted" in there else "0 AS is_deleted"
    columns = ", ".join(("memory_id", "new_memory", "event", deleted, *times))
    query = f"SELECT {columns} FROM history WHERE memory_id IS NOT NULL ORDER BY rowid"
    newest: dict[str, dict[str, Any]] = {}
    for row in database.rows(query):
        name = str(row["memory_id"])
        first = newest.get(name, row)
        count = first.get("events", 0) + 1
        created = first.get("first") or row.get("created_at")
        newest[name] = {**row, "events": count, "first": created}
    for name, row in newest.items():
        if row["event"] == "DELETE" or row["is_deleted"] or not row["new_memory"]:
            yield Skipped(name, "it was deleted in mem0")
            continue
        changed = row.get("updated_at") or row.get("created_at")
        times_ = {"created_at": row["first"], "updated_at": changed}
        yield _record(name, {"data": row["new_memory"], **times_}, events=row["events"])


def _export(path: str) -> Iterator[Found]:
    for place, one in _exported(path):
        if isinstance(one, dict):
            text = one.get("memory") or one.get("data") or one.get("text") or one.get("content")
            if isinstance(text, str) and text.strip():
                yield _record(str(one.get("id") or place), {**one, "data": text})
                continue
            if {"source", "relationship"} <= one.keys():
                yield _relation(one)
                continue
        yield Skipped(place, "it holds no memory")


def _exported(path: str) -> Iterator[tuple[str, Any]]:
    with opened(path) as file:
        lines = file.read(1) == b"{" and path.endswith((".jsonl", ".ndjson"))
    if lines:
        yield from ((f"line {number}", value) for number, value in json_lines(path))
        return
    value = read_json(path)
    listed = value
    if isinstance(value, dict):
        listed = value.get("results", value.get("memories"))
    if not isinstance(listed, list):
        raise InvalidInput(
            f"{path} is no export of mem0: it has no list of memories.",
            hint="Save what `memory.get_all(...)` or the export of the platform answers.",
        )
    yield from ((f"entry {number}", one) for number, one in enumerate(listed, 1))
    relations = value.get("relations") if isinstance(value, dict) else None
    for number, one in enumerate(relations if isinstance(relations, list) else [], 1):
        yield f"relation {number}", one


def _relation(one: Mapping[str, Any]) -> Record:
    left, type_ = str(one["source"]), str(one["relationship"])
    right = str(one.get("target") or one.get("destination") or "")
    return Record(
        f"relation:{left}|{type_}|{right}",
        f"{left} {type_.replace('_', ' ')} {right}",
        **_scope(one),
        tags=(left, right),
        noted={"relation": {"from": left, "type": type_, "to": right}},
    )


def _record(name: str, payload: Mapping[str, Any], **noted: Any) -> Record:
    own = payload.get("metadata")
    metadata = {key: value for key, value in payload.items() if key not in _OWN}
    metadata |= own if isinstance(own, dict) else {}
    categories = payload.get("categories")
    return Record(
        name,
        str(payload["data"]),
        created=moment(payload.get("created_at")),
        updated=moment(payload.get("updated_at")),
        tags=[str(one) for one in categories] if isinstance(categories, list) else (),
        **_scope(payload),
        session=str(payload.get("run_id") or "") or None,
        speaker=str(payload.get("actor_id") or "") or None,
        expires=_expiry(payload.get("expiration_date")),
        # As the adapter with mem0's interface keeps them.
        metadata={"mem0": metadata, **{key: payload[key] for key in _IDS if payload.get(key)}},
        noted={"app_id": payload.get("app_id"), **noted},
    )


def _expiry(value: Any) -> datetime | None:
    """A memory with an expiration date holds until the end of that day."""
    at = moment(value)
    is_day = isinstance(value, str) and len(value.strip()) == len("2026-01-01")
    # The last day of the calendar, which programs write for never, has no day after it.
    return at + timedelta(days=1) if at is not None and is_day and at.year < MAXYEAR else at


def _scope(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The user; else the agent, or the run."""
    for key, label in (("user_id", "user"), ("agent_id", "agent"), ("run_id", "run")):
        if payload.get(key):
            name = str(payload[key])
            return {
                "scope": name if label == "user" else f"{label}:{name}",
                "labels": (label, name),
            }
    return {}


IMPORTER = Importer(
    "mem0",
    "mem0",
    "the folder or file of its vector store (Qdrant local, Chroma, FAISS), its history.db, or an"
    " export as JSON or JSON Lines",
    read,
    (
        Row(
            "memory of a vector store or export",
            "a memory; its metadata below `mem0`, its ids beside",
        ),
        Row("user_id, else agent_id, else run_id", "the scope: a hub of its own with `--split`"),
        Row("run_id, actor_id", "session, speaker"),
        Row("categories", "tags"),
        Row("created_at, updated_at", "valid from", "both times"),
        Row("expiration_date", "expires at"),
        Row("relation of the graph (in exports)", "a memory `FROM relation TO`", "from, type, to"),
        Row("history.db", "the last text of each memory; deleted ones are left out", "events"),
        Row("vectors, hash, score", "nothing: they are made anew"),
    ),
    scopes="user",
    example="~/.mem0/history.db",
    tried="stores that mem0ai 2.2.1 wrote: Qdrant local, Chroma, FAISS and an answer of `get_all`"
    " (4 memories in, 4 out), and history.db (7 events of 5 memories in, 4 out, 1 deleted)",
)
