"""Settling where a file (MEMORY.md or a journal) and the store both changed one memory: which of
the two texts stays.

The other one is archived or becomes history; neither is destroyed.
"""

from __future__ import annotations

from holdfast.domain.memory import Memory
from holdfast.domain.records import Clash
from holdfast.engine.core import Core, require_hub
from holdfast.engine.writing.edit import completed
from holdfast.engine.writing.passages import indexed
from holdfast.engine.writing.recorder import Recorder
from holdfast.errors import NotFound
from holdfast.files.memory_md.document import FILE_NAME
from holdfast.store.base import Reader
from holdfast.text import normalise

KEEPS = ("store", "file", "both")
_SETTLED = "conflict settled: the "
SETTLED = _SETTLED + "{} text was kept"


def open_clashes(core: Core, hub_id: str, hub: str) -> list[Clash]:
    """What waits to be settled, oldest first."""
    with core.read() as reader:
        require_hub(reader, hub_id, hub)
        return reader.clashes(hub_id)


def settle(core: Core, hub_id: str, hub: str, clash_id: str, keep: str) -> Clash:
    """Settles one; `keep` is the text that stays: the store's, the file's, or both."""
    keep = normalise.one_of(keep, KEEPS, "choice")
    core.require("write")
    with core.read() as reader:
        clash = _find(reader, hub_id, hub, clash_id)
        memory = reader.memory(hub_id, clash.memory_id)
    new = {}
    index = None
    if keep == "file" and memory is not None:
        new = completed(memory, {"content": clash.in_file})
        # The embedding model is asked before the write begins.
        index = indexed(memory._replace(**new), core)
    with core.write(hub_id) as writer:
        clash = _find(writer, hub_id, hub, clash_id)
        memory = writer.memory(hub_id, clash.memory_id)
        other = _other(writer, hub_id, clash)
        reason = SETTLED.format("store's" if keep == "store" else "file's")
        recorder = Recorder(core, writer, hub_id, "update", reason=reason)
        # Where the memory itself is gone by now, the text beside it is all there is: it stays.
        if memory is not None and memory.visible and memory.state != "archived":
            if keep == "file":
                recorder.revise(memory, index, **new)
            if keep != "both" and other is not None:
                recorder.revise(other, state="archived", state_reason=reason)
        at = core.now()
        writer.settle_clash(hub_id, clash.id, at)
        return clash._replace(settled_at=at)


def settled_away(memory: Memory) -> bool:
    """Whether a memory was archived because the other text of a conflict was kept: other than what
    only grew old, it leaves its file."""
    return memory.state == "archived" and memory.state_reason.startswith(_SETTLED)


def _find(reader: Reader, hub_id: str, hub: str, clash_id: str) -> Clash:
    require_hub(reader, hub_id, hub)
    for clash in reader.clashes(hub_id):
        if clash.id == clash_id:
            return clash
    raise NotFound(
        f"There is no open conflict {clash_id} in hub `{hub}`.",
        hint="`holdfast conflicts` lists them.",
    )


def _other(reader: Reader, hub_id: str, clash: Clash) -> Memory | None:
    """The memory that holds the file's text, unless somebody has changed it since."""
    layer = "long_term" if clash.path == FILE_NAME else "journal"
    for memory in reader.memories_by_hash(hub_id, normalise.content_hash(clash.in_file)):
        if (
            memory.id != clash.memory_id
            and memory.content == clash.in_file
            and memory.layer == layer
            and memory.visible
            and memory.state != "archived"
        ):
            return memory
    return None
