"""The folder of a hub: to which hub and store its files belong, which machine syncs them, and
folders outside the home. Such a folder is a link below the home; the link records the path, so a
store that several machines use has no path of one of them.

A hub's files are synced in one folder only: their last synced state is recorded once per hub, and a
second folder, on another machine, would report files that it lacks as deleted.

A folder is identified by a mark in it, not by its path: machines that share the folder share the
mark. The store records which mark is its own. A store that several machines use writes a mark
before any other file; one that a single machine uses writes one only if it finds one. So files that
were written for one store are not read as edits by another that it was moved from.

A copy of a store has the same ids and records, so these cannot distinguish the two. Their histories
can: the folder records the change after which it was last written, and a store that never had that
change is another one. A purge may remove a change, and is counted; a restored backup gets the
changes of the state before it (see `restore`).
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from holdfast.domain.records import Record
from holdfast.errors import Conflict, InvalidInput, StoreReadOnly
from holdfast.files import hub_path
from holdfast.files.memory_md.cache import PLACE, Stamp, Token, read_stamp, write_stamp
from holdfast.store.values import Capability
from holdfast.system.atomic_file import file_errors, make_folder, write_file

if TYPE_CHECKING:
    from holdfast.engine.core import Core, Scope
    from holdfast.store.base import Reader, Store


KIND = "files"
# The names of the record in a store for several machines and in one for a single machine. They
# differ, so that a store that was moved to the other kind does not claim the folder without asking.
_PLACE, _ALONE = "place", "place-of-one"
# A takeover by another machine is noticed within a minute; checking in every operation would cost a
# round trip each.
_KEPT_S = 60.0
_MARK_MAX = 200

# The changes of the state that a restored backup has replaced.
BEFORE = "before-restore"

# The last state of a hub that was found in the store's history.
_HAD: WeakKeyDictionary[Store, dict[str, Token]] = WeakKeyDictionary()
# The cached record of a hub's folder, and when it was read.
_FOUND: WeakKeyDictionary[Store, dict[str, tuple[float, Record]]] = WeakKeyDictionary()


def other_place_note(scope: Scope, folder: str) -> str:
    """Empty if this is the hub's folder, or it has none yet; else a sentence that says where its
    files are."""
    return _checked(scope, folder)[1]


def _checked(scope: Scope, folder: str) -> tuple[bool, str]:
    """Whether the folder needs no record, and the sentence to show if it is not the hub's."""
    mark = _read(folder)
    record = None
    if mark or _has_machines(scope.core):
        record = _noted(scope.core, scope.hub_id)
        refusal = "" if record is None else _refusal(record, mark, scope.hub, folder)
        if refusal:
            return True, refusal
    # Read before the store, so that the store's state is at least as new.
    stamp = read_stamp(_memory_md(folder))
    if stamp.hub_id == scope.hub_id and stamp.token is not None:
        if not _was_in_state(scope.core, scope.hub_id, stamp.token):
            return True, _of_another_store(scope.hub, folder)
    elif mark and record is None:
        return True, _refusal_of_mark(scope, folder)
    return record is not None or not (mark or _has_machines(scope.core)), ""


def _refusal_of_mark(scope: Scope, folder: str) -> str:
    """The refusal for a mark that the store has no record of. A process that is claiming the folder
    has left its mark and not committed yet: this waits for it."""
    with suppress(StoreReadOnly), scope.core.store.write(hub=scope.hub_id) as writer:
        record = writer.record(scope.hub_id, KIND, _name(scope.core))
        if record is not None:
            return _refusal(record, _read(folder), scope.hub, folder)
    return _of_another_store(scope.hub, folder)


def _noted(core: Core, hub_id: str) -> Record | None:
    known = _FOUND.setdefault(core.store, {})
    looked_at, record = known.get(hub_id, (0.0, None))
    if record is not None and time.monotonic() - looked_at <= _KEPT_S:
        return record
    with core.store.read() as reader:
        record = reader.record(hub_id, KIND, _name(core))
    if record is not None:
        known[hub_id] = time.monotonic(), record
    return record


