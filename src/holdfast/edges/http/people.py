"""People over REST: organisations and their teams, members and invitations, API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from fastapi import APIRouter, Path, status
from pydantic import Field

from holdfast.domain.access import Act, Key, Org, Role, ScopeKind, Standing, Team
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.plain import plain_invite, plain_member
from holdfast.edges.http.shapes import (
    InviteHanded,
    InviteOut,
    KeyHanded,
    KeyOut,
    Many,
    MemberOut,
    One,
    OrgOut,
    Removed,
    TeamOut,
    Withdrawn,
)
from holdfast.engine.people import keys, members, teams
from holdfast.engine.people.records import parse_role
from holdfast.errors import Forbidden, NotFound
from holdfast.text import normalise
from holdfast.text.names import parse_id, parse_label, parse_person

joining = APIRouter(tags=["people"])


class NewRole(Body):
    role: str


class NewInvite(Body):
    role: str = "contributor"
    days: int = Field(default=7, ge=1, le=365)


class Token(Body):
    token: str


class _Place(NamedTuple):
    """A hub, a team or an organisation, and how the one who asks stands to it."""

    scope: ScopeKind
    id: str
    name: str
    standing: Standing


def routes_for(scope: ScopeKind, word: str) -> APIRouter:
    """Members of, and invitations to, one kind of place. A person's name may hold a slash."""
    router = APIRouter(prefix=f"/{scope}s/{{{scope}_id}}", tags=["people"])
    named = Path(alias=f"{scope}_id", description=f"The {word}, by id or name.")

    @router.get("/members", response_model=Many[MemberOut])
    def list_members(call: Calling, place_id: str = named) -> Any:
        """Who belongs to it, for those who do."""
        place = _place(call, scope, place_id)
        if place.standing.role is None:
            raise Forbidden(f"You are not a member of the {word} `{place.name}`.")
        found = members.members(call.memory.core, scope, place.id)
        return {"data": [plain_member(member) for member in found]}

    @router.put("/members/{actor:path}", response_model=One[MemberOut])
    def set_member(call: Calling, actor: str, new: NewRole, place_id: str = named) -> Any:
        """Adds a member, or changes their role. Only an owner makes owners, or changes one."""
        who, role = parse_person(actor), parse_role(new.role)
        place = _place(call, scope, place_id, "manage")
        held = members.role_in(call.memory.core, scope, place.id, who)
        _require_owner_for(call, place, held, role)
        member = members.set_member(call.caller.core, scope, place.id, who, role)
        return {"data": plain_member(member)}

    @router.delete("/members/{actor:path}", response_model=One[Removed])
    def remove_member(call: Calling, actor: str, place_id: str = named) -> Any:
        """Takes a member's role away; anyone may leave."""
        key = call.caller.key
        # A key that only reads, or is for some hubs, is not for members: not even to leave.
        limited = key is not None and (key.read_only or bool(key.hubs))
        place = _place(call, scope, place_id)
        who = members.member_called(call.memory.core, scope, place.id, actor)
        if limited or who != call.caller.actor:
            place = _place(call, scope, place.id, "manage")
            _require_owner_for(call, place, members.role_in(call.memory.core, scope, place.id, who))
        members.remove_member(call.caller.core, scope, place.id, who)
        return {"data": {"removed": who}}

    @router.get("/invites", response_model=Many[InviteOut])
    def list_invites(call: Calling, place_id: str = named) -> Any:
        """The invitations to it, used ones among them; never their tokens."""
        place = _place(call, scope, place_id, "manage")
        found = members.invites(call.memory.core, scope, place.id)
        return {"data": [plain_invite(one) for one in found]}

    @router.post("/invites", status_code=201, response_model=One[InviteHanded])
    def create_invite(call: Calling, new: NewInvite, place_id: str = named) -> Any:
        """A one-time token that gives a role; it is in this answer and nowhere else."""
        role = parse_role(new.role)
        place = _place(call, scope, place_id, "manage")
        _require_owner_for(call, place, role)
        handed = members.invite(call.caller.core, scope, place.id, role, days=new.days)
        return {"data": {**plain_invite(handed.what), "token": handed.secret}}

    @router.delete("/invites/{invite_id}", response_model=One[Withdrawn])
    def withdraw_invite(call: Calling, invite_id: str, place_id: str = named) -> Any:
        """Takes an invitation back."""
        wanted = parse_id(invite_id, "invitation")
        place = _place(call, scope, place_id, "manage")
        known = {one.id for one in members.invites(call.memory.core, scope, place.id)}
        members.withdraw(call.memory.core, wanted if wanted in known else "")
        return {"data": {"withdrawn": wanted}}

    return router


