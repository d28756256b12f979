"""Whose eyes a read has. A value that every store is handed; who has which, `access` and the engine
know."""

from typing import NamedTuple

from holdfast.domain.memory import BOUNDARIES, Boundary, Memory
from holdfast.domain.names import PersonName

# What a member of a hub sees of it beside what is their own.
MEMBER_SEES: tuple[Boundary, ...] = ("hub", "team", "org")
assert set(MEMBER_SEES) == set(BOUNDARIES) - {"private"}


class Viewer(NamedTuple):
    """Whose eyes a read has: what is their own, and what has one of these boundaries."""

    actor: PersonName
    boundaries: tuple[Boundary, ...] = MEMBER_SEES

    def sees(self, memory: Memory) -> bool:
        """The same test that the stores make in their own language."""
        return memory.owner == self.actor or memory.boundary in self.boundaries
