"""Moves, backs up and restores whole stores. `engine/transfer/copy.py` copies the contents; this
module chooses the file or server, and leaves nothing behind after a failure.

Copies that a process left behind because it died are found and removed. Those of a restore are made
under a lock, so that one in progress differs from an interrupted one; others are known by their
age.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.clock import SystemClock, TimeIds
from holdfast.errors import (
    HoldfastError,
    InvalidSetting,
    NotFound,
    StoreBusy,
    StoreDamaged,
    StoreError,
)
from holdfast.system.atomic_file import locked
from holdfast.wiring import DATABASE, build, from_anywhere, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from holdfast.engine.transfer.copy import Moved, Report
    from holdfast.settings import Settings
    from holdfast.store.base import Store
    from holdfast.store.values import Progress, Rescued


# What comes after a store's name, and before a process, while a backup is brought back.
_RESTORING = ".restoring-"


def move_store(source: str, target: str, *, hub: str = "", report: Report | None = None) -> Moved:
    """Everything from one store into another, or one hub, both named by their URLs; the first is
    only read."""
    from holdfast.engine.transfer.copy import move

    if from_anywhere(source) == from_anywhere(target):
        raise InvalidSetting("A store cannot be moved into itself.", hint="Name another target.")
    clock = SystemClock()
    old = _open_source(source)
    try:
        new = open_store(target)
        try:
            run = TimeIds(clock).next("run")
            return move(old, new, clock=clock, run=run, report=report, only=hub)
        finally:
            new.close()
    finally:
        old.close()


def bring_attachments(source: str, home: str, settings: Settings) -> tuple[int, int]:
    """Copies the files of the memories in a store into this home, from the home that its file is
    in; how many there are here now, and how many are not. Before a move, so that one that is broken
    off is begun again with them."""
    from holdfast.files import hub_path
    from holdfast.files.attachments import Attachments
    from holdfast.files.attachments_tar import bring

    path = source.removeprefix("sqlite:")
    other = home if path == source else os.path.dirname(os.path.abspath(path))
    old = _open_source(source)
    there, missing = 0, 0
    try:
        core = build(home, settings, store=old)
        with old.read() as reader:
            hubs = reader.hubs()
        for hub in hubs:
            place = Attachments(core, hub.id, hub_path(home, hub.name))
            found = bring(place, Attachments(core, hub.id, hub_path(other, hub.name)))
            there, missing = there + found[0], missing + found[1]
    finally:
        old.close()
    return there, missing


def _open_source(source: str) -> Store:
    """A store that is only read, where it can be opened so."""
    if source.startswith("sqlite:"):
        from holdfast.store.sqlite import open_store as open_sqlite

        return open_sqlite(source, read_only=True)
    return open_store(source)


def check_backup(backup: str) -> None:
    """Refuses a file that the embedded store could not be restored from."""
    from holdfast.store.sqlite.files import verify

    if not os.path.isfile(backup):
        raise NotFound(f"There is no backup at {backup}.", hint="Check the name.")
    verify(backup, derived=True)


def restore_backup(
    path: str,
    backup: str,
    progress: Progress | None = None,
    *,
    home: str = "",
    notes: list[str] | None = None,
) -> str:
    """Makes the embedded store at `path` what the backup holds, and returns where the copy of
    what was there before is ('' if nothing was). `home` is where its hubs have their files. What
    becomes of keys, invitations and roles that had ended is added to `notes`."""
    with restore_lock(path):
        # Left by a process that died: the lock says that no other is at work.
        _clear_left(f"{path}{_RESTORING}")
        return _restore_backup(path, backup, progress, home, [] if notes is None else notes)


def rescue_file(path: str) -> Rescued:
    """Saves what can be read of an embedded store that cannot be opened, such as a file that lost
    its end. Raises StoreDamaged, and leaves the file as it is, if nothing can be saved."""
    from holdfast.store.sqlite.files import rescue_unopened

    return rescue_unopened(path)


def _restore_backup(
    path: str, backup: str, progress: Progress | None, home: str, notes: list[str]
) -> str:
    from holdfast.store.sqlite.files import Aside, copy_in, remove

    staged = f"{path}{_RESTORING}{os.getpid()}"
    try:
        # A copy that records the files in the home: the backup itself is not changed.
        copy_in(staged, backup)
        with closing(Aside(path)) as aside:
            # A store that is too damaged to be read was moved away, and knows of no files any more;
            # nor does one with rows that cannot be read. The backup comes back all the same.
            known = False
            if aside.kept and os.path.exists(path):
                with suppress(StoreDamaged):
                    known = _carry(path, staged, home, notes)
            if aside.kept and not known:
                notes += _unknown_access(staged)
            copy_in(path, staged, progress, first=aside.renew)
            return aside.kept
    finally:
        remove(staged)


def _unknown_access(staged: str) -> list[str]:
    from holdfast.engine.people.restored import unknown_access
    from holdfast.store.sqlite import open_store as open_sqlite

    with closing(open_sqlite(f"sqlite:{staged}")) as new:
        return unknown_access(new)


def _carry(before: str, staged: str, home: str, notes: list[str]) -> bool:
    """Copies the records about files in the home from one embedded store to another, and ends the
    access that had ended in the first; sentences on that are added to `notes`. Returns whether the
    first could be read."""
    from holdfast.engine.people.restored import keep_ended
    from holdfast.files.restore import carry
    from holdfast.store.sqlite import open_store as open_sqlite

    with (
        closing(open_sqlite(f"sqlite:{before}")) as old,
        closing(open_sqlite(f"sqlite:{staged}")) as new,
    ):
        # First: it does not depend on the records of files, which may be damaged.
        notes += keep_ended(old, new)
        with suppress(StoreDamaged):
            carry(old, new, SystemClock().now(), home)
    return True


def copy_to_file(store: Store, path: str, progress: Progress | None = None) -> None:
    """One moment of a store that is no file, as a file of the embedded store: complete and checked,
    or not there at all."""
    from holdfast.engine.transfer.copy import move
    from holdfast.store.sqlite import open_store as open_sqlite
    from holdfast.store.sqlite.files import refuse_place, remove

    refuse_place(path)
    _clear_left(f"{path}.filling-", older_than_s=ABANDONED_S)
    partial = f"{path}.filling-{os.getpid()}"
    # A process of the same id may have left one, which holds what is gone since.
    remove(partial)
    clock = SystemClock()
    try:
        target = open_sqlite(f"sqlite:{partial}")
        try:
            move(store, target, clock=clock, run=TimeIds(clock).next("run"), report=_rows(progress))
            target.backup(path)
        finally:
            target.close()
    finally:
        remove(partial)


def restore_into(
    store: Store,
    home: str,
    backup: str,
    progress: Progress | None = None,
    *,
    notes: list[str] | None = None,
) -> str:
    """Makes a store that is no file what the backup holds, and returns where the copy of what was
    there before is ('' if nothing was). Others see hubs come back one after the other; broken
    off, it is begun again with the same backup. `notes` is as for `restore_backup`."""
    with restore_lock(os.path.join(home, DATABASE)):
        # Left by a process that died: the lock says that no other is at work.
        _clear_left(os.path.join(home, f"{DATABASE}.before-restore"), ".filling-")
        return _restore_into(store, home, backup, progress, [] if notes is None else notes)


def _restore_into(
    store: Store, home: str, backup: str, progress: Progress | None, notes: list[str]
) -> str:
    from holdfast.engine.people.restored import keep_ended
    from holdfast.engine.transfer.copy import empty, move
    from holdfast.files.restore import carry
    from holdfast.store.sqlite import open_store as open_sqlite
    from holdfast.store.sqlite.files import copy_in, free_name, remove

    kept = ""
    with store.read() as reader:
        something = bool(reader.hubs())
    if something:
        kept = free_name(os.path.join(home, f"{DATABASE}.before-restore"))
        copy_to_file(store, kept)
    begun = _left(os.path.join(home, DATABASE + _RESTORING))
    staged = free_name(os.path.join(home, f"{DATABASE}{_RESTORING}{os.getpid()}"))
    clock = SystemClock()
    replacing = False
    try:
        # A copy, which may be brought up to date: the backup is not ours to change.
        copy_in(staged, backup)
        for one in begun:
            # Records of hubs that no longer exist, as the restore was interrupted.
            with suppress(StoreError):
                _carry(one, staged, home, notes)
        with closing(open_sqlite(f"sqlite:{staged}")) as source:
            # An interrupted restore left a store without members and keys, or with half of them.
            if not begun:
                notes += keep_ended(store, source)
            carry(store, source, clock.now(), home)
            for one in begun:
                remove(one)
            replacing = True
            empty(store)
            move(source, store, clock=clock, run=TimeIds(clock).next("run"), report=_rows(progress))
    except BaseException:
        # From here on only this copy knows of the files what the store knew; the next run asks it.
        if not replacing:
            remove(staged)
        raise
    remove(staged)
    return kept


def _left(start: str) -> list[str]:
    """Stores with paths that begin so, without what SQLite keeps beside them."""
    folder, name = os.path.split(start)
    found = [one for one in os.listdir(folder) if one.startswith(name)]
    return [os.path.join(folder, one) for one in sorted(found) if not one.endswith(BESIDE)]


def _clear_left(start: str, then: str = "", *, older_than_s: float = 0.0) -> None:
    """Removes copies that a process left which died before they were done."""
    import time

    folder, name = os.path.split(os.path.abspath(start))
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(name) and then in entry.name:
                with suppress(FileNotFoundError):
                    if time.time() - entry.stat().st_mtime >= older_than_s:
                        os.unlink(entry.path)


def _rows(progress: Progress | None) -> Report | None:
    if progress is None:
        return None
    return lambda what, done, total: progress(done, total) if total else None


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
    """Held during the restore of a backup into the store at `place`, or beside it."""
    return locked(os.path.join(os.path.dirname(os.path.abspath(place)), RESTORE_LOCK))


def find_leftovers(store: Store, place: str, home: str) -> Leftovers:
    """The leftovers beside the store's file `place` and in the home; nothing of a restore that is
    under way."""
    with suppress(StoreBusy), _restore_lock_for(place):
        found = _found(store, place)
        return found._replace(abandoned=[*found.abandoned, *_unpacked(home)])
    return Leftovers([], [])


def remove_leftovers(store: Store, place: str, home: str) -> list[str]:
    """Removes leftovers of interrupted copies that can go, and returns them."""
    with suppress(StoreBusy), _restore_lock_for(place):
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


def _restore_lock_for(place: str) -> AbstractContextManager[None]:
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
