"""Opens regular files only.

Opening a named pipe blocks until somebody writes to it, and a device such as /dev/zero has no end.
"""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from holdfast.errors import InvalidInput

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISDIR, "a folder"),
)
# None of them exists on every system. O_NONBLOCK: a pipe that takes the file's place between the
# check and the opening is opened at once, and then refused.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_regular(path: str, *, follow_links: bool = True) -> BinaryIO:
    """The file, open for reading bytes. InvalidInput where it is a pipe, a device, a socket or a
    folder, or a link to one; OSError where it cannot be opened."""
    # Before it is opened: opening a device may do something already.
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
    """InvalidInput where the path leads to something other than a regular file."""
    _refuse(path, os.stat(path).st_mode)


def _refuse(path: str, mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "no regular file")
    raise InvalidInput(
        f"{path} is {kind}, not a file.",
        hint="Name a regular file, or pipe the text in and name `-`.",
    )
