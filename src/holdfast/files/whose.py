"""Whose files they are. A hub's files are kept in one place: what they and the store last agreed on
is noted once for each hub, and a second folder, on another machine, would take what it does not
have for something that was deleted.

A place is known by a mark in the folder, not by its path: machines that share the folder share the
mark. The store notes which place it is. A store that several machines use leaves a mark before it
writes; one that a single machine uses leaves one only where it finds one. So a folder that was
written for one store is not taken for an edit by the other that it was moved from.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from holdfast.domain.record import Record
from holdfast.errors import Conflict
from holdfast.files.atomic import FILE_MODE, make_folder
from holdfast.files.stamp import PLACE, Stamp, read_stamp, write_stamp
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Store

KIND = "files"
# What the store notes it as. A store that was moved to the other kind has not the same place by
# that: its copy must ask.
_PLACE, _ALONE = "place", "place-of-one"
# Somebody who takes the files over elsewhere is noticed in a minute; asking at every operation
# would cost each of them a way to the server.
_KEPT_S = 60.0
_MARK_MAX = 200

# What was found in a store for a hub, and when.
_FOUND: WeakKeyDictionary[Store, dict[str, tuple[float, Record]]] = WeakKeyDictionary()


def elsewhere(core: Core, hub_id: str, hub: str, folder: str) -> str:
    """'' where this folder is the one, or none is yet; else a sentence that says where the hub's
    files are kept."""
    return _looked(core, hub_id, hub, folder)[1]


def _looked(core: Core, hub_id: str, hub: str, folder: str) -> tuple[bool, str]:
    """Whether nothing is to be noted, and what is to be said where the folder is not ours."""
    mark = _read(folder)
    if not mark and not _has_machines(core):
        return True, ""
    record = _noted(core, hub_id)
    if record is not None:
        return True, _told(record, mark, hub, folder)
    if _agrees(core, hub_id, folder, mark):
        return False, ""
    return True, _of_another_store(hub, folder)


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


def _agrees(core: Core, hub_id: str, folder: str, mark: str) -> bool:
    """Whether a folder that no place is noted for was last written for what this store holds: it
    knows the change up to which that was, or nobody wrote there."""
    stamp = read_stamp(_memory_md(folder))
    if stamp.hub_id != hub_id or stamp.token is None:
        return not mark
    change = stamp.token.change
    with core.store.read() as reader:
        return not change or change in reader.changes_by_id(hub_id, [change])


def require_here(core: Core, hub_id: str, hub: str, folder: str, *, confirm: bool = False) -> None:
    """Conflict where the files of this hub are kept elsewhere, or where the folder holds those of
    another hub; `confirm` says that they are meant all the same."""
    owner = read_stamp(_memory_md(folder)).hub_id
    if owner not in ("", hub_id) and not confirm:
        raise Conflict(
            f"{folder} holds the files of another hub that was called `{hub}`.",
            hint="Move them away, or take them in with `holdfast sync --confirm`.",
        )
    require_place(core, hub_id, hub, folder)


def require_place(core: Core, hub_id: str, hub: str, folder: str) -> None:
    """Conflict where the files of this hub are kept elsewhere. The first folder that is about to
    be written is the one from then on."""
    there, told = _looked(core, hub_id, hub, folder)
    if not there:
        _claim(core, hub_id, folder)
        _, told = _looked(core, hub_id, hub, folder)
    if told:
        raise Conflict(
            told,
            hint="`holdfast sync --confirm` takes this folder over; machines that use one store"
            " can share a folder.",
        )


def take_over(core: Core, hub_id: str, hub: str, folder: str) -> None:
    """Makes this folder the place of the hub's files. What store and files agreed on elsewhere says
    nothing about these: it is forgotten, so that nothing counts as deleted."""
    if not elsewhere(core, hub_id, hub, folder):
        return
    with core.store.write(hub=hub_id) as writer:
        for agreed in list(writer.scan_agreed(hub_id)):
            writer.drop_agreed(hub_id, agreed.path)
        writer.put_record(_marked(core, hub_id, folder))
    _FOUND.pop(core.store, None)


def _claim(core: Core, hub_id: str, folder: str) -> None:
    with core.store.write(hub=hub_id) as writer:
        # Another may have come first, and a hub that is gone keeps no files.
        first = writer.record(hub_id, KIND, _name(core)) is None
        if first and writer.hub_by_id(hub_id) is not None:
            writer.put_record(_marked(core, hub_id, folder))


def _told(record: Record, mark: str, hub: str, folder: str) -> str:
    if record.body["place"] == mark:
        return ""
    if record.body["where"] == _where(folder):
        if mark:
            return _of_another_store(hub, folder)
        # The mark was lost, and the folder is the one.
        _make(folder, record.body["place"])
        return ""
    machine = record.body["where"].partition(":")[0]
    return (
        f"The files of the hub `{hub}` are kept in another folder, on the machine {machine}; those"
        " here are left alone."
    )


def _of_another_store(hub: str, folder: str) -> str:
    return (
        f"The files of the hub `{hub}` in {folder} were last written for another store, so they"
        " are left alone."
    )


def _marked(core: Core, hub_id: str, folder: str) -> Record:
    """Marks the folder as the place, and returns what is noted of that. Another store that wrote
    there must not find its own state noted: it is to ask, whatever is written first."""
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
    """Leaves the mark in the folder, whole or not at all."""
    make_folder(folder)
    path = os.path.join(folder, PLACE)
    partial = f"{path}.partial-{os.getpid()}-{os.urandom(4).hex()}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(mark + "\n")
    os.replace(partial, path)
