"""Conditions on metadata and on fields of a memory, as a tree of tests.

Every test is true or false for every memory: what is missing, null or of another type than the
value fails the test, and `ne` and `nin` are the negations of `eq` and `in`. Each store translates
the tree into its own language; `holds` is the definition that they are compared with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.memory import Memory

Operator: TypeAlias = Literal[
    "eq", "gt", "gte", "lt", "lte", "in", "contains", "icontains", "exists"
]
OPERATORS: tuple[Operator, ...] = get_args(Operator)
Value: TypeAlias = str | int | float | bool | datetime

# The fields of a memory that may be tested, by the type of their values. Every other name is a key
# of the metadata.
TEXT_FIELDS = (
    *("content", "title", "key", "category", "kind", "stability", "state", "layer", "trust"),
    *("content_type", "boundary", "source", "source_agent", "source_path", "session", "speaker"),
)
NUMBER_FIELDS = ("number", "version")
FLAG_FIELDS = ("pinned",)
TIME_FIELDS = (
    *("created_at", "updated_at", "occurred_at", "occurred_until"),
    *("valid_from", "valid_until", "expires_at", "accessed_at"),
)
LIST_FIELDS = ("tags",)
FIELDS = (*TEXT_FIELDS, *NUMBER_FIELDS, *FLAG_FIELDS, *TIME_FIELDS, *LIST_FIELDS)


class Comparison(NamedTuple):
    """One comparison. With an empty `field` it is about the metadata, at `path`.

    `value` is a tuple for `in`, None for `exists`.
    """

    field: str
    path: tuple[str, ...]
    operator: Operator
    value: Value | tuple[Value, ...] | None = None


class Group(NamedTuple):
    """Conditions of which all (`and`), one (`or`) or none (`not`) must hold."""

    kind: Literal["and", "or", "not"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = Comparison | Group


def holds(condition: Condition, memory: Memory) -> bool:
    """Whether a memory meets a condition."""
    if isinstance(condition, Comparison):
        return _passes(condition, _found(condition, memory))
    found = (holds(part, memory) for part in condition.parts)
    if condition.kind == "and":
        return all(found)
    return any(found) if condition.kind == "or" else not any(found)


def _found(test: Comparison, memory: Memory) -> Any:
    if test.field:
        return getattr(memory, test.field)
    value: Any = memory.metadata
    for name in test.path:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def _passes(test: Comparison, found: Any) -> bool:
    if found is None:
        return False
    wanted = test.value
    match test.operator:
        case "exists":
            # A memory without tags has an empty list of them, which is as good as none.
            return not (isinstance(found, tuple) and not found)
        case "eq":
            return _equal(found, wanted)
        case "in":
            return isinstance(wanted, tuple) and any(_equal(found, one) for one in wanted)
        case "contains":
            if isinstance(found, list | tuple):
                return any(_equal(one, wanted) for one in found)
            return isinstance(found, str) and isinstance(wanted, str) and wanted in found
        case "icontains":
            if not isinstance(found, str) or not isinstance(wanted, str):
                return False
            return ascii_lower(wanted) in ascii_lower(found)
        case _:
            same = kind_of(found) == kind_of(wanted) and kind_of(found) in _ORDERED
            return same and _COMPARE[test.operator](found, wanted)


_ORDERED = ("text", "number", "time")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda found, wanted: found > wanted,
    "gte": lambda found, wanted: found >= wanted,
    "lt": lambda found, wanted: found < wanted,
    "lte": lambda found, wanted: found <= wanted,
}


def _equal(found: Any, wanted: Any) -> bool:
    return kind_of(found) == kind_of(wanted) != "" and bool(found == wanted)


def kind_of(value: Any) -> str:
    """The type of a value as conditions tell them apart; empty for lists, objects and None."""
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "number"
    return "time" if isinstance(value, datetime) else ""


def ascii_lower(text: str) -> str:
    """The text with its ASCII letters in lower case: the one folding that all stores share."""
    return text.translate(_LOWER)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
