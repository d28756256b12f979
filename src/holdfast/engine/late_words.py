"""Index entries of long turns are written after the reply.

Such a turn is written together with a record that marks it. One later transaction writes its index
entries and drops the record: in the thread that makes vectors, or before the next search in the
hub, whichever comes first. So every search finds the turn by its words, and a process that is
killed in between leaves no turn without index entries.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING

from holdfast.domain.records import WITHOUT_WORDS, Record
from holdfast.errors import HoldfastError
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.records import Turn
    from holdfast.engine.core import Core
    from holdfast.store.base import Writer

# Of both sides together. Indexing fewer characters costs less than a second transaction.
AT_ONCE_CHARS_MAX = 600
# In one transaction: about a tenth of a second for turns of 2,000 characters.
_BATCH = 100


def are_late(core: Core, turns: Sequence[Turn]) -> bool:
    """Whether the words of these turns are indexed after they are logged."""
    return (
        Capability.LATE_WORDS in core.store.capabilities
        and sum(len(turn.content) for turn in turns) > AT_ONCE_CHARS_MAX
    )


def add_without_words(core: Core, writer: Writer, turn: Turn) -> None:
    writer.add_turn(turn, words=False)
    writer.put_record(Record(turn.hub_id, WITHOUT_WORDS, turn.id, core.now(), {}))


def drop_marks(writer: Writer, hub_id: str, turn_ids: Sequence[str]) -> None:
    """Drops the marks of turns that are removed from the log."""
    for turn_id in turn_ids:
        writer.drop_record(hub_id, WITHOUT_WORDS, turn_id)


def index_late_turns(core: Core, hub_id: str, *, wait: bool = False) -> None:
    """Indexes the turns of a hub that were added without their words. With `wait`, for an operation
    that must miss no turn, also if another process is writing; raises an error if the store cannot
    be written."""
    if Capability.LATE_WORDS not in core.store.capabilities:
        return
    # Otherwise, if the store is read-only or busy, the next search tries again.
    with nullcontext() if wait else suppress(HoldfastError):
        while index_some(core, hub_id, wait=wait):
            pass


def index_some(core: Core, hub_id: str, *, wait: bool = False, at_most: int = _BATCH) -> bool:
    """Indexes the words of a batch of long turns; returns whether there may be more."""
    with core.store.read() as reader:
        if not reader.records(hub_id, WITHOUT_WORDS, limit=1):
            return False
    # If this write is lost the records are still there, so it need not wait for the disk. Only a
    # durable write waits for another process.
    with core.store.write(durable=wait, hub=hub_id) as writer:
        waiting = [one.id for one in writer.records(hub_id, WITHOUT_WORDS, limit=at_most)]
        writer.index_turns(hub_id, waiting)
        drop_marks(writer, hub_id, waiting)
    return len(waiting) == at_most
