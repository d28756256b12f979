"""Finds the memory that a draft is a version or a copy of: by source path, key, origin (a file or a
page) and content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import ATTACHMENT, attachment_of, page_of
from holdfast.engine.writing import attachments
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.memory import Draft, Memory
    from holdfast.store.base import Reader


def address_of(content: str) -> str | None:
    """The address that is all there is to a text; None where it says anything else."""
    import re

    found = re.fullmatch(r"\s*<?(https?://[^\s<>]+)>?\s*", content, re.IGNORECASE)
    return found.group(1) if found else None


def _origin(memory: Memory) -> tuple[str, str] | None:
    if (file := attachment_of(memory.metadata)) is not None:
        return "file", file.hash
    if memory.content_type == "link":
        address = page_of(memory.metadata) or address_of(memory.content)
        return None if address is None else ("page", address)
    return None


def is_made_from_same(memory: Memory, other: Memory) -> bool:
    """Whether both come from the same file or page, or neither from any."""
    return _origin(memory) == _origin(other)


def is_the_same_thing(memory: Memory, other: Memory) -> bool:
    """Whether both come from the same file or page, and so say the same, read or unread."""
    return _origin(memory) is not None and is_made_from_same(memory, other)


def digest_of(memory: Memory) -> str | None:
    """What stands for the file or page in the records of what memories are made from."""
    origin = _origin(memory)
    if origin is None:
        return None
    return origin[1] if origin[0] == "file" else attachments.digest_of(origin[1])


def with_page_fetched(draft: Draft) -> Draft:
    """The draft, to be fetched where it is a link that somebody pushed."""
    is_link = draft.content_type in (None, "link") and address_of(draft.content) is not None
    pushed = is_link and draft.source != "extraction" and draft.attachment is None
    return draft._replace(fetch=True) if pushed else draft


def refuse_unfetchable(draft: Draft) -> None:
    """A page can be fetched for a link, and for nothing else."""
    if not draft.fetch:
        return
    if draft.content_type not in (None, "link") or address_of(draft.content) is None:
        raise InvalidInput(
            "Only the page of a link can be fetched: one address that begins with http or https.",
            hint="Give the address as the content, and other words as the title.",
        )


def renewed(draft: Draft, new: Memory, twin: Memory, *, same: bool) -> dict[str, Any]:
    """What changes of a memory that gets a new file, or whose page is to be fetched again."""
    if same and not draft.fetch:
        return {}
    changes: dict[str, Any] = {}
    if new.state == "processing":
        changes = {"state": "processing", "state_reason": ""}
    if draft.attachment is not None:
        metadata = new.metadata if draft.metadata is not None else twin.metadata
        changes["metadata"] = {**metadata, ATTACHMENT: new.metadata[ATTACHMENT]}
    return changes


def unchanged(reader: Reader, draft: Draft, memory: Memory) -> bool:
    """Whether it is there already, word for word."""
    twin = twin_of(reader, draft, memory)
    if twin is None:
        return False
    return twin.content_hash == memory.content_hash or is_the_same_thing(memory, twin)


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
    if digest := digest_of(memory):
        alike = attachments.made_from(reader, hub_id, digest)
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
        and (_occasion(memory) == _occasion(other) or _was_noticed(memory, other))
        and (other.expires_at is None or other.expires_at > memory.created_at)
        # What waits for review does not stand in for what a trusted voice says.
        and bool(other.quarantine) == bool(memory.quarantine)
        # Nobody learns from a 'duplicate' what somebody else keeps private.
        and ("private" not in (other.boundary, memory.boundary) or other.owner == memory.owner)
        # A note that says what a file says, or is called, is not that file.
        and is_made_from_same(memory, other)
    )


def _occasion(memory: Memory) -> tuple[object, ...]:
    return memory.session, memory.speaker, memory.occurred_at


def _was_noticed(memory: Memory, other: Memory) -> bool:
    """Whether the other one was taken from a conversation and holds at any time, and who says it
    now does not say when."""
    return (
        other.source == "extraction"
        and (other.layer, other.speaker, other.occurred_at) == ("long_term", None, None)
        and _occasion(memory) == (None, None, None)
    )


def _may_have_key(other: Memory, memory: Memory) -> bool:
    """Whether a memory without a key may be given this one's. A key is a name for good: what
    follows a file, or lives elsewhere, would change or go for reasons of its own."""
    return other.key is None and other.source_path is None and other.layer == memory.layer
