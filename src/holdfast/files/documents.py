"""Indexes a folder of files as documents of a hub: each file is one memory, found by its path.

A second run reads only changed files. The memory of a deleted file is archived, and restored when
the file comes back. The store has the list of indexed files; the files are never written.
`FolderRun` is shared by hubs on this machine and on a server (`client/files.py`), which record and
write documents in their own ways.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias

from holdfast.domain.memory import Draft, Trust
from holdfast.domain.records import Agreed
from holdfast.domain.results import Duplicate, Quarantined, Remembered, Updated
from holdfast.engine.core import Scope
from holdfast.engine.writing import edit
from holdfast.engine.writing.drafts import clean_draft
from holdfast.engine.writing.remember import remember_stream
from holdfast.errors import InvalidInput
from holdfast.files.folder_walk import FOLDER, FoundFile, Note, Walked, is_inside, stamp_of, walk
from holdfast.store.base import Reader
from holdfast.text.clean import content_hash, without_hidden

# If more than this many files, and more than this share, are missing at once, the folder was
# probably moved or not mounted, so a confirmation is required.
_GONE_MANY = 10
_GONE_SHARE = 3
# A file written this recently may be written again within the same tick of its clock.
_FRESH_NS = 2_000_000_000

REMOVED = "file removed"

Progress: TypeAlias = Callable[[int, int], None]  # (done, total)
Stamp: TypeAlias = tuple[int, int, int]


class Report(NamedTuple):
    """The result for each file. `withheld` are missing files, so many at once that their memories
    stay until somebody confirms; `redacted` are files with secrets, which are not in their
    memories. Of those in `refused`, `unread` could not be read, and `held` were indexed and wait
    for review."""

    added: tuple[str, ...]
    updated: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: tuple[Note, ...]
    refused: tuple[Note, ...]
    withheld: tuple[str, ...] = ()
    redacted: tuple[Note, ...] = ()
    unread: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


class DocumentFolder(NamedTuple):
    """The folder of the files, and its trust. `name` is the prefix of their paths, and is empty for
    a hub's own folder."""

    folder: str
    name: str = ""
    trust: Trust = "user"


def other_place(folder: str) -> DocumentFolder:
    """A folder of documents that is not the hub's own: identified by its full path, and trusted
    like an import."""
    real = os.path.realpath(folder)
    return DocumentFolder(real, real.replace(os.sep, "/").rstrip("/") + "/", "import")


class FolderRun:
    """The results of one pass over a folder of documents, file by file."""

    def __init__(self, place: DocumentFolder) -> None:
        self.place = place
        self.added: list[str] = []
        self.updated: list[str] = []
        self.unchanged: list[str] = []
        self.removed: list[str] = []
        self.withheld: list[str] = []
        self.skipped: list[Note] = []
        self.refused: list[Note] = []
        self.redacted: list[Note] = []
        self.held: list[str] = []

    def report(self, walked: Walked) -> Report:
        return Report(
            tuple(self.added),
            tuple(self.updated),
            tuple(self.unchanged),
            tuple(self.removed),
            (*walked.skipped, *self.skipped),
            (*walked.refused, *self.refused),
            tuple(self.withheld),
            tuple(self.redacted),
            tuple(walked.unread),
            tuple(self.held),
        )

    def draft(self, path: str, content: str) -> Draft:
        """The document that a file becomes."""
        return Draft(
            content,
            source_path=self.place.name + path,
            layer="library",
            source="import",
            trust=self.place.trust,
            # The memory of a file does not age while the file exists.
            stability="stable",
        )

    def skip(self, path: str, sentence: str) -> None:
        """Notes why a file is left out."""
        reason = sentence.rstrip(".")
        self.skipped.append(Note(path, reason[:1].lower() + reason[1:]))

    def hold(self, path: str, result: Quarantined) -> None:
        """Notes a file with a memory that waits for review."""
        reason = f"held for review as #{result.memory.number}: it {result.reason}"
        self.refused.append(Note(path, reason))
        self.held.append(path)

    def withhold(self, gone: list[str], known: int, *, remove: bool, remove_many: bool) -> bool:
        """Whether the memories of missing files stay: because `remove` is off, or so many are
        missing at once that a confirmation is required."""
        if remove and (remove_many or not too_many(len(gone), known)):
            return False
        self.withheld = gone
        return True


