"""Which memory something new is a version or a copy of. Only looks; what comes of it, `remember`
decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.engine import attached, origins

if TYPE_CHECKING:
    from holdfast.domain.draft import Draft
    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader


def unchanged(reader: Reader, draft: Draft, memory: Memory) -> bool:
    """Whether it is there already, word for word."""
    twin = twin_of(reader, draft, memory)
    if twin is None:
        return False
    return twin.content_hash == memory.content_hash or origins.is_the_same_thing(memory, twin)


def twin_of(reader: Reader, draft: Draft, memory: Memory) -> Memory | None:
    """The memory that this one is a version or a copy of."""
    hub_id = memory.hub_id
    # Who says nothing of a boundary means their own where they have one of that name.
    audience = None if draft.boundary is None else memory.audience
    if memory.source_path is not None:
        at_path = reader.memory_by_path(hub_id, memory.source_path, audience=audience)
        if at_path is not None:
            return at_path
    if memory.key is not None:
        with_key = reader.memory_by_key(hub_id, memory.key, audience=audience)
        if with_key is not None:
            return with_key
    alike: list[Memory] = []
    if digest := origins.digest_of(memory):
        alike = attached.made_from(reader, hub_id, digest)
    if draft.attachment is None:
        # The content of a file that nobody has read yet is its name, which says nothing.
        alike += reader.memories_by_hash(hub_id, memory.content_hash)
    return next((other for other in alike if says_the_same(memory, other)), None)


def says_the_same(memory: Memory, other: Memory) -> bool:
    """Whether two memories with the same content are one."""
    return (
        other.superseded_by is None
        and (memory.key is None or _may_have_key(other, memory))
        # An event that happened twice is two events.
        and (memory.session, memory.speaker, memory.occurred_at)
        == (other.session, other.speaker, other.occurred_at)
        and (other.expires_at is None or other.expires_at > memory.created_at)
        # What waits for review does not stand in for what a trusted voice says.
        and bool(other.quarantine) == bool(memory.quarantine)
        # Nobody learns from a 'duplicate' what somebody else keeps private.
        and ("private" not in (other.boundary, memory.boundary) or other.owner == memory.owner)
        # A note that says what a file says, or is called, is not that file.
        and origins.is_made_from_same(memory, other)
    )


def _may_have_key(other: Memory, memory: Memory) -> bool:
    """Whether a memory without a key may be given this one's. A key is a name for good: what
    follows a file, or lives elsewhere, would change or go for reasons of its own."""
    return other.key is None and other.source_path is None and other.layer == memory.layer
