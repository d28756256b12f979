"""A hub, an isolated space of memories: nothing crosses hubs. Also the types of checked names and
references."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, NewType, TypeAlias

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


# Names and references that were checked. Code that decides on permissions takes these types and no
# `str`, so that the type checker refuses text that was never parsed. Only `text.names` makes them
# from input; values read from the store were parsed before they were written.

# A person or an agent: one that owns hubs and memories, belongs to places, and uses keys.
PersonName = NewType("PersonName", str)
# No person has it: names are not empty.
NOBODY = PersonName("")
# The name of an organisation, a team or an API key.
Label = NewType("Label", str)
# A hub, a team or an organisation as a caller refers to it: by name or by id.
PlaceRef = NewType("PlaceRef", str)
# The id of an API key, an invitation or another record.
RecordId = NewType("RecordId", str)
