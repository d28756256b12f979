"""Tools in the forms that clients and models read: MCP, OpenAI's two, Anthropic's, and plain JSON.
The strict forms of OpenAI list every key as required and let the optional ones be null."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from holdfast.agents.tool import Parameter, Tool
from holdfast.errors import InvalidInput

_TYPES: dict[str, tuple[str, ...]] = {
    "text": ("string",),
    "whole": ("integer",),
    "number": ("number",),
    "flag": ("boolean",),
    "texts": ("array",),
    "reference": ("string", "integer"),
}
_BOUNDS = {"text": ("minLength", "maxLength"), "texts": ("minItems", "maxItems")}
_NUMBER_BOUNDS = ("minimum", "maximum")


def schema_of(tool: Tool) -> dict[str, Any]:
    """The tool's arguments as a JSON schema."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {p.name: _property(p) for p in tool.parameters},
        "additionalProperties": False,
    }
    if required := [p.name for p in tool.parameters if p.required]:
        schema["required"] = required
    return schema


def _property(parameter: Parameter) -> dict[str, Any]:
    out: dict[str, Any] = {"description": parameter.help}
    if parameter.kind != "value":
        out |= _typed(_TYPES[parameter.kind])
    if parameter.kind == "texts":
        out["items"] = {"type": "string"}
    if parameter.choices:
        out["enum"] = list(parameter.choices)
    low, high = _BOUNDS.get(parameter.kind, _NUMBER_BOUNDS)
    # A client that checks the schema would refuse what is clamped.
    if parameter.least is not None and not parameter.clamped:
        out[low] = parameter.least
    if parameter.most is not None and not parameter.clamped:
        out[high] = parameter.most
    if parameter.default is not None:
        out["default"] = parameter.default
    return out


def _typed(kinds: Sequence[str]) -> dict[str, Any]:
    """One type, or branches of one type each: some clients know no list of types."""
    return {"type": kinds[0]} if len(kinds) == 1 else {"anyOf": [{"type": kind} for kind in kinds]}


def _strict(tool: Tool) -> dict[str, Any] | None:
    """The schema in the subset that OpenAI enforces; None where an argument may be any JSON."""
    if any(one.kind == "value" and not one.shape for one in tool.parameters):
        return None
    schema = schema_of(tool)
    for parameter in tool.parameters:
        spec = schema["properties"][parameter.name]
        spec |= parameter.shape
        # The subset has no defaults and no lengths of text; both are checked when it is called.
        if default := spec.pop("default", None):
            spec["description"] += f" Left out (null): {default}."
        spec.pop("minLength", None)
        spec.pop("maxLength", None)
        if not parameter.required:
            if "anyOf" in spec:
                spec["anyOf"].append({"type": "null"})
            else:
                spec["type"] = [spec["type"], "null"]
            if "enum" in spec:
                spec["enum"] = [*spec["enum"], None]
    schema["required"] = [parameter.name for parameter in tool.parameters]
    return schema


def _mcp(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": schema_of(tool),
        "annotations": {
            "title": tool.title,
            "readOnlyHint": tool.reads,
            "destructiveHint": tool.destroys,
            "idempotentHint": tool.reads or tool.repeats,
            "openWorldHint": False,
        },
    }


def _openai_function(tool: Tool) -> dict[str, Any]:
    strict = _strict(tool)
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema_of(tool) if strict is None else strict,
        "strict": strict is not None,
    }


def _openai(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": _openai_function(tool)}


def _openai_responses(tool: Tool) -> dict[str, Any]:
    return {"type": "function", **_openai_function(tool)}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema_of(tool),
    }


def _json(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "parameters": schema_of(tool),
        "reads": tool.reads,
        "destroys": tool.destroys,
        "repeats": tool.reads or tool.repeats,
    }


_FORMATS: dict[str, Callable[[Tool], dict[str, Any]]] = {
    "mcp": _mcp,
    "openai": _openai,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "json": _json,
}
FORMATS = tuple(_FORMATS)


def render(tools: Sequence[Tool], form: str) -> list[dict[str, Any]]:
    """The tools in one of the FORMATS, in their order."""
    if form not in _FORMATS:
        raise InvalidInput(f"There is no format {form!r}.", hint=f"Use {', '.join(FORMATS)}.")
    return [dict(tool.wire[form]) if form in tool.wire else _FORMATS[form](tool) for tool in tools]
