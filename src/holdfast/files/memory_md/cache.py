"""Caches for the sync of MEMORY.md (the memories that belong in the file, and the stamps of file
and store that show without reading whether they are in sync), and copies beside the file:
`MEMORY.md.kept-…`, made when the file could not be read or was truncated, and the backup from
before the last consolidation."""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from holdfast.domain.clock import to_micros
from holdfast.domain.query import Filter
from holdfast.errors import InvalidInput
from holdfast.files.memory_md import MarkdownItem
from holdfast.files.memory_md.parse import parse
from holdfast.files.safe_read import open_regular
from holdfast.store.values import every_memory
from holdfast.system.atomic_file import file_errors, real_path, write_atomic, write_file
from holdfast.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader, Store


_WANTED = Filter(layers=("long_term",), states=("active", "cooling"))
# With more change sets, or more memories in them, reading everything is about equally fast.
_CHANGES_MAX = 32
_REVISIONS_MAX = 500
# Memories take some 2 KB each, so this limits the cache.
_KEPT_MAX = 20_000


class Known(NamedTuple):
    """The hub's state when MEMORY.md was read, and the memories by id, in order of number, with
    those with a known expiry."""

    token: Token
    memories: dict[str, Memory]
    ending: frozenset[str]

    def at(self, now: datetime) -> dict[str, Memory]:
        """The memories that are valid at this time."""
        over = {one for one in self.ending if not self.memories[one].current(now)}
        if not over:
            return self.memories
        return {key: memory for key, memory in self.memories.items() if key not in over}


_KNOWN: WeakKeyDictionary[Store, dict[str, Known]] = WeakKeyDictionary()


def known_memories(
    store: Store, reader: Reader, hub_id: str, token: Token, now: datetime
) -> dict[str, Memory]:
    """The memories that belong in the file, by id; nobody may change what is returned. The reader
    is of this store, sees everything in it, and `token` is the state that it sees."""
    kept = _KNOWN.setdefault(store, {})
    known = kept.get(hub_id)
    if known is None or known.token != token:
        known = (known and _later(reader, hub_id, known, token)) or _read(reader, hub_id, token)
        if len(known.memories) <= _KEPT_MAX:
            kept[hub_id] = known
        else:
            kept.pop(hub_id, None)
    return known.at(now)


def our_memories(core: Core, reader: Reader, hub_id: str) -> list[Memory]:
    """The memories that belong in MEMORY.md, by number."""
    now = core.now()
    return [memory for memory in every_memory(reader, hub_id, _WANTED) if memory.current(now)]


def _read(reader: Reader, hub_id: str, token: Token) -> Known:
    found = every_memory(reader, hub_id, _WANTED)
    out = {memory.id: memory for memory in found if memory.superseded_by is None}
    return Known(token, out, _ending(out))


def _later(reader: Reader, hub_id: str, before: Known, token: Token) -> Known | None:
    """The cache updated with the changes since; None if they are unknown."""
    touched = _touched_since(reader, hub_id, before.token, token)
    if touched is None:
        return None
    rows = reader.memories_by_id(hub_id, sorted(touched))
    new = sum(memory.number > before.token.numbers for memory in rows.values())
    if new != token.numbers - before.token.numbers:
        # An older change set has grown, so its memories would have to be read too.
        return None
    out = dict(before.memories)
    for one in touched:
        memory = rows.get(one)
        if memory is not None and _WANTED.admits(memory) and memory.superseded_by is None:
            out[one] = memory
        else:
            out.pop(one, None)
    if out.keys() - before.memories.keys():
        out = dict(sorted(out.items(), key=lambda pair: pair[1].number))
    again = {one: out[one] for one in touched if one in out}
    return Known(token, out, (before.ending - touched) | _ending(again))


def _touched_since(reader: Reader, hub_id: str, before: Token, now: Token) -> set[str] | None:
    """The memories with a revision since; None if there are too many, or some were purged, which
    leaves no revision."""
    if before.purged != now.purged:
        return None
    touched: set[str] = set()
    for change in reader.changes(hub_id, limit=_CHANGES_MAX):
        if change.id == before.change:
            return touched
        touched.update(one.memory_id for one in reader.revisions_of(hub_id, change.id))
        if len(touched) > _REVISIONS_MAX:
            return None
    return None


