"""Checks the arguments of a call against a tool's parameters. A mistake is an InvalidInput with a
sentence that a model can act on; what is left out, or null, gets its default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.agents.tool import Parameter, Tool
from holdfast.errors import InvalidInput

_NAMES = {
    "text": "text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
    "reference": "an id, a number or a key",
}


class MissingArguments(InvalidInput):
    """Required arguments are not there; dialects have their own words for it."""

    def __init__(self, tool: str, names: list[str]) -> None:
        listed = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        super().__init__(f"{tool}: {listed} must be given.")
        self.names = names


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Every parameter of the tool with its value; InvalidInput where an argument is wrong."""
    if given is not None and not isinstance(given, Mapping):
        raise InvalidInput(
            f"{tool.name}: the arguments must be an object, such as {{{_example(tool)}}}."
        )
    arguments = given or {}
    known = {parameter.name: parameter for parameter in tool.parameters}
    for name in arguments:
        if name not in known:
            raise _unknown(tool, str(name), list(known))
    missing = [p.name for p in tool.parameters if p.required and arguments.get(p.name) is None]
    if missing:
        raise MissingArguments(tool.name, missing)
    return {
        name: parameter.default
        if arguments.get(name) is None
        else _value(tool, parameter, arguments[name])
        for name, parameter in known.items()
    }


def _value(tool: Tool, parameter: Parameter, value: Any) -> Any:
    kind = parameter.kind
    if kind == "value":
        return value
    # True is an int in Python and is no number in JSON; 5.0 is a whole number in JSON.
    number = isinstance(value, int | float) and not isinstance(value, bool)
    # A whole number may be larger than any float.
    whole = number and (isinstance(value, int) or float(value).is_integer())
    fits = {
        "text": isinstance(value, str),
        "whole": whole,
        "number": number,
        "flag": isinstance(value, bool),
        "texts": isinstance(value, list | tuple) and all(isinstance(v, str) for v in value),
        "reference": isinstance(value, str) or whole,
    }[kind]
    if not fits:
        wanted = f"{tool.name}: {parameter.name} must be {_NAMES[kind]}"
        if kind == "texts" and isinstance(value, list | tuple):
            odd = next(one for one in value if not isinstance(one, str))
            raise InvalidInput(f"{wanted}; {_shown(odd)} is no text.")
        raise InvalidInput(f"{wanted}, not {_shown(value)}.")
    if parameter.choices and value not in parameter.choices:
        raise InvalidInput(
            f"{tool.name}: {parameter.name} must be one of {', '.join(parameter.choices)}; "
            f"{_shown(value)} is none of them."
        )
    _check_bounds(tool, parameter, value)
    if whole and kind != "number":
        return int(value)
    return value


def _check_bounds(tool: Tool, parameter: Parameter, value: Any) -> None:
    if isinstance(value, str | list | tuple):
        size, unit = len(value), "characters" if isinstance(value, str) else "items"
    else:
        size, unit = value, ""
    low, high = parameter.least, parameter.most
    if (low is None or size >= low) and (high is None or size <= high):
        return
    if low is None or high is None:
        bounds = f"at most {high}" if low is None else f"at least {low}"
    else:
        bounds = f"{low} to {high}"
    has = f"it has {size}" if unit else f"{size} is not"
    wanted = f"have {bounds} {unit}" if unit else f"be {bounds}"
    raise InvalidInput(f"{tool.name}: {parameter.name} must {wanted}; {has}.")


def _unknown(tool: Tool, name: str, known: list[str]) -> InvalidInput:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    guess = f"Did you mean {near[0]}? " if near else ""
    takes = f"It takes {', '.join(known)}." if known else "It takes no arguments."
    return InvalidInput(f"{tool.name} has no argument {_shown(name)}.", hint=guess + takes)


# Enough of a wrong value to know it by; a reply must not carry ten megabytes back.
_SHOWN_MAX = 60


def _shown(value: Any) -> str:
    if isinstance(value, str):
        text = repr(value[: _SHOWN_MAX + 1])
    elif value is None:
        return "null"
    elif isinstance(value, bool):
        return "true" if value else "false"
    elif isinstance(value, int | float):
        text = str(value)
    else:
        return "a list" if isinstance(value, list | tuple) else "an object"
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"


def _example(tool: Tool) -> str:
    return ", ".join(f'"{p.name}": …' for p in tool.parameters if p.required)
