"""Watching the folders of hubs, and folders that are pushed: that a file was changed, said the
moment it happens. What to do about it is the caller's business.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast.errors import StoreError, install_hint
from holdfast.files import HUBS
from holdfast.files.folders.documents import FOLDER
from holdfast.system.atomic_file import make_folder

# An editor's save is several events within a few milliseconds; this gathers them into one and is
# still at once to a person.
DEBOUNCE_MS = 200
# MEMORY.md, INBOX.md, the pages of categories and the journals; not the hidden files beside them,
# nor those that editors keep.
_MIRRORED = re.compile(r"(?:MEMORY|INBOX)\.md|[a-z0-9]+(?:-[a-z0-9]+)*\.md")


def watch_hubs(home: str, *, stop: Any = None) -> Iterator[set[str]]:
    """The names of the hubs whose mirrored files changed, each time some did; until `stop` (an
    event) is set or the process is interrupted."""
    watch = _need_watch()
    root = os.path.realpath(os.path.join(home, HUBS))
    make_folder(root)
    found = watch(
        root,
        watch_filter=lambda _, path: hub_of(root, path) is not None,
        debounce=DEBOUNCE_MS,
        stop_event=stop,
    )
    try:
        for changes in found:
            yield {name for _, path in changes if (name := hub_of(root, path)) is not None}
    except KeyboardInterrupt:
        # That is how a person ends it.
        return


def watch_paths(paths: Sequence[str], *, stop: Any = None) -> Iterator[None]:
    """Says each time that something in these folders, or one of these files, has changed; until
    `stop` (an event) is set or the process is interrupted."""
    watch = _need_watch()
    real = [os.path.realpath(path) for path in paths]
    folders = [path for path in real if os.path.isdir(path)]
    files = {path for path in real if not os.path.isdir(path)}
    # Editors put a new file in the place of the old one, so it is the folder that is watched.
    roots = dict.fromkeys([*folders, *(os.path.dirname(path) for path in files)])

    def meant(_: Any, path: str) -> bool:
        return path in files or any(path.startswith(folder + os.sep) for folder in folders)

    try:
        for _ in watch(*roots, watch_filter=meant, debounce=DEBOUNCE_MS, stop_event=stop):
            yield
    except KeyboardInterrupt:
        # That is how a person ends it.
        return


def _need_watch() -> Any:
    try:
        from watchfiles import watch
    except ImportError as error:
        raise StoreError(
            f"Watching files needs the package watchfiles, which cannot be imported ({error}).",
            hint=install_hint(),
        ) from error
    return watch


def hub_of(root: str, path: str) -> str | None:
    """The hub that a mirrored file or a document belongs to; None for any other file."""
    parts = os.path.relpath(path, root).split(os.sep)
    if len(parts) == 2 and _MIRRORED.fullmatch(parts[1]):
        return parts[0]
    if len(parts) > 2 and parts[0] != os.pardir and parts[1] == FOLDER:
        return parts[0]
    return None
