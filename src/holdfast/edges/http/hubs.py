"""Hubs over REST: make, list, rename, delete; their members, invitations and rules."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, status
from pydantic import Field

from holdfast.domain.access import Act, Role
from holdfast.domain.hub import Hub
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.plain import plain_hub, plain_invite, plain_member
from holdfast.edges.http.shapes import (
    Deleted,
    HubOut,
    InviteHanded,
    InviteOut,
    Many,
    MemberOut,
    One,
    Removed,
    ThisHub,
    Withdrawn,
)
from holdfast.engine import access, invites
from holdfast.errors import Forbidden

router = APIRouter(prefix="/hubs", tags=["hubs"])
joining = APIRouter(tags=["hubs"])


class NewHub(Body):
    """A hub to be made."""

    name: str = Field(min_length=1, max_length=200)


class HubChanges(Body):
    """What is to be different; an empty team is none."""

    name: str | None = Field(default=None, min_length=1, max_length=200)
    team: str | None = None
    delete_policy: str | None = None


class NewRole(Body):
    role: str


class NewInvite(Body):
    role: str = "contributor"
    days: int = Field(default=7, ge=1, le=365)


class Token(Body):
    token: str


@router.get("", response_model=Many[HubOut])
def list_hubs(call: Calling) -> Any:
    """The hubs in reach, by name."""
    return {"data": [plain_hub(hub, standing) for hub, standing in call.guest.hubs()]}


@router.post("", status_code=status.HTTP_201_CREATED, response_model=One[HubOut])
def create_hub(call: Calling, new: NewHub) -> Any:
    """Makes a hub; whoever makes it owns it."""
    made = call.guest.create_hub(new.name)
    return {"data": plain_hub(*call.guest.stands(made.id))}


@router.get("/{hub_id}", response_model=One[HubOut])
def get_hub(call: Calling, hub_id: str) -> Any:
    """One hub by id or name."""
    return {"data": plain_hub(*call.guest.stands(hub_id))}


@router.patch("/{hub_id}", response_model=One[HubOut])
def change_hub(call: Calling, hub_id: str, changes: HubChanges) -> Any:
    """Renames a hub, gives it to a team, or says what contributors may delete."""
    renames = changes.name is not None
    hub = _allowed(call, hub_id, "own" if renames else "manage")
    if changes.team or changes.delete_policy is not None or changes.team == "":
        if changes.team:
            _require_team(call, changes.team)
        core = call.guest.core
        access.set_card(core, hub.id, team_id=changes.team, delete_policy=changes.delete_policy)
    if changes.name is not None:
        call.memory.rename_hub(hub.name, changes.name)
    return {"data": plain_hub(*call.guest.stands(hub.id))}


def _require_team(call: Call, team_id: str) -> None:
    """Only who belongs to a team gives it a hub."""
    held = access.role_in(call.memory.core, "team", team_id, call.guest.actor)
    if held is None and not call.guest.local:
        raise Forbidden(f"You are not a member of the team {team_id!r}.")


@router.delete("/{hub_id}", response_model=One[Deleted])
def delete_hub(call: Calling, hub_id: str) -> Any:
    """Removes a hub and everything in it, for good."""
    hub = _allowed(call, hub_id, "own")
    call.memory.delete_hub(hub.name)
    return {"data": {"deleted": hub.id}}


@router.get("/{hub_id}/members", response_model=Many[MemberOut])
def list_members(call: Calling, hub_id: str) -> Any:
    """Who belongs to a hub."""
    hub = _allowed(call, hub_id, "read")
    found = access.members(call.memory.core, "hub", hub.id)
    return {"data": [plain_member(member) for member in found]}


@router.put("/{hub_id}/members/{actor}", response_model=One[MemberOut])
def set_member(call: Calling, hub_id: str, actor: str, new: NewRole) -> Any:
    """Adds a member, or changes their role. Only an owner makes owners, or changes one."""
    hub = _allowed(call, hub_id, "manage")
    _require_owner_for(call, hub, actor, new.role)
    member = access.set_member(call.guest.core, "hub", hub.id, actor, new.role)
    return {"data": plain_member(member)}


@router.delete("/{hub_id}/members/{actor}", response_model=One[Removed])
def remove_member(call: Calling, hub_id: str, actor: str) -> Any:
    """Takes a member's role away; anyone may leave."""
    key = call.guest.key
    # A key that only reads, or is for some hubs, is not for members: not even to leave.
    limited = key is not None and (key.read_only or bool(key.hubs))
    leaving = actor == call.guest.actor and not limited
    hub = _allowed(call, hub_id, "read" if leaving else "manage")
    if not leaving:
        _require_owner_for(call, hub, actor)
    access.remove_member(call.guest.core, "hub", hub.id, actor)
    return {"data": {"removed": actor}}


@router.get("/{hub_id}/invites", response_model=Many[InviteOut])
def list_invites(call: Calling, hub_id: str) -> Any:
    """The invitations to a hub, used ones among them; never their tokens."""
    hub = _allowed(call, hub_id, "manage")
    found = invites.invites(call.memory.core, "hub", hub.id)
    return {"data": [plain_invite(one) for one in found]}


@router.post("/{hub_id}/invites", status_code=201, response_model=One[InviteHanded])
def create_invite(call: Calling, hub_id: str, new: NewInvite) -> Any:
    """A one-time token that gives a role; it is in this answer and nowhere else."""
    hub = _allowed(call, hub_id, "manage")
    _require_owner_for(call, hub, "", new.role)
    handed = invites.invite(call.guest.core, "hub", hub.id, new.role, days=new.days)
    return {"data": {**plain_invite(handed.what), "token": handed.secret}}


@router.delete("/{hub_id}/invites/{invite_id}", response_model=One[Withdrawn])
def withdraw_invite(call: Calling, hub_id: str, invite_id: str) -> Any:
    """Takes an invitation back."""
    hub = _allowed(call, hub_id, "manage")
    known = {one.id for one in invites.invites(call.memory.core, "hub", hub.id)}
    invites.withdraw(call.memory.core, invite_id if invite_id in known else "")
    return {"data": {"withdrawn": invite_id}}


@joining.get("/hub", response_model=ThisHub)
def this_hub(call: Calling) -> Any:
    """The hub that `X-Hub-ID` names, else the one the server uses; and the server's time."""
    told = plain_hub(*call.guest.stands(call.hub_name))
    return {"data": told, "now": call.memory.core.now().isoformat()}


@joining.post("/invites/accept", response_model=One[MemberOut])
def accept_invite(call: Calling, token: Token) -> Any:
    """Takes the place that a token offers."""
    if call.guest.key is not None and (call.guest.key.read_only or call.guest.key.hubs):
        raise Forbidden("This key cannot join.", hint="Use one that is not limited.")
    member = invites.accept(call.memory.core, token.token, call.guest.actor)
    return {"data": plain_member(member)}


def _allowed(call: Call, hub_id: str, act: Act) -> Hub:
    hub, standing = call.guest.stands(hub_id)
    call.guest.require(standing, act, hub.name)
    return hub


def _require_owner_for(call: Call, hub: Hub, actor: str, role: str = "") -> None:
    """Owners are made, changed and removed by owners."""
    held: Role | None = access.role_in(call.memory.core, "hub", hub.id, actor)
    if role.strip().lower() == "owner" or held == "owner":
        _, standing = call.guest.stands(hub.id)
        call.guest.require(standing, "own", hub.name)
