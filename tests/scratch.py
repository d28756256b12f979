"""Where tests keep their files: in memory, where there is room for them.

Most tests write to a store that waits until the disk has what it was given: 5 ms on a disk that is
slow at it, and nothing in memory. What a test says of a store that is killed holds there as well,
since files in memory outlive the process. Whoever wants another place sets TMPDIR.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_MEMORY = "/dev/shm"
# A run has been seen to need 0.4 GB at a time; the rest is for those who run beside it.
_FREE_MIN_BYTES = 4 * 2**30
# The path of a socket may have 103 characters on macOS and 107 on Linux; its name and that of its
# folder take 30.
_PATH_CHARS_MAX = 70


def keep_files_in_memory() -> None:
    """For this process and those that it starts; called before the first file is made."""
    if "TMPDIR" not in os.environ and _has_room(_MEMORY):
        os.environ["TMPDIR"] = _MEMORY
        tempfile.tempdir = None  # It was decided before, and is decided anew.


def _has_room(folder: str) -> bool:
    try:
        there = os.statvfs(folder)
        left = Path("/proc/meminfo").read_text(encoding="ascii").split("MemAvailable:")[1]
    except (AttributeError, IndexError, OSError):
        return False  # Not on Linux.
    # Servers' programs may have to be copied there and run.
    if there.f_flag & os.ST_NOEXEC or not os.access(folder, os.W_OK | os.X_OK):
        return False
    return min(there.f_bavail * there.f_frsize, int(left.split()[0]) * 1024) >= _FREE_MIN_BYTES


def folder_for_sockets(front: str) -> Path:
    """A new folder with a path that is short enough for that of a socket in it."""
    usual = tempfile.gettempdir()
    chosen = usual if len(usual) <= _PATH_CHARS_MAX else "/tmp"
    return Path(tempfile.mkdtemp(prefix=front, dir=chosen))
