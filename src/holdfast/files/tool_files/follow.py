"""Updates a hub's files after changes of their memories: update, forget, restore, undo, purge.

Only files that were written through the memory tool are updated; an indexed document stays
unchanged. A file that was edited by hand in between is not overwritten: its text is stored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.engine.reading.listing import scan_memories
from holdfast.engine.reading.lookup import find_memory
from holdfast.errors import HoldfastError
from holdfast.files.folder_walk import FOLDER
from holdfast.files.tool_files import Folder, open_root
from holdfast.files.tool_files.sync import KeptFiles, digest, wanted
from holdfast.files.tool_files.tree import reach


class _Moved(NamedTuple):
    """A memory before and after the change; None before if the change created it."""

    before: Memory | None
    after: Memory

    @property
    def old(self) -> str | None:
        return (self.before or self.after).source_path

    @property
    def new(self) -> str | None:
        return self.after.source_path

    @property
    def stays(self) -> bool:
        """Whether the file needs no update."""
        if self.before is None or self.old != self.new:
            return False
        archived = [memory.state == "archived" for memory in (self.before, self.after)]
        return archived[0] == archived[1] and digest(wanted(self.before)) == digest(
            wanted(self.after)
        )


class PurgedFile(NamedTuple):
    """A file with a memory that is about to be purged, with the digest of its text."""

    path: str
    digest: str


def follow_newest(files: KeptFiles) -> list[str]:
    """Updates the files after the newest change set; returns notes on those that could not be
    updated."""
    if not os.path.isdir(files.folder):
        return []
    moved = _moved(files)
    if not moved:
        return []
    notes = []
    with files.opened() as root:
        for one in moved:
            try:
                _follow(files, root, one)
            except HoldfastError as error:
                notes.append(str(error))
    return notes


def _moved(files: KeptFiles) -> list[_Moved]:
    """The memories of tool files that the newest change set touched."""
    out = []
    with files.scope.core.store.read() as reader:
        for change in reader.changes(files.scope.hub_id, limit=1):
            revisions = reader.revisions_of(files.scope.hub_id, change.id)
            rows = reader.memories_by_id(files.scope.hub_id, [r.memory_id for r in revisions])
            for revision in revisions:
                after = rows.get(revision.memory_id)
                if after is None or after.layer != "library":
                    continue
                old: dict[str, Any] = {name: pair[0] for name, pair in revision.fields.items()}
                one = _Moved(None if revision.creates else after._replace(**old), after)
                paths = {path for path in (one.old, one.new) if path}
                if not one.stays and any(files.base(reader, path) for path in paths):
                    out.append(one)
    return out


def _follow(files: KeptFiles, root: Folder, one: _Moved) -> None:
    if one.old is None:
        if one.new is not None:
            files.reconcile(root, one.new)
        return
    there = files.sides(root, one.old)
    if digest(there.text) != digest(wanted(one.before)):
        # It was edited by hand since: the usual rules apply.
        for path in {one.old, one.new} - {None}:
            files.reconcile(root, path or "")
        return
    mine = there._replace(memory=one.after)
    if one.new is None or one.new == one.old:
        text = None if one.new is None else wanted(one.after)
        files.place(root, one.old, text, mine)
        if text is None:
            _remove_empty(root, one.old)
        return
    target = files.sides(root, one.new)
    if target.file is not None:
        files.reconcile(root, one.new)
        return
    files.place(root, one.new, wanted(one.after), mine._replace(file=None))
    files.place(root, one.old, None, there._replace(memory=None))
    _remove_empty(root, one.old)


def _remove_empty(root: Folder, path: str) -> None:
    """Removes the folders that were created for a file, if they are empty."""
    names = path.split("/")[:-1]
    while names:
        inside, above = reach(root, names), reach(root, names[:-1])
        if inside is None or above is None:
            return
        with inside, above:
            if inside.items():
                return
            above.remove_folder(names.pop())


# Purge, and the end of a hub


def files_of_purged(files: KeptFiles, references: Sequence[Any]) -> list[PurgedFile]:
    """The tool files of memories that are about to be purged. Looked up before the purge, because
    afterwards nothing records them."""
    if not os.path.isdir(files.folder):
        return []
    out = []
    with files.scope.core.read() as reader:
        for reference in references:
            memory = find_memory(reader, files.scope, reference, forgotten=True)
            path = memory.source_path
            if path and memory.layer == "library" and files.base(reader, path):
                out.append(PurgedFile(path, digest(wanted(memory))))
    return out


def remove_files_of_purged(files: KeptFiles, gone: Sequence[PurgedFile]) -> list[str]:
    """Removes their files; one with another text by now stays, with a note."""
    if not gone:
        return []
    notes = []
    with files.opened() as root:
        for path, text in gone:
            try:
                there = files.sides(root, path)
                if there.memory is None and there.file is not None:
                    if digest(there.text) == text:
                        files.place(root, path, None, there)
                    else:
                        notes.append(
                            f"{FOLDER}/{path} was edited by hand since, so it was not removed."
                        )
                if there.memory is None:
                    with files.scope.core.store.write(hub=files.scope.hub_id) as writer:
                        writer.drop_agreed(files.scope.hub_id, f"{FOLDER}/{path}")
            except HoldfastError as error:
                notes.append(str(error))
    return notes


def all_tool_files(files: KeptFiles) -> list[PurgedFile]:
    """Every tool file of a hub that is about to be deleted."""
    if not os.path.isdir(files.folder):
        return []
    out = []
    wanted_ones = Filter(states=(), layers=("library",), quarantined=None)
    for memory in scan_memories(files.scope.acting(sees_all=True), wanted_ones):
        with files.scope.core.store.read() as reader:
            if memory.source_path and files.base(reader, memory.source_path):
                out.append(PurgedFile(memory.source_path, digest(wanted(memory))))
    return out


def remove_tool_files(folder: str, gone: Sequence[PurgedFile], *, bytes_max: int) -> None:
    """Removes the tool files of a deleted hub, so that a later hub of its name does not inherit
    them. Files that a person added or changed stay."""
    root = open_root(folder)
    if root is None:
        return
    with root:
        for path, text in gone:
            *above, name = path.split("/")
            with suppress(HoldfastError):
                inside = reach(root, above)
                if inside is not None:
                    with inside:
                        file = inside.read(name, bytes_max=bytes_max)
                        if file is not None and digest(file.text) == text:
                            inside.remove(name, file.stamp)
                    _remove_empty(root, path)
    with suppress(OSError):
        os.rmdir(folder)
