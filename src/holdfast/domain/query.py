"""What a caller asks for: which memories (Filter), in what order, and what comes back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from holdfast.domain.memory import Kind, Layer, Memory, Source, Stability, State

Order: TypeAlias = Literal["newest", "oldest", "updated", "accessed", "number"]
ORDERS: tuple[Order, ...] = ("newest", "oldest", "updated", "accessed", "number")

# Recall and lists show these unless asked otherwise; archived is for those who ask.
SHOWN_STATES: tuple[State, ...] = ("processing", "active", "cooling")


class Filter(NamedTuple):
    """Which memories count. An empty tuple or None means: any.

    `since` and `until` speak of when it happened (or was learnt); `alive_at` leaves out what had
    expired by then. `came_from` is a source (cli, mcp, …), an agent, a file or a folder.
    """

    states: tuple[State, ...] = SHOWN_STATES
    categories: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    stabilities: tuple[Stability, ...] = ()
    layers: tuple[Layer, ...] = ()
    sources: tuple[Source, ...] = ()
    tags: tuple[str, ...] = ()
    key: str | None = None
    came_from: str | None = None
    session: str | None = None
    pinned: bool | None = None
    forgotten: bool | None = False
    quarantined: bool | None = False
    since: datetime | None = None
    until: datetime | None = None
    alive_at: datetime | None = None

    def admits(self, memory: Memory) -> bool:
        """The same test that the stores make in their own language."""
        happened = memory.occurred_at or memory.created_at
        return (
            _among(memory.state, self.states)
            and _among(memory.category, self.categories)
            and _among(memory.kind, self.kinds)
            and _among(memory.stability, self.stabilities)
            and _among(memory.layer, self.layers)
            and _among(memory.source, self.sources)
            and all(tag in memory.tags for tag in self.tags)
            and (self.key is None or memory.key == self.key)
            and (self.came_from is None or self._came_from(memory))
            and (self.session is None or memory.session == self.session)
            and (self.pinned is None or memory.pinned == self.pinned)
            and (self.forgotten is None or (memory.forgotten_at is not None) == self.forgotten)
            and (self.quarantined is None or bool(memory.quarantine) == self.quarantined)
            and (self.since is None or happened >= self.since)
            and (self.until is None or happened < self.until)
            and (
                self.alive_at is None
                or memory.expires_at is None
                or memory.expires_at > self.alive_at
            )
        )

    def _came_from(self, memory: Memory) -> bool:
        path = memory.source_path or ""
        wanted = self.came_from or ""
        return (
            wanted in (memory.source, memory.source_agent, path)
            or path.startswith(wanted.rstrip("/") + "/")
            or path.endswith("/" + wanted)
        )


EVERYTHING = Filter(states=(), forgotten=None, quarantined=None)


def _among(value: str, allowed: tuple[str, ...]) -> bool:
    return not allowed or value in allowed


class Page(list[Memory]):
    """A piece of a list, and the cursor that fetches the next one (None at the end)."""

    def __init__(self, items: Iterable[Memory], cursor: str | None = None) -> None:
        super().__init__(items)
        self.cursor = cursor


class Passage(NamedTuple):
    """The part of a memory that matched: its text, where it stands, and under which headings."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()


class Hit(NamedTuple):
    """One answer of recall, with the reasons for its rank."""

    memory: Memory
    passage: Passage
    score: float
    why: tuple[str, ...]
    parts: dict[str, float]


class Recalled(list[Hit]):
    """The hits, best first, and what the caller should know about the answer.

    It is a plain list with notes: `degraded` says why the answer may be weaker than usual
    (empty when it is not), `filtered` counts what was found but left out, by reason.
    """

    def __init__(
        self,
        hits: list[Hit],
        *,
        degraded: tuple[str, ...] = (),
        filtered: dict[str, int] | None = None,
    ) -> None:
        super().__init__(hits)
        self.degraded = degraded
        self.filtered = filtered or {}
