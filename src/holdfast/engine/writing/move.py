"""Moves memories to another hub: they are written there first, then forgotten here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.memory import Draft

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.memory import Attachment, Memory
    from holdfast.engine.core import Core

# The reason that is recorded in the source hub. It does not name the target hub, because members
# of one hub may not know that the other exists.
MOVED = "moved to another hub"
# The metadata field of the new memory that holds the id of the old one.
MOVED_FROM = "moved_from"

# Fields of a memory that its copy in the other hub keeps. Ids, numbers, versions and links to
# other memories belong to one hub and are not copied.
_COPIED = (
    *("content", "title", "summary", "content_type", "key", "category", "tags", "kind"),
    *("stability", "boundary", "layer", "pinned", "trust", "source", "source_agent"),
    *("assisted_by_agent", "source_path", "session", "speaker", "occurred_at", "occurred_until"),
    *("valid_from", "valid_until", "expires_at"),
)


def movable(core: Core, found: Iterable[Memory]) -> list[Memory]:
    """The memories to move, each once. Raises Forbidden where the caller may not delete one of
    them, so that nothing is copied that cannot be removed from its hub."""
    memories = list({memory.id: memory for memory in found}.values())
    for memory in memories:
        core.require_delete(memory)
    return memories


def copied_draft(memory: Memory, attachment: Attachment | None) -> Draft:
    """The draft of a memory's copy in another hub."""
    fields = {name: getattr(memory, name) for name in _COPIED}
    metadata = {**memory.metadata, MOVED_FROM: memory.id}
    return Draft(**fields, metadata=metadata, attachment=attachment)
