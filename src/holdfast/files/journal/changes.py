"""Detects which journals were written since the last sync without reading any, by a few calls of
the file system before each operation, however many journals there are.

- The newest few files are checked each time: those are the ones people have open.
- When the folder was changed (a file made, removed, or saved by renaming) its names and inodes are
  compared, without a call per file.
- From time to time, and at the first check of a process, each file is checked. Only edits in place
  of an old journal are found this late.

The stamps are also stored in a file beside the journals, for the next process. It is a cache;
without it, each journal is read once. This module knows times and names, not what is in the files.
"""

from __future__ import annotations

import json
import os
import re
import time
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from holdfast.files.memory_md.cache import TICK_NS
from holdfast.system.atomic_file import write_file

if TYPE_CHECKING:
    from holdfast.engine.core import Core

NAME = re.compile(r"(\d{4}-\d{2}-\d{2})\.md", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
STAMPS = ".journals.stamp"
# Today, yesterday and the last one before the weekend.
_NEWEST = 3
# An edit in place of an old journal is seen within this time; checking 3,000 files takes some
# milliseconds, which is unnoticeable at this interval.
_EVERY_S = 10.0

# The times of the last write and change of a file, its size and its inode.
Signature: TypeAlias = tuple[int, int, int, int]


class Withheld(NamedTuple):
    """A journal file that was left unchanged: its signature then, and the number of missing
    entries."""

    signature: Signature | None
    gone: int


class JournalChanges:
    """The state of one hub's journals as known to a process."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.withheld: dict[str, Withheld] = {}
        self._known: dict[str, Signature] = {}
        # Files that existed, including those without a signature: a deleted one is noticed.
        self._there: set[str] = set()
        self._begun = False
        self._folder: tuple[int, int] | None = None
        self._newest: list[str] = []
        self._all_due = 0.0
        self._save_due = 0.0
        self._unsaved = False

    def changed(self, core: Core, hub_id: str, folder: str, *, afresh: bool = False) -> list[str]:
        """The names of journals that were written, created or removed since their last sync.

        Files that were left unchanged are returned only once, unless `afresh` is set.
        """
        if not self._begun:
            self._known = _read_stamps(core, hub_id, folder)
            self._begun = True
        if afresh:
            self.withheld.clear()
        stamp = _folder_stamp(folder)
        everything = afresh or time.monotonic() >= self._all_due
        found: set[str] = set()
        if everything or stamp is None or stamp != self._folder:
            there = self._inodes(folder)
            if there is None:
                return []
            self._folder = stamp
            self._newest = sorted(there)[-_NEWEST:]
            missing = {*self._there, *self._known, *self.withheld} - there.keys()
            for name in missing:
                self.forget(name)
            self._there = set(there)
            moved = [name for name, inode in there.items() if self._inode(name) != inode]
            found.update(missing, there if everything else moved)
        if everything:
            self._all_due = time.monotonic() + _EVERY_S
        found.update(self._newest)
        return sorted(name for name in found if self._differs(folder, name))

    def _inodes(self, folder: str) -> dict[str, int] | None:
        """The files named like journals, with their inodes, which the folder itself knows."""
        known = self._known
        try:
            with os.scandir(folder) as entries:
                return {
                    one.name: one.inode()
                    for one in entries
                    if one.name in known or day_of_name(one.name)
                }
        except OSError:
            return None

    def _inode(self, name: str) -> int | None:
        known = self._known.get(name) or (name in self.withheld and self.withheld[name].signature)
        return known[3] if known else None

    def _differs(self, folder: str, name: str) -> bool:
        now = signature_at(os.path.join(folder, name))
        held = self.withheld.get(name)
        return now is None or (self._known.get(name) != now and (not held or held.signature != now))

    def synced(self, name: str, signature: Signature) -> None:
        """Records that a file with this stamp is synced. A file that was written a moment ago may
        be written again with the same stamp, so it is read again."""
        self.forget(name)
        if abs(time.time_ns() - signature[0]) >= TICK_NS:
            self._known[name] = signature
            self._unsaved = True

    def hold(self, name: str, signature: Signature | None, gone: int = 0) -> None:
        """Notes that a file is left unchanged: it cannot be read, or its missing entries need a
        confirmation."""
        self.forget(name)
        self.withheld[name] = Withheld(signature, gone)

    def written(self, name: str) -> None:
        """Records that this process wrote a file. It is read again the next time, because somebody
        else may have written it directly afterwards."""
        self.forget(name)
        self._there.add(name)

    def forget(self, name: str) -> None:
        """Drops the state of a file."""
        self.withheld.pop(name, None)
        self._known.pop(name, None)

    def note(self, text: str) -> None:
        """Stores a note about the files for the caller."""
        if text not in self.notes:
            self.notes.append(text)

    def save(self, core: Core, hub_id: str, folder: str) -> None:
        """Stores the stamps for the next process, if they have changed."""
        if self._unsaved and time.monotonic() >= self._save_due:
            self._save_due = time.monotonic() + _EVERY_S
            self._unsaved = False
            _write_stamps(core, hub_id, folder, dict(self._known))


def day_of_name(name: str) -> date | None:
    """The day of a journal by its file name; None for other files."""
    found = NAME.fullmatch(name)
    return real_date(found[1]) if found else None


def real_date(text: str) -> date | None:
    """Parses a valid date as in the names of journals."""
    if not _DATE.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def signature_of(about: os.stat_result) -> Signature:
    return (about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino)


def signature_at(path: str) -> Signature | None:
    """The signature of a journal file; None if it does not exist."""
    try:
        return signature_of(os.stat(path))
    except OSError:
        return None


def _folder_stamp(folder: str) -> tuple[int, int] | None:
    """The time of the folder's last change; None if it is too recent to detect the next one."""
    try:
        about = os.stat(folder)
    except OSError:
        return None
    if abs(time.time_ns() - about.st_mtime_ns) < TICK_NS:
        return None
    return about.st_mtime_ns, about.st_ino


# The cache file


def _read_stamps(core: Core, hub_id: str, folder: str) -> dict[str, Signature]:
    """The stamps of the last process, unless the store has been reset to an earlier state since."""
    try:
        with open(os.path.join(folder, STAMPS), encoding="utf-8") as file:
            first, *lines = file.read().split("\n")
        noted_hub, change, count = json.loads(first)
        if noted_hub != hub_id or len(lines) != count:
            return {}
        known = {}
        for line in lines:
            name, written, changed, size, inode = line.split(" ")
            known[name] = (int(written), int(changed), int(size), int(inode))
    except (OSError, ValueError, TypeError):
        return {}
    with core.store.read() as reader:
        return known if reader.change(hub_id, change) is not None else {}


def _write_stamps(core: Core, hub_id: str, folder: str, known: dict[str, Signature]) -> None:
    """Writes the stamps if possible; without them, the journals are read."""
    with core.store.read() as reader:
        newest = reader.changes(hub_id, limit=1)
    if not newest:
        return
    lines = [" ".join(map(str, (name, *signature))) for name, signature in known.items()]
    text = "\n".join([json.dumps([hub_id, newest[0].id, len(lines)]), *lines])
    path = os.path.join(folder, STAMPS)
    with suppress(OSError):
        write_file(path, text.encode(), durable=False)
