"""Stores of agent frameworks: LangGraph and langmem (the SQLite file of `SqliteStore`, or rows as
JSON Lines), Letta (agent files and archival passages), Graphiti and Zep (episodes, facts and
entities as JSON)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.chats import Turn, conversation
from holdfast.importers.source_files import is_sqlite, json_lines, open_database, read_json

# Under one of these names a value has its text.
_TEXTS = ("content", "text", "memory", "data", "fact", "value")


def read_langgraph(path: str, options: Options) -> Iterator[Found]:
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
    text = _item_text(value)
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


def _item_text(value: Any) -> str:
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
        return _item_text(inner)
    # A profile: its fields, as lines.
    return "\n".join(f"{key}: {_item_line(one)}" for key, one in value.items())


def _item_line(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(str(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


LANGGRAPH = Importer(
    "langgraph",
    "LangGraph and langmem",
    "the SQLite file of a `SqliteStore`, or JSON Lines with the rows of the table `store`"
    " (PostgreSQL: `SELECT row_to_json(store) FROM store`)",
    read_langgraph,
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


_PASSAGES = ("passages", "archival_memory", "archival_passages")


def read_letta(path: str, options: Options) -> Iterator[Found]:
    """A record for each block and passage, and a document of what each agent has said."""
    value = read_json(path)
    if isinstance(value, list):
        value = {"passages": value}
    if not isinstance(value, dict):
        raise _not_letta(path)
    agents = value.get("agents")
    if isinstance(agents, list):
        yield from _agent_file(value, [one for one in agents if isinstance(one, dict)])
    elif isinstance(value.get("core_memory"), list):
        yield from _older_file(value)
    elif not any(isinstance(value.get(name), list) for name in (*_PASSAGES, "blocks")):
        raise _not_letta(path)
    else:
        for number, block in enumerate(_dicts(value.get("blocks")), 1):
            yield _block(f"block {number}", block, "")
    for name in _PASSAGES:
        for number, passage in enumerate(_dicts(value.get(name)), 1):
            yield _passage(f"passage {number}", passage)


def _not_letta(path: str) -> InvalidInput:
    return InvalidInput(
        f"{path} has neither agents and blocks nor passages, so it is no file of Letta.",
        hint="Export the agent as an agent file (.af), or save the list of its passages as JSON.",
    )


def _agent_file(value: Mapping[str, Any], agents: list[dict[str, Any]]) -> Iterator[Found]:
    owners: dict[str, str] = {}
    for agent in agents:
        listed = agent.get("block_ids")
        for name in listed if isinstance(listed, list) else []:
            owners.setdefault(str(name), _name(agent))
    for number, block in enumerate(_dicts(value.get("blocks")), 1):
        yield _block(f"block {number}", block, owners.get(str(block.get("id")), ""))
    for agent in agents:
        for number, block in enumerate(_dicts(agent.get("memory_blocks")), 1):
            yield _block(f"block {number}", block, _name(agent))
        yield from _messages(_name(agent), agent.get("messages"))


def _older_file(value: Mapping[str, Any]) -> Iterator[Found]:
    """An agent file of the first form: one agent, with its blocks in it."""
    name = _name(value)
    for number, block in enumerate(_dicts(value["core_memory"]), 1):
        yield _block(f"block {number}", block, name)
    yield from _messages(name, value.get("messages"))


def _block(place: str, block: Mapping[str, Any], agent: str) -> Found:
    label, text = str(block.get("label") or place), str(block.get("value") or "")
    name = f"block:{agent}:{label}"
    if not text.strip():
        return Skipped(name, "it is empty")
    metadata = block.get("metadata") or block.get("metadata_")
    return Record(
        name,
        text,
        created=moment(block.get("created_at")),
        updated=moment(block.get("updated_at")),
        title=f"{label} ({agent})" if agent else label,
        category="core",
        tags=(label,),
        scope=agent,
        labels=("agent", agent) if agent else (),
        metadata=metadata if isinstance(metadata, dict) else {},
        noted={
            "block": label,
            "description": block.get("description"),
            "limit": block.get("limit"),
            "read_only": block.get("read_only") or None,
        },
    )


def _passage(place: str, passage: Mapping[str, Any]) -> Found:
    text = passage.get("text") or passage.get("content")
    if not isinstance(text, str) or not text.strip():
        return Skipped(place, "it holds no text")
    tags = passage.get("tags")
    metadata = passage.get("metadata") or passage.get("metadata_")
    return Record(
        f"passage:{passage.get('id') or digest(text)}",
        text,
        created=moment(passage.get("created_at") or passage.get("timestamp")),
        updated=moment(passage.get("updated_at")),
        tags=[str(one) for one in tags] if isinstance(tags, list) else (),
        layer="library",
        metadata=metadata if isinstance(metadata, dict) else {},
        noted={key: passage.get(key) for key in ("archive_id", "agent_id", "source_id", "file_id")},
    )


def _messages(agent: str, messages: Any) -> Iterator[Found]:
    turns = [
        Turn(str(one["role"]), _said(one), moment(one.get("created_at")))
        for one in _dicts(messages)
        if one.get("role") in ("user", "assistant")
    ]
    if any(turn.text for turn in turns):
        name = f"messages:{agent}"
        title = f"Conversation with {agent}"
        labels = ("agent", agent) if agent else ()
        yield from conversation(name, turns, title=title, scope=agent, labels=labels)


def _said(message: Mapping[str, Any]) -> str:
    content = message.get("content", message.get("text"))
    if isinstance(content, str):
        return content
    texts = [one.get("text") for one in _dicts(content) if one.get("type", "text") == "text"]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _name(agent: Mapping[str, Any]) -> str:
    return str(agent.get("name") or agent.get("id") or "")


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


LETTA = Importer(
    "letta",
    "Letta (MemGPT)",
    "an agent file (.af, either form), or JSON with the passages that the API lists",
    read_letta,
    (
        Row("memory block", "a memory of category core, called like its label", "description"),
        Row("archival passage", "a document with its tags and metadata", "archive, agent, file"),
        Row("messages of the user and the agent", "a document of each agent's conversation"),
        Row("agent", "the scope: a hub of its own with `--split`"),
        Row("created_at, updated_at", "valid from; of messages, when it happened", "both times"),
        Row("limit, read_only of a block", "no place of their own", "limit, read_only"),
        Row("tools, settings, system prompt, tool calls", "not taken in: they are no memories"),
    ),
    scopes="agent",
    example="agent.af",
    tried="files built by the schema of letta 0.11.7 (its server does not run here)",
)


_LISTS = ("episodes", "edges", "facts", "relevant_facts", "nodes", "entities", "results")


def read_graphiti(path: str, options: Options) -> Iterator[Found]:
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


GRAPHITI = Importer(
    "graphiti",
    "Graphiti and Zep",
    'JSON with `{"episodes": [...], "edges": [...], "nodes": [...]}` (any of them), a list, or JSON'
    " Lines, as `model_dump` of its classes and the API of Zep write them",
    read_graphiti,
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
