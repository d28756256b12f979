"""The file that a memory was made from: what it is called and which bytes it has. Pure values;
where the bytes are, `files.attachments` knows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

# The names in a memory's metadata under which this stands.
ATTACHMENT = "attachment"
PAGE = "page"


class Attachment(NamedTuple):
    """A file: the SHA-256 of its bytes, its name as it was given, which is data and never a path,
    its size in bytes, and what it is by its content."""

    hash: str
    name: str
    size: int
    media_type: str


class Usage(NamedTuple):
    """What a hub's attachments take up, each file counted once."""

    files: int = 0
    bytes: int = 0


def attachment_of(metadata: Mapping[str, Any]) -> Attachment | None:
    """The file that metadata speak of; None where they speak of none, or of something else."""
    told = metadata.get(ATTACHMENT)
    if not isinstance(told, Mapping) or set(told) != set(Attachment._fields):
        return None
    texts = all(isinstance(told[name], str) for name in ("hash", "name", "media_type"))
    return Attachment(**told) if texts and isinstance(told["size"], int) else None


def page_of(metadata: Mapping[str, Any]) -> str | None:
    """The address whose page a memory holds; None where it holds none."""
    told = metadata.get(PAGE)
    address = told.get("asked") if isinstance(told, Mapping) else None
    return address if isinstance(address, str) else None
