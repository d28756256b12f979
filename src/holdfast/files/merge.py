"""Shared by all synced files: the three-way comparison of base (the last synced state), store and
file.

If both sides changed one memory, a conflict is recorded; resolving it archives one text or moves it
to the history, and deletes neither.
"""

from __future__ import annotations

from enum import Enum, auto

from holdfast.domain.memory import Memory
from holdfast.domain.records import Clash
from holdfast.engine.core import Scope
from holdfast.engine.writing.edit import completed
from holdfast.engine.writing.indexing import indexed
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import NotFound
from holdfast.files.memory_md import FILE_NAME
from holdfast.store.base import Reader
from holdfast.text import clean


class Changed(Enum):
    """The side that differs from the base in a three-way merge."""

    NEITHER = auto()  # Both are equal now, changed or not.
    STORE = auto()  # Only the store has changed: the file is updated.
    FILE = auto()  # Only the file has changed: the store is updated.
    BOTH = auto()  # A conflict.


def changed(base: str | None, store: str | None, file: str | None) -> Changed:
    """Compares both sides of a three-way merge with the base. None means that a side, or the base,
    does not have it."""
    if store == file:
        return Changed.NEITHER
    if base is None:
        return Changed.BOTH
    if file == base:
        return Changed.STORE
    return Changed.FILE if store == base else Changed.BOTH


KEEPS = ("store", "file", "both")
# The recorded reasons, by the text that was kept.
SETTLED = {
    name: f"conflict settled: the {owner} text was kept"
    for name, owner in (("store", "store's"), ("file", "file's"), ("both", "file's"))
}


def open_clashes(scope: Scope) -> list[Clash]:
    """The unresolved conflicts of merges, oldest first."""
    with scope.read() as reader:
        return reader.clashes(scope.hub_id)


def settle(scope: Scope, clash_id: str, keep: str) -> Clash:
    """Resolves a conflict of a merge; `keep` is the text that stays: the store's, the file's, or
    both."""
    keep = clean.one_of(keep, KEEPS, "choice")
    scope.require("write")
    with scope.read() as reader:
        clash = _find(reader, scope, clash_id)
        memory = reader.memory(scope.hub_id, clash.memory_id)
    new = {}
    index = None
    if keep == "file" and memory is not None:
        new = completed(memory, {"content": clash.in_file})
        # The embedding model is asked before the write begins.
        index = indexed(memory._replace(**new), scope.core)
    with scope.write() as writer:
        clash = _find(writer, scope, clash_id)
        memory = writer.memory(scope.hub_id, clash.memory_id)
        other = _other(writer, scope.hub_id, clash)
        reason = SETTLED[keep]
        recorder = Recorder(scope, writer, "update", reason=reason)
        # If the memory itself was removed meanwhile, only the other text is left, and stays.
        if memory is not None and memory.visible and memory.state != "archived":
            if keep == "file":
                recorder.revise(memory, index, **new)
            if keep != "both" and other is not None:
                recorder.revise(other, state="archived", state_reason=reason)
        at = scope.now()
        writer.settle_clash(scope.hub_id, clash.id, at)
        return clash._replace(settled_at=at)


def removed_by_conflict(memory: Memory) -> bool:
    """Whether a memory was archived by resolving a conflict of a merge: unlike a memory archived by
    age, it is removed from its file."""
    return memory.state == "archived" and memory.state_reason in SETTLED.values()


def _find(reader: Reader, scope: Scope, clash_id: str) -> Clash:
    for clash in reader.clashes(scope.hub_id):
        if clash.id == clash_id:
            return clash
    raise NotFound(
        f"There is no open conflict {clash_id} in hub `{scope.hub}`.",
        hint="List the conflicts to see which are open.",
        command="`holdfast conflicts` lists them.",
    )


def _other(reader: Reader, hub_id: str, clash: Clash) -> Memory | None:
    """The memory with the file's text, unless it was changed since."""
    layer = "long_term" if clash.path == FILE_NAME else "journal"
    for memory in reader.memories_by_hash(hub_id, clean.content_hash(clash.in_file)):
        if (
            memory.id != clash.memory_id
            and memory.content == clash.in_file
            and memory.layer == layer
            and memory.visible
            and memory.state != "archived"
        ):
            return memory
    return None
