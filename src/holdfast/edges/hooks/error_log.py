"""The log of what went wrong in hooks: a line each, newest last, for `holdfast doctor`. Where the
home cannot be written, the line goes to the folder for temporary files."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import NamedTuple

from holdfast.edges.hooks.front import FOLDER
from holdfast.errors import HoldfastError
from holdfast.files.atomic import make_folder

FILE_NAME = "faults.log"
# Some hundred lines; older ones have been seen, or never will be.
_BYTES_MAX = 64_000
_LINE_CHARS_MAX = 400
# What happened longer ago is history.
SHOWN_DAYS = 7


class Fault(NamedTuple):
    """When an event failed, which one, and why."""

    at: str
    event: str
    reason: str


def note(home: str, event: str, error: BaseException | str) -> None:
    """Adds a line; raises nothing."""
    text = str(error) or type(error).__name__
    if isinstance(error, BaseException) and not type(error).__module__.startswith("holdfast"):
        text = f"{type(error).__name__}: {text}"
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    reason = " ".join(text.split())[:_LINE_CHARS_MAX]
    line = f"{at}\t{' '.join(event.split())[:40] or 'hook'}\t{reason}\n".encode(errors="replace")
    for path in _paths(home):
        with suppress(OSError, HoldfastError):
            _append(path, line)
            return


def _append(path: str, line: bytes) -> None:
    make_folder(os.path.dirname(path))
    with suppress(FileNotFoundError):
        if os.stat(path).st_size > _BYTES_MAX:
            os.replace(path, f"{path}.1")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(path, flags, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def recent(home: str) -> list[Fault]:
    """What went wrong in the last days, oldest first."""
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - SHOWN_DAYS * 86_400))
    found = []
    for path in _paths(home):
        for file in (f"{path}.1", path):
            with suppress(OSError), open(file, encoding="utf-8", errors="replace") as opened:
                rows = [line.rstrip("\n").split("\t", 2) for line in opened]
                found += [Fault(*row) for row in rows if len(row) == 3 and row[0] >= since]
    return sorted(found)


def _paths(home: str) -> list[str]:
    from tempfile import gettempdir  # it takes 5 ms to load, which only a fault pays

    who = os.getuid() if hasattr(os, "getuid") else 0
    elsewhere = os.path.join(gettempdir(), f"holdfast-{who}")
    return [os.path.join(home, FOLDER, FILE_NAME), os.path.join(elsewhere, FILE_NAME)]