def _was_in_state(core: Core, hub_id: str, token: Token) -> bool:
    """Whether a hub was ever in this state in this store."""
    known = _HAD.setdefault(core.store, {})
    if known.get(hub_id) == token:
        return True
    with core.store.read() as reader:
        had = was_in_state(reader, hub_id, token)
    if not had and _has_machines(core):
        # A standby may not have it yet. A process that writes is connected to the primary; one that
        # only reads cannot find out.
        with suppress(StoreReadOnly), core.store.write(hub=hub_id) as writer:
            had = was_in_state(writer, hub_id, token)
    if had:
        note_state(core, hub_id, token)
    return had


def note_state(core: Core, hub_id: str, token: Token) -> None:
    """Caches the state that files were just written for, so that it need not be looked up."""
    _HAD.setdefault(core.store, {})[hub_id] = token


def was_in_state(reader: Reader, hub_id: str, token: Token) -> bool:
    """Whether the hub had the state of a token once, as a reader of the store sees it."""
    before = reader.record(hub_id, KIND, BEFORE)
    if before is not None and token.change in before.body["changes"]:
        return True
    purged = len(reader.receipts(hub_id))
    if purged != token.purged:
        # If more were purged since, the change may have been removed with them; if fewer, it never
        # existed here.
        return purged > token.purged
    return not token.change or token.change in reader.changes_by_id(hub_id, [token.change])


def refusal_of_foreign_files(hub_id: str, hub: str, folder: str) -> str:
    """A sentence if the folder has the files of another hub of that name; else empty."""
    owner = read_stamp(_memory_md(folder)).hub_id
    if owner in ("", hub_id):
        return ""
    return f"{folder} holds the files of another hub that was called `{hub}`."


def require_here(scope: Scope, folder: str, *, confirm: bool = False) -> None:
    """Raises Conflict if the files of this hub are in another folder, or this folder has those of
    another hub; `confirm` overrides both."""
    refusal = refusal_of_foreign_files(scope.hub_id, scope.hub, folder)
    if refusal and not confirm:
        raise Conflict(
            refusal,
            hint="Move them away, or sync with `confirm` to take them in.",
            command="Move them away, or take them in with `holdfast sync --confirm`.",
        )
    require_place(scope, folder)


def require_place(scope: Scope, folder: str) -> None:
    """Raises Conflict if the files of this hub are in another folder. The first folder that is
    written becomes the hub's folder."""
    there, refusal = _checked(scope, folder)
    if not there:
        _claim(scope.core, scope.hub_id, folder)
        _, refusal = _checked(scope, folder)
    if refusal:
        raise Conflict(
            refusal,
            hint="A sync with `confirm` takes this folder over; machines that use one store can"
            " share a folder.",
            command="`holdfast sync --confirm` takes this folder over; machines that use one store"
            " can share a folder.",
        )


def is_own_state(core: Core, hub_id: str, stamp: Stamp) -> bool:
    """Whether the stamp of a hub's folder belongs to a state that this hub has had, or to no
    state."""
    mine = stamp.hub_id in ("", hub_id)
    return mine and (stamp.token is None or _was_in_state(core, hub_id, stamp.token))


def take_over(scope: Scope, folder: str) -> None:
    """Makes this folder the one of the hub's files. The last synced state of the other folder does
    not apply to these files: it is dropped, so that nothing counts as deleted."""
    if not other_place_note(scope, folder):
        return
    with scope.core.store.write(hub=scope.hub_id) as writer:
        for agreed in list(writer.scan_agreed(scope.hub_id)):
            writer.drop_agreed(scope.hub_id, agreed.path)
        writer.put_record(_marked(scope.core, scope.hub_id, folder))
    _FOUND.pop(scope.core.store, None)


def _claim(core: Core, hub_id: str, folder: str) -> None:
    with core.store.write(hub=hub_id) as writer:
        # Another process may have claimed it first, and a deleted hub has no files.
        first = writer.record(hub_id, KIND, _name(core)) is None
        if first and writer.hub_by_id(hub_id) is not None:
            writer.put_record(_marked(core, hub_id, folder))


def _refusal(record: Record, mark: str, hub: str, folder: str) -> str:
    if record.body["place"] == mark:
        return ""
    if record.body["where"] == _where(folder):
        if mark:
            return _of_another_store(hub, folder)
        # The mark was lost, but this is the right folder.
        _make(folder, record.body["place"])
        return ""
    machine = record.body["where"].partition(":")[0]
    return (
        f"The files of the hub `{hub}` are kept in another folder, on the machine {machine}; those"
        " here are left alone."
    )


