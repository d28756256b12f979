"""Files of this machine sent to a server: one file as a form with its fields, or a folder as
documents of a hub, each file one memory that is found by its path. The same as
`holdfast.files.documents` does for a local hub.

What was sent is recorded in the home folder of this machine, so that a second run sends only what
has changed. The record may be lost: then files are sent again, and the server recognises them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from holdfast.api.arguments import draft_from
from holdfast.client.responses import decoded
from holdfast.domain.memory import GIVEN_TIMES, Draft, Memory
from holdfast.domain.results import Duplicate, Quarantined, Stored, Superseded, Updated
from holdfast.errors import InvalidInput, NotFound
from holdfast.files.documents import (
    REMOVED,
    DocumentFolder,
    FolderRun,
    Progress,
    Report,
    Stamp,
    gone_from,
    lasting_stamp,
    other_place,
    read_text,
)
from holdfast.files.folder_walk import FoundFile, Note, Walked, walk
from holdfast.files.safe_read import open_regular
from holdfast.text.clean import clean_time, content_hash

if TYPE_CHECKING:
    from holdfast.client.hub import RemoteHub
    from holdfast.domain.results import Remembered


# Fields that a server sets itself for a file that it receives.
_SAYS_ITSELF = ("source",)


def upload(hub: RemoteHub, file: Any, name: str | None, fields: dict[str, Any]) -> Remembered:
    """Sends a file to a server and returns what became of it."""
    form = _form(fields)
    if isinstance(file, str | os.PathLike):
        path = os.fspath(file)
        try:
            if os.path.isdir(path):
                raise InvalidInput(f"{path} is a folder.", hint="Use index_files for folders.")
            with open_regular(path) as opened:
                return _send(hub, opened, name or os.path.basename(path), form)
        except FileNotFoundError:
            raise NotFound(f"There is no file {path}.", hint="Check the name.") from None
    if not hasattr(file, "read"):
        raise InvalidInput(f"A file is a path or an open file, not {type(file).__name__}.")
    named = name or os.path.basename(str(getattr(file, "name", "")))
    return _send(hub, file, named, form)


def _send(hub: RemoteHub, file: BinaryIO, name: str, form: dict[str, Any]) -> Remembered:
    answer = hub.server.upload("/memories/upload", file, name or "file", form, hub=hub.id)
    url = hub.server.url
    memory = decoded(url, Memory, answer["data"])
    match answer["result"]:
        case "stored":
            close = answer.get("close_to")
            return Stored(memory, answer["change"], close and decoded(url, Memory, close))
        case "updated":
            return Updated(memory, answer["change"], decoded(url, Memory, answer["previous"]))
        case "superseded":
            return Superseded(memory, answer["change"], decoded(url, Memory, answer["previous"]))
        case "quarantined":
            return Quarantined(memory, answer["change"], answer["reason"])
        case _:
            return Duplicate(memory)


def _form(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields as a form has them: texts, tags once for each, metadata as JSON."""
    import json

    # The library's own check of names and values; the content is the file's.
    draft_from({**fields, "content": "-"})
    out: dict[str, Any] = {}
    for name, value in fields.items():
        if value is None or name in _SAYS_ITSELF:
            continue
        if name in GIVEN_TIMES:
            value = clean_time(value)
            value = None if value is None else value.isoformat()
        if name == "metadata":
            out[name] = json.dumps(dict(value), ensure_ascii=False)
        elif isinstance(value, bool):
            out[name] = "true" if value else "false"
        else:
            out[name] = [*value] if name == "tags" else str(value)
    return out


# So many files, or so many bytes of them, go in one request: well below the largest body, and few
# enough that a lost connection costs little.
_BATCH_FILES = 50
_BATCH_BYTES = 500_000
# A server takes bodies of three million bytes, and letters may need more bytes in JSON.
_FILE_BYTES_MAX = 2_500_000
_ARCHIVE_MAX = 100
_FOLDER = "pushed"


