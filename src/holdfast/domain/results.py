"""Results: the outcomes of `remember`, told apart by type, and the moves of a lifecycle run."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from holdfast.domain.memory import Memory


class Stored(NamedTuple):
    """It is new, and it is in."""

    memory: Memory
    change: str


class Updated(NamedTuple):
    """A memory with this key or source path was there; this is its new version."""

    memory: Memory
    change: str
    previous: Memory


class Duplicate(NamedTuple):
    """The same content was there already; nothing was written."""

    memory: Memory


class Superseded(NamedTuple):
    """It is in, and an older memory now says that this one took its place."""

    memory: Memory
    change: str
    previous: Memory


class Quarantined(NamedTuple):
    """It is kept, but hidden until a person approves it; `reason` says why."""

    memory: Memory
    change: str
    reason: str


Remembered: TypeAlias = Stored | Updated | Duplicate | Superseded | Quarantined


class LifecycleMove(NamedTuple):
    """One step the lifecycle rules take, or would take."""

    memory: Memory
    to: str
    reason: str


class LifecycleMoves(list[LifecycleMove]):
    """The moves of a run, by number, and the change set that `undo` takes back; None where nothing
    moved, and for a dry run."""

    def __init__(self, moves: Iterable[LifecycleMove] = (), change: str | None = None) -> None:
        super().__init__(moves)
        self.change = change
