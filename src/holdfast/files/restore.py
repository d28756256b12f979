"""Restores a backup without treating the files in the hubs' folders as edits. MEMORY.md, its pages
and the journals were written for the state before the restore, and are to be updated from the
backup.

So the last synced state is copied from the old store into the backup, before the backup replaces
it. Compared with that, unchanged files are simply updated, and edits that were not read yet are
still recognised. A crash leaves either the old store or the backup, each with consistent records.

Files below `files/` belong to a person, and stay unchanged.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.domain.records import Record
from holdfast.engine.core import Scope
from holdfast.errors import HoldfastError, with_command
from holdfast.files import hub_path, journal
from holdfast.files.attachments import swept_for
from holdfast.files.file_sync import notes_of
from holdfast.files.hub_folder import BEFORE, KIND, was_in_state
from holdfast.files.journal.changes import JournalChanges, day_of_name
from holdfast.files.journal.entries import JournalFolder
from holdfast.files.memory_md import FILE_NAME
from holdfast.files.memory_md.cache import is_page_name
from holdfast.files.memory_md.sync import Mirror

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.hub import Hub
    from holdfast.engine.core import Core
    from holdfast.files.memory_md.merge import SyncReport
    from holdfast.store.base import Reader, Store, Writer

# Files are updated after each change, so they are behind only if they could not be written; one
# that is further behind is left alone until somebody confirms.
_CHANGES_MAX = 20
# More records than `hub_folder` has of a hub.
_RECORDS_MAX = 10
# The most replaced states that are recorded, for files that were not updated in between.
_KEPT_MAX = 100


def carry(before: Store, into: Store, now: datetime, home: str = "") -> None:
    """Copies the records about files from the old store into a copy of a backup, for each hub that
    both have; in `home`, if one is given. Records of hubs that only the backup has stay."""
    with before.read() as old, into.write() as writer:
        for hub in writer.hubs():
            known = old.hub_by_id(hub.id)
            # A state that an interrupted restore left half complete is ignored.
            if known is not None and known.state == "active":
                swept = _last_sweep(old, known, home) if home else []
                _carry_one(old, writer, hub.id, now, swept)


def _last_sweep(old: Reader, hub: Hub, home: str) -> list[str]:
    """The change after which the old store last swept the files of memories, however long ago:
    without it, no later state would sweep again."""
    stamp = swept_for(hub_path(home, hub.name))
    if stamp.hub_id != hub.id or stamp.token is None or not was_in_state(old, hub.id, stamp.token):
        return []
    return [stamp.token.change]


def _carry_one(old: Reader, writer: Writer, hub_id: str, now: datetime, swept: list[str]) -> None:
    for agreed in list(writer.scan_agreed(hub_id)):
        if _is_mirrored(agreed.path):
            writer.drop_agreed(hub_id, agreed.path)
    for agreed in old.scan_agreed(hub_id):
        if _is_mirrored(agreed.path):
            writer.set_agreed(hub_id, agreed)
    # Their folder, and what was written there.
    for record in writer.records(hub_id, KIND, limit=_RECORDS_MAX):
        writer.drop_record(hub_id, KIND, record.id)
    for record in old.records(hub_id, KIND, limit=_RECORDS_MAX):
        writer.put_record(record)
    known = old.record(hub_id, KIND, BEFORE)
    changes = [one.id for one in old.changes(hub_id, limit=_CHANGES_MAX)] or [""]
    earlier = [] if known is None else known.body["changes"]
    kept = list(dict.fromkeys([*swept, *changes, *earlier]))[:_KEPT_MAX]
    writer.put_record(Record(hub_id, KIND, BEFORE, now, {"changes": kept}))


def _is_mirrored(path: str) -> bool:
    """Whether a synced state is about MEMORY.md, a page of it or a journal."""
    pages = path == FILE_NAME or path.startswith(f"{FILE_NAME} ")
    return pages or is_page_name(path) or day_of_name(path) is not None


def follow(core: Core, hub: Hub, folder: str) -> list[str]:
    """Updates the files of a hub from the backup, if it has any; returns notes, also on edits by a
    person that had not been read before."""
    path = os.path.join(folder, FILE_NAME)
    if not os.path.exists(path) and not journal.journal_files(folder)[0]:
        return []
    try:
        scope = Scope(core, hub.id, hub.name)
        report = Mirror(scope, path).sync()
        notes = journal.follow(JournalFolder(scope, folder, JournalChanges()), purged=True)
    except (HoldfastError, OSError) as error:
        return [with_command(error)]
    return [*_taken_in(report, path), *notes_of(report), *notes]


def _taken_in(report: SyncReport, path: str) -> list[str]:
    edits = len(report.taken_in) + len(report.archived)
    if not edits:
        return []
    lines = "One line" if edits == 1 else f"{edits} lines"
    return [f"{lines} of {path} that you had edited before: taken in, as nobody had done so yet."]
