"""Which memories could be about the same, when each was said, and for whom. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import MADE_FROM, Memory
from holdfast.text.slots import compare, slot_of
from holdfast.text.terms import terms

# How many memories a text is compared with, those that share most of its words.
_NEAR_MAX = 5
# Where a memory that was made from others has the time at which the last of them was said.
SAID_AT = "said_at"


def said_at(memory: Memory) -> datetime:
    """When it was said; of what was made from others, when they were, and not when it was made."""
    told = memory.metadata.get(SAID_AT)
    if isinstance(told, str) and MADE_FROM in memory.metadata:
        try:
            return from_text(told)
        except ValueError:  # Metadata may be edited.
            return memory.created_at
    return memory.occurred_at or memory.created_at


def origin_of(sources: Sequence[Memory]) -> dict[str, object]:
    """The metadata of a memory that is made from others."""
    newest = max(map(said_at, sources))
    return {MADE_FROM: [memory.id for memory in sources], SAID_AT: to_text(newest)}


def day_of(memory: Memory) -> date:
    return (memory.occurred_at or memory.created_at).date()


def audience(memory: Memory) -> tuple[str, str]:
    """For whom it is: what one may see and another may not is never put together."""
    return memory.boundary, memory.audience


# Whose memory it is says so or says nothing.
_OWN = frozenset({"", "user", "human", "me"})


def voice(memory: Memory) -> tuple[str, str, str]:
    """For whom it is, and who says it: the same words of somebody else are about somebody else."""
    speaker = (memory.speaker or "").strip().casefold()
    return *audience(memory), "" if speaker in _OWN else speaker


class Near:
    """Finds, among memories, those that a text may say the same as, or contradict: the same slot,
    or most words in common. So that each is compared with a few, and not with all."""

    def __init__(self, memories: Sequence[Memory]) -> None:
        self._memories = {memory.number: memory for memory in memories}
        self._by_term: dict[str, list[int]] = {}
        self._by_slot: dict[tuple[str, str], list[int]] = {}
        for memory in memories:
            for term in set(terms(memory.content)):
                self._by_term.setdefault(term, []).append(memory.number)
            if slot := slot_of(memory.content):
                self._by_slot.setdefault((slot.subject, slot.attribute), []).append(memory.number)

    def to(self, memory: Memory, text: str | None = None) -> list[Memory]:
        """The nearest to a memory, or to a text made from it, of the same voice; never the memory
        itself."""
        said = memory.content if text is None else text
        shared: dict[int, int] = {}
        for term in set(terms(said)):
            for number in self._by_term.get(term, ()):
                shared[number] = shared.get(number, 0) + 1
        best = sorted(shared, key=lambda number: (-shared[number], -number))[:_NEAR_MAX]
        slot = slot_of(said)
        same = self._by_slot.get((slot.subject, slot.attribute), []) if slot else []
        found = (self._memories[number] for number in dict.fromkeys([*reversed(same), *best]))
        return [
            other
            for other in found
            if other.number != memory.number and voice(other) == voice(memory)
        ]

    def overtaken(self, memory: Memory, text: str | None = None) -> Memory | None:
        """What was said later, and takes the place of what a memory says, or of a text that is
        made from it."""
        said = memory.content if text is None else text
        for other in self.to(memory, text):
            if said_at(other) > said_at(memory) and _replaces(other.content, said):
                return other
        return None


def _replaces(new: str, old: str) -> bool:
    return compare(new, old).relation == "replaces"