def too_many(gone: int, known: int) -> bool:
    """Whether so many documents are missing at once that a confirmation is required."""
    return gone > _GONE_MANY and gone * _GONE_SHARE > known


def gone_from(known: Iterable[str], walked: Walked) -> list[str]:
    """The files that were known before and are missing now, except those in folders that could not
    be read."""
    present = {found.path for found in walked.files}
    unread = tuple(walked.unread)
    return [path for path in known if path not in present and not path.startswith(unread)]


def lasting_stamp(stamp: Stamp, now: datetime) -> Stamp:
    """The stamp; one that matches no file if another write within the same tick could leave it
    unchanged."""
    now_ns = int(now.timestamp() * 1_000_000_000)
    return (0, 0, 0) if max(stamp[0], stamp[1]) > now_ns - _FRESH_NS else stamp


IGNORED = "file no longer indexed"
# One transaction archives at most this many, so that others do not wait for long.
_BATCH = 500


class _Entry(NamedTuple):
    """The record of a file when it was last read. A copy has the same text as a stored memory, so
    it has no memory of its own."""

    stamp: Stamp
    hash: str
    copy: bool = False


def own_place(hub_folder: str) -> DocumentFolder:
    """The folder in which a hub keeps its own files."""
    return DocumentFolder(os.path.join(hub_folder, FOLDER))


def own_paths(scope: Scope) -> list[str]:
    """The paths of the hub's own files that were read, without copies of others."""
    with scope.core.store.read() as reader:
        known = _read_record(reader, scope.hub_id, f"{FOLDER}/")
    return [path for path, entry in known.items() if not entry.copy]


