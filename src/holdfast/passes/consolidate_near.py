"""Which memories could be about the same, when each was said, and for whom. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from heapq import nlargest

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.memory import MADE_FROM, Memory
from holdfast.text.slots.compare import compare, slot_of
from holdfast.text.terms import terms

# How many memories a text is compared with: the newest of the same slot, and as many again that
# share most of its words.
_NEAR_MAX = 5
# Words by which they are looked for, the rarest of a text; and memories that are looked at for each
# of them, the newest: a word that more have tells little.
_TERMS_MAX = 6
_LISTED_MAX = 100
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
    or rare words in common. So that each is compared with a few, and not with all."""

    def __init__(self, memories: Iterable[Memory]) -> None:
        self._memories: dict[int, Memory] = {}
        self._by_term: dict[tuple[object, str], list[int]] = {}
        self._by_slot: dict[tuple[object, str, str], list[int]] = {}
        for memory in sorted(memories, key=said_at):
            self._memories[memory.number] = memory
            whose = voice(memory)
            for term in set(terms(memory.content)):
                self._by_term.setdefault((whose, term), []).append(memory.number)
            if slot := slot_of(memory.content):
                place = (whose, slot.subject, slot.attribute)
                self._by_slot.setdefault(place, []).append(memory.number)

    def to(self, memory: Memory, text: str | None = None) -> list[Memory]:
        """The nearest to a memory, or to a text made from it, of the same voice; never the memory
        itself."""
        said = memory.content if text is None else text
        whose = voice(memory)
        listed = [self._by_term.get((whose, term), ()) for term in set(terms(said))]
        shared: dict[int, int] = {}
        for numbers in sorted(listed, key=len)[:_TERMS_MAX]:
            for number in numbers[-_LISTED_MAX:]:
                shared[number] = shared.get(number, 0) + 1
        # One more, as the memory itself is the nearest.
        best = nlargest(_NEAR_MAX + 1, shared, key=lambda number: (shared[number], number))
        slot = slot_of(said)
        same = self._by_slot.get((whose, slot.subject, slot.attribute), []) if slot else []
        newest = same[: -_NEAR_MAX - 2 : -1]
        found = dict.fromkeys([*newest, *best])
        return [self._memories[number] for number in found if number != memory.number]

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
