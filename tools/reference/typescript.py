"""The TypeScript client, made from the description of the REST API: `operations.js` is the table of
its operations, `index.d.ts` their types."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.edges.http.app import create_app

FOLDER = Path(__file__).parents[2] / "packages" / "holdfast-client"
_HEAD = (
    "// Made from the description of the REST API by `make reference`. Do not edit it.\n"
    "// The file `index.js` beside it sends the requests.\n"
)
# A plural whose singular is not made by dropping the last letter.
_SINGULARS = {"memories": "memory"}
_JSON = "application/json"


class Operation(NamedTuple):
    """One method of the client."""

    group: str
    name: str
    method: str
    path: str
    # What is sent: nothing, a query, a body, or a form; and the type of it.
    sends: str
    argument: str
    required: bool
    # What comes back: the whole answer, its `data`, or the response itself.
    returns: str
    result: str
    about: str

    @property
    def parameters(self) -> list[str]:
        return re.findall(r"{(\w+)}", self.path)


# What an address holds as text and the client takes as an object too, which it sends as JSON.
_AS_JSON: dict[str, dict[str, Any]] = {
    "where": {
        "anyOf": [
            {"type": "object", "additionalProperties": True},
            {"type": "string"},
            {"type": "null"},
        ]
    }
}


def operations_js() -> str:
    rows = {}
    for one in operations():
        row = {"method": one.method, "path": one.path, "sends": one.sends, "returns": one.returns}
        rows[f"{one.group}.{one.name}".lstrip(".")] = row
    return f"{_HEAD}export const operations = {json.dumps(rows, indent=2)};\n"


def index_dts() -> str:
    schemas = _description()["components"]["schemas"]
    found = operations()
    wanted = _used(found, schemas)
    parts = [_HEAD, _HAND_WRITTEN]
    parts += [_interface(_type_name(name), schemas[name]) for name in wanted]
    parts.append(_client(found))
    return "\n".join(parts)


def operations() -> list[Operation]:
    """Every operation of the API, in the order of its groups."""
    described = _description()
    rows = [
        (path, method, about)
        for path, methods in described["paths"].items()
        if path.startswith("/v1/")
        for method, about in methods.items()
    ]
    count = Counter(_segment(path) for path, _, _ in rows)
    found = [
        _operation(path, method, about, described["components"]["schemas"], count)
        for path, method, about in rows
    ]
    names = [(one.group, one.name) for one in found]
    twice = [name for name, number in Counter(names).items() if number > 1]
    assert not twice, f"two operations have one name: {twice}"
    return sorted(found, key=lambda one: (one.group, one.name))


@cache
def _description() -> dict[str, Any]:
    # The routes need no memory to be described.
    described: dict[str, Any] = create_app(None).openapi()  # type: ignore[arg-type]
    return described


def _segment(path: str) -> str:
    return path.split("/")[2]


def _operation(
    path: str, method: str, about: dict[str, Any], schemas: dict[str, Any], count: Counter[str]
) -> Operation:
    segment = _segment(path)
    function = re.sub(r"_v1_.*", "", about["operationId"])
    group = _camel(segment.replace("-", "_")) if count[segment] > 1 else ""
    name = _method_name(function, segment) if group else function
    query = [one for one in about.get("parameters", ()) if one["in"] == "query"]
    content = about.get("requestBody", {}).get("content", {})
    assert not (query and content), f"{path} has a query and a body"
    sends, argument, required = "nothing", "", False
    if query:
        sends, argument = (
            "query",
            _object(
                {one["name"]: _AS_JSON.get(one["name"], one["schema"]) for one in query},
                [one["name"] for one in query if one.get("required")],
            ),
        )
        required = any(one.get("required") for one in query)
    elif _JSON in content:
        sends, argument = "body", type_of(content[_JSON]["schema"])
        required = bool(about["requestBody"].get("required"))
    elif content:
        sends, argument, required = "form", "FormData", True
    returns, result = _result(about, schemas)
    about_text = about.get("description") or about.get("summary") or ""
    return Operation(
        group,
        _camel(name),
        method.upper(),
        path,
        sends,
        argument,
        required,
        returns,
        result,
        " ".join(about_text.split()),
    )


def _result(about: dict[str, Any], schemas: dict[str, Any]) -> tuple[str, str]:
    answers = about["responses"]
    content = next(
        (answers[code].get("content", {}) for code in ("200", "201", "202") if code in answers), {}
    )
    schema = content.get(_JSON, {}).get("schema", {})
    if "$ref" not in schema:
        return "response", "Response"
    inner = schemas[schema["$ref"].rpartition("/")[2]]
    if list(inner.get("properties", ())) == ["data"]:
        return "data", type_of(inner["properties"]["data"])
    return "whole", type_of(schema)


def _method_name(function: str, segment: str) -> str:
    """The name of a method in its group: `list_hubs` of `hubs` is `list`."""
    words = {segment.replace("-", "_"), _SINGULARS.get(segment, segment.removesuffix("s"))}
    name = function
    for word in sorted(words, key=len, reverse=True):
        name = re.sub(rf"^{word}_|_{word}$", "", name)
    if name in words:
        return "list"
    # Members and invitations have the same functions for hubs, teams and organisations.
    return name


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


# Types


def _type_name(name: str) -> str:
    """`holdfast__edges__http__recall__Question` is `RecallQuestion`."""
    parts = name.split("__")
    if len(parts) > 2:
        return parts[-2].capitalize() + parts[-1]
    return re.sub(r"[^A-Za-z0-9]", "", name)


def type_of(schema: dict[str, Any]) -> str:
    """A JSON schema as a type of TypeScript."""
    if "$ref" in schema:
        return _type_name(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(type_of(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    kind = schema.get("type")
    if kind == "array":
        inner = type_of(schema.get("items", {}))
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if kind == "object":
        if schema.get("properties"):
            return _object(schema["properties"], schema.get("required", ()))
        extra = schema.get("additionalProperties")
        return f"Record<string, {type_of(extra) if isinstance(extra, dict) else 'unknown'}>"
    plain = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
    return {**plain, "null": "null"}.get(str(kind), "unknown")


def _object(properties: dict[str, Any], required: Any) -> str:
    rows = [
        f"{_key(name)}{'' if name in required else '?'}: {type_of(schema)}"
        for name, schema in properties.items()
    ]
    return "{ " + "; ".join(rows) + " }"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _interface(name: str, schema: dict[str, Any]) -> str:
    lines = [*_comment(schema.get("description", "")), f"export interface {name} {{"]
    required = schema.get("required", ())
    for field, inner in schema.get("properties", {}).items():
        lines += ["  " + line for line in _comment(inner.get("description", ""))]
        # What an answer has by default is always there; what a request has need not be sent.
        lines.append(f"  {_key(field)}{'' if field in required else '?'}: {type_of(inner)};")
    if schema.get("additionalProperties") is True:
        lines.append("  [field: string]: unknown;")
    return "\n".join([*lines, "}", ""])


def _comment(text: str) -> list[str]:
    plain = " ".join(text.split()).replace("*/", "* /")
    return [f"/** {plain} */"] if plain else []


def _used(found: list[Operation], schemas: dict[str, Any]) -> list[str]:
    """The schemas that the types of operations name, and those that these name."""
    by_type = {_type_name(name): name for name in schemas}
    texts = [f"{one.argument} {one.result}" for one in found]
    seen: set[str] = set()
    while texts:
        for word in re.findall(r"[A-Z]\w+", texts.pop()):
            name = by_type.get(word)
            if name is not None and name not in seen:
                seen.add(name)
                texts.append(_interface("", {**schemas[name], "description": ""}))
    return sorted(seen, key=_type_name)


def _client(found: list[Operation]) -> str:
    lines = ["/** A client of one server. Every method sends one request. */"]
    lines += ["export class Holdfast {", "  constructor(options?: ClientOptions);"]
    lines += ["  /** The same client with other options: another hub, another key. */"]
    lines += ["  with(options: ClientOptions): Holdfast;"]
    for group, methods in _groups(found):
        indent = "  "
        if group:
            lines.append(f"  readonly {group}: {{")
            indent = "    "
        for one in methods:
            lines += [indent + line for line in _comment(one.about)]
            lines.append(f"{indent}{one.name}{_signature(one)};")
        if group:
            lines.append("  };")
    return "\n".join([*lines, "}", ""])


def _groups(found: list[Operation]) -> Iterator[tuple[str, list[Operation]]]:
    for group in dict.fromkeys(one.group for one in found):
        yield group, [one for one in found if one.group == group]


def _signature(one: Operation) -> str:
    arguments = [f"{_camel(name)}: string | number" for name in one.parameters]
    if one.sends != "nothing":
        name = {"query": "query", "body": "body", "form": "form"}[one.sends]
        arguments.append(f"{name}{'' if one.required else '?'}: {one.argument}")
    arguments.append("options?: CallOptions")
    return f"({', '.join(arguments)}): Promise<{one.result}>"


_HAND_WRITTEN = """\
export interface ClientOptions {
  /** Where the server is; `http://127.0.0.1:4653` where none is named. */
  url?: string;
  /** A key of the server, as `holdfast key create` printed it. */
  key?: string;
  /** The hub that is meant, by name or id. */
  hub?: string;
  /** Milliseconds after which a request ends; 30000. */
  timeoutMs?: number;
  /** Another `fetch`, for tests. */
  fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** The hub of this call alone. */
  hub?: string;
  /** A name for this write: sent twice, it is done once. */
  idempotencyKey?: string;
  /** The version that is changed, as `ETag` named it; another one is refused. */
  ifMatch?: string;
  signal?: AbortSignal;
}

/** What the server refused, and why. `status` is 0 where it could not be reached. */
export class HoldfastError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly details: unknown;
}
"""


def write() -> None:
    (FOLDER / "operations.js").write_text(operations_js(), encoding="utf-8")
    (FOLDER / "index.d.ts").write_text(index_dts(), encoding="utf-8")
