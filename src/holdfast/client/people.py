"""The part of a client that is about people: organisations and teams, members and invitations. The
methods are those of an open memory; what somebody may do there, their role and their key say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from holdfast.api.people import refuse_two
from holdfast.client.faults import decoded
from holdfast.domain.access import HubCard, Invite, Member, Org, Team
from holdfast.errors import InvalidInput
from holdfast.text import names

if TYPE_CHECKING:
    from holdfast.client.connection import Connection
    from holdfast.client.hub import RemoteHub
    from holdfast.domain.access import ScopeKind
    from holdfast.engine.people.records import Handed


_Value = TypeVar("_Value")


class RemotePeople:
    """People, through a server."""

    server: Connection
    if TYPE_CHECKING:

        def hub(self, name: str | None = None, *, create: bool = False) -> RemoteHub: ...

    # Organisations and teams

    def orgs(self) -> list[Org]:
        """The organisations that one belongs to."""
        return [self._value(Org, one) for one in self.server.get("/orgs")["data"]]

    def create_org(self, name: str) -> Org:
        return self._value(Org, self._send("POST", "/orgs", {"name": name}))

    def rename_org(self, org: str, new: str) -> Org:
        return self._value(Org, self._send("PATCH", self._path("org", org), {"name": new}))

    def remove_org(self, org: str) -> Org:
        """Ends an organisation that has no teams any more."""
        found = self._value(Org, self.server.get(self._path("org", org))["data"])
        self._send("DELETE", f"/orgs/{found.id}")
        return found

    def teams(self, org: str | None = None) -> list[Team]:
        """The teams that one sees, or those of an organisation."""
        found = [self._value(Team, one) for one in self.server.get("/teams")["data"]]
        if org is None:
            return found
        org_id = self.server.get(self._path("org", org))["data"]["id"]
        return [team for team in found if team.org_id == org_id]

    def create_team(self, name: str, *, org: str) -> Team:
        return self._value(Team, self._send("POST", "/teams", {"name": name, "org": org}))

    def rename_team(self, team: str, new: str) -> Team:
        return self._value(Team, self._send("PATCH", self._path("team", team), {"name": new}))

    def remove_team(self, team: str) -> Team:
        """Ends a team. Its hubs stay, for their members; what was for the team is then for them."""
        found = self._value(Team, self.server.get(self._path("team", team))["data"])
        self._send("DELETE", f"/teams/{found.id}")
        return found

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
        body = {"team": team, "org": org, "delete_policy": delete_policy}
        told = self._send("PATCH", f"/hubs/{self.hub(hub).id}", body)
        return self._value(HubCard, told, hub_id=told["id"])

    # Members and invitations

    def members(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Member]:
        """Who belongs to a hub, a team or an organisation."""
        _, _, path = self._place(hub, team, org)
        return [self._value(Member, one) for one in self.server.get(f"{path}/members")["data"]]

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
        who = names.parse_person(actor)
        _, _, path = self._place(hub, team, org)
        return self._value(Member, self._send("PUT", f"{path}/members/{part(who)}", {"role": role}))

    def remove_member(
        self,
        actor: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None:
        """Takes a member's role away."""
        _, _, path = self._place(hub, team, org)
        self._send("DELETE", f"{path}/members/{part(actor)}")

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
        scope, scope_id, path = self._place(hub, team, org)
        told = self._send("POST", f"{path}/invites", {"role": role, "days": days})
        return handed(self._invite(told, scope, scope_id), told["token"])

    def invites(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Invite]:
        """The invitations, used ones among them; never their tokens."""
        scope, scope_id, path = self._place(hub, team, org)
        found = self.server.get(f"{path}/invites")["data"]
        return [self._invite(one, scope, scope_id) for one in found]

    def withdraw_invite(
        self,
        invite_id: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None:
        """Takes an invitation back."""
        _, _, path = self._place(hub, team, org)
        self._send("DELETE", f"{path}/invites/{part(invite_id)}")

    def accept_invite(self, token: str, *, actor: str | None = None) -> Member:
        """Takes the place that a token offers, for whom the key speaks for."""
        if actor is not None:
            raise InvalidInput("Through a server, whoever has the key takes the place.")
        return self._value(Member, self._send("POST", "/invites/accept", {"token": token}))

    def _place(
        self, hub: str | None, team: str | None, org: str | None
    ) -> tuple[ScopeKind, str, str]:
        """What is meant, its id, and its path on the server."""
        refuse_two(hub, team, org)
        if team is None and org is None:
            hub_id = self.hub(hub).id
            return "hub", hub_id, f"/hubs/{hub_id}"
        scope: ScopeKind = "org" if team is None else "team"
        found = self.server.get(self._path(scope, team or org or ""))["data"]["id"]
        return scope, found, f"/{scope}s/{found}"

    def _path(self, scope: ScopeKind, name: str) -> str:
        """Where a team or an organisation is on the server. A slash cannot stand in a part of a
        path: a name with one is looked up first."""
        if "/" in name:
            from holdfast.engine.people.teams import one_of

            meant = names.parse_place(name)
            if scope == "org":
                name = one_of(scope, self.orgs(), meant).id
            else:
                name = one_of(scope, self.teams(), meant).id
        return f"/{scope}s/{part(name)}"

    def _value(self, kind: Callable[..., _Value], data: Mapping[str, Any], **more: Any) -> _Value:
        return decoded(self.server.url, kind, data, **more)

    def _invite(self, told: Mapping[str, Any], scope: ScopeKind, scope_id: str) -> Invite:
        known = {"scope": scope, "scope_id": scope_id, "at": told["created_at"]}
        return self._value(Invite, told, **known)

    def _send(self, method: str, path: str, body: Any = None) -> Any:
        return self.server.send(method, path, body, once=False)["data"]


def handed(what: Any, secret: str) -> Handed:
    from holdfast.engine.people.records import Handed

    return Handed(what, secret)


def part(name: str) -> str:
    """A name as one part of a path; dots alone would be steps in it."""
    if not name.strip("."):
        raise InvalidInput(f"{name!r} is not a name.")
    return quote(name, safe="")
