"""Syncs INBOX.md with the review inbox: the decisions in the file are applied, then it is
rewritten; when no item is left, it is removed.

The steps: read the file, decide in the store (one change set), write the file. After a crash
between them, the next sync finds items that were decided as the file says, and skips them.
Uncertain cases are not applied: an incomplete file, an item that changed since, two ticked boxes. A
missing item is still held. Text that is stored nowhere else is saved in a file, never lost.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.domain.results import is_pending
from holdfast.engine.core import Scope
from holdfast.errors import HoldfastError, InvalidInput, StoreError
from holdfast.files.hub_folder import require_here
from holdfast.files.inbox_format import FILE_NAME, Filled, InboxEntry, parse, render
from holdfast.files.memory_md.cache import (
    NO_STAMP,
    Stamp,
    quick_stamp_of,
    read_stamp,
    stamp_of,
    token_of,
)
from holdfast.files.memory_md.cache import write_stamp as note_stamp
from holdfast.files.safe_read import free_name
from holdfast.system.atomic_file import (
    file_errors,
    locked,
    real_path,
    remove_partials,
    write_atomic,
)

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.engine.review.inbox import Verdict
    from holdfast.store.base import Reader

REASON = f"in {FILE_NAME}"
# Several times as large as all items that fit.
_BYTES_MAX = 50_000_000
# If a person saves while the file is written, their version is read first, up to this many times.
_ATTEMPTS = 3


class InboxFile:
    """The INBOX.md of one hub. It belongs to the hub's owner: it shows what they see, and they
    decide."""

    def __init__(self, scope: Scope, folder: str) -> None:
        with scope.core.store.read() as reader:
            owner = scope.require_hub(reader).owner
        self._scope = scope.acting(owner)
        self.folder = folder
        self.path = os.path.join(folder, FILE_NAME)
        self._seen: tuple[int, int, int] | None = None
        self._written: str | None = None

    def before(self) -> tuple[bool, list[str]]:
        """Applies what was decided in the file since the last sync; returns whether there was
        anything, and notes."""
        stamp = quick_stamp_of(self.path)
        if stamp is None or self._is_known(stamp):
            return False, []
        return self.sync()

    def after(self) -> list[str]:
        """Updates the file after writes to the store."""
        if not os.path.exists(self.path) and not self._anything_waits():
            return []
        return self.sync()[1]

    def _is_known(self, stamp: tuple[int, int, int]) -> bool:
        noted = read_stamp(self.path)
        if stamp != (self._seen or noted.file) or noted.hub_id != self._scope.hub_id:
            return False
        with self._scope.core.store.read() as reader:
            if noted.token != token_of(reader, self._scope.hub_id):
                return False
        # A stamp taken directly after a save proves nothing.
        return stamp_of(self.path) is not None or self._read() == self._written

    def _anything_waits(self) -> bool:
        from holdfast.engine.review import inbox

        return inbox.count(self._scope, most=1) > 0

    def sync(self) -> tuple[bool, list[str]]:
        """Syncs the file and the inbox; problems become notes."""
        if not os.path.exists(self.path) and not self._anything_waits():
            return False, []
        try:
            require_here(self._scope, os.path.dirname(self.path))
            with locked(self.path):
                remove_partials(self.path, held=True)
                return self._sync()
        except HoldfastError as error:
            # Until somebody changes the file, trying again would only repeat the note.
            self._seen = quick_stamp_of(self.path)
            return False, [str(error)]

    def _sync(self) -> tuple[bool, list[str]]:
        decided = False
        notes: list[str] = []
        for _ in range(_ATTEMPTS):
            text = self._read()
            filled = parse(text) if text is not None else Filled((), True, False)
            if text is not None and not filled.whole:
                self._seen, self._written = quick_stamp_of(self.path), text
                note = f"{FILE_NAME} was not saved whole, so nothing in it was done."
                return decided, [*notes, f"{note} Save it again, or delete it to have it anew."]
            more, told_, lost = self._decide(filled.entries)
            decided = decided or more
            notes += [note for note in told_ if note not in notes]
            if text is not None and (lost or filled.loose):
                notes.append(self._save_copy(text))
            if self._write(text):
                return decided, notes
        raise StoreError(f"{self.path} is being written by another program all the time.")

    # Decisions

    def _decide(self, entries: Sequence[InboxEntry]) -> tuple[bool, list[str], bool]:
        """Whether anything was decided, notes, and whether the file has text that is stored nowhere
        else."""
        from holdfast.engine.review import inbox

        wanted: list[Verdict] = []
        notes: list[str] = []
        lost = False
        with self._scope.read() as reader:
            found = reader.memories_by_id(
                self._scope.hub_id, [entry.memory_id for entry in entries]
            )
            for entry in entries:
                memory = found.get(entry.memory_id)
                verdict, note, unsaid = _verdict(reader, entry, memory)
                wanted += [verdict] if verdict else []
                notes += [note] if note else []
                lost = lost or unsaid
        if not wanted:
            return False, notes, lost
        try:
            inbox.decide(self._scope, wanted, reason=REASON)
        except HoldfastError:
            # If one decision cannot be applied, the others are applied one by one.
            done = [self._decide_one(verdict, notes) for verdict in wanted]
            failed = [one for one, ok in zip(wanted, done, strict=True) if not ok]
            lost = lost or any(one.text is not None for one in failed)
            return any(done), notes, lost
        return True, notes, lost

    def _decide_one(self, verdict: Verdict, notes: list[str]) -> bool:
        from holdfast.engine.review import inbox

        try:
            inbox.decide(self._scope, [verdict], reason=REASON)
        except HoldfastError as error:
            notes.append(str(error))
            return False
        return True

    def _save_copy(self, text: str) -> str:
        kept = free_name(self.path, self._scope.now())
        write_atomic(kept, self._scope.core.redactor.text(text), within=self.folder)
        return f"What {FILE_NAME} says beside its form was kept as {os.path.basename(kept)}."

    # The file

    def _read(self) -> str | None:
        target = real_path(self.path, within=self.folder)
        with file_errors(self.path):
            try:
                # So that opening a pipe in the file's place does not block.
                handle = os.open(target, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            except FileNotFoundError:
                return None
            with os.fdopen(handle, "rb") as file:
                if not os.path.isfile(target) or os.fstat(file.fileno()).st_size > _BYTES_MAX:
                    raise InvalidInput(
                        f"{self.path} is no file that Holdfast wrote.", hint="Move it away."
                    )
                data = file.read()
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise InvalidInput(
                f"{self.path} is not UTF-8 text, so nothing in it was done.",
                hint="Save it as UTF-8, or delete it to have it anew.",
            ) from None

    def _write(self, before: str | None) -> bool:
        """Writes the file as the inbox is now, unless somebody saved it since it was read."""
        from holdfast.engine.review import inbox

        with self._scope.core.store.read() as reader:
            token = token_of(reader, self._scope.hub_id)
        items = inbox.review(self._scope)
        text = render(items)
        if not text:
            if before is not None and self._read() != before:
                return False
            with file_errors(self.path), suppress(FileNotFoundError):
                os.unlink(self.path)
        elif text != before and not write_atomic(
            self.path, text, within=self.folder, unless=lambda: self._read() != before
        ):
            return False
        self._written = text or None
        self._seen = quick_stamp_of(self.path)
        note_stamp(self.path, Stamp(self._scope.hub_id, self._seen, token) if text else NO_STAMP)
        return True


def _verdict(
    reader: Reader, entry: InboxEntry, memory: Memory | None
) -> tuple[Verdict | None, str, bool]:
    """The decision on an item, a note if it cannot be applied, and whether the file has text that
    is stored nowhere else."""
    from holdfast.engine.review.inbox import Verdict

    text = None if memory is None else _changed(entry, memory)
    if memory is None or not is_pending(memory) or memory.version != entry.version:
        return _already_decided(reader, entry, memory)
    named = f"#{memory.number}"
    rejects = "reject" in entry.ticked
    approves = "approve" in entry.ticked or "keep both" in entry.ticked
    if rejects and approves:
        return None, f"{named} in {FILE_NAME} is both approved and rejected; it still waits.", False
    if rejects:
        return Verdict(memory.id, False, version=memory.version), "", False
    if text is not None and entry.cut:
        note = f"{named} is too long to be changed in {FILE_NAME}; it still waits."
        return None, note, True
    if not approves and text is None:
        return None, "", False
    both = "keep both" in entry.ticked
    return Verdict(memory.id, True, text, both, memory.version), "", False


def _changed(entry: InboxEntry, memory: Memory) -> str | None:
    """The text, if it was changed by more than white space, which editors change by themselves."""
    if not entry.edited:
        return None
    meant = memory.content
    if entry.cut:
        meant = meant[: len(entry.text)]
    return None if entry.text.split() == meant.split() else entry.text


def _already_decided(
    reader: Reader, entry: InboxEntry, memory: Memory | None
) -> tuple[Verdict | None, str, bool]:
    """An item that was decided or changed since the file was written."""
    unsaid = memory is None or not _was_said(reader, entry, memory)
    if memory is None:
        return None, "", unsaid and bool(entry.ticked)
    shown = memory.visible and memory.state != "archived"
    done = ("reject" in entry.ticked and memory.state == "archived") or (
        "reject" not in entry.ticked and entry.ticked and (shown or memory.superseded_by)
    )
    if (not entry.ticked and not unsaid) or (done and not unsaid):
        return None, "", False
    what = "changed" if is_pending(memory) else "decided elsewhere"
    return None, f"#{memory.number} was {what} before {FILE_NAME} was saved.", unsaid


def _was_said(reader: Reader, entry: InboxEntry, memory: Memory) -> bool:
    """Whether the item's text is, or was, that of the memory."""
    if _changed(entry, memory) is None:
        return True
    for revision in reader.revisions(memory.hub_id, memory.id):
        old, new = revision.fields.get("content", ("", ""))
        if any(one and entry.text.split() == one.split() for one in (old, new)):
            return True
    return entry.cut
