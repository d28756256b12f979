"""Papers and pictures of a folder that is pushed: kept as files, whose text is read later. What was
pushed is noted in the home folder, so that a second run passes over what has not changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.client.folders import Sent, read_record, record_file, write_record
from holdfast.domain.results import Duplicate, Updated
from holdfast.errors import HoldfastError, InvalidInput, NotFound, StoreFull
from holdfast.files.folders.documents import REMOVED, other_place, too_many
from holdfast.files.folders.walk import OTHER_KIND, UNREAD, Note, stamp_of
from holdfast.files.regular import open_regular

if TYPE_CHECKING:
    from holdfast.edges.cli.call import Call
    from holdfast.files.folders.documents import Report

# What a worker can read, besides plain text.
_KINDS = frozenset("pdf png jpg jpeg gif webp tif tiff bmp docx xlsx pptx".split())  # noqa: SIM905


def is_paper(path: str) -> bool:
    """Whether a file is kept as it is, by its name."""
    return os.path.splitext(path)[1].lstrip(".").lower() in _KINDS


class Papers:
    """The papers of one folder, from what `index_files` has passed over in it."""

    def __init__(self, call: Call, folder: str, report: Report) -> None:
        self._call = call
        self._place = other_place(folder)
        where = (call.server or "here", call.hub.id, self._place.name, "papers")
        self._record = record_file(call.home, *where)
        self._known = read_record(self._record)
        there = {
            note.path: stamp
            for note in report.skipped
            if note.reason == OTHER_KIND
            and is_paper(note.path)
            and (stamp := self._stamp(note.path)) is not None
        }
        self._there = there
        self.new = [
            path
            for path, stamp in there.items()
            if path not in self._known or self._known[path].stamp != stamp
        ]
        # A folder that could not be read says nothing of what is in it.
        broken = any(note.reason.startswith(UNREAD) for note in report.refused)
        self.gone = [] if broken else [path for path in self._known if path not in there]

    @property
    def many_gone(self) -> bool:
        return too_many(len(self.gone), len(self._known))

    def _stamp(self, path: str) -> tuple[int, int, int] | None:
        try:
            status = os.lstat(os.path.join(self._place.folder, path))
        except OSError:
            return None
        return stamp_of(status) if stat.S_ISREG(status.st_mode) else None

    def foreseen(self, report: Report) -> Report:
        """The report of a dry run, with what would become of the papers."""
        return report._replace(
            added=(*report.added, *(path for path in self.new if path not in self._known)),
            updated=(*report.updated, *(path for path in self.new if path in self._known)),
            unchanged=(*report.unchanged, *self._unchanged),
            removed=(*report.removed, *self.gone),
            skipped=self._others(report),
        )

    @property
    def _unchanged(self) -> list[str]:
        return [path for path in self._there if path not in self.new]

    def _others(self, report: Report) -> tuple[Note, ...]:
        return tuple(note for note in report.skipped if note.path not in self._there)

    def push(
        self, report: Report, *, remove: bool, progress: Callable[[int, int], None] | None = None
    ) -> Report:
        """Sends what is new, and archives what is gone where that is wanted; returns the report
        with what became of the papers."""
        told: dict[str, list[str]] = {"added": [], "updated": [], "unchanged": self._unchanged}
        refused: list[Note] = []
        sent = dict(self._known)
        try:
            for done, path in enumerate(self.new, 1):
                try:
                    outcome, entry = self._send(path)
                except (InvalidInput, NotFound, StoreFull) as error:
                    refused.append(Note(path, _reason(error)))
                    continue
                sent[path] = entry
                told[outcome].append(path)
                if progress is not None:
                    progress(done, len(self.new))
            removed = self._archive(sent) if remove else []
        finally:
            # Also after an error: what was sent is not sent again.
            if sent != self._known:
                about = {"server": self._call.server, "folder": self._place.folder}
                write_record(self._record, about, sent)
        return report._replace(
            **{name: (*getattr(report, name), *paths) for name, paths in told.items()},
            removed=(*report.removed, *removed),
            withheld=(*report.withheld, *(() if remove else self.gone)),
            skipped=self._others(report),
            refused=(*report.refused, *refused),
        )

    def _send(self, path: str) -> tuple[str, Sent]:
        full = os.path.join(self._place.folder, path)
        try:
            # A link that took the file's place since would lead anywhere.
            opened = open_regular(full, follow_links=False)
        except OSError as error:
            raise InvalidInput(f"It cannot be read: {error.strerror}.") from None
        with opened as file:
            result = self._call.hub.remember_file(
                file,
                name=os.path.basename(path),
                source_path=self._place.name + path,
                layer="library",
                source="import",
                trust=self._place.trust,
                stability="stable",
            )
        outcome = "added"
        if isinstance(result, Duplicate):
            outcome = "unchanged"
        elif isinstance(result, Updated):
            outcome = "updated"
        memory = result.memory
        return outcome, Sent(self._there[path], memory.content_hash, memory.id)

    def _archive(self, sent: dict[str, Sent]) -> list[str]:
        kept = {entry.memory for path, entry in sent.items() if path not in self.gone}
        out = []
        for path in self.gone:
            memory = sent.pop(path).memory
            if memory in kept:
                continue
            try:
                self._call.hub.archive(memory, reason=REMOVED)
            except NotFound:
                continue  # Somebody has forgotten or purged it: that is as gone as can be.
            out.append(path)
        return out


def _reason(error: HoldfastError) -> str:
    plain = error.message.rstrip(".")
    return plain[:1].lower() + plain[1:]
