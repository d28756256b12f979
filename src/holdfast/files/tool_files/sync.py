"""Two-way sync of files that an agent edits and their memories: each version is a revision, and
both sides are compared with the last synced state."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.change import Action
from holdfast.domain.memory import Draft, Memory, Source, Trust
from holdfast.domain.records import Agreed
from holdfast.engine import history
from holdfast.engine.core import Scope
from holdfast.engine.writing.drafts import clean_draft, compose, derived_title
from holdfast.engine.writing.edit import refuse_taken
from holdfast.engine.writing.recorder import Recorder
from holdfast.engine.writing.remember import new_version
from holdfast.errors import HoldfastError, StoreError
from holdfast.files.documents import REMOVED
from holdfast.files.folder_walk import FOLDER
from holdfast.files.hub_folder import require_here
from holdfast.files.merge import Changed, changed
from holdfast.files.tool_files import FileText, Folder, Stamp, encoded, open_root
from holdfast.files.tool_files.tree import reach
from holdfast.system.atomic_file import locked, make_folder
from holdfast.text.clean import is_visible, without_hidden

if TYPE_CHECKING:
    from holdfast.store.base import Reader, Writer


# The reason for archiving the memory of an empty file: a memory cannot be empty.
EMPTIED = "file is empty"
_BLANK = "blank"


class Author(NamedTuple):
    """The author of a change to an agent's file, as stored in a memory."""

    trust: Trust = "user"
    source: Source = "sdk"
    agent: str | None = None


BY_HAND = Author(source="import")


class Base(NamedTuple):
    """The last synced state of an agent's file: the memory, and the digest of the text; empty if
    there was no file."""

    memory_id: str
    digest: str
    bom: bool = False


class Sides(NamedTuple):
    """The state of one path of an agent's files: the file, the memory at this path, and the
    base."""

    file: FileText | None
    memory: Memory | None
    base: Base | None

    @property
    def text(self) -> str | None:
        return self.file.text if self.file else None

    @property
    def meant(self) -> str:
        """The digest of the file's text according to the store."""
        if self.memory is None and self.base == Base("", _BLANK, self.bom):
            return _BLANK  # A file that was always empty has no memory.
        if self.memory and self.memory.state == "archived" and self.base and not self.base.digest:
            return ""  # A removed file stays removed, whatever reason is recorded later.
        return digest(wanted(self.memory))

    @property
    def bom(self) -> bool:
        return self.file.bom if self.file else bool(self.base and self.base.bom)


def wanted(memory: Memory | None) -> str | None:
    """The text that the agent's file of a memory should have; None if there should be no file."""
    if memory is None or memory.forgotten_at is not None or memory.boundary == "private":
        return None
    if memory.state == "archived" and memory.state_reason == REMOVED:
        return None
    if memory.state == "archived" and memory.state_reason == EMPTIED:
        return ""
    # A memory archived for another reason is hidden from recall, but its file stays.
    return memory.content


def digest(text: str | None) -> str:
    """A digest of the exact text. All invisible texts have the same one, and no text has an empty
    one."""
    if text is None:
        return ""
    if not is_visible(text):
        return _BLANK
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()


