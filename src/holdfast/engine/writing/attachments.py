"""Which memory was made from what: a file by its hash, a page by its address. Kept as records, in
the transaction that makes the memory or takes it away, so that a file can go with the last one that
refers to it. It knows no folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.memory import Attachment, Usage
from holdfast.domain.records import Record
from holdfast.errors import HubFull

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader, Writer

# From what it was made to the memory, and back; each id holds both.
_BY_ORIGIN = "origin"
_BY_MEMORY = "attached"
_USAGE = "usage"
_USAGE_ID = "attachments"
_BATCH = 200


def attach(
    writer: Writer, memory: Memory, attachment: Attachment, at: datetime, *, bytes_max: int
) -> None:
    """Notes that a memory was made from a file; HubFull where that is too much for the hub."""
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
    """Notes that a memory holds the page at an address."""
    _bind(writer, memory, digest_of(address), 0, at)


def _bind(writer: Writer, memory: Memory, digest: str, size: int, at: datetime) -> None:
    body = {"size": size}
    for kind, record_id in (
        (_BY_ORIGIN, f"{digest}/{memory.id}"),
        (_BY_MEMORY, f"{memory.id}/{digest}"),
    ):
        writer.put_record(Record(memory.hub_id, kind, record_id, at, body))


def digest_of(address: str) -> str:
    """What stands for an address: of one length, and never the hash of a file that says it."""
    import hashlib

    return hashlib.sha256(b"page\0" + address.encode()).hexdigest()


def release(writer: Writer, hub_id: str, memory_id: str, at: datetime) -> list[str]:
    """Lets go of everything a memory was made from; returns the hashes that nobody holds now."""
    held = [one.id.partition("/")[2] for one in _all(writer, hub_id, _BY_MEMORY, f"{memory_id}/")]
    return [digest for digest in held if let_go(writer, hub_id, memory_id, digest, at)]


def let_go(writer: Writer, hub_id: str, memory_id: str, digest: str, at: datetime) -> bool:
    """Lets go of one thing that a memory was made from; whether nobody holds it now."""
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
    """The memories that were made from it and are not forgotten, oldest first."""
    return [one for one in of_file(reader, hub_id, digest) if one.forgotten_at is None]


def of_file(reader: Reader, hub_id: str, digest: str) -> list[Memory]:
    """The memories that were made from it, forgotten ones and old versions too, oldest first."""
    records = _all(reader, hub_id, _BY_ORIGIN, f"{digest}/")
    ids = [record.id.partition("/")[2] for record in records]
    found = reader.memories_by_id(hub_id, ids)
    return [found[one] for one in ids if one in found]


def is_held(reader: Reader, hub_id: str, digest: str) -> bool:
    """Whether any memory was made from it, forgotten ones among them."""
    return any(True for _ in _all(reader, hub_id, _BY_ORIGIN, f"{digest}/"))


def holds(reader: Reader, hub_id: str, memory_id: str, digest: str) -> bool:
    """Whether this memory was made from it; metadata alone, which anybody writes, say nothing."""
    return reader.record(hub_id, _BY_MEMORY, f"{memory_id}/{digest}") is not None


def held_by(reader: Reader, hub_id: str, memory_id: str) -> list[str]:
    """The hashes of the files that a memory was made from, old versions included."""
    records = _all(reader, hub_id, _BY_MEMORY, f"{memory_id}/")
    return [record.id.partition("/")[2] for record in records if record.body["size"]]


def held_files(reader: Reader, hub_id: str) -> Iterator[tuple[str, str, int]]:
    """Every file that a memory was made from: its hash, the memory's id, and its size."""
    for record in _all(reader, hub_id, _BY_ORIGIN, ""):
        if size := record.body["size"]:
            digest, _, memory_id = record.id.partition("/")
            yield digest, memory_id, size


def usage(reader: Reader, hub_id: str) -> Usage:
    record = reader.record(hub_id, _USAGE, _USAGE_ID)
    return Usage() if record is None else Usage(record.body["files"], record.body["bytes"])


def _set_usage(writer: Writer, hub_id: str, at: datetime, files: int, size: int) -> None:
    body = {"files": max(0, files), "bytes": max(0, size)}
    writer.put_record(Record(hub_id, _USAGE, _USAGE_ID, at, body))


def _all(reader: Reader, hub_id: str, kind: str, front: str) -> Iterator[Record]:
    """The records whose ids begin so, by id."""
    after = front
    while True:
        batch = reader.records(hub_id, kind, limit=_BATCH, after=after)
        for record in batch:
            if not record.id.startswith(front):
                return
            yield record
        if len(batch) < _BATCH:
            return
        after = batch[-1].id
