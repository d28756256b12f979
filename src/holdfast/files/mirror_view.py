"""What a sync of MEMORY.md sees of the store: the memories that belong in the file, open clashes,
and the questions that a merge may ask. It reads; it decides nothing and knows no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from holdfast.domain.memory import Memory
from holdfast.domain.mirror import Clash
from holdfast.engine.core import Core
from holdfast.files.memory_md import Document
from holdfast.files.merge import View
from holdfast.files.ours import known_memories
from holdfast.files.stamp import Token
from holdfast.store.base import Reader
from holdfast.text import normalise


class Moved(Exception):
    """The file or the store changed while they were compared."""


class Snapshot(NamedTuple):
    """The store as it was when the sync began."""

    token: Token
    ours: dict[str, Memory]
    open_clashes: list[Clash]


def snapshot_of(core: Core, reader: Reader, hub_id: str, token: Token) -> Snapshot:
    ours = known_memories(core.store, reader, hub_id, token, core.now())
    return Snapshot(token, ours, reader.clashes(hub_id))


def view_of(
    core: Core, reader: Reader, hub_id: str, snapshot: Snapshot, document: Document
) -> View:
    """What the merge of this document may know."""
    ids = {item.id for item in document.items if item.id} - snapshot.ours.keys()
    return View(
        snapshot.ours,
        reader.memories_by_id(hub_id, sorted(ids)),
        lambda memory, text: _texts_since(reader, memory, text),
        # Who writes what is private to another has written something of their own.
        lambda content: [twin for twin in _twins(reader, hub_id, content) if core.sees(twin)],
    )


def _texts_since(reader: Reader, memory: Memory, text: str | None) -> Sequence[str]:
    texts = [memory.content]
    for revision in reversed(reader.revisions(memory.hub_id, memory.id)):
        pair = revision.fields.get("content")
        if pair is not None:
            texts.append(pair[0])
    if text in texts:
        # Newest first: what stands before it came after it.
        texts = texts[: texts.index(text)]
    return texts


def _twins(reader: Reader, hub_id: str, content: str) -> Sequence[Memory]:
    found = reader.memories_by_hash(hub_id, normalise.content_hash(content))
    return [m for m in found if m.content == content and m.layer == "long_term"]
