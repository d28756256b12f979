"""Reads and writes the files with a hub's long-term memories: MEMORY.md and, with
`files.per_category`, one page per category beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.memory import CATEGORIES
from holdfast.domain.records import Agreed
from holdfast.engine.core import Core, Scope
from holdfast.files.memory_md import FILE_NAME, Document, fresh, render
from holdfast.files.memory_md.cache import is_page_name, stamp_of
from holdfast.files.memory_md.merge import ChangedMeanwhile
from holdfast.files.memory_md.pages import category_of_page, gathered, joined, split, spread
from holdfast.files.safe_read import FileRead, free_name, holds, read_settled
from holdfast.store.base import Reader
from holdfast.system.atomic_file import write_atomic

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.store.base import Writer


# The names of the pages; the row exists as long as they do.
_NAMES = f"{FILE_NAME} pages"
_UNDER_WAY = f"{FILE_NAME} pages being written"
# The categories with headings that Holdfast created, not typed by a person.
_HEADINGS = f"{FILE_NAME} headings"


class Files(NamedTuple):
    """The files that were read, raw and redacted; their last synced texts, by name; whether pages
    are wanted, and whether they existed."""

    reads: Mapping[str, FileRead]
    clean: Mapping[str, str | None]
    agreed: Mapping[str, str] | None
    pages: bool
    were_pages: bool

    @property
    def texts(self) -> dict[str, str | None]:
        """The files as they were read, possibly with secrets until they are rewritten."""
        return {name: read.text for name, read in self.reads.items()}

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for read in self.reads.values() for note in read.notes)

    @property
    def as_agreed(self) -> bool:
        same = self.pages == self.were_pages and self.texts == self.agreed
        # A base from before the detection of secrets may have some.
        return same and self.clean == self.texts

    @property
    def base(self) -> Document | None:
        return None if self.agreed is None else joined(self.agreed)

    @property
    def document(self) -> Document:
        """All files as one document, in the wanted layout. For a missing file, its last text is
        used."""
        agreed = self.agreed or {FILE_NAME: render(fresh())}
        texts = {
            name: text
            for name, clean in self.clean.items()
            if (text := agreed.get(name) if clean is None else clean) is not None
        }
        document = joined(texts)
        return spread(document) if self.pages else gathered(document)

    def moved(self, names: Iterable[str]) -> bool:
        """Whether one of these files has changed since it was read."""
        return any(self.reads[name].moved() for name in names if name in self.reads)

    def to_write(self, texts: Mapping[str, str]) -> dict[str, str | None]:
        """The files to be changed, with their new texts; None for one to be deleted."""
        gone = dict.fromkeys(name for name, text in self.texts.items() if name not in texts)
        new = {name: text for name, text in texts.items() if self.texts.get(name) != text}
        # MEMORY.md comes last, so that text that moves from it to a page is always in one of them.
        return {**{name: new[name] for name in sorted(new, key=FILE_NAME.__eq__)}, **gone}


def texts_of(document: Document) -> dict[str, str]:
    """The texts of MEMORY.md and its pages to be written. An empty file would look like an
    accident: an empty page is deleted, and MEMORY.md has at least its title."""
    texts = {name: text for name, text in split(document).items() if text.strip()}
    return {FILE_NAME: render(fresh()), **texts}


def read_files(
    reader: Reader, hub_id: str, folder: str, core: Core, *, pages: bool, more: Iterable[str]
) -> Files:
    """Reads MEMORY.md and its pages. `more` are names of pages that were never synced."""
    agreed = agreed_texts(reader, hub_id)
    names = [FILE_NAME, *more]
    if agreed is not None:
        names += agreed
    if pages:
        names += _new_pages(folder)
    reads = {
        name: _read(os.path.join(folder, name), folder, (agreed or {}).get(name, ""), core)
        for name in dict.fromkeys(names)
    }
    were_pages = reader.agreed(hub_id, _NAMES) is not None
    clean = {name: read.text and core.redactor.text(read.text) for name, read in reads.items()}
    return Files(reads, clean, agreed, pages, were_pages)


def _read(path: str, folder: str, before: str, core: Core) -> FileRead:
    """A file, with a note on the secrets in it, which are replaced when it is written."""
    read = read_settled(path, folder, before, core.now())
    text = read.text or ""
    note = core.redactor.note(text, core.redactor.text(text), os.path.basename(path))
    return read._replace(notes=(*read.notes, note)) if note else read


def is_left(folder: str, texts: Mapping[str, str | None], *, pages: bool) -> bool:
    """Whether the files still have these texts, and there is no other page."""
    if pages and not texts.keys() >= set(_new_pages(folder)):
        return False
    return all(holds(os.path.join(folder, name), text) for name, text in texts.items())


def _new_pages(folder: str) -> list[str]:
    """Pages of the default categories that somebody created by hand."""
    found = os.listdir(folder) if os.path.isdir(folder) else []
    return sorted(
        name for name in found if is_page_name(name) and category_of_page(name) in CATEGORIES
    )


# ── the base ────────────────────────────────────────────────────────────────────────────────


def agreed_texts(reader: Reader, hub_id: str) -> dict[str, str] | None:
    """The last synced texts of MEMORY.md and its pages, by file name; None if there was no sync."""
    first = reader.agreed(hub_id, FILE_NAME)
    if first is None:
        return None
    out = {FILE_NAME: first.text}
    for name in page_names(reader, hub_id):
        page = reader.agreed(hub_id, name)
        if page is not None:
            out[name] = page.text
    return out


def agreed_text(reader: Reader, hub_id: str) -> str | None:
    """The last synced text of MEMORY.md and its pages as one file."""
    texts = agreed_texts(reader, hub_id)
    if texts is None:
        return None
    return texts[FILE_NAME] if len(texts) == 1 else render(gathered(joined(texts)))


def page_names(reader: Reader, hub_id: str) -> list[str]:
    found = reader.agreed(hub_id, _NAMES)
    return list(json.loads(found.text)) if found else []


def set_agreed(
    writer: Writer, hub_id: str, texts: Mapping[str, str], now: datetime, *, pages: bool
) -> None:
    """Records the new base of MEMORY.md after a sync."""
    before = agreed_texts(writer, hub_id) or {}
    for name, text in texts.items():
        if before.get(name) != text:
            writer.set_agreed(hub_id, Agreed(name, text, now))
    for name in before.keys() - texts.keys():
        writer.drop_agreed(hub_id, name)
    if pages:
        names = json.dumps(sorted(texts.keys() - {FILE_NAME}))
        writer.set_agreed(hub_id, Agreed(_NAMES, names, now))
    else:
        writer.drop_agreed(hub_id, _NAMES)
    writer.drop_agreed(hub_id, _UNDER_WAY)


def headings_of(reader: Reader, hub_id: str) -> set[str]:
    """The categories with headings that Holdfast created; empty for a file from before that was
    recorded."""
    found = reader.agreed(hub_id, _HEADINGS)
    return set(json.loads(found.text)) if found else set()


# ── several files at once ────────────────────────────────────────────────────────────────────


class UnderWay(NamedTuple):
    """A record of files about to be written: by name, the old and the new text of each, and the
    base to be recorded afterwards."""

    files: dict[str, tuple[str | None, str | None]]
    agreed: dict[str, str]
    pages: bool


def under_way(reader: Reader, hub_id: str) -> UnderWay | None:
    """The writes of MEMORY.md that a killed process had begun."""
    found = reader.agreed(hub_id, _UNDER_WAY)
    if found is None:
        return None
    files, agreed, pages = json.loads(found.text)
    return UnderWay({name: (old, new) for name, (old, new) in files.items()}, agreed, pages)


class MirrorFiles:
    """MEMORY.md and its pages, in the folder of one hub."""

    def __init__(self, scope: Scope, folder: str) -> None:
        self._scope = scope
        self._folder = folder
        self._path = os.path.join(folder, FILE_NAME)
        self.pages = bool(scope.settings["files.per_category"])
        self._more: set[str] = set()  # pages that were found to exist
        self.left: Mapping[str, str | None] = {}  # the files' texts after the last sync

    def read(self, reader: Reader) -> Files:
        more = sorted(self._more)
        return read_files(
            reader, self._scope.hub_id, self._folder, self._scope.core, pages=self.pages, more=more
        )

    def write(
        self,
        files: Files,
        texts: Mapping[str, str],
        agreed: dict[str, str],
        headings: set[str] | None = None,
    ) -> bool:
        """Writes the changed files, and records the base and new headings; raises ChangedMeanwhile
        if a file has changed since it was read."""
        changed = files.to_write(texts)
        if files.moved(changed) or self._page_exists(changed.keys() - files.reads.keys()):
            raise ChangedMeanwhile
        if len(changed) > 1:
            work = UnderWay(
                {name: (files.texts.get(name), text) for name, text in changed.items()},
                agreed,
                self.pages,
            )
            with self._scope.core.store.write(hub=self._scope.hub_id) as writer:
                noted = Agreed(_UNDER_WAY, json.dumps(work), self._scope.now())
                writer.set_agreed(self._scope.hub_id, noted)
        for name, text in changed.items():
            self._put(name, text, files)
        if headings is not None or not (files.agreed == agreed and files.pages == files.were_pages):
            self._agree(agreed, pages=self.pages, headings=headings)
        self.left = dict(texts)
        return bool(changed)

    def finish(self) -> None:
        """Completes writes that a crash interrupted: files that are still unchanged get their new
        text. One that somebody has edited since is left alone, and differs from the old base."""
        with self._scope.core.store.read() as reader:
            work = under_way(reader, self._scope.hub_id)
            if work is None:
                return
            now = read_files(
                reader,
                self._scope.hub_id,
                self._folder,
                self._scope.core,
                pages=False,
                more=work.files,
            )
        agreed = dict(work.agreed)
        for name, (old, new) in work.files.items():
            if now.texts[name] == old != new:
                self._put(name, new)
            elif now.texts[name] != new and now.agreed is not None and name in now.agreed:
                agreed[name] = now.agreed[name]
        # A page that still exists is recorded, even if it should have been deleted.
        self._agree(agreed, pages=work.pages or len(agreed) > 1)

    def headings(self) -> set[str]:
        """The categories with headings in MEMORY.md that Holdfast created."""
        with self._scope.core.store.read() as reader:
            return headings_of(reader, self._scope.hub_id)

    def keep_aside(self, text: str) -> tuple[str, ...]:
        """Saves a text beside the file, if there is any; returns a note on it."""
        if not text:
            return ()
        kept = free_name(self._path, self._scope.now())
        write_atomic(kept, text, within=self._folder)
        name = os.path.basename(kept)
        return (f"Lines that are no memories and are not in the new text were kept as {name}.",)

    def stamp(self) -> tuple[int, int, int] | None:
        """The stamp of the files after the last sync; None if they have changed since."""
        # First the stamp, then the comparison: if somebody has saved meanwhile, the stamp must not
        # be that of a text that was not read.
        found = stamp_of(self._path, pages=self.pages)
        return found if found and is_left(self._folder, self.left, pages=self.pages) else None

    def _put(self, name: str, text: str | None, files: Files | None = None) -> None:
        path = os.path.join(self._folder, name)
        if text is not None:
            # Writing and flushing takes long enough for somebody to save in between.
            moved = None if files is None else lambda: files.moved([name])
            if not write_atomic(path, text, within=self._folder, unless=moved):
                raise ChangedMeanwhile
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _page_exists(self, names: Iterable[str]) -> bool:
        """Whether a page to be created exists already; then it is read first."""
        found = {name for name in names if os.path.lexists(os.path.join(self._folder, name))}
        self._more |= found
        return bool(found)

    def _agree(
        self, texts: Mapping[str, str], *, pages: bool, headings: set[str] | None = None
    ) -> None:
        with self._scope.write_unfiltered() as writer:
            set_agreed(writer, self._scope.hub_id, texts, self._scope.now(), pages=pages)
            if headings is not None:
                noted = Agreed(_HEADINGS, json.dumps(sorted(headings)), self._scope.now())
                writer.set_agreed(self._scope.hub_id, noted)
