"""Reads a file that a person may be saving at the same moment, and opens only regular files.

An unreadable or truncated file is renamed and restored. Opening a named pipe blocks until somebody
writes to it, and a device such as /dev/zero has no end.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from datetime import datetime
from typing import BinaryIO, NamedTuple

from holdfast.errors import InvalidInput, StoreError, StoreReadOnly
from holdfast.system.atomic_file import real_path

_FILE_TYPES = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
)
# Not all of them exist on every system. O_NONBLOCK: a pipe that replaces the file between the check
# and the opening is opened at once, and then refused.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str, *, follow_links: bool = True) -> BinaryIO:
    """Opens a file for reading bytes. Raises InvalidInput for a pipe, a device, a socket or a
    folder, or a link to one; OSError if it cannot be opened."""
    # Checked before opening, because opening a device may have side effects.
    refuse_irregular(path)
    flags = _FLAGS if follow_links else _FLAGS | getattr(os, "O_NOFOLLOW", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    try:
        _refuse(path, os.fstat(file.fileno()).st_mode)
    except BaseException:
        file.close()
        raise
    return file


def refuse_irregular(path: str) -> None:
    """Raises InvalidInput unless the path leads to a regular file."""
    _refuse(path, os.stat(path).st_mode)


def _refuse(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for is_kind, name in _FILE_TYPES if is_kind(mode)), "no regular file")
    raise InvalidInput(
        f"{path} is {kind}, not a file.",
        hint="Name a regular file, or pipe the text in and name `-`.",
    )


# Parsing a larger file would delay every operation for seconds.
BYTES_MAX = 20_000_000
# An editor that writes in place empties the file first and fills it within a few milliseconds.
PAUSE_S = 0.05
_PAUSES = 4
# A file that shrank to less than this fraction and ends in the middle of a line was truncated.
_CUT_SHARE = 10


class FileRead(NamedTuple):
    """A file that was read. `text` is None if it is missing, empty, or was renamed because it is
    damaged; `data` are the bytes on disk afterwards, None if there is no file."""

    path: str
    text: str | None
    data: bytes | None
    notes: tuple[str, ...] = ()

    def moved(self) -> bool:
        """Whether the file has changed since it was read."""
        return _read(self.path) != self.data


def read_settled(path: str, folder: str, before: str, now: datetime) -> FileRead:
    """Reads a file that may just be saved. `before` is its last intact text."""
    target = real_path(path, within=folder)
    data = _read(target)
    for _ in range(_PAUSES):
        if not before or _is_intact(data, before):
            break
        time.sleep(PAUSE_S)
        last, data = data, _read(target)
        if data == last:
            break
    if data is None or not data.strip():
        lost = "missing" if data is None else "empty"
        notes = (f"{path} was {lost}; it was restored.",) if before else ()
        return FileRead(target, None, data, notes)
    text, problem = _decoded(data)
    if text is not None and not _is_truncated(data, before):
        return FileRead(target, text, data)
    kept = _rename_damaged(target, now)
    problem = problem or "ends in the middle of a line, far shorter than it was"
    restored = f"{path} {problem}. It was kept as {kept}, and {os.path.basename(path)} restored."
    return FileRead(target, None, None, (restored,))


def holds(path: str, text: str | None) -> bool:
    """Whether a file has this text; None means that there is no file."""
    return _read(path) == (None if text is None else text.encode())


def _read(path: str) -> bytes | None:
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > BYTES_MAX:
                raise InvalidInput(
                    f"{path} has {size:,} bytes; at most {BYTES_MAX:,} can be kept in step.",
                    hint="Move what is not memory into files of its own, in the folder `files`.",
                )
            return file.read()
    except FileNotFoundError:
        return None
    except PermissionError:
        raise StoreReadOnly(f"{path} cannot be read.", hint="Check who owns it.") from None
    except OSError as error:
        hint = "Move it away; it will be written anew."
        raise StoreError(f"{path} cannot be read: {error.strerror}.", hint=hint) from None


def _is_intact(data: bytes | None, before: str) -> bool:
    return (
        data is not None
        and bool(data.strip())
        and _decoded(data)[0] is not None
        and not _is_truncated(data, before)
    )


def _is_truncated(data: bytes, before: str) -> bool:
    return len(data) * _CUT_SHARE < len(before.encode()) and not data.endswith(b"\n")


def _decoded(data: bytes) -> tuple[str | None, str]:
    try:
        return data.decode(), ""
    except UnicodeDecodeError as error:
        return None, f"is not UTF-8 text: byte {error.start} cannot be read"


def _rename_damaged(path: str, now: datetime) -> str:
    """Renames the file, so that an editor which still has it open loses nothing."""
    kept = free_name(path, now)
    os.rename(path, kept)
    return os.path.basename(kept)


def free_name(path: str, now: datetime) -> str:
    """A free name beside a file for a copy of it."""
    stem = f"{path}.kept-{now:%Y%m%dT%H%M%SZ}"
    kept, number = stem, 1
    while os.path.lexists(kept):
        kept, number = f"{stem}-{number}", number + 1
    return kept
