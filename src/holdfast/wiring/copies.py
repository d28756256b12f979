"""Moves, backs up and restores whole stores. `engine/transfer/copy.py` copies the contents; this
module chooses the file or server, and leaves nothing behind after a failure."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from holdfast.domain.clock import SystemClock
from holdfast.domain.ids import TimeIds
from holdfast.errors import InvalidSetting, NotFound, StoreDamaged, StoreError
from holdfast.wiring import DATABASE, build, open_store
from holdfast.wiring.leftovers import ABANDONED_S, BESIDE, restore_lock
from holdfast.wiring.urls import from_anywhere

if TYPE_CHECKING:
    from holdfast.engine.transfer.copy import Moved, Told
    from holdfast.settings import Settings
    from holdfast.store.base import Store
    from holdfast.store.values import Progress

# What comes after a store's name, and before a process, while a backup is brought back.
_RESTORING = ".restoring-"


def move_store(source: str, target: str, *, hub: str = "", told: Told | None = None) -> Moved:
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
            return move(old, new, clock=clock, run=run, told=told, only=hub)
        finally:
            new.close()
    finally:
        old.close()


def bring_attachments(source: str, home: str, settings: Settings) -> tuple[int, int]:
    """Copies the files of the memories in a store into this home, from the home that its file is
    in; how many there are here now, and how many are not. Before a move, so that one that is broken
    off is begun again with them."""
    from holdfast.files.atomic import hub_folder
    from holdfast.files.attachments.archive import bring
    from holdfast.files.attachments.storage import Attachments

    path = source.removeprefix("sqlite:")
    other = home if path == source else os.path.dirname(os.path.abspath(path))
    old = _open_source(source)
    there, missing = 0, 0
    try:
        core = build(home, settings, store=old)
        with old.read() as reader:
            hubs = reader.hubs()
        for hub in hubs:
            place = Attachments(core, hub.id, hub_folder(home, hub.name))
            found = bring(place, Attachments(core, hub.id, hub_folder(other, hub.name)))
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
    path: str, backup: str, progress: Progress | None = None, *, home: str = ""
) -> str:
    """Makes the embedded store at `path` what the backup holds, and returns where the copy of
    what was there before is ('' where nothing was). `home` is where its hubs have their files."""
    with restore_lock(path):
        # Whoever left one died in the middle: nobody else is at it now.
        _clear_left(f"{path}{_RESTORING}")
        return _restore_backup(path, backup, progress, home)


def _restore_backup(path: str, backup: str, progress: Progress | None, home: str) -> str:
    from holdfast.store.sqlite.files import Aside, copy_in, remove

    staged = f"{path}{_RESTORING}{os.getpid()}"
    try:
        # A copy, which is told of the files in the home: the backup is not ours to change.
        copy_in(staged, backup)
        with closing(Aside(path)) as aside:
            # A store that is too damaged to be read was moved away, and knows of no files any more;
            # nor does one with rows that cannot be read. The backup comes back all the same.
            if aside.kept and os.path.exists(path):
                with suppress(StoreDamaged):
                    _carry(path, staged, home)
            copy_in(path, staged, progress, first=aside.renew)
            return aside.kept
    finally:
        remove(staged)


def _carry(before: str, staged: str, home: str) -> None:
    """Tells one store of the embedded kind what another knows of the files in the home."""
    from holdfast.files.restored import carry
    from holdfast.store.sqlite import open_store as open_sqlite

    with (
        closing(open_sqlite(f"sqlite:{before}")) as old,
        closing(open_sqlite(f"sqlite:{staged}")) as new,
    ):
        carry(old, new, SystemClock().now(), home)


def copy_to_file(store: Store, path: str, progress: Progress | None = None) -> None:
    """One moment of a store that is no file, as a file of the embedded store: complete and checked,
    or not there at all."""
    from holdfast.engine.transfer.copy import move
    from holdfast.store.sqlite import open_store as open_sqlite
    from holdfast.store.sqlite.files import refuse_place, remove

    refuse_place(path)
    _clear_left(f"{path}.filling-", older_than_s=ABANDONED_S)
    partial = f"{path}.filling-{os.getpid()}"
    # Left by one who had our number, it would hold what is gone since.
    remove(partial)
    clock = SystemClock()
    try:
        target = open_sqlite(f"sqlite:{partial}")
        try:
            move(store, target, clock=clock, run=TimeIds(clock).next("run"), told=_rows(progress))
            target.backup(path)
        finally:
            target.close()
    finally:
        remove(partial)


def restore_into(store: Store, home: str, backup: str, progress: Progress | None = None) -> str:
    """Makes a store that is no file what the backup holds, and returns where the copy of what was
    there before is ('' where nothing was). Others see hubs come back one after the other; broken
    off, it is begun again with the same backup."""
    with restore_lock(os.path.join(home, DATABASE)):
        # Whoever left one died in the middle: nobody else is at it now.
        _clear_left(os.path.join(home, f"{DATABASE}.before-restore"), ".filling-")
        return _restore_into(store, home, backup, progress)


def _restore_into(store: Store, home: str, backup: str, progress: Progress | None) -> str:
    from holdfast.engine.transfer.copy import empty, move
    from holdfast.files.restored import carry
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
            # What it was told of hubs that are not here any more, as it was broken off.
            with suppress(StoreError):
                _carry(one, staged, home)
        with closing(open_sqlite(f"sqlite:{staged}")) as source:
            carry(store, source, clock.now(), home)
            for one in begun:
                remove(one)
            replacing = True
            empty(store)
            move(source, store, clock=clock, run=TimeIds(clock).next("run"), told=_rows(progress))
    except BaseException:
        # From here on only this copy knows of the files what the store knew; the next run asks it.
        if not replacing:
            remove(staged)
        raise
    remove(staged)
    return kept


def _left(start: str) -> list[str]:
    """Stores whose paths begin so, without what SQLite keeps beside them."""
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


def _rows(progress: Progress | None) -> Told | None:
    if progress is None:
        return None
    return lambda what, done, total: progress(done, total) if total else None
