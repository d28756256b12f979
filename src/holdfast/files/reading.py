"""Reading a file that a person may be saving this very moment: when it can be trusted, and what is
done with one that cannot. It knows bytes and sizes, not what is in the file.
"""

from __future__ import annotations

import errno
import os
import time
from datetime import datetime
from typing import NamedTuple

from holdfast.errors import InvalidInput, StoreError, StoreReadOnly
from holdfast.files.atomic import real_path
from holdfast.files.regular import open_regular

# Some thousand times what anybody reads; parsing it would hold up every operation for seconds.
BYTES_MAX = 20_000_000
# An editor that writes in place empties the file first and fills it within a few milliseconds.
PAUSE_S = 0.05
_PAUSES = 4
# A file that shrank to less than this part of itself and ends in the middle of a line was cut.
_CUT_SHARE = 10


class FileRead(NamedTuple):
    """What was read. `text` is None where there is nothing to trust: missing, empty, or kept
    aside; `data` is what the file held on disk afterwards, None where there was no file."""

    path: str
    text: str | None
    data: bytes | None
    notes: tuple[str, ...] = ()

    def moved(self) -> bool:
        """Whether the file is not what was read any more."""
        return _read(self.path) != self.data

    @staticmethod
    def encoded(text: str) -> bytes:
        return text.encode()


def read_settled(path: str, folder: str, before: str, now: datetime) -> FileRead:
    """The file's text. `before` is what it held when all was well."""
    target = real_path(path, within=folder)
    data = _read(target)
    for _ in range(_PAUSES):
        if not before or _sound(data, before):
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
    if text is not None and not _cut(data, before):
        return FileRead(target, text, data)
    kept = _kept_aside(target, now)
    problem = problem or "ends in the middle of a line, far shorter than it was"
    restored = f"{path} {problem}. It was kept as {kept}, and {os.path.basename(path)} restored."
    return FileRead(target, None, None, (restored,))


def holds(path: str, text: str | None) -> bool:
    """Whether a file holds this text; None is for a file that is not there."""
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


def _sound(data: bytes | None, before: str) -> bool:
    return (
        data is not None
        and bool(data.strip())
        and _decoded(data)[0] is not None
        and not _cut(data, before)
    )


def _cut(data: bytes, before: str) -> bool:
    return len(data) * _CUT_SHARE < len(before.encode()) and not data.endswith(b"\n")


def _decoded(data: bytes) -> tuple[str | None, str]:
    try:
        return data.decode(), ""
    except UnicodeDecodeError as error:
        return None, f"is not UTF-8 text: byte {error.start} cannot be read"


def _kept_aside(path: str, now: datetime) -> str:
    """Renames the file, so that an editor which still has it open loses nothing either."""
    kept = free_name(path, now)
    os.rename(path, kept)
    return os.path.basename(kept)


def free_name(path: str, now: datetime) -> str:
    """A name beside the file for something that is kept of it."""
    stem = f"{path}.kept-{now:%Y%m%dT%H%M%SZ}"
    kept, number = stem, 1
    while os.path.lexists(kept):
        kept, number = f"{stem}-{number}", number + 1
    return kept
