"""The caller of an operation: the owner of a key, or the owner of this machine. `Caller` says which
hubs they can reach, what they see and what they may do. Every edge that serves more than one person
checks access here and nowhere else.

A hub out of reach gives the same error as one that does not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.api.hub import HubMemory
from holdfast.domain.hub import MEMBER_SEES, Act, Key, Standing
from holdfast.engine.people import members, teams
from holdfast.errors import Forbidden, InvalidInput, NotFound
from holdfast.text.names import parse_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.api.memory import Holdfast
    from holdfast.api.people import CallersPeople
    from holdfast.domain.hub import Hub, Org, PersonName, ScopeKind, Team
    from holdfast.domain.memory import Memory
    from holdfast.engine.core import Core
    from holdfast.store.base import Writer

_REFUSED: dict[Act, str] = {
    "read": "read it",
    "read_log": "read what is for its members",
    "write": "write to it",
    "retire": "archive, supersede or expire what is in it",
    "delete_own": "delete from it",
    "delete_any": "delete what is not your own",
    "manage": "manage it",
    "own": "rename or remove it",
}


def without_places(text: str, home: str) -> str:
    """Removes local paths and the address of the database from a message for a caller on another
    machine."""
    if "://" not in text and (not home or home not in text):
        return text
    import re

    if home:
        text = re.sub(re.escape(home) + r"[^\s`'\",;]*", "a file of the server", text)
    return re.sub(r"\bpostgres(ql)?://[^\s`'\",;()]*[^\s`'\",;().]", "the database", text)


class Caller:
    """A person or an agent: the owner of a key, or without a key the owner of this machine and
    everything on it. Hubs are looked up with the core `looking`, which may have a deadline."""

    def __init__(
        self, memory: Holdfast, key: Key | None = None, *, looking: Core | None = None
    ) -> None:
        self._memory = memory
        self._looking = looking or memory.core
        self.key = key
        self.actor = memory.core.actor if key is None else key.actor

    @property
    def core(self) -> Core:
        """The engine with the caller as actor, for operations outside any hub."""
        return self._memory.core.acting(self.actor)

    @property
    def memory_core(self) -> Core:
        """The engine without the caller's limits, for operations after their permission was checked
        already."""
        return self._memory.core

    @property
    def local(self) -> bool:
        return self.key is None

    @property
    def name_scope(self) -> PersonName | None:
        """Whose hub names must differ from each other: the caller's; None means everybody's."""
        return None if self.local else self.actor

    def people(self, usual_hub: str | None = None) -> CallersPeople:
        """The operations on people, run as this caller."""
        from holdfast.api.people import CallersPeople

        return CallersPeople(self, usual_hub)

    def hubs(self) -> list[tuple[Hub, Standing]]:
        """The hubs that the caller can reach, by name, with the caller's role in each."""
        if self.local:
            return [(hub, self._owner()) for hub in self._memory.hubs()]
        reach = self.key.hubs if self.key is not None else ()
        found = members.hubs_of(self._memory.core, self.actor)
        return [(hub, how) for hub, how in found if not reach or hub.id in reach]

    def hub(
        self,
        name: str | None = None,
        act: Act = "read",
        *,
        deadline_s: float | None = None,
        before_commit: Callable[[Writer], None] | None = None,
    ) -> HubMemory:
        """The hub of that name or id with the caller's view of it. Raises Forbidden if the caller
        may not do this there. For the other arguments see `Core.acting`."""
        hub, standing = self.hub_standing(name)
        self.require(standing, act, hub.called)
        core = self._memory.core
        if self.local:
            if deadline_s is not None or before_commit is not None:
                core = core.acting(deadline_s=deadline_s, before_commit=before_commit)
            return HubMemory(core, hub, self.home)

        def permit(act: Act, memory: Memory | None) -> None:
            self.require(standing, act, hub.called)

        core = core.acting(
            self.actor,
            viewer=standing.viewer,
            permit=permit,
            deadline_s=deadline_s,
            before_commit=before_commit,
        )
        return HubMemory(core, hub, self.home)

    def hub_standing(self, name: str | None = None) -> tuple[Hub, Standing]:
        """The hub of that name or id and the caller's role in it. Raises NotFound if there is no
        such hub, or the caller has no role in it."""
        chosen = parse_place(name or self._usual())
        if self.local:
            return self._own_hub(chosen, name), self._owner()
        reach = self.key.hubs if self.key is not None else ()
        found = [
            pair
            for pair in members.hubs_called(self._looking, chosen, self.actor)
            if not reach or pair[0].id in reach
        ]
        if not found:
            raise self._unknown(chosen)
        # Somebody may have shared a hub with the caller that has the name of one of their own.
        own = [pair for pair in found if pair[0].owner == self.actor]
        meant = own if len(own) == 1 else found
        if len(meant) > 1:
            raise InvalidInput(
                f"Several hubs are called `{chosen}`.",
                hint=f"Name it by its id: {', '.join(hub.id for hub, _ in meant[:5])}.",
            )
        return meant[0]

    def _own_hub(self, chosen: str, name: str | None) -> Hub:
        """Looks up a hub for the owner of the machine."""
        with self._looking.read() as reader:
            hub = reader.hub_by_id(chosen) or reader.hub(chosen)
        if hub is None:
            hub = self._memory.hub(name).info
        if hub.state != "active":
            raise self._unknown(chosen)
        return hub

    def _usual(self) -> str:
        """The hub to use if none is named: the one in use on this machine; with a key, that one if
        the caller can reach it, else the only one in reach."""
        used: str = self._memory.core.settings["hub"]
        if self.local:
            return used
        found = [hub for hub, _ in self.hubs()]
        for hub in found:
            # Compared with the hub's own name, because the owner of the machine chose the setting.
            if hub.name == used:
                return hub.id
        if len(found) == 1:
            return found[0].id
        names = [hub.called for hub in found]
        if names:
            raise NotFound("Say which hub you mean.", hint=f"Yours are {', '.join(names)}.")
        raise NotFound(
            "There is no hub that you can reach yet.",
            hint="Create one, or ask somebody for an invitation.",
            command="Make one (`holdfast hub create NAME`), or ask somebody for an invitation.",
        )

    def require(self, standing: Standing, act: Act, hub: str) -> None:
        """Raises Forbidden if the role or the key does not allow the action."""
        if standing.allows(act, self.key):
            return
        if act == "read_log" and standing.role is None:
            raise Forbidden(
                f"You are not a member of the hub `{hub}`.",
                hint="Ask an admin of the hub for a role in it.",
            )
        by_key = standing.allows(act)
        raise Forbidden(
            f"You may not {_REFUSED[act]}: hub `{hub}`.",
            hint="This key does not allow it; use another."
            if by_key
            else "Ask an admin of the hub for another role.",
            act=act,
        )

    def create_hub(self, name: str) -> HubMemory:
        """Creates a hub owned by the caller. A key limited to some hubs or to reading may not."""
        self.require_free("make hubs")
        made = engine.hubs.create_hub(self.core, name, seen_by=self.name_scope)
        return self.hub(made.id)

    def rename_hub(self, hub: Hub, new: str) -> None:
        self._memory._rename_hub(hub.name, new, self.name_scope)

    def delete_hub(self, hub: Hub) -> None:
        self._memory.delete_hub(hub.name)

    def require_free(self, what: str) -> None:
        """Raises Forbidden for a key that is limited to some hubs or to reading."""
        if self.key is not None and (self.key.hubs or self.key.read_only):
            raise Forbidden(f"This key cannot {what}.", hint="Use one that is not limited.")

    def require_deletes(self) -> None:
        """Raises Forbidden for a key without permission to delete, as removing a whole is a
        deletion too."""
        if self.key is not None and self.key.no_delete:
            raise Forbidden("This key deletes nothing.", hint="Use one that is not limited.")

    # Organisations and teams

    def orgs(self) -> list[tuple[Org, Standing]]:
        """The caller's organisations by name."""
        if self.local:
            return [(org, self._owner()) for org in teams.orgs(self._memory.core)]
        self._refuse_hub_key()
        return teams.orgs_of(self._memory.core, self.actor)

    def teams(self) -> list[tuple[Team, Standing]]:
        """The caller's teams and the other teams of their organisations, by name."""
        if self.local:
            return [(team, self._owner()) for team in teams.teams(self._memory.core)]
        self._refuse_hub_key()
        return teams.teams_of(self._memory.core, self.actor)

    def org(self, name: str, act: Act = "read") -> tuple[Org, Standing]:
        """The organisation of that name or id. Raises Forbidden if the caller may not do this
        there."""
        self._refuse_hub_key()
        core, meant = self._memory.core, parse_place(name)
        if self.local:
            return teams.one_of("org", teams.orgs(core), meant), self._owner()
        org, standing = teams.org_of(core, self.actor, meant)
        self._require_in("org", org.name, standing, act)
        return org, standing

    def team(self, name: str, act: Act = "read") -> tuple[Team, Standing]:
        """The team of that name or id. Raises Forbidden if the caller may not do this there."""
        self._refuse_hub_key()
        core, meant = self._memory.core, parse_place(name)
        if self.local:
            return teams.one_of("team", teams.teams(core), meant), self._owner()
        team, standing = teams.team_of(core, self.actor, meant)
        self._require_in("team", team.name, standing, act)
        return team, standing

    def _require_in(self, kind: ScopeKind, name: str, standing: Standing, act: Act) -> None:
        if act == "read" or standing.allows(act, self.key):
            return
        raise Forbidden(
            f"You may not {_REFUSED[act]}: {kind} {name!r}.",
            hint="This key does not allow it; use another."
            if standing.allows(act)
            else f"Ask an admin of the {kind} for another role.",
            act=act,
        )

    def _refuse_hub_key(self) -> None:
        # Before any lookup, so that the key learns nothing about what exists.
        if self.key is not None and self.key.hubs:
            raise Forbidden(
                "This key is for some hubs, not for teams or organisations.",
                hint="Use one that is not limited.",
            )

    @property
    def home(self) -> str:
        return self._memory.home

    def _owner(self) -> Standing:
        return Standing(self.actor, "owner", MEMBER_SEES, "any")

    @staticmethod
    def _unknown(name: str) -> NotFound:
        return NotFound(f"There is no hub `{name}`.", hint="List the hubs to see yours.")