@joining.post("/invites/accept", response_model=One[MemberOut])
def accept_invite(call: Calling, token: Token) -> Any:
    """Takes the place that a token offers: in a hub, a team or an organisation."""
    call.caller.require_free("join")
    member = members.accept(call.memory.core, token.token, call.caller.actor)
    return {"data": plain_member(member)}


def _place(call: Call, scope: ScopeKind, name: str, act: Act = "read") -> _Place:
    caller = call.caller
    if scope == "hub":
        hub, standing = caller.stands(name)
        caller.require(standing, act, hub.called)
        return _Place(scope, hub.id, hub.called, standing)
    group, standing = caller.org(name, act) if scope == "org" else caller.team(name, act)
    return _Place(scope, group.id, group.name, standing)


def _require_owner_for(call: Call, place: _Place, *roles: Role | None) -> None:
    """Owners are made, changed and removed by owners."""
    if "owner" in roles:
        _place(call, place.scope, place.id, "own")


orgs_router = APIRouter(prefix="/orgs", tags=["people"])
teams_router = APIRouter(prefix="/teams", tags=["people"])


class NewOrg(Body):
    name: str = Field(min_length=1, max_length=100)


class NewTeam(Body):
    """A team to be made; its organisation by id or name."""

    name: str = Field(min_length=1, max_length=100)
    org: str


class NewName(Body):
    name: str = Field(min_length=1, max_length=100)


@orgs_router.get("", response_model=Many[OrgOut])
def list_orgs(call: Calling) -> Any:
    """The organisations that one belongs to, by name."""
    return {"data": [_plain_org(*pair) for pair in call.caller.orgs()]}


@orgs_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[OrgOut])
def create_org(call: Calling, new: NewOrg) -> Any:
    """Makes an organisation; whoever makes it owns it."""
    caller = call.caller
    caller.require_free("make organisations")
    seen_by = None if caller.local else caller.actor
    made = teams.create_org(caller.core, parse_label(new.name, "organisation"), seen_by=seen_by)
    return {"data": _plain_org(*caller.org(made.id))}


@orgs_router.get("/{org_id}", response_model=One[OrgOut])
def get_org(call: Calling, org_id: str) -> Any:
    """One organisation by id or name."""
    return {"data": _plain_org(*call.caller.org(org_id))}


@orgs_router.patch("/{org_id}", response_model=One[OrgOut])
def rename_org(call: Calling, org_id: str, new: NewName) -> Any:
    """Renames an organisation."""
    caller = call.caller
    org, standing = caller.org(org_id, "own")
    seen_by = None if caller.local else caller.actor
    name = parse_label(new.name, "organisation")
    renamed = teams.rename_org(caller.core, org.id, name, seen_by=seen_by)
    return {"data": _plain_org(renamed, standing)}


@orgs_router.delete("/{org_id}", response_model=One[Removed])
def remove_org(call: Calling, org_id: str) -> Any:
    """Removes an organisation that has no teams any more; 409 while it has. Hubs that were shared
    with it stay, for their members."""
    org, _ = call.caller.org(org_id, "own")
    call.caller.require_deletes()
    teams.remove_org(call.caller.core, org.id)
    return {"data": {"removed": org.id}}


@teams_router.get("", response_model=Many[TeamOut])
def list_teams(call: Calling) -> Any:
    """The teams that one belongs to and the others of one's organisations, by name."""
    return {"data": [_plain_team(*pair) for pair in call.caller.teams()]}


