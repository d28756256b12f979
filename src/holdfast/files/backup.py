"""The one copy of MEMORY.md that is kept beside it, as it was before the last consolidation. The
store has every version of every memory; this is for whoever would rather look at a file. It goes
when something is purged, and when the hub does.
"""

from __future__ import annotations

import os
from contextlib import suppress

from holdfast.files.atomic import real_path, told, write_atomic

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