class Sent(NamedTuple):
    """A file that was sent: its stamp, the hash of its text, and its memory."""

    stamp: Stamp
    hash: str
    memory: str


class _Ready(NamedTuple):
    """A file that is to be sent."""

    path: str
    stamp: Stamp
    hash: str
    draft: Draft


def index_files(
    hub: RemoteHub,
    folder: str | os.PathLike[str] | None = None,
    *,
    remove: bool = True,
    remove_many: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Brings the documents on a server up to date with a folder here."""
    if folder is None:
        raise InvalidInput(
            "The hub's own files are on the server's machine.", hint="Name a folder of this one."
        )
    place = other_place(os.fspath(folder))
    walked = walk(place.folder)
    run = _UploadRun(hub, place)
    changed = run.changed(walked)
    if dry_run:
        for ready in run.read(changed, progress):
            (run.updated if ready.path in run.known else run.added).append(ready.path)
        run.note_gone(walked, remove=remove, remove_many=remove_many)
        run.removed = [path for path in run.gone if path not in run.withheld]
    else:
        try:
            run.send(run.read(changed, progress))
            run.note_gone(walked, remove=remove, remove_many=remove_many)
            run.archive_gone()
        finally:
            # Also after an error: what was sent is not sent again.
            run.write()
    return run.report(walked)


class _UploadRun(FolderRun):
    """One pass over a folder, into a hub on a server."""

    def __init__(self, hub: RemoteHub, place: DocumentFolder) -> None:
        super().__init__(place)
        self._hub = hub
        self._file = _record_file(hub, place)
        self.known = read_record(self._file)
        self._now = dict(self.known)
        self.gone: list[str] = []

    def changed(self, walked: Walked) -> list[FoundFile]:
        """The files that differ from what was sent, by their stamps alone."""
        out = []
        for found in walked.files:
            entry = self.known.get(found.path)
            if entry is not None and entry.stamp == found.stamp:
                self.unchanged.append(found.path)
            else:
                out.append(found)
        return out

    def read(self, changed: list[FoundFile], progress: Progress | None) -> Iterator[_Ready]:
        """The files that say something new, one at a time."""
        for done, found in enumerate(changed, 1):
            if progress is not None:
                progress(done, len(changed))
            try:
                stamp, content = read_text(self.place.folder, found.path, _FILE_BYTES_MAX)
            except InvalidInput as error:
                self.skip(found.path, error.message)
                continue
            if not content.strip():
                self.skip(found.path, "It is empty.")
                continue
            said = content_hash(content)
            stamp = lasting_stamp(stamp, self._hub.clock.now())
            known = self.known.get(found.path)
            if known is not None and known.hash == said:
                self._now[found.path] = known._replace(stamp=stamp)
                self.unchanged.append(found.path)
                continue
            yield _Ready(found.path, stamp, said, self.draft(found.path, content))

    # Sending

    def send(self, files: Iterator[_Ready]) -> None:
        batch: list[_Ready] = []
        size = 0
        for ready in files:
            bytes_ = len(ready.draft.content.encode("utf-8", "surrogatepass"))
            if batch and (len(batch) == _BATCH_FILES or size + bytes_ > _BATCH_BYTES):
                self._send_batch(batch)
                batch, size = [], 0
            batch.append(ready)
            size += bytes_
        if batch:
            self._send_batch(batch)

    def _send_batch(self, batch: list[_Ready]) -> None:
        try:
            results = self._hub.remember_many([ready.draft for ready in batch])
        except InvalidInput as error:
            if len(batch) == 1:
                self.skip(batch[0].path, error.message)
                return
            # All or none: one file that is refused must not keep the others out.
            for ready in batch:
                self._send_batch([ready])
            return
        for ready, result in zip(batch, results, strict=True):
            self._note(ready, result)
            self._note_secrets(ready, result.memory.content)

    def _note(self, ready: _Ready, result: Remembered) -> None:
        path, memory = ready.path, result.memory
        self._now[path] = Sent(ready.stamp, ready.hash, memory.id)
        own = memory.source_path == self.place.name + path
        if isinstance(result, Quarantined):
            self.hold(path, result)
        elif isinstance(result, Duplicate) and own:
            self.unchanged.append(path)
        elif isinstance(result, Duplicate):
            self.skipped.append(Note(path, f"it says the same as memory #{memory.number}"))
        elif isinstance(result, Stored | Superseded):
            self.added.append(path)
        else:
            self.updated.append(path)

    def _note_secrets(self, ready: _Ready, kept: str) -> None:
        """Says that the server has replaced secrets in what it keeps: the file still has them."""
        if "[secret:" not in kept:
            return
        from holdfast.engine.writing.redact import redaction_note
        from holdfast.text.secrets import placeholders

        before = placeholders(ready.draft.content)
        new = {kind: n - before.get(kind, 0) for kind, n in placeholders(kept).items()}
        if any(count > 0 for count in new.values()):
            reason = f"{redaction_note(new)} in the memory; the file still has it"
            self.redacted.append(Note(ready.path, reason))

    # Missing files

    def note_gone(self, walked: Walked, *, remove: bool, remove_many: bool) -> None:
        self.gone = gone_from(self.known, walked)
        self.withhold(self.gone, len(self.known), remove=remove, remove_many=remove_many)

    def archive_gone(self) -> None:
        """Archives the memories of files that are gone, unless another file says the same."""
        if self.withheld:
            return
        entries = {path: self._now.pop(path) for path in self.gone}
        kept = {entry.memory for entry in self._now.values()}
        lost = {path: e.memory for path, e in entries.items() if e.memory not in kept}
        # A file that now says what another one says has left its own memory behind.
        left = [
            e.memory for path, e in self.known.items() if path in self._now and e.memory not in kept
        ]
        ids = list(dict.fromkeys([*lost.values(), *left]))
        try:
            for start in range(0, len(ids), _ARCHIVE_MAX):
                self._archive(ids[start : start + _ARCHIVE_MAX])
        except BaseException:
            self._now |= entries
            raise
        self.removed = list(lost)

    def _archive(self, ids: list[str]) -> None:
        try:
            self._hub.archive_many(ids, reason=REMOVED)
        except NotFound:
            # One of them was forgotten or purged already.
            if len(ids) > 1:
                for one in ids:
                    self._archive([one])

    # The note of what was sent

    def write(self) -> None:
        if self._now == self.known:
            return
        kept = {"server": self._hub.server.url, "hub": self._hub.id, "folder": self.place.folder}
        write_record(self._file, kept, self._now)


def _record_file(hub: RemoteHub, place: DocumentFolder) -> str:
    from holdfast.wiring import home_folder

    return record_file(home_folder(hub.notes_home), hub.server.url, hub.id, place.name)


def record_file(home: str, *about: str) -> str:
    """The path of the record of what was sent from this folder to this server."""
    import hashlib

    named = "\0".join(about).encode("utf-8", "surrogateescape")
    return os.path.join(home, _FOLDER, f"{hashlib.sha256(named).hexdigest()[:32]}.json")


def read_record(path: str) -> dict[str, Sent]:
    """The files that were sent before; empty if the record is missing or cannot be read."""
    import json

    try:
        with open(path, encoding="utf-8", errors="surrogatepass") as file:
            rows: Any = json.load(file)["files"]
        return {
            name: Sent((int(modified), int(changed), int(size)), str(said), str(memory))
            for name, (modified, changed, size, said, memory) in rows.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_record(path: str, about: dict[str, str], sent: dict[str, Sent]) -> None:
    """Writes the record of what was sent to a server; `about` is for readers of the file."""
    import json

    from holdfast.system.atomic_file import make_folder, write_atomic

    rows = {name: [*e.stamp, e.hash, e.memory] for name, e in sorted(sent.items())}
    make_folder(os.path.dirname(path))
    text = json.dumps({**about, "files": rows}, ensure_ascii=False)
    write_atomic(path, text.encode("utf-8", "surrogatepass"))
