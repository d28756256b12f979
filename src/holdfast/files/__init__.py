"""Memory as plain files that people can read and edit, and their sync with the store. This module
knows where the files of a hub are."""

from __future__ import annotations

import os

HUBS = "hubs"
# The folder of `files.attachments`, which is not imported for its name alone.
ATTACHMENTS = "attachments"


def hub_path(home: str, hub_name: str) -> str:
    """The folder of a hub's files. A hub's name is checked to be safe as a folder's name."""
    return os.path.join(home, HUBS, hub_name)


def rename_hub_folder(home: str, old: str, new: str) -> None:
    """Moves the files of a renamed hub; existing files under the new name stay."""
    from holdfast.system.atomic_file import file_errors

    source, target = hub_path(home, old), hub_path(home, new)
    if os.path.isdir(source) and not os.path.lexists(target):
        with file_errors(target):
            os.rename(source, target)


def is_kept_in_files(home: str, hub_name: str) -> bool:
    """Whether the hub's memories are mirrored in files. A folder with only attachments does not
    count: syncing files would cost time in every operation."""
    folder = hub_path(home, hub_name)
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as found:
        return [entry.name for _, entry in zip(range(2), found, strict=False)] != [ATTACHMENTS]