def _ending(memories: dict[str, Memory]) -> frozenset[str]:
    return frozenset(
        one
        for one, memory in memories.items()
        if memory.expires_at is not None or memory.valid_until is not None
    )


# The resolution of file times may be this low: two saves within it look equal, so a stamp taken
# this soon after a save proves nothing.
TICK_NS = 20_000_000
# The mark of the folder, where several machines use the store (see `hub_folder`).
PLACE = ".place"
_PAGE = re.compile(r"(?!\d{4}-\d\d-\d\d\.md)[a-z0-9]+(?:-[a-z0-9]+)*\.md")


class Token(NamedTuple):
    """The state of a hub's memories: its newest change set, the number of purges, and the number of
    assigned numbers, because a change set may grow after a newer one was added."""

    change: str
    purged: int
    numbers: int


class Stamp(NamedTuple):
    """The hub of the file, its (times, size, inode) and the hub's state at the last sync, and when
    its first memory expires, in microseconds: from then on they are out of sync."""

    hub_id: str
    file: tuple[int, int, int] | None
    token: Token | None
    due: int | None = None

    def is_for(self, hub_id: str, token: Token, now: datetime) -> bool:
        return self.hub_id == hub_id and self.token == token and not self.is_due(now)

    def is_due(self, now: datetime) -> bool:
        return self.due is not None and self.due <= to_micros(now)


NO_STAMP = Stamp("", None, None)


def token_of(reader: Reader, hub_id: str) -> Token:
    """The current state of a hub, to know whether MEMORY.md is up to date."""
    newest = reader.changes(hub_id, limit=1)
    hub = reader.hub_by_id(hub_id)
    purged = len(reader.receipts(hub_id))
    return Token(newest[0].id if newest else "", purged, hub.numbers if hub else 0)


def due_of(memories: Iterable[Memory], now: datetime) -> int | None:
    """When the first of these memories expires, in microseconds; None if none does."""
    ending = [one for one in memories if one.expires_at is not None or one.valid_until is not None]
    ends = (end for memory in ending for end in (memory.expires_at, memory.valid_until))
    return min((to_micros(end) for end in ends if end is not None and end > now), default=None)


def stamp_of(path: str, *, pages: bool = False) -> tuple[int, int, int] | None:
    """The stamp of MEMORY.md; None if there is no file, or if it is too recent to prove
    anything."""
    found = _stats(path, pages=pages)
    if not found or abs(time.time_ns() - max(map(_newest, found))) < TICK_NS:
        return None
    return _stamp(found, pages=pages)


def quick_stamp_of(path: str, *, pages: bool = False) -> tuple[int, int, int] | None:
    """The file's stamp, even if it is too recent; with `pages`, also of the pages beside the
    file."""
    found = _stats(path, pages=pages)
    return _stamp(found, pages=pages) if found else None


def is_page_name(name: str) -> bool:
    """Whether a file beside MEMORY.md may be the page of a category; a journal is not."""
    return _PAGE.fullmatch(name) is not None


def _stats(path: str, *, pages: bool) -> list[os.stat_result]:
    """Empty if the file itself does not exist."""
    try:
        found = [os.stat(path)]
        if pages:
            with os.scandir(os.path.dirname(path)) as entries:
                found += [entry.stat() for entry in entries if is_page_name(entry.name)]
    except OSError:
        return []
    return found


def _stamp(found: list[os.stat_result], *, pages: bool) -> tuple[int, int, int]:
    # Sums, so that a change of any file is noticed. They include the inode change time, which
    # nobody can set: a copy that keeps the modification time is noticed. The sums with and without
    # pages always differ, so that enabling or disabling pages is noticed.
    return (
        sum(one.st_mtime_ns + one.st_ctime_ns for one in found),
        sum(one.st_size for one in found),
        sum(one.st_ino for one in found) + pages,
    )


def _newest(about: os.stat_result) -> int:
    return max(about.st_mtime_ns, about.st_ctime_ns)


