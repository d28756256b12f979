"""The arguments of a call, as a model wrote them, into values that a tool can rely on.

It checks what a handler would trip over: that they are one JSON object, that what is required is
there, and that each value is of the declared type. What a value means, the tool checks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# A long journal line is far below this; what is larger is no argument of a tool of ours.
ARGUMENTS_CHARS_MAX = 100_000

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def read_arguments(written: str, schema: Mapping[str, Any]) -> dict[str, Any] | str:
    """The arguments, or a sentence for the model that says what is wrong with them."""
    if len(written) > ARGUMENTS_CHARS_MAX:
        return f"the arguments are longer than {ARGUMENTS_CHARS_MAX} characters."
    try:
        found = json.loads(written or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError):
        return "the arguments are not JSON. Give one JSON object."
    if not isinstance(found, dict):
        return "the arguments are not a JSON object."
    declared = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in found:
            return f"the argument `{name}` is missing."
    for name, value in found.items():
        if name not in declared:
            known = ", ".join(declared) or "none"
            return f"there is no argument `{name[:80]}`. There are: {known}."
        if wrong := _wrong(value, declared[name]):
            return f"the argument `{name}` {wrong}"
    return {name: _clean(value) for name, value in found.items()}


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _wrong(value: Any, schema: Mapping[str, Any]) -> str:
    """What is wrong with one value; '' where nothing is."""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(_is(value, name) for name in names):
        return f"must be of type {' or '.join(names)}."
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of: {', '.join(str(one) for one in schema['enum'])}."
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        for one in value:
            if wrong := _wrong(one, items):
                return f"has an item that {wrong}"
    return ""


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        # A bool is an int to Python, and to no model.
        return name == "boolean"
    return isinstance(value, _TYPES.get(name, (object,)))


def _clean(value: Any) -> Any:
    """Half a surrogate pair, which JSON can spell and no store can keep, becomes a question
    mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(one) for name, one in value.items()}
    return value
