"""Values as plain JSON and back, to the letter; used by revisions, export and import."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import TIMES, Memory, Origin


def field_to_plain(name: str, value: Any) -> Any:
    """One field of a memory as JSON can hold it."""
    if isinstance(value, datetime):
        return to_text(value)
    if isinstance(value, Origin):
        return list(value)
    if name == "tags":
        return list(value)
    if name == "metadata":
        return _in_order(value)
    return value


def _in_order(value: Any) -> Any:
    """The same with every dictionary sorted by key: what is equal is written alike."""
    if isinstance(value, Mapping):
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    return value


def field_from_plain(name: str, value: Any) -> Any:
    """The field that `field_to_plain` was given."""
    if value is None:
        return None
    if name in TIMES:
        return from_text(value)
    if name == "tags":
        return tuple(value)
    if name == "origin":
        return Origin(*value)
    return value


def memory_to_plain(memory: Memory) -> dict[str, Any]:
    return {name: field_to_plain(name, value) for name, value in memory._asdict().items()}


def memory_from_plain(plain: Mapping[str, Any]) -> Memory:
    return Memory(**{name: field_from_plain(name, value) for name, value in plain.items()})


def fields_to_plain(fields: Mapping[str, tuple[Any, Any]]) -> dict[str, list[Any]]:
    """A revision's fields, each as [old, new]."""
    return {
        name: [field_to_plain(name, old), field_to_plain(name, new)]
        for name, (old, new) in sorted(fields.items())
    }


def fields_from_plain(plain: Mapping[str, list[Any]]) -> dict[str, tuple[Any, Any]]:
    return {
        name: (field_from_plain(name, pair[0]), field_from_plain(name, pair[1]))
        for name, pair in plain.items()
    }
