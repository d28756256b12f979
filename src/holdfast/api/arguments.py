"""The arguments of operations: the fields of a memory that a caller may set, typed as keyword
arguments, and the conversion of plain arguments to checked drafts and filters. The library, the
client, the bodies of REST requests and the options of commands all use these definitions.

Before anything runs, arguments are checked by the type hints of their parameters. A single text
where several values are expected would be read as its characters, any text where a switch is
expected would be true, and a number where a name is expected would match nothing: each would be
done without a word. Parameters of other types are checked where they are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from holdfast.domain.memory import KINDS, LAYERS, SOURCES, STABILITIES, STATES, TURN, Origin
from holdfast.domain.query import SHOWN_STATES, Filter
from holdfast.engine.reading.lookup import Reference
from holdfast.errors import InvalidInput
from holdfast.text import clean

if TYPE_CHECKING:
    from holdfast.domain.memory import Draft
    from holdfast.domain.query import Condition


class DescriptiveFields(TypedDict, total=False):
    """Fields that `remember` and `update` both accept."""

    title: str | None
    summary: str | None
    content_type: str | None
    key: str | None
    category: str | None
    tags: Iterable[str] | None
    kind: str | None
    stability: str | None
    boundary: str | None
    layer: str | None
    session: str | None
    speaker: str | None
    occurred_at: datetime | str | None
    occurred_until: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    metadata: Mapping[str, Any] | None


class MemoryFields(DescriptiveFields, total=False):
    """The fields of `remember` besides the content. Fields that are not given are chosen by
    rules."""

    pinned: bool
    trust: str
    source: str
    source_agent: str | None
    assisted_by_agent: str | None
    source_path: str | None
    # How long until the memory is archived; instead of `expires_at`.
    ttl: timedelta | None
    supersedes: Reference | None
    parent: str | None
    origin: Origin | None
    # For a link: whether to fetch the page.
    fetch: bool


class MemoryChanges(DescriptiveFields, total=False):
    """The fields of `update`. None clears a field that may be empty."""

    content: str | None
    pinned: bool | None
    trust: str | None


# A condition as a JSON object, or as a line of text.
Where: TypeAlias = Mapping[str, Any] | str | None


def to_draft(item: str | Draft | Mapping[str, Any]) -> Draft:
    """Converts a text or a dictionary to a draft."""
    from holdfast.domain.memory import Draft

    if isinstance(item, Draft):
        return item
    return draft_from(item if isinstance(item, Mapping) else {"content": item})


def draft_from(values: Mapping[str, Any]) -> Draft:
    """Builds a draft from named values. An unknown name is an error that suggests the nearest
    field."""
    from holdfast.domain.memory import Draft

    for name in values:
        if name not in Draft._fields:
            clean.one_of(name, Draft._fields, "field")
    if "content" not in values:
        raise InvalidInput("A memory needs content.", hint="It is the text to be kept.")
    checked = dict(values)
    if checked.get("tags") is not None:
        checked["tags"] = clean.clean_tags(checked["tags"])
    return Draft(**checked)


def filter_from(
    *,
    category: str | None = None,
    kind: str | None = None,
    stability: str | None = None,
    layer: str | None = None,
    source: str | None = None,
    tags: Iterable[str] | None = None,
    since: datetime | str | None = None,
    until: datetime | str | None = None,
    where: Where = None,
    **rest: Any,
) -> Filter:
    """Builds a filter from plain arguments and checks each of them."""

    def one(value: str | None, allowed: tuple[str, ...], field: str) -> Any:
        return () if value is None else (clean.one_of(value, allowed, field),)

    begins = None if since is None else clean.clean_time(since)
    ends = None if until is None else clean.clean_time(until)
    if begins is not None and ends is not None and begins >= ends:
        raise InvalidInput("The time window ends before it begins.", hint="Swap since and until.")
    return Filter(
        categories=() if category is None else (clean.clean_category(category),),
        kinds=one(kind, KINDS, "kind"),
        stabilities=one(stability, STABILITIES, "stability"),
        layers=one(layer, (*LAYERS, TURN) if rest.get("turns") else LAYERS, "layer"),
        sources=one(source, SOURCES, "source"),
        tags=() if tags is None else clean.clean_tags(tags),
        since=begins,
        until=ends,
        where=None if where is None else _read_where(where),
        **rest,
    )


def _read_where(where: Where) -> Condition | None:
    from holdfast.text.where import read_where

    return read_where(where)


def states_from(state: str | None, *, hidden: bool) -> tuple[Any, ...]:
    """The states to include in a list. Memories hidden for another reason are listed in any
    state."""
    if state == "all" or (state is None and hidden):
        return ()
    if state is None:
        return SHOWN_STATES
    return (clean.one_of(state, STATES, "state"),)


# Types

Check = Callable[[str, Any], None]

# The bounds or form of these parameters are checked together with their type.
_CHECKED_BELOW = {
    "int": frozenset({"around", "budget", "chars", "limit", "turns"}),
    "str": frozenset({"before"}),
}
# What the engine says of the same value elsewhere, as in a list of drafts.
_EXPECTED = {"content": "Content must be text", "session": "A session is named by text"}


# Made at the first call: a command calls a few of the operations that it loads.
@cache
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
