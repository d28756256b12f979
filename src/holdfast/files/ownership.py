"""Whose files they are. A hub's files are kept in one place: what they and the store last agreed on
is noted once for each hub, and a second folder, on another machine, would take what it does not
have for something that was deleted.

A place is known by a mark in the folder, not by its path: machines that share the folder share the
mark. The store notes which place it is. A store that several machines use leaves a mark before it
writes; one that a single machine uses leaves one only where it finds one. So a folder that was
written for one store is not taken for an edit by the other that it was moved from.

A copy of a store has its hubs' ids and notes too, so none of these tells the two apart. Their
histories do: the folder says after which change it was last written, and a store that never had
that change is another one. A purge may take a change away, and is counted; a backup that is
brought back is told which changes the state before had (see `restored`).
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from holdfast.domain.records import Record
from holdfast.errors import Conflict, StoreReadOnly
from holdfast.files.atomic import make_folder
from holdfast.files.memory_md.cache import PLACE, Stamp, Token, read_stamp, write_stamp
from holdfast.store.values import Capability
from holdfast.system.atomic_file import write_file

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.engine.scope import Scope
    from holdfast.store.base import Reader, Store

KIND = "files"
# What the store notes it as. A store that was moved to the other kind has not the same place by
# that: its copy must ask.
_PLACE, _ALONE = "place", "place-of-one"
# Somebody who takes the files over elsewhere is noticed in a minute; asking at every operation
# would cost each of them a way to the server.
_KEPT_S = 60.0
_MARK_MAX = 200

# Which changes the state had that a backup took the place of.
BEFORE = "before-restore"

# The last state of a hub that was found in a store's past.
_HAD: WeakKeyDictionary[Store, dict[str, Token]] = WeakKeyDictionary()
# What was found in a store for a hub, and when.
_FOUND: WeakKeyDictionary[Store, dict[str, tuple[float, Record]]] = WeakKeyDictionary()


def elsewhere(scope: Scope, folder: str) -> str:
    """'' where this folder is the one, or none is yet; else a sentence that says where the hub's
    files are kept."""
    return _looked(scope, folder)[1]


def _looked(scope: Scope, folder: str) -> tuple[bool, str]:
    """Whether nothing is to be noted, and what is to be said where the folder is not ours."""
    mark = _read(folder)
    record = None
    if mark or _has_machines(scope.core):
        record = _noted(scope.core, scope.hub_id)
        told = "" if record is None else _told(record, mark, scope.hub, folder)
        if told:
            return True, told
    # Before the store is: what it says may be newer, and never older.
    stamp = read_stamp(_memory_md(folder))
    if stamp.hub_id == scope.hub_id and stamp.token is not None:
        if not _had(scope.core, scope.hub_id, stamp.token):
            return True, _of_another_store(scope.hub, folder)
    elif mark and record is None:
        return True, _of_another_store(scope.hub, folder)
    return record is not None or not (mark or _has_machines(scope.core)), ""


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


def _had(core: Core, hub_id: str, token: Token) -> bool:
    """Whether a hub was ever in this state here."""
    known = _HAD.setdefault(core.store, {})
    if known.get(hub_id) == token:
        return True
    with core.store.read() as reader:
        had = has_had(reader, hub_id, token)
    if not had and _has_machines(core):
        # A standby may not have heard of it yet. Who writes is at the primary; who may only read
        # knows no better.
        with suppress(StoreReadOnly), core.store.write(hub=hub_id) as writer:
            had = has_had(writer, hub_id, token)
    if had:
        note_had(core, hub_id, token)
    return had


def note_had(core: Core, hub_id: str, token: Token) -> None:
    """Notes the state that files were just written for, which need not be looked up then."""
    _HAD.setdefault(core.store, {})[hub_id] = token


def has_had(reader: Reader, hub_id: str, token: Token) -> bool:
    """The same, asked of what is read here."""
    before = reader.record(hub_id, KIND, BEFORE)
    if before is not None and token.change in before.body["changes"]:
        return True
    purged = len(reader.receipts(hub_id))
    if purged != token.purged:
        # More were purged since, and the change may have gone with them; fewer never were.
        return purged > token.purged
    return not token.change or token.change in reader.changes_by_id(hub_id, [token.change])


def of_another_hub(hub_id: str, hub: str, folder: str) -> str:
    """A sentence where the folder holds the files of another hub of that name; else ''."""
    owner = read_stamp(_memory_md(folder)).hub_id
    if owner in ("", hub_id):
        return ""
    return f"{folder} holds the files of another hub that was called `{hub}`."


def require_here(scope: Scope, folder: str, *, confirm: bool = False) -> None:
    """Conflict where the files of this hub are kept elsewhere, or where the folder holds those of
    another hub; `confirm` says that they are meant all the same."""
    told = of_another_hub(scope.hub_id, scope.hub, folder)
    if told and not confirm:
        raise Conflict(
            told,
            hint="Move them away, or sync with `confirm` to take them in.",
            command="Move them away, or take them in with `holdfast sync --confirm`.",
        )
    require_place(scope, folder)


def require_place(scope: Scope, folder: str) -> None:
    """Conflict where the files of this hub are kept elsewhere. The first folder that is about to
    be written is the one from then on."""
    there, told = _looked(scope, folder)
    if not there:
        _claim(scope.core, scope.hub_id, folder)
        _, told = _looked(scope, folder)
    if told:
        raise Conflict(
            told,
            hint="A sync with `confirm` takes this folder over; machines that use one store can"
            " share a folder.",
            command="`holdfast sync --confirm` takes this folder over; machines that use one store"
            " can share a folder.",
        )


def is_ours(core: Core, hub_id: str, stamp: Stamp) -> bool:
    """Whether what was stamped so was stamped for a state that this hub has had, or for none."""
    mine = stamp.hub_id in ("", hub_id)
    return mine and (stamp.token is None or _had(core, hub_id, stamp.token))


def take_over(scope: Scope, folder: str) -> None:
    """Makes this folder the place of the hub's files. What store and files agreed on elsewhere says
    nothing about these: it is forgotten, so that nothing counts as deleted."""
    if not elsewhere(scope, folder):
        return
    with scope.core.store.write(hub=scope.hub_id) as writer:
        for agreed in list(writer.scan_agreed(scope.hub_id)):
            writer.drop_agreed(scope.hub_id, agreed.path)
        writer.put_record(_marked(scope.core, scope.hub_id, folder))
    _FOUND.pop(scope.core.store, None)


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
        f"The files of the hub `{hub}` in {folder} were last written for another store, or for a"
        " state that this one never had, so they are left alone."
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
    write_file(os.path.join(folder, PLACE), f"{mark}\n".encode(), durable=False)
