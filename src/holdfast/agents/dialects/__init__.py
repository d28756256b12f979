"""Which dialects there are, and how one is read: what its tools are called and say to a model is in
a Markdown file, what they do in the module beside it. Only those of the one that is asked for are
loaded.

In the file, the title is the dialect's summary, and the text below it the instructions for a model,
a paragraph a line. Each heading below is a tool: its name, its title, and its hints for MCP. A tool
has its description, and a line for each parameter: its name, in brackets its kind and its bounds,
and its help. A name in capitals is a value of the module. A tool that `runs` an operation of the
hub passes its arguments on and answers with the records that come back: it needs no module, and
whether it `reads` is declared already.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from holdfast.agents import Answer, Dialect, Parameter, Tool, ToolContext, engine_of
from holdfast.agents.wording import records_text
from holdfast.api.hub import HubMemory
from holdfast.api.operation import Operation, operation_of
from holdfast.errors import InvalidInput

_ALL = ("holdfast", "max", "maven", "memax", "minion", "pynchy", "anthropic", "chatgpt")
NAMES = tuple(name for name in _ALL if find_spec(f"{__name__}.{name}") is not None)

Run = Callable[[ToolContext, dict[str, Any]], Answer]

_TOOL = re.compile(r"## (\w+): ([^(]+?)(?: \((.*)\))?")
_PARAMETER = re.compile(r"- (\w+) \((\w+)(?:, (.*?))?\): (.*)")
_BOUNDS = re.compile(
    r"(?:at least (?P<least>\w+)|(?P<low>\w+) to (?P<high>\w+)|at most (?P<most>\w+))"
)


def find_dialect(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in NAMES:
        raise InvalidInput(f"There is no dialect {name!r}.", hint=f"Use {', '.join(NAMES)}.")
    dialect: Dialect = import_module(f"holdfast.agents.dialects.{name}").DIALECT
    return dialect


def read_dialect(
    name: str,
    handlers: Mapping[str, Run],
    values: Mapping[str, Any] | None = None,
    **more: Any,
) -> Dialect:
    """The dialect of a file, its tools bound to what they do; `more` is how it speaks."""
    with open(os.path.join(os.path.dirname(__file__), f"{name}.md"), encoding="utf-8") as file:
        head, *rest = re.split(r"\n(?=## )", file.read())
    title, _, instructions = head.partition("\n")
    tools = tuple(_read_tool(text, handlers, values or {}) for text in rest)
    return Dialect(
        name, title.removeprefix("# "), tools, "\n".join(_paragraphs(instructions)), **more
    )


def _paragraphs(text: str) -> Iterator[str]:
    """Each paragraph of a text on one line."""
    return (" ".join(one.split()) for one in text.split("\n\n") if one.strip())


def _read_tool(text: str, handlers: Mapping[str, Run], values: Mapping[str, Any]) -> Tool:
    first, _, below = text.partition("\n")
    found = _TOOL.fullmatch(first)
    assert found is not None, first
    description, _, listed = below.partition("\n- ")
    parameters: list[Parameter] = []
    for line in re.split(r"\n(?=- )", f"- {listed}") if listed else ():
        said = " ".join(line.split())
        if (shared := values.get(said.removeprefix("- "))) is not None:
            parameters += [shared] if isinstance(shared, Parameter) else shared
        else:
            parameters.append(_read_parameter(said, values))
    hints: dict[str, Any] = dict.fromkeys(found[3].split(", ") if found[3] else (), True)
    (about,) = _paragraphs(description)
    operation = next((one for one in hints if one.startswith("runs ")), "")
    if not operation:
        return Tool(found[1], found[2], about, tuple(parameters), handlers[found[1]], **hints)
    del hints[operation]
    declared = operation_of(getattr(HubMemory, operation.removeprefix("runs ")))
    assert declared is not None, operation
    hints["reads"] = not declared.writes
    return Tool(found[1], found[2], about, tuple(parameters), _running(declared), **hints)


def _running(operation: Operation) -> Run:
    """A handler that runs an operation with the arguments that were given, for callers who have
    the permission that it declares."""

    def run(ctx: ToolContext, given: dict[str, Any]) -> str:
        core = engine_of(ctx.hub)
        # A server checks the permissions of a key itself.
        if core is not None:
            core.require(operation.permission)
        values = {name: value for name, value in given.items() if value is not None}
        return records_text(getattr(ctx.hub, operation.name)(**values))

    return run


def _read_parameter(said: str, values: Mapping[str, Any]) -> Parameter:
    found = _PARAMETER.fullmatch(said)
    assert found is not None, said
    fields: dict[str, Any] = {}
    for word in found[3].split(", ") if found[3] else ():
        if bounds := _BOUNDS.fullmatch(word):
            low, high = bounds["least"] or bounds["low"], bounds["most"] or bounds["high"]
            fields |= {"least": _value(low, values), "most": _value(high, values)}
        elif word.startswith("one of "):
            chosen = word.removeprefix("one of ")
            fields["choices"] = values.get(chosen) or tuple(chosen.split("/"))
        elif word.startswith("default "):
            fields["default"] = _value(word.removeprefix("default "), values)
        elif word.startswith("like "):
            fields["shape"] = values[word.removeprefix("like ")]
        else:
            fields[word] = True
    return Parameter(found[1], found[2], found[4], **fields)  # type: ignore[arg-type]  # by the file


def _value(said: str | None, values: Mapping[str, Any]) -> Any:
    if said is None or said in values:
        return said and values[said]
    known = {"true": True, "false": False, "()": ()}
    return known[said] if said in known else int(said) if said.isdecimal() else said
