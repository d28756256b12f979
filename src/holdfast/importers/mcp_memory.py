"""The knowledge graph of the MCP reference server `@modelcontextprotocol/server-memory`: a file of
JSON Lines (memory.jsonl, formerly memory.json) with entities and relations, or what its tool
`read_graph` answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.importers.record import Found, Importer, Options, Record, Row, Skipped, digest
from holdfast.importers.text_files import json_lines, opened, parse_json, read_text


def read(path: str, options: Options) -> Iterator[Found]:
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
            observations = [one for one in given or () if isinstance(one, str) and one.strip()]
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
    """An observation as a sentence that says whom it is about."""
    return text if name.casefold() in text.casefold() else f"{name}: {text}"


def _words(name: str) -> str:
    """`works_at` and `worksAt` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").strip()


IMPORTER = Importer(
    "mcp-memory",
    "MCP reference server (server-memory)",
    "its memory.jsonl or memory.json, or the saved answer of `read_graph`",
    read,
    (
        Row("entity with observations", "a memory for each: `NAME: observation`", "name, type"),
        Row("entity without observations", "a memory `NAME is a TYPE.`", "name, type"),
        Row("relation", "a memory `FROM relation TO`", "from, type, to"),
    ),
    example="memory.jsonl",
    tried="a file that @modelcontextprotocol/server-memory 2026.8.31 wrote (5 observations and 2"
    " relations in, 7 memories out), and which it reads again after an export",
)