def _of_another_store(hub: str, folder: str) -> str:
    return (
        f"The files of the hub `{hub}` in {folder} were last written for another store, or for a"
        " state that this one never had, so they are left alone."
    )


def _marked(core: Core, hub_id: str, folder: str) -> Record:
    """Marks the folder as the hub's, and returns the record of that. Clears the stamp of MEMORY.md,
    so that another store that wrote there compares the files instead of relying on it."""
    mark = core.ids.next("place")
    _make(folder, mark)
    if read_stamp(_memory_md(folder)).hub_id:
        write_stamp(_memory_md(folder), Stamp(hub_id, None, None))
    body = {"place": mark, "where": _where(folder)}
    return Record(hub_id, KIND, _name(core), core.now(), body)


def _has_machines(core: Core) -> bool:
    return Capability.MACHINES in core.store.capabilities


def _name(core: Core) -> str:
    return _PLACE if _has_machines(core) else _ALONE


def _memory_md(folder: str) -> str:
    return os.path.join(folder, "MEMORY.md")


def _where(folder: str) -> str:
    from platform import node

    return f"{node()}:{os.path.abspath(folder)}"


def _read(folder: str) -> str:
    with suppress(OSError, ValueError), open(os.path.join(folder, PLACE), encoding="utf-8") as file:
        return file.read(_MARK_MAX).strip()
    return ""


def _make(folder: str, mark: str) -> None:
    """Writes the mark to the folder, atomically."""
    make_folder(folder)
    write_file(os.path.join(folder, PLACE), f"{mark}\n".encode(), durable=False)


def link_hub_folder(home: str, hub_name: str, chosen: str) -> str:
    """Moves the hub's folder to another path, and returns that path. Existing files are moved
    there, unless both folders have files. After a crash, repeating the call continues."""
    link = hub_path(home, hub_name)
    target = os.path.abspath(os.path.expanduser(chosen))
    _refuse(home, target)
    source = os.path.realpath(link)
    if source == os.path.realpath(target) and os.path.isdir(source):
        return target
    make_folder(os.path.dirname(link))
    if _has_entries(source):
        _move(source, target)
    elif os.path.isdir(link) and not os.path.islink(link):
        with file_errors(link):
            os.rmdir(link)
    make_folder(target)
    _point(link, target)
    return target


def unlink_hub_folder(home: str, hub_name: str) -> None:
    """Removes the link of a deleted hub; the folder that it points to is the user's, and stays."""
    link = hub_path(home, hub_name)
    if os.path.islink(link):
        with file_errors(link):
            os.unlink(link)


def _refuse(home: str, target: str) -> None:
    """Refuses a path inside the home, where hubs would be nested."""
    inside = os.path.realpath(home)
    if os.path.commonpath([os.path.realpath(target), inside]) == inside:
        raise InvalidInput(
            f"{target} is inside of Holdfast's own folder {home}.",
            hint="Choose a folder elsewhere, for example ~/workspace/memory.",
        )
    if os.path.exists(target) and not os.path.isdir(target):
        raise InvalidInput(f"{target} is a file.", hint="Name a folder.")


def _move(source: str, target: str) -> None:
    if _has_entries(target):
        raise Conflict(
            f"Both {source} and {target} have files, so nothing was moved.",
            hint="Move what you want to keep to one of them, and try again.",
        )
    with file_errors(target):
        if os.path.isdir(target):
            os.rmdir(target)
        make_folder(os.path.dirname(target))
        # A single rename if both are on one disk; else a copy, and the source is deleted last.
        shutil.move(source, target)


def _has_entries(folder: str) -> bool:
    if not os.path.isdir(folder):
        return False
    with os.scandir(folder) as found:
        return any(True for _ in found)


def _point(link: str, target: str) -> None:
    """Makes or replaces the link, in one step."""
    new = f"{link}.new"
    with file_errors(link):
        if os.path.lexists(new):
            os.unlink(new)
        os.symlink(target, new, target_is_directory=True)
        os.replace(new, link)
