"""One pass over a folder whose files are documents of a hub: what a file becomes, what is gone, and
the report. A hub on this machine (`documents`) and one on a server (`client.folders`) share it;
each knows for itself what was read before and how a document is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple, TypeAlias

from holdfast.domain.memory import Draft, Trust
from holdfast.domain.results import Quarantined
from holdfast.files.folders.walk import Note, Walked

# More than this many files and more than this share of them gone at once is rather a folder that
# was moved or not mounted than a decision; it is asked about first.
_GONE_MANY = 10
_GONE_SHARE = 3
# A file written to this recently may be written to again within the same tick of its clock.
_FRESH_NS = 2_000_000_000

REMOVED = "file removed"

Progress: TypeAlias = Callable[[int, int], None]  # (done, total)
Stamp: TypeAlias = tuple[int, int, int]


class Report(NamedTuple):
    """What became of each file. `withheld` are files that are gone, so many at once that their
    memories stay until someone says that it is meant; `redacted` are files with secrets in them,
    which are not in their memories. Of those in `refused`, `unread` could not be read, and `held`
    were taken in and wait for review."""

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


class Place(NamedTuple):
    """Where files come from and how far they are trusted. `name` is the prefix of their paths, and
    is empty for a hub's own folder."""

    folder: str
    name: str = ""
    trust: Trust = "user"


def other_place(folder: str) -> Place:
    """A folder that is not the hub's own: known by its full path, and trusted as an import is."""
    real = os.path.realpath(folder)
    return Place(real, real.replace(os.sep, "/").rstrip("/") + "/", "import")


class FolderRun:
    """What one pass found, file by file."""

    def __init__(self, place: Place) -> None:
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
            # A file holds as long as it is there, so its memory does not age.
            stability="stable",
        )

    def skip(self, path: str, sentence: str) -> None:
        """Notes why a file is left out."""
        reason = sentence.rstrip(".")
        self.skipped.append(Note(path, reason[:1].lower() + reason[1:]))

    def hold(self, path: str, result: Quarantined) -> None:
        """Notes a file whose memory waits for review."""
        reason = f"held for review as #{result.memory.number}: it {result.reason}"
        self.refused.append(Note(path, reason))
        self.held.append(path)

    def withhold(self, gone: list[str], known: int, *, remove: bool, remove_many: bool) -> bool:
        """Whether the memories of files that are gone stay: nobody asked for their removal, or so
        many are gone at once that it is asked about first."""
        if remove and (remove_many or not too_many(len(gone), known)):
            return False
        self.withheld = gone
        return True


def too_many(gone: int, known: int) -> bool:
    """Whether so many are gone at once that it is asked about first."""
    return gone > _GONE_MANY and gone * _GONE_SHARE > known


def gone_from(known: Iterable[str], walked: Walked) -> list[str]:
    """The files that were there before and are not, but for those in folders that could not be
    read."""
    present = {found.path for found in walked.files}
    unread = tuple(walked.unread)
    return [path for path in known if path not in present and not path.startswith(unread)]


def lasting_stamp(stamp: Stamp, now: datetime) -> Stamp:
    """The stamp, or one that fits no file where another write may leave it as it is."""
    now_ns = int(now.timestamp() * 1_000_000_000)
    return (0, 0, 0) if max(stamp[0], stamp[1]) > now_ns - _FRESH_NS else stamp
