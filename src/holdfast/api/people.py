"""Organisations, teams, members, invitations and API keys.

Each operation is declared once, here, and runs for a caller: the owner of this machine, who may do
everything, or the owner of an API key, limited by their role and the key. `Holdfast` runs the
operations on this machine, REST routes run them for the caller of a request, and a client sends
them to a server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast import engine
from holdfast.api.operation import Call, Follow, reads, writes
from holdfast.errors import Forbidden, InvalidInput, NotFound
from holdfast.system.named_tuple import NamedTuple
from holdfast.text import names

if TYPE_CHECKING:
    from holdfast.api.caller import Caller
    from holdfast.api.hub import HubMemory
    from holdfast.domain.hub import (
        Act,
        Hub,
        HubCard,
        Invite,
        Key,
        Member,
        Org,
        Role,
        ScopeKind,
        Standing,
        Team,
    )
    from holdfast.engine.people.records import HandedInvite, HandedKey

# The required permission depends on the place that is named, so each method checks it. None of
# these operations touches a hub's files.
_reads = reads(sync=False, retry=False)
_writes = writes(sync=False, follow=Follow.NOTHING, retry=False)
# Running it twice has the same effect as once, so a client may retry it.
_sets = writes(sync=False, follow=Follow.NOTHING, retry=False, replay=True)
_makes_key = writes(sync=False, follow=Follow.NOTHING, retry=False, limits={"hubs": 100})


class People:
    """Operations on people. A hub, team or organisation is given by name or id; without one, the
    operation is about the hub in use."""

    # The hub to use if none is named; None for the caller's default.
    _usual_hub: str | None = None

    @property
    def _caller(self) -> Caller:
        """The caller. A client has none: its server looks up the key."""
        raise NotImplementedError

    def _perform(self, call: Call) -> Any:
        """Runs an operation. A client overrides this and sends it to its server."""
        return call.run(self)

    # Organisations and teams

    @_reads
    def orgs(self) -> list[Org]:
        """Lists the caller's organisations; for the owner of this machine, all of them."""
        return [org for org, _ in self._caller.orgs()]

    @_writes
    def create_org(self, name: str) -> Org:
        """Creates an organisation, owned by the caller."""
        caller = self._caller
        caller.require_free("make organisations")
        label = names.parse_label(name, "organisation")
        return engine.teams.create_org(caller.core, label, seen_by=caller.name_scope)

    @_sets
    def rename_org(self, org: str, new: str) -> Org:
        """Renames an organisation."""
        caller = self._caller
        found, _ = caller.org(org, "own")
        label = names.parse_label(new, "organisation")
        return engine.teams.rename_org(caller.core, found.id, label, seen_by=caller.name_scope)

    @_writes
    def remove_org(self, org: str) -> Org:
        """Removes an organisation, which must have no teams. Hubs that were shared with it stay,
        for their members."""
        found, _ = self._caller.org(org, "own")
        self._caller.require_deletes()
        return engine.teams.remove_org(self._caller.core, found.id)

    @_reads
    def teams(self, org: str | None = None) -> list[Team]:
        """Lists the caller's teams and the other teams of their organisations, or the teams of one
        organisation; for the owner of this machine, all of them."""
        org_id = None if org is None else self._caller.org(org)[0].id
        found = [team for team, _ in self._caller.teams()]
        return [team for team in found if org_id in (None, team.org_id)]

    @_writes
    def create_team(self, name: str, *, org: str) -> Team:
        """Creates a team in an organisation, owned by the caller."""
        found, _ = self._caller.org(org, "manage")
        label = names.parse_label(name, "team")
        return engine.teams.create_team(self._caller.core, found.id, label)

    @_sets
    def rename_team(self, team: str, new: str) -> Team:
        """Renames a team."""
        found, _ = self._caller.team(team, "own")
        label = names.parse_label(new, "team")
        return engine.teams.rename_team(self._caller.core, found.id, label)

    @_writes
    def remove_team(self, team: str) -> Team:
        """Removes a team. Its hubs stay but belong to no team: memories with the boundary `team`
        are then for the members of the hub only."""
        found, _ = self._caller.team(team, "own")
        self._caller.require_deletes()
        return engine.teams.remove_team(self._caller.core, found.id)

    @_sets
    def share(
        self,
        hub: str | None = None,
        *,
        team: str | None = None,
        org: str | None = None,
        delete_policy: str | None = None,
    ) -> HubCard:
        """Gives a hub to a team or shares it with an organisation; an empty name ends that. Also
        sets what contributors may delete: none, own or any. Only a member of a team may give it a
        hub."""
        place = self._place("hub", hub or self._usual_hub, "manage")
        card = self._checked_card(team, org, delete_policy)
        return engine.members.set_card(self._caller.core, place.id, **card)

    # Members and invitations

    @_reads
    def members(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Member]:
        """Lists the members of a hub, a team or an organisation. Only members may ask."""
        place = self._named(hub, team, org)
        if place.standing.role is None:
            raise Forbidden(f"You are not a member of the {_WORDS[place.scope]} `{place.name}`.")
        return engine.members.members(self._caller.memory_core, place.scope, place.id)

    @_sets
    def set_member(
        self,
        actor: str,
        role: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> Member:
        """Adds a member or changes their role. Only an owner may add or change an owner."""
        from holdfast.engine.people.records import parse_role

        who, wanted = names.parse_person(actor), parse_role(role)
        place = self._named(hub, team, org, "manage")
        held = engine.members.role_in(self._caller.memory_core, place.scope, place.id, who)
        self._require_owner_for(place, held, wanted)
        return engine.members.set_member(self._caller.core, place.scope, place.id, who, wanted)

    @_writes
    def remove_member(
        self,
        actor: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> str:
        """Removes a member and returns their name. Anyone may remove themselves."""
        caller = self._caller
        # A key that only reads, or is limited to some hubs, cannot change members, not even to
        # leave.
        limited = caller.key is not None and (caller.key.read_only or bool(caller.key.hubs))
        place = self._named(hub, team, org)
        who = engine.members.member_called(caller.memory_core, place.scope, place.id, actor)
        if limited or who != caller.actor:
            place = self._place(place.scope, place.id, "manage")
            held = engine.members.role_in(caller.memory_core, place.scope, place.id, who)
            self._require_owner_for(place, held)
        engine.members.remove_member(caller.core, place.scope, place.id, who)
        return who

    @_writes
    def invite(
        self,
        role: str = "contributor",
        *,
        days: int = 7,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> HandedInvite:
        """Creates a one-time token that grants a role. It is returned in `secret` and stored
        nowhere."""
        from holdfast.engine.people.records import parse_role

        wanted = parse_role(role)
        place = self._named(hub, team, org, "manage")
        self._require_owner_for(place, wanted)
        return engine.members.invite(self._caller.core, place.scope, place.id, wanted, days=days)

    @_reads
    def invites(
        self, hub: str | None = None, *, team: str | None = None, org: str | None = None
    ) -> list[Invite]:
        """Lists invitations, including used ones; never their tokens."""
        place = self._named(hub, team, org, "manage")
        return engine.members.invites(self._caller.memory_core, place.scope, place.id)

    @_writes
    def withdraw_invite(
        self,
        invite_id: str,
        *,
        hub: str | None = None,
        team: str | None = None,
        org: str | None = None,
    ) -> None:
        """Withdraws an invitation."""
        wanted = names.parse_id(invite_id, "invitation")
        place = self._named(hub, team, org, "manage")
        core = self._caller.memory_core
        known = {one.id for one in engine.members.invites(core, place.scope, place.id)}
        engine.members.withdraw(core, wanted if wanted in known else "")

    @_writes
    def accept_invite(self, token: str, *, actor: str | None = None) -> Member:
        """Accepts an invitation for the caller; on this machine also for somebody else
        (`actor`)."""
        caller = self._caller
        caller.require_free("join")
        if actor is not None and not caller.local:
            raise InvalidInput("Through a server, an invitation is for the owner of the key.")
        who = caller.actor if actor is None else names.parse_person(actor)
        return engine.members.accept(caller.memory_core, token, who)

    # Keys

    @_reads
    def keys(self, *, everyone: bool = False) -> list[Key]:
        """Lists the caller's keys, including revoked ones; never their secrets. The owner of this
        machine may list everyone's. A limited key lists only itself, as the others may give access
        to hubs that it does not reach."""
        from holdfast.engine.people.keys import keys

        caller = self._caller
        if everyone and not caller.local:
            raise Forbidden("Only the owner of the machine lists everyone's keys.")
        found = keys(caller.memory_core, None if everyone else caller.actor)
        if caller.key is not None and is_limited(caller.key):
            return [key for key in found if key.id == caller.key.id]
        return found

    @_makes_key
    def create_key(
        self,
        name: str,
        *,
        actor: str | None = None,
        hubs: Iterable[str] = (),
        read_only: bool = False,
        no_delete: bool = False,
        expires_at: datetime | str | None = None,
    ) -> HandedKey:
        """Creates a key for the caller, on this machine also for somebody else (`actor`). It is
        returned in `secret` and stored nowhere. `hubs` are names or ids; an empty list means all.
        """
        from holdfast.engine.people.keys import create_key
        from holdfast.text.clean import clean_time

        caller = self._caller
        if actor is not None and not caller.local:
            raise InvalidInput("Through a server, a new key is for the person who makes it.")
        if caller.key is not None and is_limited(caller.key):
            raise Forbidden("A limited key cannot make keys.", hint="Use one that is not limited.")
        return create_key(
            caller.core,
            names.parse_label(name, "key"),
            actor=None if actor is None else names.parse_person(actor),
            hubs=[caller.hub_standing(hub)[0].id for hub in hubs],
            read_only=read_only,
            no_delete=no_delete,
            expires_at=clean_time(expires_at),
        )

    @_sets
    def revoke_key(self, key_id: str) -> Key:
        """Revokes a key permanently. It is given by its id, or by its name if only one valid key
        has that name. A limited key may revoke only itself; the owner of this machine any key."""
        from holdfast.engine.people.keys import keys, revoke_key

        caller = self._caller
        known = keys(caller.memory_core, None if caller.local else caller.actor)
        ids = {key.id for key in known}
        limited = caller.key is not None and is_limited(caller.key)
        own = None if caller.key is None else caller.key.id
        if key_id not in ids:
            # A limited key learns nothing about the names of other keys.
            nameable = [key for key in known if not limited or key.id == own]
            key_id = _only_valid(nameable, key_id, caller.memory_core.now()) or key_id
        wanted = names.parse_id(key_id, "key")
        if wanted not in ids:
            raise NotFound(f"There is no key {wanted!r}.", hint="List the keys to see yours.")
        # Otherwise a stolen limited key could revoke the others. Revoking itself is harmless.
        if limited and own != wanted:
            raise Forbidden("A limited key ends only itself.", hint="Use one that is not limited.")
        return revoke_key(caller.memory_core, wanted)

    # Places

    def _named(
        self, hub: str | None, team: str | None, org: str | None, act: Act = "read"
    ) -> _Place:
        """Looks up the hub, team or organisation that is named and checks that the caller may do
        this there."""
        if len([one for one in (hub, team, org) if one is not None]) > 1:
            raise InvalidInput("Name a hub, a team or an organisation; one of them.")
        if team is not None:
            return self._place("team", team, act)
        if org is not None:
            return self._place("org", org, act)
        return self._place("hub", hub or self._usual_hub, act)

    def _place(self, scope: ScopeKind, name: str | None, act: Act = "read") -> _Place:
        caller = self._caller
        if scope == "hub":
            hub, standing = caller.hub_standing(name)
            caller.require(standing, act, hub.called)
            return _Place(scope, hub.id, hub.called, standing)
        look_up = caller.org if scope == "org" else caller.team
        group, standing = look_up(name or "", act)
        return _Place(scope, group.id, group.name, standing)

    def _require_owner_for(self, place: _Place, *roles: Role | None) -> None:
        """Raises Forbidden if a role of an owner is involved and the caller is not an owner."""
        if "owner" in roles:
            self._place(place.scope, place.id, "own")

    def _checked_card(
        self, team: str | None, org: str | None, delete_policy: str | None
    ) -> dict[str, Any]:
        """Checks what a hub is to be shared with and returns it as `set_card` takes it. Knowing
        that a team of one's organisation exists is not enough to give it a hub."""
        caller = self._caller
        team_id = team and caller.team(team)[0].id
        org_id = org and caller.org(org)[0].id
        if team_id and not caller.local:
            held = engine.members.role_in(caller.memory_core, "team", team_id, caller.actor)
            if held is None:
                raise Forbidden("You are not a member of this team.", hint="Ask one of its admins.")
        engine.members.checked_policy(team_id, org_id, delete_policy)
        return {"team_id": team_id, "org_id": org_id, "delete_policy": delete_policy}


class CallersPeople(People):
    """The operations on people for the caller of a request."""

    def __init__(self, caller: Caller, usual_hub: str | None = None) -> None:
        self._acting = caller
        self._usual_hub = usual_hub

    @property
    def _caller(self) -> Caller:
        return self._acting

    def change_hub(
        self,
        hub: str,
        *,
        name: str | None = None,
        team: str | None = None,
        org: str | None = None,
        delete_policy: str | None = None,
    ) -> str:
        """Renames and shares a hub and returns its id. Everything is checked before anything is
        changed; the name is changed first, as it may be taken."""
        found, standing = self._caller.hub_standing(hub)
        self._caller.require(standing, "manage" if name is None else "own", found.called)
        card = self._checked_card(team, org, delete_policy)
        if name is not None:
            self._caller.rename_hub(found, name)
        if any(value is not None for value in card.values()):
            engine.members.set_card(self._caller.core, found.id, **card)
        return found.id

    def hub_card(self, hub: str) -> HubCard | None:
        """Returns the team and the organisation that a hub is shared with; None for a caller who is
        not a member of it."""
        found, standing = self._caller.hub_standing(hub)
        if standing.role is None:
            return None
        return engine.members.card(self._caller.memory_core, found.id)

    def delete_hub(self, hub: str) -> str:
        """Deletes a hub and everything in it, permanently, and returns its id."""
        found, standing = self._caller.hub_standing(hub)
        self._caller.require(standing, "own", found.called)
        self._caller.require_deletes()
        self._caller.delete_hub(found)
        return found.id


class OpenMemory(People, ABC):
    """The operations on hubs and people that an open memory has, here or on a server."""

    @abstractmethod
    def hub(self, name: str | None = None, *, create: bool = False) -> HubMemory:
        """Returns the hub of that name; without a name, the hub in use. `create` creates it if it
        is missing."""

    @abstractmethod
    def create_hub(self, name: str) -> HubMemory:
        """Creates a hub."""

    @abstractmethod
    def hubs(self) -> list[Hub]:
        """Lists the caller's hubs by name."""

    @abstractmethod
    def rename_hub(self, name: str, new: str) -> Hub:
        """Renames a hub."""

    @abstractmethod
    def delete_hub(self, name: str) -> Hub:
        """Deletes a hub and everything in it, permanently."""

    @abstractmethod
    def close(self) -> None:
        """Closes the memory. A second call does nothing."""


class _Place(NamedTuple):
    """A hub, a team or an organisation, and the caller's role in it."""

    scope: ScopeKind
    id: str
    name: str
    standing: Standing


_WORDS = {"hub": "hub", "team": "team", "org": "organisation"}


def _only_valid(keys: Iterable[Key], name: str, now: datetime) -> str:
    """The id of the only valid key of that name; empty if there is none or more than one."""
    found = [key.id for key in keys if key.name == name and not key.refusal(now)]
    return found[0] if len(found) == 1 else ""


def is_limited(key: Key) -> bool:
    """Whether a key may do less than its owner. A limited key cannot create keys."""
    return bool(key.hubs or key.read_only or key.no_delete or key.expires_at)
