"""Reads pickled data of other programs without running any of it: objects become dictionaries of
their fields, and whatever would call a function is refused."""

from __future__ import annotations

import io
import pickle
from typing import Any

_BYTES_MAX = 2_000_000_000
# Plain values that pickle spells as calls.
_PLAIN: dict[tuple[str, str], Any] = {
    ("builtins", "set"): set,
    ("builtins", "frozenset"): frozenset,
    ("collections", "OrderedDict"): dict,
}
# Classes whose instances are read as their fields.
_PACKAGES = ("qdrant_client.", "grpc.", "numpy")


class Refused(Exception):
    """The data would run code, or is no pickle; the message says which."""


class _Fields:
    """Replaces an object of a class that is not imported; `state` is what was pickled of it."""

    state: Any = None

    def __new__(cls, *args: Any, **named: Any) -> _Fields:
        made = object.__new__(cls)
        made.state = {}
        return made

    def __init__(self, *args: Any, **named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __call__(self, *args: Any, **named: Any) -> _Fields:
        return self


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return _PLAIN[module, name]
        if module.startswith(_PACKAGES):
            return _Fields
        raise Refused(f"it names {module}.{name}, which is not read from a file")


def loads(data: bytes) -> Any:
    """The values in pickled data."""
    if len(data) > _BYTES_MAX:
        raise Refused(f"it has more than {_BYTES_MAX:,} bytes")
    try:
        return _without_objects(_Reader(io.BytesIO(data)).load())
    except Refused:
        raise
    except Exception as error:  # noqa: BLE001  Broken data fails in the unpickler in any way.
        raise Refused(f"it cannot be read: {type(error).__name__}") from None


def _without_objects(value: Any, depth: int = 0) -> Any:
    if depth > 50:
        return None
    if isinstance(value, _Fields):
        state = value.state
        if isinstance(state, tuple) and state:
            state = state[0]
        # Pydantic keeps the fields of a model under this name.
        if isinstance(state, dict) and isinstance(state.get("__dict__"), dict):
            state = state["__dict__"]
        return _without_objects(state, depth + 1)
    if isinstance(value, dict):
        return {key: _without_objects(one, depth + 1) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_objects(one, depth + 1) for one in value]
    if isinstance(value, tuple):
        return tuple(_without_objects(one, depth + 1) for one in value)
    return value
