"""Which folders a setup has made, so that a teardown removes those and no others.

The record is `clients.json` in Holdfast's home. A folder that is not in it is left alone, also
where it is empty: a client may need it, or a person may have made it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from holdfast.errors import HoldfastError
from holdfast.files.atomic import write_atomic

_RECORD = "clients.json"


@contextmanager
def recorded(home: str, paths: Iterable[str]) -> Iterator[None]:
    """Records the folders of these files that are missing now and there when the block ends. The
    caller holds the lock."""
    missing = {folder for path in paths for folder in _above(path) if not os.path.isdir(folder)}
    try:
        yield
    finally:
        made = {folder for folder in missing if os.path.isdir(folder)}
        if made:
            _save(home, _made(home) | made)


def remove_made(home: str, paths: Iterable[str]) -> None:
    """Removes the folders of these files that a setup made and that are empty now. The caller
    holds the lock."""
    made = _made(home)
    # A folder whose file is still there is asked about again at the next teardown.
    gone = {folder for path in paths if not os.path.lexists(path) for folder in _above(path)} & made
    for folder in sorted(gone, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)
    kept = {folder for folder in gone if _holds_more(folder)}
    if gone - kept:
        _save(home, made - (gone - kept))


def _holds_more(folder: str) -> bool:
    """Whether a folder has more in it than backups, such as files of ours for another client."""
    try:
        return any(not name.endswith(".bak") for name in os.listdir(folder))
    except OSError:
        return False


def _above(path: str) -> Iterator[str]:
    folder = os.path.dirname(os.path.abspath(path))
    while folder != os.path.dirname(folder):
        yield folder
        folder = os.path.dirname(folder)


def _made(home: str) -> set[str]:
    try:
        with open(os.path.join(home, _RECORD), encoding="utf-8") as file:
            folders = json.load(file)["folders"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {one for one in folders if isinstance(one, str)} if isinstance(folders, list) else set()


def _save(home: str, folders: set[str]) -> None:
    path = os.path.join(home, _RECORD)
    # Without a record folders stay, which harms nobody.
    with suppress(HoldfastError, OSError):
        if folders:
            write_atomic(path, json.dumps({"folders": sorted(folders)}, indent=2) + "\n")
        else:
            os.unlink(path)
