"""The fields of a memory that a caller may set, as keyword arguments that type checkers know.

This is their one definition: the library, the client and the bodies of REST requests read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

from holdfast.domain.memory import Origin
from holdfast.engine.reading.lookup import Reference


class DescriptiveFields(TypedDict, total=False):
    """What a new memory may have and an update may set."""

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
    session: str | None
    speaker: str | None
    occurred_at: datetime | str | None
    occurred_until: datetime | str | None
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    metadata: Mapping[str, Any] | None


class MemoryFields(DescriptiveFields, total=False):
    """What `remember` takes besides the content. What is not given is picked by the rules."""

    pinned: bool
    trust: str
    source: str
    source_agent: str | None
    assisted_by_agent: str | None
    source_path: str | None
    # How long it is valid, instead of `expires_at`.
    ttl: timedelta | None
    supersedes: Reference | None
    parent: str | None
    origin: Origin | None
    # For a link: whether the page behind it is fetched.
    fetch: bool


class MemoryChanges(DescriptiveFields, total=False):
    """What `update` sets. None clears a field that may be empty."""

    content: str | None
    pinned: bool | None
    trust: str | None
