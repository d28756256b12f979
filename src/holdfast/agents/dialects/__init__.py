"""Which dialects there are. Only the module of the one that is asked for is imported."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from holdfast.agents.tool import Dialect
from holdfast.errors import InvalidInput

_ALL = ("holdfast", "max", "maven", "memax", "minion", "pynchy", "anthropic", "chatgpt")
NAMES = tuple(name for name in _ALL if find_spec(f"{__name__}.{name}") is not None)


def find_dialect(name: str) -> Dialect:
    """The dialect of that name."""
    if name not in NAMES:
        raise InvalidInput(f"There is no dialect {name!r}.", hint=f"Use {', '.join(NAMES)}.")
    dialect: Dialect = import_module(f"holdfast.agents.dialects.{name}").DIALECT
    return dialect
