"""Copies beside MEMORY.md: `MEMORY.md.kept-…`, made when the file could not be read or was cut off,
and when one may go again; and the backup from before the last consolidation."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput
from holdfast.files.atomic import real_path, told, write_atomic
from holdfast.files.memory_md.document import Item
from holdfast.files.memory_md.parse import parse
from holdfast.files.reading import open_regular
from holdfast.text import normalise

if TYPE_CHECKING:
    from holdfast.store.base import Reader


MARK = ".kept-"
# Enough to look at what has happened lately; each is at most as large as MEMORY.md.
_NEWEST = 3


def tidy(reader: Reader, hub_id: str, path: str, agreed: str) -> list[str]:
    """Removes kept files that nobody needs, and returns their names. `agreed` is MEMORY.md."""
    folder, front = os.path.dirname(path), os.path.basename(path) + MARK
    try:
        # Their names end with the time they were kept at.
        names = sorted(name for name in os.listdir(folder) if name.startswith(front))[::-1]
    except OSError:
        return []
    lines = {line.strip() for line in agreed.splitlines()}
    seen: set[bytes] = set()
    gone = []
    for place, name in enumerate(names):
        data = _read(os.path.join(folder, name))
        if data is None:
            continue
        twice = data in seen
        seen.add(data)
        if twice or (place >= _NEWEST and _is_known(reader, hub_id, data, lines)):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
                gone.append(name)
    return gone


def _read(path: str) -> bytes | None:
    try:
        with open_regular(path) as file:
            return file.read()
    except (OSError, InvalidInput):
        return None


def _is_known(reader: Reader, hub_id: str, data: bytes, lines: set[str]) -> bool:
    """Whether all that a file says is said elsewhere."""
    text = _decoded(data)
    if text is None:
        return False
    whole, ended, last = text.rpartition("\n")
    if last.strip() and any(line.startswith(last.strip()) for line in lines):
        # The line in which it was cut off.
        text = whole + ended
    for block in parse(text).blocks:
        if isinstance(block, Item):
            if block.content and not _is_remembered(reader, hub_id, block):
                return False
        elif any(line.strip() not in lines for line in block.raw.splitlines() if line.strip()):
            return False
    return True


def _decoded(data: bytes) -> str | None:
    """The text in the encoding it was probably saved in: a wrong one shows as words that the store
    does not know."""
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return None


def _is_remembered(reader: Reader, hub_id: str, item: Item) -> bool:
    if reader.memories_by_hash(hub_id, normalise.content_hash(item.content)):
        return True
    memory = reader.memory(hub_id, item.id) if item.id else None
    if memory is None:
        return False
    past = (revision.fields.get("content", ()) for revision in reader.revisions(hub_id, memory.id))
    return item.content == memory.content or any(item.content in pair for pair in past)


COPY = ".before-consolidation"
# As large as MEMORY.md may be; what is larger is not copied for each run.
_BYTES_MAX = 16_000_000


def keep_copy(path: str) -> str | None:
    """Copies MEMORY.md, and returns where the copy is; None where there is no file."""
    if not os.path.isfile(path):
        return None
    folder = os.path.dirname(path)
    with told(path), open(real_path(path, within=folder), "rb") as file:
        data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        return None
    write_atomic(path + COPY, data, within=folder)
    return path + COPY


def drop_copy(path: str) -> None:
    """Removes it, where there is one."""
    with suppress(OSError):
        os.unlink(path + COPY)
