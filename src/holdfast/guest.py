"""Somebody who comes in by a key, or who has the machine: which hubs they reach, with whose eyes,
and what they may do there. Every edge that serves more than one person asks here, and nowhere else.

A hub out of reach reads like one that is not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.domain.access import MEMBER_SEES, Act, Key, Standing
from holdfast.engine import access
from holdfast.errors import Forbidden, NotFound
from holdfast.hub_memory import HubMemory

if TYPE_CHECKING:
    from holdfast.domain.hub import Hub
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.library import Holdfast

_REFUSED: dict[Act, str] = {
    "read": "read it",
    "write": "write to it",
    "delete_own": "delete from it",
    "delete_any": "delete what is not your own",
    "manage": "manage its members",
    "own": "rename or delete it",
}


class Guest:
    """One person or agent at the door. Without a key it is the one whose machine this is, who owns
    everything in it."""

    def __init__(self, memory: Holdfast, key: Key | None = None) -> None:
        self._memory = memory
        self.key = key
        self.actor = memory.core.actor if key is None else key.actor

    @property
    def core(self) -> Core:
        """The engine as they use it where no hub is meant."""
        return self._memory.core.acting(self.actor)

    @property
    def local(self) -> bool:
        return self.key is None

    def hubs(self) -> list[tuple[Hub, Standing]]:
        """The hubs in reach, by name, and how they stand to each."""
        if self.local:
            return [(hub, self._owner()) for hub in self._memory.hubs()]
        reach = self.key.hubs if self.key is not None else ()
        found = access.hubs_of(self._memory.core, self.actor)
        return [(hub, how) for hub, how in found if not reach or hub.id in reach]

    def hub(self, name: str | None = None, act: Act = "read") -> HubMemory:
        """The hub of that name or id, seen with their eyes, if they may do this there."""
        hub, standing = self.stands(name)
        self.require(standing, act, hub.name)
        if self.local:
            return HubMemory(self._memory.core, hub, self.home)

        def permit(act: Act, memory: Memory | None) -> None:
            self.require(standing, act, hub.name)

        core = self._memory.core.acting(self.actor, standing.viewer, permit)
        return HubMemory(core, hub, self.home)

    def stands(self, name: str | None = None) -> tuple[Hub, Standing]:
        """The hub of that name or id and how they stand to it; NotFound where it is nothing to
        them, or not there at all."""
        core = self._memory.core
        chosen = name or self._usual()
        with core.store.read() as reader:
            hub = reader.hub_by_id(chosen) or reader.hub(chosen)
        if hub is None and self.local:
            hub = self._memory.hub(name).info
        if hub is None or hub.state != "active":
            raise self._unknown(chosen)
        if self.local:
            return hub, self._owner()
        standing = access.standing(core, hub, self.actor)
        outside = self.key is not None and self.key.hubs and hub.id not in self.key.hubs
        if standing is None or outside:
            raise self._unknown(chosen)
        return hub, standing

    def _usual(self) -> str:
        """The hub that is meant where none is named: the one in use on this machine; for a guest,
        the only one in reach."""
        used: str = self._memory.core.settings["hub"]
        if self.local:
            return used
        names = [hub.name for hub, _ in self.hubs()]
        if used in names:
            return used
        if len(names) == 1:
            return names[0]
        raise NotFound(
            "Say which hub you mean." if names else "There is no hub that you can reach yet.",
            hint=f"Yours are {', '.join(names)}." if names else "Ask somebody for an invitation.",
        )

    def require(self, standing: Standing, act: Act, hub: str) -> None:
        """Forbidden where the role or the key does not allow it."""
        if standing.allows(act, self.key):
            return
        by_key = standing.allows(act)
        raise Forbidden(
            f"You may not {_REFUSED[act]}: hub `{hub}`.",
            hint="This key does not allow it; use another."
            if by_key
            else "Ask an admin of the hub for another role.",
            act=act,
        )

    def create_hub(self, name: str) -> HubMemory:
        """A new hub, theirs. A key that is for some hubs, or for reading, makes none."""
        if self.key is not None and (self.key.hubs or self.key.read_only):
            raise Forbidden("This key cannot make hubs.", hint="Use one that is not limited.")
        return self.hub(engine.hubs.create_hub(self.core, name).id)

    @property
    def home(self) -> str:
        return self._memory.home

    def _owner(self) -> Standing:
        return Standing(self.actor, "owner", MEMBER_SEES, "any")

    @staticmethod
    def _unknown(name: str) -> NotFound:
        return NotFound(f"There is no hub `{name}`.", hint="List the hubs to see yours.")
