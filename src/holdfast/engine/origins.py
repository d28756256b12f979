"""What a memory was made from: a file, the page of a link, or nothing but words. Two that come from
the same file are the same, whatever they are called. It knows no jobs; see `processing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.attachment import ATTACHMENT, attachment_of, page_of
from holdfast.engine import attached
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.domain.draft import Draft
    from holdfast.domain.memory import Memory


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
    return origin[1] if origin[0] == "file" else attached.digest_of(origin[1])


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
