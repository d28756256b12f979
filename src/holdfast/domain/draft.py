"""What a caller wants remembered, before anything is decided about it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from holdfast.domain.memory import (
    Attachment,
    Boundary,
    ContentType,
    Kind,
    Layer,
    Origin,
    Source,
    Stability,
    Trust,
)


class Draft(NamedTuple):
    """Only the content is needed; what is None is picked by the rules. What has an attachment, and
    a link whose page is to be fetched, is `processing` until a worker has read it."""

    content: str
    title: str | None = None
    summary: str | None = None
    content_type: ContentType | None = None
    key: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    stability: Stability | None = None
    boundary: Boundary | None = None
    layer: Layer | None = None
    pinned: bool = False
    trust: Trust = "user"
    source: Source = "sdk"
    source_agent: str | None = None
    assisted_by_agent: str | None = None
    source_path: str | None = None
    session: str | None = None
    speaker: str | None = None
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None
    supersedes: str | None = None
    parent: str | None = None
    origin: Origin | None = None
    metadata: Mapping[str, Any] | None = None
    attachment: Attachment | None = None
    fetch: bool = False
