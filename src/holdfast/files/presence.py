"""Whether a hub is kept in files for people. It knows nothing of what stands in them."""

from __future__ import annotations

import os

# The folder of `files.attachments`, which is not imported for its name alone.
ATTACHMENTS = "attachments"


def is_kept_in_files(folder: str) -> bool:
    """Whether the hub has a folder for people. One with nothing but attachments is none: whoever
    pushed a file did not ask for memories as files, which every operation would pay for."""
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as found:
        return [entry.name for _, entry in zip(range(2), found, strict=False)] != [ATTACHMENTS]
