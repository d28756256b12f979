"""Copies of a store that a process left behind because it died while it made them.

Those of a restore are made under a lock, so that one which is under way is told from one that was
broken off. Others are known by their age.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.errors import HoldfastError, StoreBusy
from holdfast.files.atomic import locked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from holdfast.store.base import Store

# The lock that every restore into a store of this folder holds.
RESTORE_LOCK = "restore"
# A copy that is being made is written all the time; one this old was left by a process that died.
ABANDONED_S = 3600.0
# Files of memories that are unpacked into the home. Nothing is written there any more while a large
# store is copied afterwards, so they are given more time.
_UNPACKED_S = 24 * 3600.0
# SQLite's own files beside a database.
BESIDE = ("-wal", "-shm", "-journal")

_BESIDE = "|".join(BESIDE)
_OF_A_RESTORE = re.compile(
    rf"\.(?:restoring-|before-restore(?:-\d+)?\.(?:partial|filling)-)[\d-]+(?:{_BESIDE})?"
)
_OTHER = re.compile(rf"(?:\.[\w-]+)?\.(?:partial|filling|rescue)-[\d-]+(?:{_BESIDE})?")
_UNPACKED = re.compile(r"\.bringing-back-\d+-[0-9a-f]+")


class Leftovers(NamedTuple):
    """Files and folders that can go, and copies that a restore into a database still needs: it
    emptied the database and has not brought everything back."""

    abandoned: list[str]
    needed: list[str]


def restore_lock(place: str) -> AbstractContextManager[None]:
    """Held during a restore into the store at `place`, or beside it."""
    return locked(os.path.join(os.path.dirname(os.path.abspath(place)), RESTORE_LOCK))


def find_leftovers(store: Store, place: str, home: str) -> Leftovers:
    """What was left beside the store's file `place` and in the home; nothing of a restore that is
    under way."""
    with suppress(StoreBusy), _alone(place):
        found = _found(store, place)
        return found._replace(abandoned=[*found.abandoned, *_unpacked(home)])
    return Leftovers([], [])


def remove_leftovers(store: Store, place: str, home: str) -> list[str]:
    """Removes what can go, and returns it."""
    with suppress(StoreBusy), _alone(place):
        files, folders = _found(store, place).abandoned, _unpacked(home)
        for path in files:
            with suppress(FileNotFoundError):
                os.unlink(path)
        for path in folders:
            shutil.rmtree(path, ignore_errors=True)
        return [*files, *folders]
    return []


def _unpacked(home: str) -> list[str]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(home) as entries:
        return [
            entry.path
            for entry in entries
            if _UNPACKED.fullmatch(entry.name)
            and entry.is_dir(follow_symlinks=False)
            and time.time() - entry.stat(follow_symlinks=False).st_mtime >= _UNPACKED_S
        ]
    return []


def _alone(place: str) -> AbstractContextManager[None]:
    from contextlib import nullcontext

    if not any(_candidates(place)):
        return nullcontext()
    folder = os.path.dirname(os.path.abspath(place))
    if not os.access(folder, os.W_OK):
        # Nobody restores into a folder that cannot be written.
        return nullcontext()
    return locked(os.path.join(folder, RESTORE_LOCK), wait_s=0)


def _candidates(place: str) -> Iterator[os.DirEntry[str]]:
    folder, name = os.path.split(os.path.abspath(place))
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            rest = entry.name.removeprefix(name)
            if rest != entry.name and (_OF_A_RESTORE.fullmatch(rest) or _OTHER.fullmatch(rest)):
                yield entry


def _found(store: Store, place: str) -> Leftovers:
    name = os.path.basename(place)
    abandoned: list[str] = []
    needed: list[str] = []
    for entry in sorted(_candidates(place), key=lambda entry: entry.name):
        rest = entry.name.removeprefix(name)
        with suppress(FileNotFoundError):
            status = entry.stat(follow_symlinks=False)
            if not entry.is_file(follow_symlinks=False):
                continue
            if _OF_A_RESTORE.fullmatch(rest):
                of = entry.path
                for suffix in BESIDE:
                    of = of.removesuffix(suffix)
                (needed if _is_needed(store, of) else abandoned).append(entry.path)
            elif time.time() - status.st_mtime >= ABANDONED_S:
                abandoned.append(entry.path)
    return Leftovers(abandoned, [path for path in needed if not path.endswith(BESIDE)])


def _is_needed(store: Store, staged: str) -> bool:
    """Whether a restore into this store emptied it and has not brought back all hubs of its copy.
    A store that is a file is replaced in one transaction."""
    if hasattr(store, "path") or ".restoring-" not in staged:
        return False
    from holdfast.store.sqlite import open_store

    try:
        with closing(open_store(f"sqlite:{staged}", read_only=True)) as copy, copy.read() as reader:
            hubs = {hub.id for hub in reader.hubs()}
    except HoldfastError:
        # Broken off before the copy was whole, and so before anything was emptied.
        return False
    with store.read() as reader:
        return not hubs <= {hub.id for hub in reader.hubs() if hub.state == "active"}
