"""Memories as the knowledge graph of the MCP reference server."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from holdfast.domain.memory import Memory
from holdfast.exporters import Exporter
from holdfast.importers.mcp_memory import about


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
    """What is observed: the words from there where they still hold; None for a bare entity."""
    told = noted.get("observation")
    if isinstance(told, str) and noted.get("from") == "mcp-memory":
        return told if memory.content == about(name, told) else memory.content
    is_bare = noted.get("from") == "mcp-memory" and "entity" in noted and memory.version == 1
    return None if is_bare else memory.content


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


MCP_MEMORY = Exporter("mcp-memory", "the MCP reference server's memory.jsonl", _graph)
