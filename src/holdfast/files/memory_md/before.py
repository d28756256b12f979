"""MEMORY.md as it was before an append or a rewrite, so that undoing it brings the file back byte
for byte: its title, the order of its sections, and text that is no memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.domain.records import Agreed
from holdfast.errors import HoldfastError, StoreError
from holdfast.files.atomic import locked, write_atomic
from holdfast.files.memory_md.disk import agreed_texts
from holdfast.files.memory_md.document import FILE_NAME

if TYPE_CHECKING:
    from holdfast.engine.history import Undone
    from holdfast.engine.scope import Scope
    from holdfast.store.base import Reader

BEFORE = f"{FILE_NAME} before"
# Undo is for the last few changes; of older ones the lines come back, in the order that they have.
_CHANGES_MAX = 8
# A larger file is not the kind that a model rewrites.
_CHARS_MAX = 200_000


def note_before(
    scope: Scope, changes: Iterable[str], before: str | None, after: str | None
) -> None:
    """Notes the file before and after these change sets. A store that cannot be written now loses
    only the note."""
    named = list(changes)
    if not named or not before or not after or before == after:
        return
    if len(before) + len(after) > _CHARS_MAX:
        return
    with suppress(StoreError), scope.core.store.write(hub=scope.hub_id) as writer:
        rows = _rows(writer, scope.hub_id)
        rows |= dict.fromkeys(named, (before, after))
        newest = dict(list(rows.items())[-_CHANGES_MAX:])
        note = json.dumps(newest, ensure_ascii=False)
        writer.set_agreed(scope.hub_id, Agreed(BEFORE, note, scope.now()))


def put_back(scope: Scope, path: str, undone: Undone) -> None:
    """Puts the file back as it was before the change set that was undone, where nobody has changed
    it since. Where that cannot be, the next sync writes the lines that came back."""
    with scope.core.store.read() as reader:
        found = _rows(reader, scope.hub_id).get(undone.undone.id)
    if found is None or scope.settings["files.per_category"]:
        return
    before, after = found
    with suppress(HoldfastError, OSError), locked(path):
        if not _is(path, after):
            return
        with scope.core.store.read() as reader:
            if agreed_texts(reader, scope.hub_id) != {FILE_NAME: after}:
                return
        write_atomic(path, before)
        with scope.core.store.write(hub=scope.hub_id) as writer:
            writer.set_agreed(scope.hub_id, Agreed(FILE_NAME, before, scope.now()))
        note_before(scope, [undone.change.id], after, before)


def _is(path: str, text: str) -> bool:
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read() == text.encode()


def _rows(reader: Reader, hub_id: str) -> dict[str, tuple[str, str]]:
    """By change set, the file before and after it, oldest first."""
    found = reader.agreed(hub_id, BEFORE)
    rows = json.loads(found.text) if found else {}
    return {change: (row[0], row[1]) for change, row in rows.items()}
