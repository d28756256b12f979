"""`NamedTuple` of Holdfast is that of `typing` in all that values are used for."""

from __future__ import annotations

import inspect
import pickle
import typing
from collections.abc import Callable
from typing import Any

import pytest

from holdfast.system import named_tuple


class Ours(named_tuple.NamedTuple):
    """A value."""

    name: str
    count: int | None = None
    tags: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}: {self.count}"


class Theirs(typing.NamedTuple):
    """A value."""

    name: str
    count: int | None = None
    tags: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}: {self.count}"


@pytest.mark.parametrize(
    "ask",
    [
        lambda made: made("a", 2).shown,
        lambda made: made("a"),
        lambda made: made(count=3, name="b")._replace(tags=("x",)),
        lambda made: made("a")._asdict(),
        lambda made: made._make(["a", 1, ()]),
        lambda made: (made._fields, made._field_defaults, made.__doc__, made.__slots__),
        lambda made: (made.__module__, made.__mro__[1:]),
        typing.get_type_hints,
        lambda made: pickle.loads(pickle.dumps(made("a", 2))),
        lambda made: repr(made("a")).removeprefix(made.__name__),
        lambda made: list(inspect.signature(made).parameters),
    ],
)
def test_it_is_what_typing_makes(ask: Callable[[Any], Any]) -> None:
    assert ask(Ours) == ask(Theirs)


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Ours()  # type: ignore[call-arg]
