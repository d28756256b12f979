"""Small stored values: records (keys, members, invitations, jobs), turns of the conversation log,
and what a mirrored file and the store last agreed on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

# The hub of what belongs to no hub.
NO_HUB = ""


class Record(NamedTuple):
    """One record. `body` is plain JSON. No two of a hub and kind have the same id or lookup."""

    hub_id: str
    kind: str
    id: str
    at: datetime
    body: Mapping[str, Any]
    lookup: str | None = None
    due: datetime | None = None


Role: TypeAlias = Literal["user", "assistant", "system"]
ROLES: tuple[Role, ...] = get_args(Role)


class Turn(NamedTuple):
    """One turn. The source is where it was said: telegram, tui, unknown, or any other label."""

    id: str
    hub_id: str
    role: Role
    content: str
    at: datetime
    source: str = "unknown"
    session: str | None = None


class Agreed(NamedTuple):
    """The text of a file as it was after the last sync: the base of a three-way merge."""

    path: str
    text: str
    at: datetime


class Clash(NamedTuple):
    """A memory that was changed in the file and in the store since they last agreed.

    Both texts are kept, here and as memories, until someone settles it.
    """

    id: str
    memory_id: str
    path: str
    in_store: str
    in_file: str
    at: datetime
    settled_at: datetime | None = None
