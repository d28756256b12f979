"""How to know without reading that a file and the store are still in step: the file's stamp and
the store's, as they were when they last agreed. A cache beside the file; losing it costs a read.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.clock import to_micros
from holdfast.files.atomic import FILE_MODE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader

# The clock that stamps files may tick this slowly: two saves within a tick look alike, so a stamp
# taken this soon after a save proves nothing.
TICK_NS = 20_000_000


class Token(NamedTuple):
    """The state of a hub's memories: its newest change set, and how many were purged."""

    change: str
    purged: int


class Stamp(NamedTuple):
    """Whose file it is, its (time, size, inode) and the hub's state when they agreed, and when the
    first of its memories ends, in microseconds: from then on they agree no longer."""

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
    """The state of a hub as it is read."""
    newest = reader.changes(hub_id, limit=1)
    return Token(newest[0].id if newest else "", len(reader.receipts(hub_id)))


def due_of(memories: Iterable[Memory], now: datetime) -> int | None:
    """When the first of these memories ends, in microseconds; None where none is known to."""
    ends = (end for memory in memories for end in (memory.expires_at, memory.valid_until))
    return min((to_micros(end) for end in ends if end is not None and end > now), default=None)


def stamp_of(path: str) -> tuple[int, int, int] | None:
    """The file's stamp; None where there is no file, or where it is too new to prove anything."""
    found = quick_stamp_of(path)
    if found is None or abs(time.time_ns() - found[0]) < TICK_NS:
        return None
    return found


def quick_stamp_of(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def read_stamp(path: str) -> Stamp:
    try:
        with open(_beside(path), encoding="utf-8") as file:
            hub_id, stamp, token, due = json.load(file)
        return Stamp(
            str(hub_id),
            (int(stamp[0]), int(stamp[1]), int(stamp[2])) if stamp else None,
            Token(str(token[0]), int(token[1])) if token else None,
            None if due is None else int(due),
        )
    except (OSError, ValueError, TypeError, IndexError):
        return NO_STAMP


def write_stamp(path: str, stamp: Stamp) -> None:
    """Writes it where that can be done; whoever cannot read it looks at the file itself."""
    beside = _beside(path)
    partial = f"{beside}.partial-{os.getpid()}-{os.urandom(4).hex()}"
    with suppress(OSError):
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(stamp, file)
        os.replace(partial, beside)


def remove_mirrored(path: str) -> None:
    """The file and what is kept beside it go, with the hub they belong to."""
    for gone in (path, _beside(path)):
        with suppress(FileNotFoundError):
            os.unlink(gone)


def _beside(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.stamp")
