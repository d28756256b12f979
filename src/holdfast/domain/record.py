"""A small thing that is no memory: a key, a member, an invitation, a job. The store keeps it by
kind and id and finds it by a lookup word or by when it is due; what it means, others know."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

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
