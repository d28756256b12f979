"""Who may see and do what: viewers, roles, and what a role allows. Pure values and rules; who is a
member of what, the engine knows."""

from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.memory import BOUNDARIES, Boundary, Memory

Role: TypeAlias = Literal["viewer", "contributor", "admin", "owner"]
# From the least to the most.
ROLES: tuple[Role, ...] = get_args(Role)
DeletePolicy: TypeAlias = Literal["none", "own", "any"]
DELETE_POLICIES: tuple[DeletePolicy, ...] = get_args(DeletePolicy)

# What a member of a hub sees of it beside what is their own.
MEMBER_SEES: tuple[Boundary, ...] = ("hub", "team", "org")


class Viewer(NamedTuple):
    """Whose eyes a read has: what is their own, and what has one of these boundaries."""

    actor: str
    boundaries: tuple[Boundary, ...] = MEMBER_SEES

    def sees(self, memory: Memory) -> bool:
        """The same test that the stores make in their own language."""
        return memory.owner == self.actor or memory.boundary in self.boundaries


assert set(MEMBER_SEES) == set(BOUNDARIES) - {"private"}
