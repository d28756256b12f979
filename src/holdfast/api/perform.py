"""Runs an operation of a hub according to its declaration (`api/operation.py`).

It is retried if the connection to the store was lost before anything was committed. The hub's files
are synced around it: edits in MEMORY.md, INBOX.md and journals are read before it, and the files
that the declaration names are written after it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import engine
from holdfast.api.operation import Follow, Operation, operation_of
from holdfast.engine.quiet import CALL_S, QUIET_S
from holdfast.engine.upkeep.automatic import note_use
from holdfast.engine.writing.redacting_store import COMMITS
from holdfast.errors import StoreError
from holdfast.files import is_kept_in_files

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.api.operation import Call
    from holdfast.files.file_sync import FileSync

T = TypeVar("T")

# No attempt at a read starts later than this. Each attempt itself waits for a lost store, so a
# caller waits at most about twice as long.
_RETRY_READS_S = 15.0
# Writes are retried for longer: a cluster that has lost its primary elects another only when the
# old primary's lease has expired, which takes 20 to 30 seconds.
_RETRY_WRITES_S = 30.0
# A fixed pause is enough, as the store itself backs off while it is away. It only prevents two
# operations that conflicted from conflicting again at once.
_RETRY_PAUSE_S = 0.05
# The start of the error after a purge on a disk too full to clear the freed pages.
PURGED = "What was purged is gone"


def perform(hub: HubMemory, call: Call) -> Any:
    """Runs an operation and returns its result."""
    operation = call.operation
    if operation.stream and operation.writes:
        return _stream(hub, call)
    hub.core.note_call(CALL_S)
    try:
        if not operation.retry or call.has_iterator:
            return _with_sync(hub, call)
        return retried(lambda: _with_sync(hub, call), writes=operation.writes)
    finally:
        hub.core.note_call(QUIET_S)


def _with_sync(hub: HubMemory, call: Call) -> Any:
    if not call.operation.sync:
        return call.run(hub)
    with synced(hub, call.operation):
        return call.run(hub)


def _stream(hub: HubMemory, call: Call) -> Iterator[Any]:
    with synced(hub, call.operation):
        yield from call.run(hub)


def retried(work: Callable[[], T], *, writes: bool = False) -> T:
    """Returns the result of `work`, retrying it if the connection to the store was lost before
    anything was committed.

    The store cannot retry a transaction, which is a `with` block in the caller's code. An operation
    can be retried because it is a function. Only the store knows how it is lost and found again:
    its error says whether another attempt may help (`again`) and whether it would come too late
    (`late`)."""
    ends = time.monotonic() + (_RETRY_WRITES_S if writes else _RETRY_READS_S)
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
        time.sleep(_RETRY_PAUSE_S)


@contextmanager
def synced(hub: HubMemory, operation: Operation) -> Iterator[None]:
    """Reads edits of the hub's files before an operation and writes the affected files after it. A
    hub without files costs one check of its folder."""
    thread = get_ident()
    if thread in hub._syncing:
        # Operations may call each other; only the outermost one syncs the files.
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
        if hub.core.runs_upkeep:
            note_use(hub)
    finally:
        hub._syncing.discard(thread)


def _with_files(hub: HubMemory) -> HubMemory | None:
    """The hub as seen by the owner of its files; None if it has no files or the store is read-only.
    Edits are recorded and files are rendered for the owner of the hub, not for the caller. On a
    read-only store, edits wait until it can be written."""
    if not _has_files(hub) or getattr(hub.core.store, "read_only", False):
        return None
    filed = hub._owner_view
    filed._look_up()
    hub.info = filed.info
    return filed if _has_files(filed) else None


def _has_files(hub: HubMemory) -> bool:
    return is_kept_in_files(hub.home, hub.info.name)


def _read_edits(hub: HubMemory, sync: FileSync) -> None:
    """Applies edits in the hub's files."""
    sync.before()
    if names := hub._journal_changes.changed(hub.core, hub.id, hub.folder):
        from holdfast.files import journal

        journal.apply_edits(hub._journals, names)
    if sync.decisions():
        _follow(hub, sync, _approval())


def _follow(hub: HubMemory, sync: FileSync, operation: Operation) -> None:
    """Writes the files that an operation may have affected."""
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
        # The base text of the last sync held the purged line, and freed pages still do. This comes
        # last, since it may fail on a full disk, and the files must be written in any case.
        engine.edit.clear_purged(hub.core, PURGED)


def _approval() -> Operation:
    """The declaration for decisions that a person made in INBOX.md: they affect the same files as
    `approve`."""
    from holdfast.api.hub import HubMemory

    declared = operation_of(HubMemory.approve)
    assert declared is not None
    return declared


def write_inbox(hub: HubMemory) -> None:
    """Writes INBOX.md after an operation that syncs its own files has quarantined something."""
    filed = hub._owner_view
    if _has_files(filed):
        _sync_of(filed).waiting()


def _sync_of(hub: HubMemory) -> FileSync:
    if hub._file_sync is None:
        from holdfast.files.file_sync import FileSync

        hub._file_sync = FileSync(hub.scope, hub.memory_md)
    return hub._file_sync
