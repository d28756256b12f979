"""Standing facts: what an agent should know whatever is asked."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.domain.memory import Memory

# What a person is and wants, what they do as a rule, and what holds for their project; in this
# order where there is no room for all of it.
CATEGORIES = ("core", "preference", "routine", "person", "project", "decision")


def is_standing(memory: Memory) -> bool:
    """Whether it belongs into a block that is built for a question it does not answer."""
    return memory.pinned or memory.category in CATEGORIES or memory.kind == "procedural"


def by_weight(memories: Iterable[Memory]) -> list[Memory]:
    """Those that matter most first; among equals, in the order in which they come."""
    return sorted(filter(is_standing, memories), key=_weight)


def _weight(memory: Memory) -> int:
    if memory.pinned:
        return -1
    if memory.category in CATEGORIES:
        return CATEGORIES.index(memory.category)
    return CATEGORIES.index("routine")
