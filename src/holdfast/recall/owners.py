"""What passages belong to: memories, and turns of the conversation log as memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.domain.records import as_memory

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.store.base import Reader


def owners_by_id(reader: Reader, hub_id: str, ids: Sequence[str]) -> dict[str, Memory]:
    """Those that are there, in the order in which they are asked for."""
    found = reader.memories_by_id(hub_id, ids)
    if len(found) == len(ids):
        return found
    turns = reader.turns_by_id(hub_id, [one for one in ids if one not in found])
    if not turns:
        return found
    found |= {one: as_memory(turn) for one, turn in turns.items()}
    return {one: found[one] for one in ids if one in found}