class KeptFiles:
    """The files of one hub, and their memories."""

    def __init__(self, scope: Scope, hub_folder: str, *, by_hand: Scope | None = None) -> None:
        self.scope = scope
        # The scope that edits made by hand are recorded under.
        self._by_hand = by_hand or scope
        self.folder = os.path.join(hub_folder, FOLDER)

    @property
    def bytes_max(self) -> int:
        limit: int = self.scope.settings["content.bytes_max"]
        return limit

    @contextmanager
    def opened(self) -> Iterator[Folder]:
        """Opens the folder, creating it if necessary, with a lock against other writers."""
        require_here(self.scope, os.path.dirname(self.folder))
        with locked(self.folder):
            make_folder(self.folder)
            root = open_root(self.folder)
            assert root is not None, "it was just made"
            with root:
                yield root

    # Looking

    def sides(self, root: Folder, path: str) -> Sides:
        """The three sides of a path."""
        *above, name = path.split("/")
        folder = reach(root, above)
        file = None
        if folder is not None:
            with folder:
                file = folder.read(name, bytes_max=self.bytes_max)
        if file is not None:
            # A file by a person may have a secret. The file is not changed, but the secret is
            # redacted in what is compared, stored and shown to agents.
            file = file._replace(text=self.scope.core.redactor.text(file.text))
        with self.scope.read_unfiltered() as reader:
            return Sides(file, self.memory_at(reader, path), self.base(reader, path))

    def memory_at(self, reader: Reader, path: str) -> Memory | None:
        """The memory of a file. Files are shared with the hub, so private memories have none."""
        return reader.memory_by_path(self.scope.hub_id, path, audience="")

    def base(self, reader: Reader, path: str) -> Base | None:
        agreed = reader.agreed(self.scope.hub_id, f"{FOLDER}/{path}")
        return Base(*json.loads(agreed.text)) if agreed else None

    def in_sync(self, sides: Sides) -> bool:
        """Whether both sides equal the base."""
        text = digest(sides.text)
        return text == sides.meant and (sides.base is None or sides.base.digest == text)

    # Syncing

    def reconcile(self, root: Folder, path: str) -> Sides:
        """Applies edits made by hand to the store, or updates the file from the store."""
        sides = self.sides(root, path)
        if self.in_sync(sides):
            return sides
        there, base = digest(sides.text), sides.base
        side = changed(base.digest if base else None, sides.meant, there)
        if base is None and side is not Changed.NEITHER and not there:
            return sides  # A document without a file: indexing handles that.
        if side is Changed.NEITHER:
            self.agree({path: self._base_of(sides, sides.memory)})
        elif side is Changed.STORE or (side is Changed.BOTH and not there):
            self._write_back(root, path, sides)
        else:
            # If both have changed, the file's text wins: the store has its own in the history.
            self._store_edit(path, sides)
        return self.sides(root, path)

    def _base_of(self, sides: Sides, memory: Memory | None) -> Base:
        return Base(memory.id if memory else "", digest(sides.text), sides.bom)

    def _store_edit(self, path: str, sides: Sides) -> None:
        """Stores what was edited, added or removed by hand as the memory's newest version."""
        files = copy(self)
        files.scope = self._by_hand
        reason = f"edited by hand in {FOLDER}/{path}"

        def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
            memory = files.record(writer, recorder, path, sides.text, BY_HAND)
            return {path: files._base_of(sides, memory)}

        with files.change("update", reason, write):
            pass  # The file has this text already.

    def _write_back(self, root: Folder, path: str, sides: Sides) -> None:
        """Updates the file from its memory: another text, deleted, or at another path."""
        self.place(root, path, wanted(sides.memory), sides)
        if sides.memory is None and sides.base is not None:
            with self.scope.core.store.read() as reader:
                moved = reader.memory(self.scope.hub_id, sides.base.memory_id)
            if moved is not None and moved.source_path not in (None, path):
                to = moved.source_path or ""
                there = self.sides(root, to)
                if there.file is None and wanted(moved) is not None:
                    self.place(root, to, wanted(moved), there._replace(base=sides.base))

    def place(self, root: Folder, path: str, text: str | None, sides: Sides) -> None:
        """Writes or removes the file; does not read the store."""
        *above, name = path.split("/")
        folder = reach(root, above, make=text is not None)
        stamp = sides.file.stamp if sides.file else None
        if folder is not None:
            with folder:
                if text is None:
                    if stamp is not None:
                        folder.remove(name, stamp)
                        folder.sync()
                else:
                    self._put(folder, name, encoded(text, bom=sides.bom), stamp)
        self.agree({path: Base(sides.memory.id if sides.memory else "", digest(text), sides.bom)})

    def _put(self, folder: Folder, name: str, data: bytes, stamp: Stamp | None) -> None:
        staged = folder.stage(data)
        try:
            folder.put(staged, name, stamp)
        except BaseException:
            folder.discard(staged)
            raise

    # Writing

    def save(
        self, root: Folder, path: str, text: str, before: Sides, author: Author, reason: str
    ) -> None:
        """Writes a new text for a new or existing file, to the store and to the disk."""
        given = self.scope.core.redactor.text(text, keep_hidden=True)
        text = without_hidden(given)
        self.scope.core.redactor.refuse_in_name(path, "path")
        *above, name = path.split("/")
        self._draft(path, given, author)  # What cannot be stored is refused before anything is.
        folder = reach(root, above, make=True)
        assert folder is not None, "it was just made"
        with folder:
            staged = folder.stage(encoded(text, bom=before.bom))
            memory: Memory | None = None

            def write(writer: Writer, recorder: Recorder) -> dict[str, Base]:
                nonlocal memory
                memory = self.record(writer, recorder, path, given, author)
                # The base is what is on the disk now, so that a crash before the file is replaced
                # is detected.
                return {path: self._base_of(before, memory)}

            try:
                with self.change("remember" if before.file is None else "update", reason, write):
                    folder.put(staged, name, before.file.stamp if before.file else None)
            except BaseException:
                folder.discard(staged)
                raise
        self.agree({path: Base(memory.id if memory else "", digest(text), before.bom)})

    def record(
        self, writer: Writer, recorder: Recorder, path: str, text: str | None, author: Author
    ) -> Memory | None:
        """Stores this text as the memory of a path."""
        memory = self.memory_at(writer, path)
        if text is None or not is_visible(text):
            if memory is None or (text is None and wanted(memory) is None):
                return memory
            if text is None:
                # The history keeps it, but deleting needs the permission to forget all the same.
                self.scope.core.require_delete(memory)
            reason = REMOVED if text is None else EMPTIED
            return recorder.revise(memory, state="archived", state_reason=reason)
        made = self._draft(path, text, author)
        assert made is not None, "a text that shows something has a draft"
        if memory is None:
            return recorder.add(made)
        new = new_version(memory, made) if memory.content != made.content else {}
        return recorder.revise(memory, **new, state="active", state_reason="")

    def _draft(self, path: str, text: str, author: Author) -> Memory | None:
        if not is_visible(text):
            return None
        draft = Draft(
            text,
            source_path=path,
            layer="library",
            source=author.source,
            trust=author.trust,
            source_agent=author.agent,
            # A file is valid as long as it exists, so its memory does not age.
            stability="stable",
        )
        return compose(clean_draft(self.scope.core, draft), self.scope.core, self.scope.hub_id)

    @contextmanager
    def change(
        self, action: Action, reason: str, write: Callable[[Writer, Recorder], dict[str, Base]]
    ) -> Iterator[None]:
        """Writes one change set together with the base; it is reverted if writing to the disk
        fails, so that a failed command has no later effect."""
        with self.scope.write_unfiltered() as writer:
            recorder = Recorder(self.scope, writer, action, reason=reason)
            self._agree(writer, write(writer, recorder))
        try:
            yield
        except (HoldfastError, OSError):
            if recorder.written:
                with suppress(HoldfastError):
                    history.undo(self.scope, recorder.change.id)
            raise
        recorder.embed()

    def agree(self, bases: dict[str, Base]) -> None:
        """Records the base. If that is lost, the next check takes one comparison longer."""
        with suppress(StoreError), self.scope.core.store.write(hub=self.scope.hub_id) as writer:
            self._agree(writer, bases)

    def _agree(self, writer: Writer, bases: dict[str, Base]) -> None:
        now = self.scope.now()
        for path, base in bases.items():
            writer.set_agreed(self.scope.hub_id, Agreed(f"{FOLDER}/{path}", json.dumps(base), now))

    def move_memory(self, writer: Writer, recorder: Recorder, memory: Memory, path: str) -> None:
        """Moves a memory with its file. A memory that a removed file left at the new path stays
        archived, without a path."""
        self.scope.core.redactor.refuse_in_name(path, "path")
        left = self.memory_at(writer, path)
        if left is not None and left.id != memory.id and wanted(left) is None:
            recorder.revise(left, source_path=None)
        after = memory._replace(source_path=path)
        refuse_taken(writer, after)
        title = derived_title(after) if memory.title == derived_title(memory) else memory.title
        recorder.revise(memory, source_path=path, title=title)
