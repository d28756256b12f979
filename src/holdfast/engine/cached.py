"""Keeps the last answer of a slow question for each hub and viewer while the store is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from holdfast.engine.scope import Scope

T = TypeVar("T")
# Of all hubs and viewers together; the oldest go.
_ANSWERS_MAX = 32


class Cached:
    """An answer, and the state of the hub that it holds for."""

    def __init__(self, state: tuple[Any, ...], answer: Any) -> None:
        self.state = state
        self.answer = answer

    def close(self) -> None:
        """Nothing is open; the engine closes everything it keeps."""


def cached(scope: Scope, name: str, state: tuple[Any, ...], make: Callable[[], T]) -> T:
    """The answer from before where the state is the same, else a new one."""
    viewer = scope.core.viewer
    place = (name, scope.hub_id, "" if viewer is None else repr(viewer))
    known = scope.core.kept.get(place)
    if isinstance(known, Cached) and known.state == state:
        return cast("T", known.answer)
    answer = make()
    kept = scope.core.kept
    old = [one for one, value in [*kept.items()] if isinstance(value, Cached)]
    for one in old[: max(len(old) - _ANSWERS_MAX + 1, 0)]:
        kept.pop(one, None)
    kept[place] = Cached(state, answer)
    return answer
