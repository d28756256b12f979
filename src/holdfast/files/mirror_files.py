"""The files of one mirrored hub on the disk: MEMORY.md and its pages are read, written one after
the other, and then what was agreed on is noted. It knows texts, and nothing of what they mean.

Several files are noted before the first is written; after a crash `finish` writes the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from holdfast.engine.core import Core, require_hub
from holdfast.files.atomic import write_atomic
from holdfast.files.memory_md import FILE_NAME
from holdfast.files.mirror_view import Moved
from holdfast.files.page_files import (
    Files,
    UnderWay,
    headings_of,
    is_left,
    note_headings,
    note_under_way,
    read_files,
    set_agreed,
    under_way,
)
from holdfast.files.reading import free_name
from holdfast.files.stamp import stamp_of
from holdfast.store.base import Reader


class MirrorFiles:
    """MEMORY.md and its pages, in the folder of one hub."""

    def __init__(self, core: Core, folder: str, hub_id: str, hub: str) -> None:
        self._core = core
        self._folder = folder
        self._hub_id = hub_id
        self._hub = hub
        self._path = os.path.join(folder, FILE_NAME)
        self.pages = bool(core.settings["files.per_category"])
        self._more: set[str] = set()  # pages that turned out to be there
        self.left: Mapping[str, str | None] = {}  # the files' texts after the last sync

    def read(self, reader: Reader) -> Files:
        more = sorted(self._more)
        return read_files(
            reader, self._hub_id, self._folder, self._core, pages=self.pages, more=more
        )

    def write(
        self,
        files: Files,
        texts: Mapping[str, str],
        agreed: dict[str, str],
        headings: set[str] | None = None,
    ) -> bool:
        """Writes those that have to change, and notes what both sides agree on, and whose headings
        were made here where that is new; raises Moved where one is not what was read."""
        changed = files.to_write(texts)
        if files.moved(changed) or self._turned_up(changed.keys() - files.reads.keys()):
            raise Moved
        if len(changed) > 1:
            work = UnderWay(
                {name: (files.texts.get(name), text) for name, text in changed.items()},
                agreed,
                self.pages,
            )
            with self._core.store.write(hub=self._hub_id) as writer:
                note_under_way(writer, self._hub_id, work, self._core.now())
        for name, text in changed.items():
            self._put(name, text, files)
        if headings is not None or not (files.agreed == agreed and files.pages == files.were_pages):
            self._agree(agreed, pages=self.pages, headings=headings)
        self.left = dict(texts)
        return bool(changed)

    def finish(self) -> None:
        """Ends what a crash broke off: files that are still as they were get their new text. One
        that somebody has edited since is left, and differs from what was agreed on before."""
        with self._core.store.read() as reader:
            work = under_way(reader, self._hub_id)
            if work is None:
                return
            now = read_files(
                reader, self._hub_id, self._folder, self._core, pages=False, more=work.files
            )
        agreed = dict(work.agreed)
        for name, (old, new) in work.files.items():
            if now.texts[name] == old != new:
                self._put(name, new)
            elif now.texts[name] != new and now.agreed is not None and name in now.agreed:
                agreed[name] = now.agreed[name]
        # A page that is still there is known as one, also where it should have gone.
        self._agree(agreed, pages=work.pages or len(agreed) > 1)

    def headings(self) -> set[str]:
        """The categories whose headings in MEMORY.md were made here."""
        with self._core.store.read() as reader:
            return headings_of(reader, self._hub_id)

    def keep_aside(self, text: str) -> tuple[str, ...]:
        """Keeps a text beside the file, where there is any; returns a note on it."""
        if not text:
            return ()
        kept = free_name(self._path, self._core.now())
        write_atomic(kept, text, within=self._folder)
        name = os.path.basename(kept)
        return (f"Lines that are no memories and are not in the new text were kept as {name}.",)

    def stamp(self) -> tuple[int, int, int] | None:
        """The stamp of the files as the last sync left them; None where they have changed since."""
        # First the stamp, then another look: somebody may have saved since the last one, and the
        # stamp must not be that of a text which nobody has taken in.
        found = stamp_of(self._path, pages=self.pages)
        return found if found and is_left(self._folder, self.left, pages=self.pages) else None

    def _put(self, name: str, text: str | None, files: Files | None = None) -> None:
        path = os.path.join(self._folder, name)
        if text is not None:
            # Writing and flushing takes long enough for somebody to save in between.
            moved = None if files is None else lambda: files.moved([name])
            if not write_atomic(path, text, within=self._folder, unless=moved):
                raise Moved
        else:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _turned_up(self, names: Iterable[str]) -> bool:
        """Whether a page that is to be made is there already: then it is read first."""
        found = {name for name in names if os.path.lexists(os.path.join(self._folder, name))}
        self._more |= found
        return bool(found)

    def _agree(
        self, texts: Mapping[str, str], *, pages: bool, headings: set[str] | None = None
    ) -> None:
        with self._core.store.write(hub=self._hub_id) as writer:
            require_hub(writer, self._hub_id, self._hub)
            set_agreed(writer, self._hub_id, texts, self._core.now(), pages=pages)
            if headings is not None:
                note_headings(writer, self._hub_id, headings, self._core.now())