def index_files(
    scope: Scope,
    place: DocumentFolder,
    *,
    remove: bool = True,
    remove_many: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Updates the hub's documents from the folder; without `remove`, the memories of missing files
    stay. A dry run only reports what it would do.

    A file that cannot be indexed becomes a note and does not stop the others.
    """
    run = _DocumentRun(scope, place, dry_run=dry_run)
    if not place.name and not run.known and not os.path.isdir(place.folder):
        return Report((), (), (), (), (), ())
    walked = walk(place.folder)
    run.read_files(walked, progress)
    run.remove_gone(walked, remove=remove, remove_many=remove_many)
    run.write_record()
    return run.report(walked)


class _DocumentRun(FolderRun):
    """One pass over a folder, into a hub of this machine."""

    def __init__(self, scope: Scope, place: DocumentFolder, *, dry_run: bool) -> None:
        super().__init__(place)
        self._scope = scope
        self._dry_run = dry_run
        self._root = os.path.realpath(place.folder)
        with scope.read_unfiltered() as reader:
            self.known = _read_record(reader, scope.hub_id, _record_of(place))
        self._now: dict[str, _Entry] = {}
        self._gone: list[str] = []
        self._known_paths = {place.name + path for path in self.known}
        # The file of each text in this pass.
        self._standing: dict[str, str] = {}

    # Reading new and changed files

    def read_files(self, walked: Walked, progress: Progress | None) -> None:
        present = {found.path for found in walked.files}
        self._gone = gone_from(self.known, walked)
        for path in self.known.keys() - present - set(self._gone):
            self._now[path] = self.known[path]  # The file is in a folder that could not be read.
        changed = [found for found in walked.files if not self._is_unchanged(found)]
        # Files with a memory of their own come first: whether its content is unchanged decides
        # whether a new file is a copy of it.
        changed.sort(key=lambda found: not self._has_memory(found.path))
        waiting: deque[tuple[str, _Entry]] = deque()
        drafts = self._drafts(changed, waiting, progress)
        if self._dry_run:
            for _ in drafts:
                path, entry = waiting.popleft()
                (self.updated if self._has_memory(path) else self.added).append(path)
                self._standing[entry.hash] = path
            return
        for result in remember_stream(self._scope, drafts, reason="files"):
            self._note(*waiting.popleft(), result)

    def _has_memory(self, path: str) -> bool:
        return path in self.known and not self.known[path].copy

    def _is_unchanged(self, found: FoundFile) -> bool:
        """Whether the file need not be read again, decided without opening it."""
        entry = self.known.get(found.path)
        if entry is None or entry.copy or entry.stamp != found.stamp:
            return False
        self._keep(found.path, entry)
        return True

    def _keep(self, path: str, entry: _Entry) -> None:
        self._now[path] = entry
        self._standing.setdefault(entry.hash, path)
        self.unchanged.append(path)

    def _drafts(
        self,
        changed: list[FoundFile],
        waiting: deque[tuple[str, _Entry]],
        progress: Progress | None,
    ) -> Iterator[Draft]:
        """Yields a draft for each file with new content, one at a time."""
        for done, found in enumerate(changed, 1):
            ready = self._read(found)
            if progress is not None:
                progress(done, len(changed))
            if ready is not None:
                entry, draft = ready
                self._standing.setdefault(entry.hash, found.path)
                waiting.append((found.path, entry))
                yield draft

    def _read(self, found: FoundFile) -> tuple[_Entry, Draft] | None:
        path = found.path
        known = self.known.get(path)
        if known and known.copy and known.stamp == found.stamp and known.hash in self._standing:
            self._skip_copy(path, known, f"it says the same as {self._standing[known.hash]}")
            return None
        bytes_max = self._scope.settings["content.bytes_max"]
        try:
            stamp, written = read_text(self._root, path, bytes_max)
            given = self._scope.core.redactor.text(written, keep_hidden=True)
            content = without_hidden(given)
            draft = clean_draft(self._scope.core, self.draft(path, given))
        except InvalidInput as error:
            # Its record is not changed, and the file is read again next time.
            if known is not None:
                self._now[path] = known._replace(stamp=(0, 0, 0))
            self.skip(path, error.message)
            return None
        if note := self._scope.core.redactor.note(
            written, content, "the memory; the file still has it"
        ):
            self.redacted.append(Note(path, note.removesuffix(" by a placeholder.")))
        entry = _Entry(lasting_stamp(stamp, self._scope.now()), content_hash(content))
        if known is not None and not known.copy:
            if known.hash == entry.hash:
                self._keep(path, entry)
                return None
        elif said := self._said_already(path, entry.hash):
            self._skip_copy(path, entry._replace(copy=True), said)
            return None
        return entry, draft

    def _skip_copy(self, path: str, entry: _Entry, reason: str) -> None:
        self._now[path] = entry
        self.skipped.append(Note(path, reason))

    def _said_already(self, path: str, text_hash: str) -> str:
        """The memory with the same text; none if it belongs to a file that was removed or has
        another text now, because then this is that file under a new name. A file with a memory of
        its own, as an agent's file may have, is not a copy."""
        with self._scope.core.store.read() as reader:
            mine = reader.memory_by_path(self._scope.hub_id, self.place.name + path, audience="")
        if mine is not None and mine.state != "archived" and mine.content_hash == text_hash:
            return ""
        if text_hash in self._standing:
            return f"it says the same as {self._standing[text_hash]}"
        with self._scope.core.store.read() as reader:
            for memory in reader.memories_by_hash(self._scope.hub_id, text_hash):
                own = (
                    memory.source_path in self._known_paths
                    or memory.source_path == self.place.name + path
                )
                hidden = memory.state == "archived" or bool(memory.quarantine)
                private = memory.boundary == "private" and memory.owner != self._scope.actor
                event = memory.session or memory.speaker or memory.event_at
                if not (own or hidden or private or event or memory.superseded_by):
                    return f"it says the same as memory #{memory.number}"
        return ""

    def _note(self, path: str, entry: _Entry, result: Remembered) -> None:
        self._now[path] = entry
        if isinstance(result, Quarantined):
            self.hold(path, result)
        elif isinstance(result, Duplicate):
            self.unchanged.append(path)
        elif isinstance(result, Updated) and self._has_memory(path):
            self.updated.append(path)
        else:
            self.added.append(path)

    # Missing files

    def remove_gone(self, walked: Walked, *, remove: bool, remove_many: bool) -> None:
        gone = [path for path in self._gone if not self.known[path].copy]
        if self.withhold(gone, len(self.known), remove=remove, remove_many=remove_many):
            self._now.update({path: self.known[path] for path in gone})
            return
        there = {note.path.rstrip("/") for note in walked.skipped}
        reasons: dict[str, list[str]] = {REMOVED: [], IGNORED: []}
        with self._scope.core.store.read() as reader:
            for path in gone:
                memory = reader.memory_by_path(self._scope.hub_id, self.place.name + path)
                # If another file has taken the memory over, it has a new path.
                if memory is not None and memory.state != "archived":
                    reason = IGNORED if _is_below(path, there) else REMOVED
                    reasons[reason].append(memory.id)
                    self.removed.append(path)
        if self._dry_run:
            return
        for reason, memory_ids in reasons.items():
            for start in range(0, len(memory_ids), _BATCH):
                batch = memory_ids[start : start + _BATCH]
                edit.archive(self._scope, batch, reason)

    def write_record(self) -> None:
        if self._dry_run or self._now == self.known:
            return
        agreed = Agreed(_record_of(self.place), _record_text(self._now), self._scope.now())
        with self._scope.write_unfiltered() as writer:
            writer.set_agreed(self._scope.hub_id, agreed)


def _is_below(path: str, folders: set[str]) -> bool:
    """Whether the path, or a folder that contains it, is among these."""
    while path:
        if path in folders:
            return True
        path = path.rpartition("/")[0]
    return False


def read_text(root: str, path: str, bytes_max: int) -> tuple[Stamp, str]:
    """The stamp and the text of a document; raises InvalidInput if it cannot be read."""
    full = os.path.join(root, path)
    # Links are not followed, and opening a pipe in the file's place would block.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        with os.fdopen(os.open(full, flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not is_inside(os.path.realpath(full), root):
                raise InvalidInput("It is not a plain file of the folder any more.")
            data = file.read(bytes_max + 1)
    except OSError as error:
        raise InvalidInput(f"It cannot be read: {error.strerror}.") from None
    if len(data) > bytes_max:
        raise InvalidInput(f"It has more than {bytes_max:,} bytes.")
    try:
        return stamp_of(status), data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"It is not UTF-8 text: byte {error.start} cannot be read.") from None


# The list of indexed files


def _record_of(place: DocumentFolder) -> str:
    """The name of the list in the store."""
    return place.name or f"{FOLDER}/"


def _read_record(reader: Reader, hub_id: str, name: str) -> dict[str, _Entry]:
    import json

    agreed = reader.agreed(hub_id, name)
    if agreed is None:
        return {}
    rows = json.loads(agreed.text)
    return {
        path: _Entry((modified, changed, size), text_hash, bool(copy))
        for path, (modified, changed, size, text_hash, copy) in rows.items()
    }


def _record_text(entries: dict[str, _Entry]) -> str:
    import json

    encode = json.JSONEncoder(ensure_ascii=False).encode
    # One line per file: the rest is compared, and scanned for secrets, line by line.
    rows = [
        f"{encode(path)}:{encode([*entry.stamp, entry.hash, int(entry.copy)])}"
        for path, entry in sorted(entries.items())
    ]
    return "{" + ",\n".join(rows) + "}"