def read_stamp(path: str) -> Stamp:
    try:
        with open(_beside(path), encoding="utf-8") as file:
            hub_id, stamp, token, due = json.load(file)
        return Stamp(
            str(hub_id),
            (int(stamp[0]), int(stamp[1]), int(stamp[2])) if stamp else None,
            Token(str(token[0]), int(token[1]), int(token[2])) if token else None,
            None if due is None else int(due),
        )
    except (OSError, ValueError, TypeError, IndexError):
        return NO_STAMP


def write_stamp(path: str, stamp: Stamp) -> None:
    """Writes the stamp if possible; without it, the file itself is read."""
    with suppress(OSError):
        write_file(_beside(path), json.dumps(stamp).encode(), durable=False)


def remove_mirrored(path: str, pages: Iterable[str] = ()) -> None:
    """Removes MEMORY.md, its pages and the copies beside it, when their hub is deleted."""
    beside = [os.path.join(os.path.dirname(path), name) for name in pages]
    drop_copy(path)
    mark = os.path.join(os.path.dirname(path), PLACE)
    for gone in (path, _beside(path), mark, *beside):
        with suppress(FileNotFoundError):
            os.unlink(gone)


def _beside(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.stamp")


MARK = ".kept-"
# How many copies are kept; each is at most as large as MEMORY.md.
_NEWEST = 3


def tidy(reader: Reader, hub_id: str, path: str, agreed: str) -> list[str]:
    """Removes repeated copies, and older ones with text that is stored elsewhere; returns their
    names. `agreed` is MEMORY.md."""
    folder, front = os.path.dirname(path), os.path.basename(path) + MARK
    try:
        # Their names end with the time of the copy.
        names = sorted(name for name in os.listdir(folder) if name.startswith(front))[::-1]
    except OSError:
        return []
    lines = {line.strip() for line in agreed.splitlines()}
    seen: set[bytes] = set()
    gone = []
    for place, name in enumerate(names):
        data = _read_copy(os.path.join(folder, name))
        if data is None:
            continue
        twice = data in seen
        seen.add(data)
        if twice or (place >= _NEWEST and _is_known(reader, hub_id, data, lines)):
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))
                gone.append(name)
    return gone


def _read_copy(path: str) -> bytes | None:
    try:
        with open_regular(path) as file:
            return file.read()
    except (OSError, InvalidInput):
        return None


def _is_known(reader: Reader, hub_id: str, data: bytes, lines: set[str]) -> bool:
    """Whether everything in a file is stored elsewhere."""
    text = _decoded(data)
    if text is None:
        return False
    whole, ended, last = text.rpartition("\n")
    if last.strip() and any(line.startswith(last.strip()) for line in lines):
        # The line that was truncated.
        text = whole + ended
    for block in parse(text).blocks:
        if isinstance(block, MarkdownItem):
            if block.content and not _is_remembered(reader, hub_id, block):
                return False
        elif any(line.strip() not in lines for line in block.raw.splitlines() if line.strip()):
            return False
    return True


def _decoded(data: bytes) -> str | None:
    """The text in the encoding it was probably saved in: a wrong one gives words that the store
    does not know."""
    encodings = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig", "cp1252")
    for encoding in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(encoding)
    return None


def _is_remembered(reader: Reader, hub_id: str, item: MarkdownItem) -> bool:
    if reader.memories_by_hash(hub_id, clean.content_hash(item.content)):
        return True
    memory = reader.memory(hub_id, item.id) if item.id else None
    if memory is None:
        return False
    past = (revision.fields.get("content", ()) for revision in reader.revisions(hub_id, memory.id))
    return item.content == memory.content or any(item.content in pair for pair in past)


COPY = ".before-consolidation"
# The largest size of MEMORY.md; a larger file is not copied before each run.
_BYTES_MAX = 16_000_000


def keep_copy(path: str) -> str | None:
    """Copies MEMORY.md, and returns the path of the copy; None if there is no file."""
    if not os.path.isfile(path):
        return None
    folder = os.path.dirname(path)
    with file_errors(path), open(real_path(path, within=folder), "rb") as file:
        data = file.read(_BYTES_MAX + 1)
    if len(data) > _BYTES_MAX:
        return None
    write_atomic(path + COPY, data, within=folder)
    return path + COPY


def drop_copy(path: str) -> None:
    """Removes the copy of MEMORY.md, if there is one."""
    with suppress(OSError):
        os.unlink(path + COPY)
