"""The state of the in-memory store as JSON and back, to the letter.

JSON knows fewer types than Python, so what it does not know becomes an object with one key that
says what it is: {"$at": "2026-01-14T12:00:00.000000Z"}. Nothing here runs code from the file: only
the classes in the table below can come out of it.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_text, to_text
from holdfast.domain.hub import Hub
from holdfast.domain.memory import Memory, Origin
from holdfast.domain.records import Agreed, Clash, Record, Turn
from holdfast.store.inmemory import HubContents, IndexedPassage, State
from holdfast.store.values import IndexEntry

VALUES = {
    one.__name__: one
    for one in (
        Agreed, Change, Clash, Hub, IndexEntry, Memory, Origin, Receipt, Record, Revision, Turn,
    )
}  # fmt: skip
CONTAINERS = {one.__name__: one for one in (HubContents, IndexedPassage, State)}


def encode(value: Any) -> Any:
    """Something that `json.dump` can write."""
    name = type(value).__name__
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, datetime):
        return {"$at": to_text(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if name in VALUES:
        return {f"${name}": {field: encode(part) for field, part in value._asdict().items()}}
    if name in CONTAINERS:
        return {f"${name}": {field: encode(getattr(value, field)) for field in _fields(value)}}
    if isinstance(value, tuple):
        return {"$tuple": [encode(part) for part in value]}
    if isinstance(value, list):
        return [encode(part) for part in value]
    # As pairs, because a key may be a number or a tuple, and may begin with a dollar sign.
    return {"$dict": [[encode(key), encode(part)] for key, part in value.items()]}


def decode(plain: Any) -> Any:
    """The value that `encode` was given."""
    if isinstance(plain, list):
        return [decode(part) for part in plain]
    if not isinstance(plain, dict):
        return plain
    ((mark, inner),) = plain.items()
    name = mark[1:]
    match name:
        case "at":
            return from_text(inner)
        case "bytes":
            return base64.b64decode(inner)
        case "tuple":
            return tuple(decode(part) for part in inner)
        case "dict":
            return {decode(key): decode(part) for key, part in inner}
    if name in VALUES:
        return VALUES[name](**{field: decode(part) for field, part in inner.items()})
    made = object.__new__(CONTAINERS[name])
    for field, part in inner.items():
        setattr(made, field, decode(part))
    return made


def _fields(container: object) -> list[str]:
    return sorted(getattr(container, "__slots__", None) or vars(container))
