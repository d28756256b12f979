"""Graphiti and Zep: episodes, facts (edges) and entities (nodes) as JSON, as their classes and the
API write them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.text_files import json_lines, read_json

_LISTS = ("episodes", "edges", "facts", "relevant_facts", "nodes", "entities", "results")


def read(path: str, options: Options) -> Iterator[Found]:
    """A record for each episode, fact and entity with a summary."""
    count = 0
    for place, value in _values(path):
        found = _found(place, value)
        count += isinstance(found, Record)
        yield found
    if not count:
        raise InvalidInput(
            f"{path} has no episodes, facts or entities, so it is no export of Graphiti or Zep.",
            hint='Save them as JSON: {"episodes": [...], "edges": [...], "nodes": [...]}.',
        )


def _values(path: str) -> Iterator[tuple[str, Any]]:
    if os.path.splitext(path)[1].lower() in (".jsonl", ".ndjson"):
        yield from ((f"line {number}", value) for number, value in json_lines(path))
        return
    value = read_json(path)
    if isinstance(value, dict):
        lists = [(name, value[name]) for name in _LISTS if isinstance(value.get(name), list)]
    else:
        lists = [("entry", value)] if isinstance(value, list) else []
    for name, values in lists:
        for number, one in enumerate(values, 1):
            yield f"{name} {number}", one


def _found(place: str, value: Any) -> Found:
    if isinstance(value, dict):
        if _text(value, "fact"):
            return _fact(value)
        if _text(value, "content"):
            return _episode(value)
        if _text(value, "summary") and _text(value, "name"):
            return _entity(value)
    return Skipped(place, "it is no episode, no fact, and no entity with a summary")


def _text(value: Mapping[str, Any], name: str) -> bool:
    text = value.get(name)
    return isinstance(text, str) and bool(text.strip())


def _id(kind: str, value: Mapping[str, Any], text: str) -> str:
    return f"{kind}:{value.get('uuid') or value.get('uuid_') or digest(text)}"


def _scope(value: Mapping[str, Any]) -> dict[str, Any]:
    names = ("group_id", "graph_id", "user_id")
    found = next((str(value[name]) for name in names if value.get(name)), "")
    return {"scope": found, "labels": ("user", found)} if found else {}


def _episode(value: Mapping[str, Any]) -> Record:
    text = str(value["content"])
    happened = value.get("valid_at") or value.get("reference_time") or value.get("created_at")
    return Record(
        _id("episode", value, text),
        text,
        created=moment(happened),
        title=str(value.get("name") or ""),
        kind="episodic",
        layer="library",
        **_scope(value),
        session=value.get("session_id") or value.get("thread_id") or None,
        speaker=value.get("role") or None,
        event=True,
        metadata=_own(value.get("metadata")),
        noted={
            "source": value.get("source"),
            "source_description": value.get("source_description"),
            "stored": value.get("created_at"),
        },
    )


def _fact(value: Mapping[str, Any]) -> Record:
    text = str(value["fact"])
    return Record(
        _id("fact", value, text),
        text,
        created=moment(value.get("valid_at") or value.get("created_at")),
        until=moment(value.get("invalid_at") or value.get("expired_at")),
        **_scope(value),
        metadata=_own(value.get("attributes")),
        noted={
            "relation": value.get("name"),
            "source_node": value.get("source_node_uuid"),
            "target_node": value.get("target_node_uuid"),
            "episodes": value.get("episodes"),
            "stored": value.get("created_at"),
        },
    )


def _entity(value: Mapping[str, Any]) -> Record:
    name, summary = str(value["name"]), str(value["summary"])
    labels = value.get("labels")
    return Record(
        _id("entity", value, name),
        summary if name.casefold() in summary.casefold() else f"{name}: {summary}",
        created=moment(value.get("created_at")),
        title=name,
        tags=[name, *(str(one) for one in (labels if isinstance(labels, list) else []))],
        **_scope(value),
        metadata=_own(value.get("attributes")),
        noted={"entity": name},
    )


def _own(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


IMPORTER = Importer(
    "graphiti",
    "Graphiti and Zep",
    'JSON with `{"episodes": [...], "edges": [...], "nodes": [...]}` (any of them), a list, or JSON'
    " Lines, as `model_dump` of its classes and the API of Zep write them",
    read,
    (
        Row("episode", "a document, with when it happened (valid_at)", "source, when stored"),
        Row("fact (edge)", "a memory; valid_at and invalid_at are valid from and until", "nodes"),
        Row("entity with a summary", "a memory `NAME: summary`", "entity"),
        Row("group_id, graph_id or user_id", "the scope: a hub of its own with `--split`"),
        Row("session or thread, role", "session, speaker"),
        Row("attributes, metadata", "metadata"),
        Row("vectors, entity without a summary", "nothing; the second is counted"),
    ),
    scopes="user",
    example="graph.json",
    tried="JSON that the classes of graphiti-core 0.31.1 wrote (4 values in, 3 out, 1 entity"
    " without a summary); Zep by the fields of its API",
)
