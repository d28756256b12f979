"""The tools of one dialect at work on one hub: `holdfast.tools("maven", hub).call(name, args)`, and
their schemas in the forms that clients and models read. A call never raises for what a model did
wrong or for what the memory could not do: the answer says so in a sentence. Only a defect of
ours raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.agents import (
    Dialect,
    MissingArguments,
    Parameter,
    Report,
    Tool,
    ToolContext,
    checked,
    engine_of,
)
from holdfast.agents.dialects import find_dialect
from holdfast.api.caller import without_places
from holdfast.api.hub import HubMemory
from holdfast.errors import CallCancelled, HoldfastError, InvalidInput, NotFound

_TYPES: dict[str, tuple[str, ...]] = {
    "text": ("string",),
    "whole": ("integer",),
    "number": ("number",),
    "flag": ("boolean",),
    "texts": ("array",),
    "reference": ("string", "integer"),
    "filter": ("string", "object"),
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
    """The schema in the subset that OpenAI enforces; None if an argument may be any JSON."""
    if any(one.kind == "value" and not one.shape for one in tool.parameters):
        return None
    schema = schema_of(tool)
    for parameter in tool.parameters:
        spec = schema["properties"][parameter.name]
        spec |= parameter.shape
        if parameter.kind == "filter":
            _as_text(spec)
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


def _as_text(spec: dict[str, Any]) -> None:
    """Leaves only the text of a filter: the subset has no objects with unknown keys. An
    object is read from its JSON."""
    del spec["anyOf"]
    spec["type"] = "string"
    spec["description"] += " Write an object as JSON, in a string."


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
    "openai": lambda tool: {"type": "function", "function": _openai_function(tool)},
    "openai-responses": lambda tool: {"type": "function", **_openai_function(tool)},
    "anthropic": _anthropic,
    "json": _json,
}
FORMATS = tuple(_FORMATS)


def render(tools: Sequence[Tool], form: str) -> list[dict[str, Any]]:
    """The tools in one of the FORMATS, in their order."""
    if form not in _FORMATS:
        raise InvalidInput(f"There is no format {form!r}.", hint=f"Use {', '.join(FORMATS)}.")
    return [dict(tool.wire[form]) if form in tool.wire else _FORMATS[form](tool) for tool in tools]


class Reply(NamedTuple):
    """The result of a tool. `text` is for the model; `data` is set if the result is JSON."""

    text: str
    data: dict[str, Any] | None = None
    failed: bool = False

    def __str__(self) -> str:
        return self.text


class Toolset:
    """A dialect's tools, bound to a hub and a caller."""

    def __init__(
        self,
        dialect: Dialect,
        ctx: ToolContext,
        *,
        all_tools: bool = False,
        read_only: bool = False,
    ) -> None:
        self.dialect = dialect
        self.context = ctx
        self.read_only = read_only
        self.tools = dialect.offered(all_tools=all_tools, read_only=read_only)
        core = engine_of(ctx.hub)
        # How much a server keeps of its log is the server's to say.
        if dialect.log_keep and not read_only and core is not None:
            core.log_limits[ctx.hub.id] = dialect.log_keep

    def __repr__(self) -> str:
        return f"<{self.dialect.name} tools of {self.context.hub!r}>"

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(tool.name for tool in self.tools)

    def schemas(self, format: str = "mcp") -> list[dict[str, Any]]:  # noqa: A002  the public word
        """The tools as mcp, openai, openai-responses, anthropic or json."""
        return render(self.tools, format)

    def call(
        self, name: str, args: Mapping[str, Any] | None = None, *, report: Report | None = None
    ) -> Reply:
        """Runs one tool. `report` gets the progress of long work, and may raise CallCancelled."""
        try:
            tool = self._find(name)
            given = checked(tool, args)
            self.context.hub.take_redacted()
            self.context.take_held()
            answer = tool.run(self.context._replace(report=report), given)
            if held := self.context.take_held():
                answer = self.dialect.held(answer, held)
            replaced = self.context.hub.take_redacted()
        except CallCancelled:
            raise
        except MissingArguments as error:
            words = self.dialect.missing
            text = self.dialect.failure(error) if words is None else words(error.names)
            return Reply(_sendable(text), failed=True)
        except HoldfastError as error:
            return Reply(_sendable(self._for_caller(self.dialect.failure(error))), failed=True)
        if isinstance(answer, str):
            if replaced:
                from holdfast.engine.writing.redact import redaction_note

                answer += (
                    f"\n\nNote: {redaction_note(replaced)} by placeholders; secrets are not stored."
                )
            return Reply(_sendable(answer))
        if replaced:
            answer = {**answer, "redacted": replaced}
        said = json.dumps(answer, ensure_ascii=False)
        text = _sendable(said)
        return Reply(text, answer if text is said else json.loads(text))

    def _for_caller(self, text: str) -> str:
        """The error message; for a caller with a key, without paths of this machine."""
        hub = self.context.hub
        core = engine_of(hub)
        # A server has left them out already.
        return text if core is None or core.permit is None else without_places(text, hub.home)

    def _find(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        for tool in self.dialect.tools:
            if tool.name != name:
                continue
            why = "it is not one of those offered"
            if self.read_only and not tool.reads:
                why = "this memory is read-only"
            raise InvalidInput(f"The tool {name} cannot be used: {why}.", hint=self._offered)
        raise NotFound(f"There is no tool {str(name)[:80]!r}.", hint=self._offered)

    @property
    def _offered(self) -> str:
        return (
            f"The tools are {', '.join(self.names)}."
            if self.tools
            else "No tools are offered here."
        )


def _sendable(text: str) -> str:
    """The same text where it can go out as UTF-8; else without the halves of character pairs, as
    they are echoed from a query that was cut in the middle of one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def tools(
    dialect: str,
    hub: HubMemory,
    *,
    all_tools: bool = False,
    read_only: bool = False,
    agent: str | None = None,
    every_hub: bool = False,
) -> Toolset:
    """The tools of a dialect (holdfast, max, maven, memax, minion, pynchy, anthropic, chatgpt) on a
    hub. `agent` is noted as the source of what it stores; `every_hub` lets tools that take a hub's
    name reach the other hubs too."""
    if not isinstance(hub, HubMemory):
        raise InvalidInput(
            f"Tools work on a hub, not on {hub!r}.",
            hint="Use memory.hub(); of an AsyncHub its `wrapped`, and call the tools in a thread:"
            " await asyncio.to_thread(tools.call, name, arguments).",
        )
    ctx = ToolContext(hub, agent=agent, every_hub=every_hub)
    return Toolset(find_dialect(dialect), ctx, all_tools=all_tools, read_only=read_only)
