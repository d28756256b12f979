"""What somebody was last shown of MEMORY.md: the base of a three-way merge when that reader hands
in a new text. It is kept in the store, as a reader may be another process each time. Losing it is
not losing a memory: a new text is then compared with the file as it is.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast.domain.mirror import Agreed
from holdfast.errors import StoreError
from holdfast.files.memory_md import FILE_NAME, Item
from holdfast.files.memory_md_parse import parse

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader

_ROW = f"{FILE_NAME} as read"
# As many agents as one hub has at a time; of more, those who read longest ago are forgotten.
_READERS_MAX = 8
# The block that is injected is shown to whoever runs; it counts for every reader.
ANYBODY = ""


def seen_by(store_reader: Reader, hub_id: str, reader: str) -> str | None:
    """The file as this reader last saw it, alone or in an injected block; None where it is not
    known."""
    rows = _rows(store_reader, hub_id)
    mine = [row for name, row in rows.items() if name in (reader, ANYBODY)]
    return max(mine)[1] if mine else None


def note_seen(core: Core, hub_id: str, reader: str, text: str) -> None:
    """Notes what a reader is shown. A store that cannot be written now loses only the note."""
    with core.store.read() as store_reader:
        rows = _rows(store_reader, hub_id)
    if reader in rows and rows[reader] == max(rows.values()) and rows[reader][1] == text:
        return
    with suppress(StoreError), core.store.write(hub=hub_id) as writer:
        rows = _rows(writer, hub_id)
        rows[reader] = (1 + max((row[0] for row in rows.values()), default=0), text)
        newest = sorted(rows.items(), key=lambda row: row[1][0], reverse=True)[:_READERS_MAX]
        note = json.dumps(dict(newest), ensure_ascii=False)
        writer.set_agreed(hub_id, Agreed(_ROW, note, core.now()))


def forget_seen(core: Core, hub_id: str) -> None:
    """Drops all notes; they may hold what is about to be purged."""
    with core.store.read() as store_reader:
        if store_reader.agreed(hub_id, _ROW) is None:
            return
    with core.store.write(hub=hub_id) as writer:
        writer.drop_agreed(hub_id, _ROW)


def seen_after(before: str | None, now: str, own: Collection[str]) -> str:
    """What a reader knows who saw `before` and then changed the items of the ids in `own`; `now`
    is the file. What others have put there meanwhile the reader has not seen."""
    if before is None:
        return now
    known = {item.id: item.raw for item in parse(before).items if item.id}
    out = []
    for block in parse(now).blocks:
        if not isinstance(block, Item) or block.id in own:
            out.append(block.raw)
        elif block.id in known:
            out.append(known[block.id])
    return "".join(out)


def _rows(store_reader: Reader, hub_id: str) -> dict[str, tuple[int, str]]:
    """What each reader saw, counted: the highest number is the latest."""
    found = store_reader.agreed(hub_id, _ROW)
    rows = json.loads(found.text) if found else {}
    return {name: (row[0], row[1]) for name, row in rows.items()}
