"""The files and pages that memories are made from. Which memory was made from which file (by its
hash) or page (by its address) is stored as records, in the transaction that writes or removes the
memory, so that a file is removed with the last memory that refers to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.memory import ATTACHMENT, Attachment, Usage, attachment_of, page_of
from holdfast.domain.records import Record
from holdfast.errors import HubFull, InvalidInput
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from holdfast.domain.memory import Draft, Memory
    from holdfast.store.base import Reader, Writer


# Record kinds of origin to memory, and memory to origin; each id holds both.
_BY_ORIGIN = "origin"
_BY_MEMORY = "attached"
_USAGE = "usage"
_USAGE_ID = "attachments"


def attach(
    writer: Writer, memory: Memory, attachment: Attachment, at: datetime, *, bytes_max: int
) -> None:
    """Records that a memory was made from a file; raises HubFull if the hub's files exceed their
    limit."""
    hub_id = memory.hub_id
    if writer.record(hub_id, _BY_MEMORY, f"{memory.id}/{attachment.hash}") is not None:
        return
    if not is_held(writer, hub_id, attachment.hash):
        used = usage(writer, hub_id)
        if used.bytes + attachment.size > bytes_max:
            raise full(used, attachment.size, bytes_max)
        _set_usage(writer, hub_id, at, used.files + 1, used.bytes + attachment.size)
    _bind(writer, memory, attachment.hash, attachment.size, at)


def full(used: Usage, size: int, bytes_max: int) -> HubFull:
    return HubFull(
        f"The hub holds {used.bytes:,} bytes of files; {size:,} more would pass its {bytes_max:,}.",
        hint="Purge memories of files that are not needed, or raise `attachments.hub_bytes_max`.",
    )


def bind_page(writer: Writer, memory: Memory, address: str, at: datetime) -> None:
    """Records that a memory holds the page at an address."""
    _bind(writer, memory, page_digest(address), 0, at)


def _bind(writer: Writer, memory: Memory, digest: str, size: int, at: datetime) -> None:
    body = {"size": size}
    for kind, record_id in (
        (_BY_ORIGIN, f"{digest}/{memory.id}"),
        (_BY_MEMORY, f"{memory.id}/{digest}"),
    ):
        writer.put_record(Record(memory.hub_id, kind, record_id, at, body))


def page_digest(address: str) -> str:
    """The digest of the address of a page that is an origin. It has a fixed length, and never
    equals the hash of a file with that text."""
    import hashlib

    return hashlib.sha256(b"page\0" + address.encode()).hexdigest()


def release(writer: Writer, hub_id: str, memory_id: str, at: datetime) -> list[str]:
    """Removes the files and pages that are recorded as origins of a memory; returns the hashes to
    which no memory refers now."""
    held = [
        one.id.partition("/")[2]
        for one in every_record(writer, hub_id, _BY_MEMORY, f"{memory_id}/")
    ]
    return [digest for digest in held if let_go(writer, hub_id, memory_id, digest, at)]


def let_go(writer: Writer, hub_id: str, memory_id: str, digest: str, at: datetime) -> bool:
    """Removes one file or page from the origins of a memory; returns whether no memory refers to it
    now."""
    record = writer.record(hub_id, _BY_MEMORY, f"{memory_id}/{digest}")
    if record is None:
        return False
    writer.drop_record(hub_id, _BY_MEMORY, record.id)
    writer.drop_record(hub_id, _BY_ORIGIN, f"{digest}/{memory_id}")
    if is_held(writer, hub_id, digest):
        return False
    if size := record.body["size"]:
        used = usage(writer, hub_id)
        _set_usage(writer, hub_id, at, used.files - 1, used.bytes - size)
    return True


def made_from(reader: Reader, hub_id: str, digest: str) -> list[Memory]:
    """The memories that were made from this file or page and are not forgotten, oldest first."""
    return [one for one in of_file(reader, hub_id, digest) if one.forgotten_at is None]


def of_file(reader: Reader, hub_id: str, digest: str) -> list[Memory]:
    """The memories that were made from this file, including forgotten ones and old versions, oldest
    first."""
    records = every_record(reader, hub_id, _BY_ORIGIN, f"{digest}/")
    ids = [record.id.partition("/")[2] for record in records]
    found = reader.memories_by_id(hub_id, ids)
    return [found[one] for one in ids if one in found]


def is_held(reader: Reader, hub_id: str, digest: str) -> bool:
    """Whether any memory was made from this file or page, including forgotten ones."""
    return any(True for _ in every_record(reader, hub_id, _BY_ORIGIN, f"{digest}/"))


def holds(reader: Reader, hub_id: str, memory_id: str, digest: str) -> bool:
    """Whether this memory was made from this file or page. The metadata does not prove that,
    because anybody can write metadata."""
    return reader.record(hub_id, _BY_MEMORY, f"{memory_id}/{digest}") is not None


def held_by(reader: Reader, hub_id: str, memory_id: str) -> list[str]:
    """The hashes of the files that a memory was made from, including old versions."""
    records = every_record(reader, hub_id, _BY_MEMORY, f"{memory_id}/")
    return [record.id.partition("/")[2] for record in records if record.body["size"]]


def held_files(reader: Reader, hub_id: str) -> Iterator[tuple[str, str, int]]:
    """Every file of a hub's memories: its hash, the memory's id, and its size."""
    for record in every_record(reader, hub_id, _BY_ORIGIN, ""):
        if size := record.body["size"]:
            digest, _, memory_id = record.id.partition("/")
            yield digest, memory_id, size


def usage(reader: Reader, hub_id: str) -> Usage:
    record = reader.record(hub_id, _USAGE, _USAGE_ID)
    return Usage() if record is None else Usage(record.body["files"], record.body["bytes"])


def _set_usage(writer: Writer, hub_id: str, at: datetime, files: int, size: int) -> None:
    body = {"files": max(0, files), "bytes": max(0, size)}
    writer.put_record(Record(hub_id, _USAGE, _USAGE_ID, at, body))


def address_of(content: str) -> str | None:
    """The address of a memory that is a link, if the text consists of nothing else; None
    otherwise."""
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
    """Whether both come from the same file or page, or both from none."""
    return _origin(memory) == _origin(other)


def is_the_same_thing(memory: Memory, other: Memory) -> bool:
    """Whether both come from the same file or page, and so have the same content."""
    return _origin(memory) is not None and is_made_from_same(memory, other)


def digest_of(memory: Memory) -> str | None:
    """The digest of the file or page in the records of origins."""
    origin = _origin(memory)
    if origin is None:
        return None
    return origin[1] if origin[0] == "file" else page_digest(origin[1])


def with_page_fetched(draft: Draft) -> Draft:
    """The draft, marked to be fetched if it is a link that somebody pushed."""
    is_link = draft.content_type in (None, "link") and address_of(draft.content) is not None
    pushed = is_link and draft.source != "extraction" and draft.attachment is None
    return draft._replace(fetch=True) if pushed else draft


def refuse_unfetchable(draft: Draft) -> None:
    """Raises an error if a draft of which a page is to be fetched is not a link."""
    if draft.content_type not in (None, "link") or address_of(draft.content) is None:
        raise InvalidInput(
            "Only the page of a link can be fetched: one address that begins with http or https.",
            hint="Give the address as the content, and other words as the title.",
        )


def renewed(draft: Draft, new: Memory, twin: Memory, *, same: bool) -> dict[str, Any]:
    """The changes of a memory that gets a new file, or whose page is to be fetched again."""
    if same and not draft.fetch:
        return {}
    changes: dict[str, Any] = {}
    if new.state == "processing":
        changes = {"state": "processing", "state_reason": ""}
    if draft.attachment is not None:
        metadata = new.metadata if draft.metadata is not None else twin.metadata
        changes["metadata"] = {**metadata, ATTACHMENT: new.metadata[ATTACHMENT]}
    return changes
