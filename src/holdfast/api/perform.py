"""How an operation of a hub is performed, as its declaration says (`operation`).

It is retried after the store was lost, if nothing of it was written. Around it the hub's files are
synced: edits in MEMORY.md, INBOX.md and journals are read before it, and the files that the
declaration names are written after it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import engine
from holdfast.api.operation import Follow, Operation, has_iterator, operation_of
from holdfast.engine.quiet import CALL_S, QUIET_S
from holdfast.engine.upkeep.automatic import note_use
from holdfast.engine.writing.redacting_store import COMMITS
from holdfast.errors import StoreError
from holdfast.files import is_kept_in_files

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.files.file_sync import FileSync

T = TypeVar("T")

# No attempt at a read begins later than this. Each attempt itself waits for a lost store, so a
# caller waits about twice as long at most.
_BEGUN_WITHIN_S = 15.0
# Writes are retried longer: a cluster that has lost its primary elects another only when the lease
# of the lost one is over, which takes 20 to 30 seconds.
_WRITES_BEGUN_WITHIN_S = 30.0
# A fixed pause, as the store itself backs off while it is away. It only prevents two operations
# that conflicted from conflicting again at once.
_NAP_S = 0.05
# The message after a purge where the disk is too full to clear freed pages.
PURGED = "What was purged is gone"


def perform(
    hub: HubMemory,
    operation: Operation,
    method: Callable[..., Any],
    args: tuple[Any, ...],
    values: dict[str, Any],
) -> Any:
    """What the method returns, performed as it is declared."""
    if operation.stream and operation.writes:
        return _stream(hub, operation, method, args, values)
    hub.core.note_call(CALL_S)
    try:
        return _performed(hub, operation, method, args, values)
    finally:
        hub.core.note_call(QUIET_S)


def _performed(
    hub: HubMemory,
    operation: Operation,
    method: Callable[..., Any],
    args: tuple[Any, ...],
    values: dict[str, Any],
) -> Any:

    def run() -> Any:
        if not operation.sync:
            return method(hub, *args, **values)
        with synced(hub, operation):
            return method(hub, *args, **values)

    if not operation.retry or has_iterator(args, values):
        return run()
    return retried(run, writes=operation.writes)


def _stream(
    hub: HubMemory,
    operation: Operation,
    method: Callable[..., Any],
    args: tuple[Any, ...],
    values: dict[str, Any],
) -> Iterator[Any]:
    with synced(hub, operation):
        yield from method(hub, *args, **values)


def retried(work: Callable[[], T], *, writes: bool = False) -> T:
    """What `work` returns, done again as long as the store was lost before it wrote anything.

    A transaction cannot be run again by the store: it is a `with` block of somebody else's. An
    operation can, because it is a function; and it may be, if none of its transactions was
    committed. How a store is lost and found is the store's business: its error says whether another
    attempt may help (`again`), and whether there is time for one (`late`)."""
    ends = time.monotonic() + (_WRITES_BEGUN_WITHIN_S if writes else _BEGUN_WITHIN_S)
    while True:
        before = COMMITS.count
        try:
            return work()
        except StoreError as error:
            if not error.again or error.late:
                raise
            if COMMITS.count != before:
                error.again = False
                error.command = ""
                error.hint = "A part of it was written before; look before you do it again."
                raise
            if time.monotonic() > ends:
                raise
        time.sleep(_NAP_S)


@contextmanager
def synced(hub: HubMemory, operation: Operation) -> Iterator[None]:
    """Takes in edits of the hub's files before an operation and writes the files that follow it. A
    hub without files costs one check of its folder."""
    thread = get_ident()
    if thread in hub._syncing:
        # Operations call each other: the files are synced around the outermost one.
        yield
        return
    hub._syncing.add(thread)
    try:
        hub.core.settings.refresh()
        filed = _with_files(hub)
        if filed is None:
            yield
        else:
            sync = _sync_of(filed)
            _read_edits(filed, sync)
            yield
            _follow(filed, sync, operation)
        if hub.core.upkeep_is_here:
            note_use(hub)
    finally:
        hub._syncing.discard(thread)


def _with_files(hub: HubMemory) -> HubMemory | None:
    """The hub in the name of its owner, where it has files and can be written. Files belong to the
    hub: edits in them are read, and what is written to them is rendered, in the name of its owner,
    not of the caller. Edits wait until the store can be written."""
    if not _has_files(hub) or getattr(hub.core.store, "read_only", False):
        return None
    filed = hub._owner_view
    filed._look_up()
    hub.info = filed.info
    return filed if _has_files(filed) else None


def _has_files(hub: HubMemory) -> bool:
    folder = os.path.dirname(hub.memory_md)
    return os.path.isdir(folder) and is_kept_in_files(folder)


def _read_edits(hub: HubMemory, sync: FileSync) -> None:
    """Takes in what was edited in the hub's files."""
    sync.before()
    if names := hub._journal_changes.changed(hub.core, hub.id, hub.folder):
        from holdfast.files import journal

        journal.take_in(hub._journals, names)
    if sync.decisions():
        _follow(hub, sync, _decided())


def _follow(hub: HubMemory, sync: FileSync, operation: Operation) -> None:
    """Writes the files that follow an operation."""
    follow = operation.follow
    if Follow.TOOL_FILES in follow and os.path.isdir(os.path.join(hub.folder, "files")):
        from holdfast.files.tool_files.follow import follow_newest

        sync.note(follow_newest(hub._kept_files))
    if Follow.JOURNALS in follow:
        from holdfast.files import journal

        sync.note(journal.follow(hub._journals, purged=operation.purges))
    if Follow.MEMORY_MD in follow:
        sync.after(purged=operation.purges)
    if Follow.INBOX in follow:
        sync.waiting()
    if operation.purges:
        # The base text of the last sync held the purged line, and freed pages still do. Last, since
        # it may fail on a full disk, and the files must follow all the same.
        engine.edit.clear_purged(hub.core, PURGED)


def _decided() -> Operation:
    """Decisions that a person made in INBOX.md have the effect of `approve` on the files."""
    from holdfast.api.hub import HubMemory

    declared = operation_of(HubMemory.approve)
    assert declared is not None
    return declared


def show_held(hub: HubMemory) -> None:
    """Writes INBOX.md after an operation that syncs its own files has held something."""
    filed = hub._owner_view
    if _has_files(filed):
        _sync_of(filed).waiting()


def _sync_of(hub: HubMemory) -> FileSync:
    if hub._file_sync is None:
        from holdfast.files.file_sync import FileSync

        hub._file_sync = FileSync(hub.scope, hub.memory_md)
    return hub._file_sync