@teams_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[TeamOut])
def create_team(call: Calling, new: NewTeam) -> Any:
    """Makes a team of an organisation, for who manages that; whoever makes it owns it."""
    caller = call.caller
    org, _ = caller.org(new.org, "manage")
    made = teams.create_team(caller.core, org.id, parse_label(new.name, "team"))
    return {"data": _plain_team(*caller.team(made.id))}


@teams_router.get("/{team_id}", response_model=One[TeamOut])
def get_team(call: Calling, team_id: str) -> Any:
    """One team by id or name."""
    return {"data": _plain_team(*call.caller.team(team_id))}


@teams_router.patch("/{team_id}", response_model=One[TeamOut])
def rename_team(call: Calling, team_id: str, new: NewName) -> Any:
    """Renames a team."""
    team, standing = call.caller.team(team_id, "own")
    renamed = teams.rename_team(call.caller.core, team.id, parse_label(new.name, "team"))
    return {"data": _plain_team(renamed, standing)}


@teams_router.delete("/{team_id}", response_model=One[Removed])
def remove_team(call: Calling, team_id: str) -> Any:
    """Removes a team. Its hubs stay and belong to no team: what was for the team is then for the
    members of the hub alone."""
    team, _ = call.caller.team(team_id, "own")
    call.caller.require_deletes()
    teams.remove_team(call.caller.core, team.id)
    return {"data": {"removed": team.id}}


def _plain_org(org: Org, standing: Standing) -> dict[str, Any]:
    return {**org._asdict(), "created_at": org.created_at.isoformat(), "role": standing.role}


def _plain_team(team: Team, standing: Standing) -> dict[str, Any]:
    return {**team._asdict(), "created_at": team.created_at.isoformat(), "role": standing.role}


keys_router = APIRouter(prefix="/keys", tags=["keys"])


class NewKey(Body):
    """A key to be made; `hubs` are ids or names, and none means all."""

    name: str = Field(min_length=1, max_length=100)
    hubs: list[str] = Field(default=[], max_length=100)
    read_only: bool = False
    no_delete: bool = False
    expires_at: str | None = None


@keys_router.get("", response_model=Many[KeyOut])
def list_keys(call: Calling) -> Any:
    """One's own keys, revoked ones among them; never their secrets. A limited one lists itself: the
    others may be for hubs that are none of its business."""
    own = call.caller.key
    found = keys.keys(call.memory.core, call.caller.actor)
    if own is not None and _limited(own):
        found = [key for key in found if key.id == own.id]
    return {"data": [_plain(key) for key in found]}


@keys_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[KeyHanded])
def create_key(call: Calling, new: NewKey) -> Any:
    """Makes a key for oneself; its secret is in this answer and nowhere else."""
    own = call.caller.key
    if own is not None and _limited(own):
        raise Forbidden("A limited key cannot make keys.", hint="Use one that is not limited.")
    hubs = [call.caller.stands(name)[0].id for name in new.hubs]
    handed = keys.create_key(
        call.caller.core,
        parse_label(new.name, "key"),
        hubs=hubs,
        read_only=new.read_only,
        no_delete=new.no_delete,
        expires_at=normalise.clean_time(new.expires_at),
    )
    return {"data": {**_plain(handed.what), "secret": handed.secret}}


@keys_router.delete("/{key_id}", response_model=One[KeyOut])
def revoke_key(call: Calling, key_id: str) -> Any:
    """Ends a key, for good; a limited one ends only itself."""
    wanted = parse_id(key_id, "key")
    mine = {key.id for key in keys.keys(call.memory.core, call.caller.actor)}
    if wanted not in mine:
        raise NotFound(f"There is no key {wanted!r}.", hint="List the keys to see yours.")
    own = call.caller.key
    # Whoever found a limited key could end the others with it; that it ends itself does no harm.
    if own is not None and _limited(own) and own.id != wanted:
        raise Forbidden("A limited key ends only itself.", hint="Use one that is not limited.")
    return {"data": _plain(keys.revoke_key(call.memory.core, wanted))}


def _limited(key: Key) -> bool:
    return bool(key.hubs or key.read_only or key.no_delete or key.expires_at)


def _plain(key: Any) -> dict[str, Any]:
    plain = key._asdict()
    plain["created_at"] = plain.pop("at")
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in plain.items()
    }
