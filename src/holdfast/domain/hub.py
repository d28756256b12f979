"""A hub: an isolated space of memories. Nothing crosses hubs."""

from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from holdfast.domain.names import PersonName

DEFAULT_HUB = "default"

HubState: TypeAlias = Literal["active", "importing"]


class Hub(NamedTuple):
    """One hub. `numbers` is the last number given out in it; numbers are never used twice. `label`
    is what somebody calls it for whom its name is another; stores do not keep it."""

    id: str
    name: str
    owner: PersonName
    created_at: datetime
    numbers: int = 0
    state: HubState = "active"
    label: str = ""

    @property
    def called(self) -> str:
        """Its name, as the one who looks at it knows it."""
        return self.label or self.name


class Statistics(NamedTuple):
    """What is in a hub, counted."""

    hub: str
    memories: int
    visible: int
    forgotten: int
    quarantined: int
    pinned: int
    by_state: dict[str, int]
    by_category: dict[str, int]
    by_kind: dict[str, int]
    by_layer: dict[str, int]
    revisions: int
    changes: int
    passages: int
    vectors: int
    content_bytes: int
    receipts: int
    oldest: datetime | None
    newest: datetime | None
    turns: int = 0
    conflicts: int = 0
    # Of what is quarantined, what waits for review: the rest is decided or gone. No store counts
    # it; the engine does.
    waiting: int = 0
    # When the lifecycle last ran over the whole hub; the engine fills it in, too.
    lifecycle_at: datetime | None = None
