"""The fields of a memory that a caller may set, as keyword arguments that type checkers know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict


class MemoryChanges(TypedDict, total=False):
    """What `update` sets. None clears a field that may be empty."""

    content: str | None
    title: str | None
    summary: str | None
    content_type: str | None
    key: str | None
    category: str | None
    tags: Iterable[str] | None
    kind: str | None
    stability: str | None
    boundary: str | None
    layer: str | None
    pinned: bool | None
    trust: str | None
    session: str | None
    speaker: str | None
    occurred_at: datetime | str | None
    occurred_until: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    metadata: Mapping[str, Any] | None
