"""Who belongs to a hub, a team or an organisation, over REST: members and invitations. The same
routes for the three of them, under the path of each."""

from __future__ import annotations

from typing import Any, NamedTuple

from fastapi import APIRouter, Path
from pydantic import Field

from holdfast.domain.access import Act, Role, ScopeKind, Standing
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.plain import plain_invite, plain_member
from holdfast.edges.http.shapes import (
    InviteHanded,
    InviteOut,
    Many,
    MemberOut,
    One,
    Removed,
    Withdrawn,
)
from holdfast.engine.people import invitations, members
from holdfast.engine.people.records import parse_role
from holdfast.errors import Forbidden
from holdfast.text.names import parse_id, parse_person

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
        found = invitations.invites(call.memory.core, scope, place.id)
        return {"data": [plain_invite(one) for one in found]}

    @router.post("/invites", status_code=201, response_model=One[InviteHanded])
    def create_invite(call: Calling, new: NewInvite, place_id: str = named) -> Any:
        """A one-time token that gives a role; it is in this answer and nowhere else."""
        role = parse_role(new.role)
        place = _place(call, scope, place_id, "manage")
        _require_owner_for(call, place, role)
        handed = invitations.invite(call.caller.core, scope, place.id, role, days=new.days)
        return {"data": {**plain_invite(handed.what), "token": handed.secret}}

    @router.delete("/invites/{invite_id}", response_model=One[Withdrawn])
    def withdraw_invite(call: Calling, invite_id: str, place_id: str = named) -> Any:
        """Takes an invitation back."""
        wanted = parse_id(invite_id, "invitation")
        place = _place(call, scope, place_id, "manage")
        known = {one.id for one in invitations.invites(call.memory.core, scope, place.id)}
        invitations.withdraw(call.memory.core, wanted if wanted in known else "")
        return {"data": {"withdrawn": wanted}}

    return router


@joining.post("/invites/accept", response_model=One[MemberOut])
def accept_invite(call: Calling, token: Token) -> Any:
    """Takes the place that a token offers: in a hub, a team or an organisation."""
    call.caller.require_free("join")
    member = invitations.accept(call.memory.core, token.token, call.caller.actor)
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
