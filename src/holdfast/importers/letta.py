"""Letta (formerly MemGPT): agent files (.af) with memory blocks and messages, and archival passages
as the API lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers.conversations import Turn, conversation
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest, moment
from holdfast.importers.text_files import read_json

_PASSAGES = ("passages", "archival_memory", "archival_passages")


def read(path: str, options: Options) -> Iterator[Found]:
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


IMPORTER = Importer(
    "letta",
    "Letta (MemGPT)",
    "an agent file (.af, either form), or JSON with the passages that the API lists",
    read,
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
