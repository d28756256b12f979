"""Syncs a hub's files around its operations: edits in MEMORY.md, INBOX.md and journals are read
before an operation, and the files that its declaration names are written after it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.api.operation import Follow, Operation, operation_of
from holdfast.engine.upkeep.automatic import note_use
from holdfast.files.atomic import is_kept_in_files

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.files.file_sync import Step

# What is told of a purge where the store has no room to clear up after it.
PURGED = "What was purged is gone"


@contextmanager
def synced(hub: HubMemory, operation: Operation) -> Iterator[None]:
    """Takes in edits of the hub's files before an operation and writes the files that follow it. A
    hub without files costs one check of its folder."""
    me = get_ident()
    if me in hub._stepping:
        # Operations call each other: only the outermost one looks.
        yield
        return
    caller = hub
    caller._stepping.add(me)
    try:
        hub.core.settings.refresh()
        step = None
        # Edits in files wait until the store can be written.
        read_only: bool = getattr(hub.core.store, "read_only", False)
        if not read_only and is_kept_in_files(os.path.dirname(hub.memory_md)):
            # Files belong to the hub: what was edited in them is taken in, and what is written to
            # them rendered, in the name of its owner, whoever made the call.
            hub = hub._owner_view
            hub._look_up()
            caller.info = hub.info
            step = _step_of(hub)
        if step is not None:
            step.before()
            if names := hub._look.changed(hub.core, hub.id, hub.folder):
                from holdfast.files.journal import journal

                journal.take_in(hub._journals, names)
            if step.decisions():
                _follow(hub, step, _decided())
        yield
        if step is not None:
            _follow(hub, step, operation)
        note_use(caller)
    finally:
        caller._stepping.discard(me)


def _follow(hub: HubMemory, step: Step, operation: Operation) -> None:
    """Writes the files that follow an operation."""
    follow = operation.follow
    if Follow.TOOL_FILES in follow and _has_files(hub):
        from holdfast.files.tool_files.follow import follow_newest

        step.note(follow_newest(hub._kept_files))
    if Follow.JOURNALS in follow:
        from holdfast.files.journal import journal

        step.note(journal.follow(hub._journals, purged=operation.purges))
    if Follow.MEMORY_MD in follow:
        step.after(purged=operation.purges)
    if Follow.INBOX in follow:
        step.waiting()
    if operation.purges:
        # The base text of the last sync held the purged line, and freed pages still do. Last, since
        # it may fail on a full disk, and the files must follow all the same.
        engine.edit.settle(hub.core, PURGED)


def _decided() -> Operation:
    """Decisions that a person made in INBOX.md have the effect of `approve` on the files."""
    from holdfast.api.hub import HubMemory

    declared = operation_of(HubMemory.approve)
    assert declared is not None
    return declared


def show_held(hub: HubMemory) -> None:
    """Writes INBOX.md after an operation that syncs its own files has held something."""
    step = _step_of(hub._owner_view)
    if step is not None:
        step.waiting()


def _has_files(hub: HubMemory) -> bool:
    return os.path.isdir(os.path.join(hub.folder, "files"))


def _step_of(hub: HubMemory) -> Step | None:
    if not is_kept_in_files(os.path.dirname(hub.memory_md)):
        return None
    if hub._step is None:
        from holdfast.files.file_sync import Step

        hub._step = Step(hub.scope, hub.memory_md)
    return hub._step
