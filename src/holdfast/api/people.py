"""Who belongs where, for who has the machine: members of hubs, teams and organisations, and
invitations. The same methods as a client's, who does it through a server and by their role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import engine
from holdfast.engine.people.records import parse_role
from holdfast.errors import InvalidInput
from holdfast.text import names

if TYPE_CHECKING:
    from holdfast.api.hub import HubMemory
    from holdfast.domain.access import HubCard, Invite, Member, Org, ScopeKind, Team
    from holdfast.engine.core import Core
    from holdfast.engine.people.records import Handed


class People:
    """The part of an open memory that is about people. A hub, a team or an organisation is named by
    its name or its id; where none is, the hub in use is meant."""

    core: Core
    if TYPE_CHECKING:

        def hub(self, name: str | None = None, *, create: bool = False) -> HubMemory: ...

    # Organisations and teams

    def orgs(self) -> list[Org]:
        """All organisations."""
        return engine.teams.orgs(self.core)

    def create_org(self, name: str) -> Org:
        return engine.teams.create_org(self.core, names.parse_label(name, "organisation"))

    def rename_org(self, org: str, new: str) -> Org:
        return engine.teams.rename_org(
            self.core, self._org(org), names.parse_label(new, "organisation")
        )

    def remove_org(self, org: str) -> Org:
        """Ends an organisation that has no teams any more."""
        return engine.teams.remove_org(self.core, self._org(org))

    def teams(self, org: str | None = None) -> list[Team]:
        """All teams, or those of an organisation."""
        return engine.teams.teams(self.core, None if org is None else self._org(org))

    def create_team(self, name: str, *, org: str) -> Team:
        return engine.teams.create_team(self.core, self._org(org), names.parse_label(name, "team"))

    def rename_team(self, team: str, new: str) -> Team:
        return engine.teams.rename_team(self.core, self._team(team), names.parse_label(new, "team"))

    def remove_team(self, team: str) -> Team:
        """Ends a team. Its hubs stay, for their members; what was for the team is then for them."""
        return engine.teams.remove_team(self.core, self._team(team))

    def share(
        self,
        hub: str | None = None,
        *,
        team: str | None = None,
        org: str | None = None,
        delete_policy: str | None = None,
    ) -> HubCard:
        """Gives a hub to a team, or shares it with an organisation; an empty one takes it back. Or
        says what contributors may delete: none, own or any."""
        return engine.members.set_card(
            self.core,
            self.hub(hub).id,
            team_id=team and self._team(team),
            org_id=org and self._org(org),
            delete_policy=delete_policy,
        )

    # Members and invitations

    def members(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Member]:
        """Who belongs to a hub, a team or an organisation."""
        return engine.members.members(self.core, *self._scope(hub, team, org))

    def set_member(
        self,
        actor: str,
        role: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> Member:
        """Adds a member, or changes their role."""
        who, held = names.parse_person(actor), parse_role(role)
        return engine.members.set_member(self.core, *self._scope(hub, team, org), who, held)

    def remove_member(
        self,
        actor: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None:
        """Takes a member's role away."""
        scope = self._scope(hub, team, org)
        who = engine.members.member_called(self.core, *scope, actor)
        engine.members.remove_member(self.core, *scope, who)

    def invite(
        self,
        role: str = "contributor",
        *,
        days: int = 7,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> Handed:
        """A one-time token that gives a role; `secret` has it, and nothing else ever will."""
        held = parse_role(role)
        return engine.members.invite(self.core, *self._scope(hub, team, org), held, days=days)

    def invites(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Invite]:
        """The invitations, used ones among them; never their tokens."""
        return engine.members.invites(self.core, *self._scope(hub, team, org))

    def withdraw_invite(
        self,
        invite_id: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None:
        """Takes an invitation back."""
        scope = self._scope(hub, team, org)
        known = {one.id for one in engine.members.invites(self.core, *scope)}
        wanted = names.parse_id(invite_id, "invitation")
        engine.members.withdraw(self.core, wanted if wanted in known else "")

    def accept_invite(self, token: str, *, actor: str | None = None) -> Member:
        """Takes the place that a token offers, for oneself or somebody else."""
        who = self.core.actor if actor is None else names.parse_person(actor)
        return engine.members.accept(self.core, token, who)

    def _scope(self, hub: str | None, team: str | None, org: str | None) -> tuple[ScopeKind, str]:
        refuse_two(hub, team, org)
        if team is not None:
            return "team", self._team(team)
        if org is not None:
            return "org", self._org(org)
        return "hub", self.hub(hub).id

    def _org(self, name: str) -> str:
        found = engine.teams.orgs(self.core)
        return engine.teams.one_of("org", found, names.parse_place(name)).id

    def _team(self, name: str) -> str:
        found = engine.teams.teams(self.core)
        return engine.teams.one_of("team", found, names.parse_place(name)).id


def refuse_two(hub: str | None, team: str | None, org: str | None) -> None:
    if len([one for one in (hub, team, org) if one is not None]) > 1:
        raise InvalidInput("Name a hub, a team or an organisation; one of them.")
