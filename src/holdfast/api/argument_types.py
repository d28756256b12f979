"""Checks the arguments of an operation by the type hints of its parameters, before anything runs.

A single text where several values are expected would be read as its characters, any text where a
switch is expected would be true, and a number where a name is expected would match nothing: each
would be done without a word. Parameters of other types are checked where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Any

from holdfast.errors import InvalidInput

Check = Callable[[str, Any], None]

# Parameters whose bounds or form are checked together with their type.
_CHECKED_BELOW = {
    "int": frozenset({"around", "budget", "chars", "limit", "turns"}),
    "str": frozenset({"before"}),
}
# What the engine says of the same value elsewhere, as in a list of drafts.
_EXPECTED = {"content": "Content must be text", "session": "A session is named by text"}


def checks_of(method: Callable[..., Any]) -> tuple[tuple[int, str, Check], ...]:
    """The check of each parameter that has one, with its position and its name."""
    code = method.__code__
    names = code.co_varnames[1 : code.co_argcount]
    found = []
    for name, hint in method.__annotations__.items():
        check = None if name == "return" else _check_for(name, str(hint))
        if check is not None:
            found.append((names.index(name) if name in names else len(names), name, check))
    return tuple(found)


def check_arguments(
    checks: tuple[tuple[int, str, Check], ...], args: tuple[Any, ...], values: Mapping[str, Any]
) -> None:
    """Raises InvalidInput for an argument of a type that the operation does not take."""
    for place, name, check in checks:
        if name in values:
            check(name, values[name])
        elif place < len(args):
            check(name, args[place])


def _check_for(name: str, hint: str) -> Check | None:
    if hint.startswith("Iterable["):
        # `Iterable[Any]` is checked by the operation itself, element by element.
        single = hint.startswith("Iterable[Any]") or "str" in hint.rpartition("]")[2]
        return None if single else _optional(hint, _list)
    plain = hint.removesuffix(" | None")
    check = _CHECKS.get(plain)
    is_below = name in _CHECKED_BELOW.get(plain, ())
    return None if check is None or is_below else _optional(hint, check)


def _optional(hint: str, check: Check) -> Check:
    """The check for a parameter that may be None, where the hint says that it may."""
    if not hint.endswith(" | None"):
        return check

    def unless_none(name: str, value: Any) -> None:
        if value is not None:
            check(name, value)

    return unless_none


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        expected = _EXPECTED.get(name, f"The {name} must be text")
        raise InvalidInput(
            f"{expected}, not {type(value).__name__}.",
            hint="Decode bytes first, and turn other values into text yourself.",
        )


def _switch(name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"The {name} must be True or False, not {_short(value)}.")


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"The {name} must be a whole number, not {_short(value)}.")


def check_path(name: str, value: Any) -> None:
    """Raises InvalidInput for what is no path, and for an empty one."""
    if not isinstance(value, str | os.PathLike):
        raise InvalidInput(
            f"The {name} must be a path, not {type(value).__name__}.",
            hint="Use text or a pathlib.Path.",
        )
    if not os.fspath(value):
        raise InvalidInput(f"The {name} is empty.", hint="Name a file or a folder.")


def _zone(name: str, value: Any) -> None:
    if not isinstance(value, tzinfo):
        raise InvalidInput(
            f"The {name} must be a time zone, not {_short(value)}.",
            hint='Use zoneinfo.ZoneInfo("Europe/Berlin"), for example.',
        )


def _list(name: str, value: Any) -> None:
    # `purge_many("12")` would purge #1 and #2, and of a dictionary only its names would be read.
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise InvalidInput(
            f"{name.capitalize()} must be a list, not {_short(value)}.",
            hint="Put it in square brackets, also where it is the only one.",
        )


def _short(value: Any) -> str:
    import reprlib

    return reprlib.repr(value)


_CHECKS: Mapping[str, Check] = {
    "str": _text,
    "bool": _switch,
    "int": _whole,
    "tzinfo": _zone,
    "str | os.PathLike[str]": check_path,
}
