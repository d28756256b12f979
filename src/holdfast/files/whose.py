"""Whose files they are. A hub's files are kept in one place: what they and the store last agreed on
is noted once for each hub, and a second folder, on another machine, would take what it does not
have for something that was deleted.

A place is known by a mark in the folder, not by its path: machines that share the folder share the
mark. The store notes which place it is. Only stores that several machines use are asked.
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
from holdfast.files.stamp import PLACE, read_stamp
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Store

KIND = "files"
_PLACE = "place"
# Somebody who takes the files over elsewhere is noticed in a minute; asking at every operation
# would cost each of them a way to the server.
_KEPT_S = 60.0
_MARK_MAX = 200

# What was found in a store for a hub and a folder, and when.
_FOUND: WeakKeyDictionary[Store, dict[tuple[str, str], tuple[float, str]]] = WeakKeyDictionary()


def elsewhere(core: Core, hub_id: str, hub: str, folder: str) -> str:
    """'' where this folder is the one, or none is yet; else a sentence that says where the hub's
    files are kept."""
    return _looked(core, hub_id, hub, folder)[1]


def _looked(core: Core, hub_id: str, hub: str, folder: str) -> tuple[bool, str]:
    """Whether there is a place yet, and what is to be said where it is another."""
    if Capability.MACHINES not in core.store.capabilities:
        return True, ""
    known = _FOUND.setdefault(core.store, {})
    looked_at, told = known.get((hub_id, folder), (0.0, ""))
    if looked_at and time.monotonic() - looked_at <= _KEPT_S:
        return True, told
    with core.store.read() as reader:
        record = reader.record(hub_id, KIND, _PLACE)
    if record is None:
        return False, ""
    told = _told(record, hub, folder)
    known[hub_id, folder] = time.monotonic(), told
    return True, told


def require_here(core: Core, hub_id: str, hub: str, folder: str, *, confirm: bool = False) -> None:
    """Conflict where the files of this hub are kept elsewhere, or where the folder holds those of
    another hub; `confirm` says that they are meant all the same."""
    owner = read_stamp(os.path.join(folder, "MEMORY.md")).hub_id
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
            hint="Share that folder between the machines, or make this one the place with"
            " `holdfast sync --confirm`.",
        )


def take_over(core: Core, hub_id: str, hub: str, folder: str) -> None:
    """Makes this folder the place of the hub's files. What store and files agreed on elsewhere says
    nothing about these: it is forgotten, so that nothing counts as deleted."""
    if not elsewhere(core, hub_id, hub, folder):
        return
    mark = _make(folder, core.ids.next("place"))
    with core.store.write(hub=hub_id) as writer:
        for agreed in list(writer.scan_agreed(hub_id)):
            writer.drop_agreed(hub_id, agreed.path)
        writer.put_record(_record(core, hub_id, mark, folder))
    _FOUND.pop(core.store, None)


def _claim(core: Core, hub_id: str, folder: str) -> None:
    mark = _make(folder, core.ids.next("place"))
    with core.store.write(hub=hub_id) as writer:
        # Another may have come first, and a hub that is gone keeps no files.
        first = writer.record(hub_id, KIND, _PLACE) is None
        if first and writer.hub_by_id(hub_id) is not None:
            writer.put_record(_record(core, hub_id, mark, folder))


def _told(record: Record, hub: str, folder: str) -> str:
    mark = _read(folder)
    if record.body["place"] == mark:
        return ""
    if not mark and record.body["where"] == _where(folder):
        # The mark was lost, and the folder is the one.
        _make(folder, record.body["place"])
        return ""
    machine = record.body["where"].partition(":")[0]
    return (
        f"The files of the hub `{hub}` are kept in another folder, on the machine {machine}; those"
        " here are left alone."
    )


def _record(core: Core, hub_id: str, mark: str, folder: str) -> Record:
    body = {"place": mark, "where": _where(folder)}
    return Record(hub_id, KIND, _PLACE, core.now(), body)


def _where(folder: str) -> str:
    from platform import node

    return f"{node()}:{os.path.abspath(folder)}"


def _read(folder: str) -> str:
    with suppress(OSError, ValueError), open(os.path.join(folder, PLACE), encoding="utf-8") as file:
        return file.read(_MARK_MAX).strip()
    return ""


def _make(folder: str, mark: str) -> str:
    """Leaves the mark in the folder, whole or not at all; returns the one that is there, should
    somebody have come first."""
    if found := _read(folder):
        return found
    make_folder(folder)
    path = os.path.join(folder, PLACE)
    partial = f"{path}.partial-{os.getpid()}-{os.urandom(4).hex()}"
    handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(mark + "\n")
    try:
        os.link(partial, path)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links: whoever comes last is the one.
        os.replace(partial, path)
    with suppress(FileNotFoundError):
        os.unlink(partial)
    return _read(folder) or mark
