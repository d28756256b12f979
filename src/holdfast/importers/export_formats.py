"""Writes memories in formats that other programs read: what holds now, without history. The whole
of a hub, with its history, is `engine.transfer.export`'s.

The formats are JSON Lines and CSV with the column names that the importers know, a folder of
Markdown notes with front matter, mem0's export, and the knowledge graph of the MCP reference
server."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import md5
from typing import Any, NamedTuple

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.errors import InvalidInput


class Exporter(NamedTuple):
    """One format of an export for other programs. `write` gives the pieces of a file: of the file
    that was named, or of files in a folder, each with its name."""

    name: str
    title: str
    write: Callable[[Iterable[Memory], str], Iterator[tuple[str, str]]]
    folder: bool = False


# In the order of the columns. `created` is since when it is known, or when it happened.
COLUMNS = (
    *("id", "text", "title", "created", "updated", "expires", "category", "kind", "tags"),
    *("session", "speaker", "layer", "state", "pinned", "source", "metadata"),
)


def plain(memory: Memory) -> dict[str, Any]:
    """A memory as the columns of an exported CSV, JSON or table file."""
    created = memory.occurred_at or memory.valid_from or memory.created_at
    return {
        "id": memory.id,
        "text": memory.content,
        "title": memory.title,
        "created": to_text(created),
        "updated": to_text(memory.updated_at),
        "expires": to_text(memory.expires_at) if memory.expires_at else None,
        "category": memory.category,
        "kind": memory.kind,
        "tags": list(memory.tags),
        "session": memory.session,
        "speaker": memory.speaker,
        "layer": memory.layer,
        "state": memory.state,
        "pinned": memory.pinned,
        "source": memory.source_path or memory.source_agent or memory.source,
        "metadata": dict(memory.metadata),
    }


def _jsonl(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    for memory in memories:
        row = {name: one for name, one in plain(memory).items() if one not in (None, "", [], {})}
        yield "", json.dumps(row, ensure_ascii=False, sort_keys=False) + "\n"


def _csv(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    yield "", _row(COLUMNS)
    for memory in memories:
        row = plain(memory)
        row["tags"] = ",".join(row["tags"])
        row["metadata"] = json.dumps(row["metadata"], ensure_ascii=False) if row["metadata"] else ""
        yield "", _row(["" if row[name] is None else str(row[name]) for name in COLUMNS])


def _row(values: Iterable[str]) -> str:
    import csv
    import io

    from holdfast.importers.tables import as_cell

    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(map(as_cell, values))
    return out.getvalue()


JSONL = Exporter("jsonl", "JSON Lines, a memory on each line", _jsonl)
CSV = Exporter("csv", "CSV with a heading", _csv)


_NAME_CHARS_MAX = 60
# What front matter has of a memory; its title and text are the note.
_FIELDS = ("id", "created", "updated", "category", "kind", "tags", "session", "speaker", "state")


def _markdown(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    for memory in memories:
        yield note_name(memory), note(memory)


def note_name(memory: Memory) -> str:
    """The file name of an exported note: one that every file system takes, and no two memories
    share."""
    words = re.sub(r"[^\w -]+", " ", memory.title)
    words = " ".join(words.split())[:_NAME_CHARS_MAX].strip(" .-")
    return f"{memory.number:05d} {words}.md" if words else f"{memory.number:05d}.md"


def note(memory: Memory) -> str:
    row = plain(memory)
    fields = {"title": memory.title, **{name: row[name] for name in _FIELDS}}
    head = "".join(
        f"{name}: {_yaml(one)}\n" for name, one in fields.items() if one not in (None, "", [])
    )
    if memory.metadata:
        head += f"metadata: {json.dumps(row['metadata'], ensure_ascii=False)}\n"
    return f"---\n{head}---\n\n{memory.content}\n"


# What YAML takes for a text as it is: it begins with a letter, so that it is no number or date, and
# has no colon, which would make it a name and a value.
_PLAIN = re.compile(r"[^\W\d_][\w.+-]*(?: \w[\w.+-]*)*")
_NO_TEXTS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{8,15}Z")


def _yaml(value: Any) -> str:
    """A value of front matter: JSON is YAML, and plain words and times need no quotes."""
    if isinstance(value, list):
        return "[" + ", ".join(_yaml(one) for one in value) + "]"
    text = str(value)
    is_text = _PLAIN.fullmatch(text) and text.lower() not in _NO_TEXTS
    if is_text or _MOMENT.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False)


MARKDOWN = Exporter("markdown", "a folder of Markdown notes", _markdown, folder=True)


_IDS = ("user_id", "agent_id", "run_id", "role", "actor_id")


def _mem0(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    yield "", '{"results": ['
    before = "\n"
    for memory in memories:
        yield "", before + json.dumps(item(memory, hub), ensure_ascii=False)
        before = ",\n"
    yield "", "\n]}\n"


def item(memory: Memory, hub: str) -> dict[str, Any]:
    """One entry of an export for mem0. What came from mem0 has its id, ids and metadata of there
    again."""
    metadata = dict(memory.metadata)
    origin = metadata.pop("imported", {})
    own = metadata.pop("mem0", None)
    from_mem0 = isinstance(origin, dict) and origin.get("from") == "mem0"
    ids = {name: metadata.pop(name) for name in _IDS if metadata.get(name)}
    if not {"user_id", "agent_id", "run_id"} & ids.keys():
        # mem0 keeps nothing that is nobody's.
        ids["user_id"] = hub
    given = {**metadata, **(own if isinstance(own, dict) else {})}
    created = memory.occurred_at or memory.valid_from or memory.created_at
    return {
        "id": origin["id"] if from_mem0 else memory.id,
        "memory": memory.content,
        # The hash that mem0 compares texts by.
        "hash": md5(memory.content.encode(), usedforsecurity=False).hexdigest(),
        "metadata": given or None,
        "categories": list(memory.tags) or None,
        "created_at": to_text(created),
        "updated_at": to_text(memory.updated_at),
        **ids,
    }


MEM0 = Exporter("mem0", "JSON as mem0's get_all answers", _mem0)


def _graph(memories: Iterable[Memory], hub: str) -> Iterator[tuple[str, str]]:
    """What came from such a graph becomes the entities and relations that it was; everything else
    is an observation of an entity with the name of the hub."""
    entities: dict[str, tuple[str, list[str]]] = {}
    relations: list[dict[str, str]] = []
    for memory in memories:
        origin = memory.metadata.get("imported")
        noted: dict[str, Any] = origin if isinstance(origin, dict) else {}
        relation = noted.get("relation")
        if isinstance(relation, dict) and {"from", "type", "to"} <= relation.keys():
            left, type_, right = (str(relation[name]) for name in ("from", "type", "to"))
            relations.append({"type": "relation", "from": left, "to": right, "relationType": type_})
            continue
        name = str(noted.get("entity") or hub)
        type_ = str(noted.get("entity_type") or ("entity" if noted.get("entity") else "hub"))
        observations = entities.setdefault(name, (type_, []))[1]
        text = _observation(memory, noted, name)
        if text is not None and text not in observations:
            observations.append(text)
    for name, (type_, observations) in entities.items():
        entity = {"type": "entity", "name": name, "entityType": type_}
        yield "", _line({**entity, "observations": observations})
    for one in relations:
        yield "", _line(one)


def _observation(memory: Memory, noted: dict[str, Any], name: str) -> str | None:
    """The text of an observation: the original words if they are still current; None for a bare
    entity."""
    from holdfast.importers.memory_servers import about

    words = noted.get("observation")
    if isinstance(words, str) and noted.get("from") == "mcp-memory":
        return words if memory.content == about(name, words) else memory.content
    is_bare = noted.get("from") == "mcp-memory" and "entity" in noted and memory.version == 1
    return None if is_bare else memory.content


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


MCP_MEMORY = Exporter("mcp-memory", "the MCP reference server's memory.jsonl", _graph)

_EXPORTERS = {one.name: one for one in (MARKDOWN, JSONL, CSV, MEM0, MCP_MEMORY)}
FORMATS = tuple(_EXPORTERS)


def exporter_named(name: str) -> Exporter:
    """The exporter of that name."""
    if name not in _EXPORTERS:
        raise InvalidInput(
            f"There is no export format {name!r}.", hint=f"There are: {', '.join(FORMATS)}."
        )
    return _EXPORTERS[name]


def exported(memories: Iterable[Memory]) -> Iterator[Memory]:
    """Whether a memory is exported: it is neither forgotten nor held for review, nor superseded."""
    return (one for one in memories if one.visible and one.superseded_by is None)
