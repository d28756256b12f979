"""A fact that took another's place answers the questions the other answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from holdfast.domain.memory import Memory
from holdfast.recall import weights
from holdfast.recall.evidence import Evidence, Found
from holdfast.store.values import Candidate

if TYPE_CHECKING:
    from holdfast.store.base import Reader

Admits = Callable[[Memory, Candidate], bool]


def bring_successors(
    reader: Reader,
    hub_id: str,
    items: list[Evidence],
    past: Mapping[str, Memory | None],
    admits: Admits,
) -> None:
    """Adds to the items, or lifts among them, what has replaced one of them since.

    `past` says how changed memories stood at the time that is asked about, where that is not now.
    """
    by_id = {item.memory.id: item for item in items}
    for item in list(items):
        newest = _newest(reader, hub_id, item.memory, past)
        if newest is None:
            continue
        heir = by_id.get(newest.id)
        if heir is None:
            passages = reader.passages(hub_id, [newest.id])
            if not passages or not admits(newest, passages[0]):
                continue
            heir = by_id[newest.id] = Evidence(newest, [Found(passages[0])])
            items.append(heir)
        gain = item.own * weights.SUCCESSOR_SHARE - heir.own
        if gain > 0:
            heir.add("successor", gain, f"took the place of #{item.memory.number}")


def _newest(
    reader: Reader, hub_id: str, memory: Memory, past: Mapping[str, Memory | None]
) -> Memory | None:
    """The end of the chain of replacements that begins with this memory, if there is one."""
    found: Memory | None = None
    newer = memory.superseded_by
    for _ in range(weights.SUCCESSORS_MAX):
        if newer is None:
            return found
        found = past[newer] if newer in past else reader.memory(hub_id, newer)
        if found is None:
            return None
        newer = found.superseded_by
    return None
