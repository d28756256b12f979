"""Keeps a hub's files in step around its operations: what was edited in MEMORY.md or a journal is
taken in before one, and the files follow after it. A hub without a folder pays for one look."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast import engine
from holdfast.files.atomic import is_kept_in_files
from holdfast.passes.upkeep import note_use

if TYPE_CHECKING:
    from holdfast.files.file_sync import Step
    from holdfast.hub_memory import HubMemory

# Operations before which edits in the files are taken in, and those after which MEMORY.md follows.
READING = (
    *("recall", "search_text", "get", "find", "list", "related", "statistics", "context"),
    *("pin", "unpin", "access", "access_many"),
    *("read_memory_md",),
    *("history", "diff", "changes", "touched", "receipts", "export", "scan", "conflicts"),
    *("request_decision", "decisions", "review", "review_count"),
    *("plan_consolidation",),
    # Its own last step is to bring the files in step.
    "redact_secrets",
)
WRITING = (
    *("remember", "remember_draft", "remember_many", "update", "archive", "archive_many"),
    *("forget", "forget_many", "restore", "restore_many", "purge", "purge_many"),
    *("append_memory_md", "rewrite_memory_md", "compact", "consolidate"),
    *("purge_forgotten", "lifecycle", "_lifecycle_automatically"),
    *("undo", "settle", "decide", "withdraw_decision", "approve", "reject"),
)
# What is told of a purge where the store has no room to clear up after it.
PURGED = "What was purged is gone"
# An operation that keeps its files in step itself, and may hold what it is given.
HOLDING = ("journal_add",)
WRITING_SLOWLY = ("remember_stream",)
# Operations after which a line of a journal may have to go, change or come back.
JOURNALS_FOLLOW = (
    *("update", "forget", "forget_many", "restore", "restore_many", "purge", "purge_many"),
    *("purge_forgotten", "undo", "settle", "approve"),
)
# Operations after which a file that was written through the memory tool may have to follow.
FILES_FOLLOW = (
    *("remember", "remember_draft", "remember_many", "update", "undo", "settle"),
    *("forget", "forget_many", "restore", "restore_many", "approve"),
)


@contextmanager
def _in_step(hub: HubMemory, name: str, *, writes: bool) -> Iterator[None]:
    """The hub's file before and after an operation; a hub without a folder costs one look."""
    me = get_ident()
    if me in hub._stepping:
        # Operations call each other: only the outermost one looks.
        yield
        return
    guest = hub
    guest._stepping.add(me)
    try:
        hub.core.settings.refresh()
        step = None
        # What was edited in files waits until the store can be written.
        read_only: bool = getattr(hub.core.store, "read_only", False)
        if not read_only and is_kept_in_files(os.path.dirname(hub.memory_md)):
            # Files belong to the hub: what was edited in them is taken in, and what is written to
            # them rendered, in the name of its owner, whoever made the call.
            hub = hub._filer
            hub._look_up()
            guest.info = hub.info
            step = _step_of(hub)
        if step is not None:
            step.before()
            if names := hub._look.changed(hub.core, hub.id, hub.folder):
                from holdfast.files.journal import journal

                journal.take_in(hub._journals, names)
            if step.decisions():
                _follow(hub, step, "approve", writes=True)
        yield
        if step is not None:
            _follow(hub, step, name, writes=writes)
        note_use(guest)
    finally:
        guest._stepping.discard(me)


def _follow(hub: HubMemory, step: Step, name: str, *, writes: bool) -> None:
    """Lets the files follow an operation."""
    if name in FILES_FOLLOW and _has_files(hub):
        from holdfast.files.tool_files.follow import follow_newest

        step.note(follow_newest(hub._kept_files))
    if name in JOURNALS_FOLLOW:
        from holdfast.files.journal import journal

        step.note(journal.follow(hub._journals, purged=name.startswith("purge")))
    if writes:
        step.after(purged=name.startswith("purge"))
    # Whoever looks at what waits has the file again that they deleted.
    if writes or name in ("redact_secrets", "review"):
        step.waiting()
    if name.startswith("purge"):
        # The text both sides agreed on held the purged line, and its old pages still do. Last, as
        # it may fail where there is no room, and the files must follow all the same.
        engine.edit.settle(hub.core, PURGED)


def _has_files(hub: HubMemory) -> bool:
    return os.path.isdir(os.path.join(hub.folder, "files"))


def _step_of(hub: HubMemory) -> Step | None:
    if not is_kept_in_files(os.path.dirname(hub.memory_md)):
        return None
    if hub._step is None:
        from holdfast.files.file_sync import Step

        hub._step = Step(hub.core, hub.memory_md, hub.id, hub.name)
    return hub._step


def _shown_waiting(method: Any) -> Any:
    """An operation that keeps its own files in step; INBOX.md follows where it held something."""

    @wraps(method)
    def with_inbox(self: HubMemory, *args: Any, **values: Any) -> Any:
        memory = method(self, *args, **values)
        if memory.quarantine and (step := _step_of(self._filer)) is not None:
            step.waiting()
        return memory

    return with_inbox


def _stepped(method: Any, name: str, *, writes: bool) -> Any:

    @wraps(method)
    def with_file(self: HubMemory, *args: Any, **values: Any) -> Any:
        with _in_step(self, name, writes=writes):
            return method(self, *args, **values)

    return with_file


def _stepped_slowly(method: Any, name: str) -> Any:

    @wraps(method)
    def with_file(self: HubMemory, *args: Any, **values: Any) -> Any:
        with _in_step(self, name, writes=True):
            yield from method(self, *args, **values)

    return with_file


Hub = TypeVar("Hub")


def keep_in_step(hub: type[Hub]) -> type[Hub]:
    """Wraps the operations of a hub that read or write, and leaves the rest."""
    for name in READING + WRITING:
        setattr(hub, name, _stepped(getattr(hub, name), name, writes=name in WRITING))
    for name in HOLDING:
        setattr(hub, name, _shown_waiting(getattr(hub, name)))
    for name in WRITING_SLOWLY:
        setattr(hub, name, _stepped_slowly(getattr(hub, name), name))
    return hub
