"""Hubs, organisations, teams, members, invitations and API keys over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Path, status
from pydantic import Field

from holdfast.domain.clock import to_text
from holdfast.domain.hub import Hub, Member, Org, ScopeKind, Standing, Team
from holdfast.edges.http.call import Call, Calling, data
from holdfast.edges.http.operations import Body
from holdfast.edges.http.shapes import (
    Deleted,
    HubOut,
    InviteHanded,
    InviteOut,
    KeyHanded,
    KeyOut,
    Many,
    One,
    OrgOut,
    Removed,
    TeamOut,
    ThisHub,
    Withdrawn,
    answer,
)
from holdfast.edges.to_json import to_json
from holdfast.text.names import parse_id

hubs_router = APIRouter(prefix="/hubs", tags=["hubs"])
this_hub_router = APIRouter(tags=["hubs"])


class NewHub(Body):
    """A new hub."""

    name: str = Field(min_length=1, max_length=200)


class HubChanges(Body):
    """The changes of a hub; an empty team or organisation means none."""

    name: str | None = Field(default=None, min_length=1, max_length=200)
    team: str | None = None
    org: str | None = None
    delete_policy: str | None = None


@hubs_router.get("", response_model=Many[HubOut])
def list_hubs(call: Calling) -> Any:
    """Lists the hubs that the caller can reach, by name."""
    return data([_in_reach(*pair) for pair in call.caller.hubs()])


@hubs_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[HubOut])
def create_hub(call: Calling, new: NewHub) -> Any:
    """Creates a hub, owned by the caller."""
    made = call.caller.create_hub(new.name)
    return data(_in_reach(*call.caller.hub_standing(made.id)))


@hubs_router.get("/{hub_id}", response_model=One[HubOut])
def get_hub(call: Calling, hub_id: str) -> Any:
    """Returns one hub by id or name; for its members also the team and the organisation that it is
    shared with."""
    return data(_with_sharing(call, hub_id))


@hubs_router.patch("/{hub_id}", response_model=One[HubOut])
def change_hub(call: Calling, hub_id: str, changes: HubChanges) -> Any:
    """Renames a hub, gives it to a team, shares it with an organisation, or sets what contributors
    may delete. Only members of a team or an organisation can give it a hub."""
    return data(_with_sharing(call, call.people.change_hub(hub_id, **changes.model_dump())))


def _in_reach(hub: Hub, standing: Standing) -> dict[str, Any]:
    return {
        "id": hub.id,
        "name": hub.called,
        "owner": hub.owner,
        "created_at": hub.created_at,
        "role": standing.role,
        "delete_policy": standing.delete_policy,
    }


def _with_sharing(call: Call, hub_id: str) -> dict[str, Any]:
    """A hub, and for its members the team and the organisation that it is shared with."""
    found = _in_reach(*call.caller.hub_standing(hub_id))
    card = call.people.hub_card(hub_id)
    return found if card is None else {**found, "team_id": card.team_id, "org_id": card.org_id}


@hubs_router.delete("/{hub_id}", response_model=One[Deleted])
def delete_hub(call: Calling, hub_id: str) -> Any:
    """Deletes a hub and everything in it, permanently."""
    return data({"deleted": call.people.delete_hub(hub_id)})


@this_hub_router.get("/hub", response_model=ThisHub)
def this_hub(call: Calling) -> Any:
    """Returns the hub that `X-Hub-ID` names, or else the server's default hub, and the server's
    time."""
    found = _in_reach(*call.caller.hub_standing(call.hub_name))
    return {**data(found), "now": to_text(call.memory.core.now())}


joining = APIRouter(tags=["people"])


class NewRole(Body):
    role: str


class NewInvite(Body):
    role: str = "contributor"
    days: int = Field(default=7, ge=1, le=365)


class Token(Body):
    token: str


def routes_for(scope: ScopeKind, word: str) -> APIRouter:
    """The routes for members and invitations of hubs, teams or organisations. A person's name may
    contain a slash."""
    router = APIRouter(prefix=f"/{scope}s/{{{scope}_id}}", tags=["people"])
    named = Path(alias=f"{scope}_id", description=f"The {word}, by id or name.")

    @router.get("/members", response_model=answer(list[Member]))
    def list_members(call: Calling, place_id: str = named) -> Any:
        """Lists the members. Only members may ask."""
        return data(call.people.members(**{scope: place_id}))

    @router.put("/members/{actor:path}", response_model=answer(Member))
    def set_member(call: Calling, actor: str, new: NewRole, place_id: str = named) -> Any:
        """Adds a member or changes their role. Only an owner may add or change an owner."""
        return data(call.people.set_member(actor, new.role, **{scope: place_id}))

    @router.delete("/members/{actor:path}", response_model=One[Removed])
    def remove_member(call: Calling, actor: str, place_id: str = named) -> Any:
        """Removes a member; anyone may leave."""
        return data({"removed": call.people.remove_member(actor, **{scope: place_id})})

    @router.get("/invites", response_model=Many[InviteOut])
    def list_invites(call: Calling, place_id: str = named) -> Any:
        """Lists the invitations, also used ones, without their tokens."""
        return data(call.people.invites(**{scope: place_id}))

    @router.post("/invites", status_code=201, response_model=One[InviteHanded])
    def create_invite(call: Calling, new: NewInvite, place_id: str = named) -> Any:
        """Creates an invitation: a one-time token for a role. Only this answer contains the
        token."""
        handed = call.people.invite(new.role, days=new.days, **{scope: place_id})
        return data({**to_json(handed.what), "token": handed.secret})

    @router.delete("/invites/{invite_id}", response_model=One[Withdrawn])
    def withdraw_invite(call: Calling, invite_id: str, place_id: str = named) -> Any:
        """Withdraws an invitation."""
        call.people.withdraw_invite(invite_id, **{scope: place_id})
        return data({"withdrawn": parse_id(invite_id, "invitation")})

    return router


@joining.post("/invites/accept", response_model=answer(Member))
def accept_invite(call: Calling, token: Token) -> Any:
    """Accepts an invitation to a hub, a team or an organisation by its token."""
    return data(call.people.accept_invite(token.token))


orgs_router = APIRouter(prefix="/orgs", tags=["people"])
teams_router = APIRouter(prefix="/teams", tags=["people"])


class NewOrg(Body):
    name: str = Field(min_length=1, max_length=100)


class NewTeam(Body):
    """A new team; its organisation by id or name."""

    name: str = Field(min_length=1, max_length=100)
    org: str


class NewName(Body):
    name: str = Field(min_length=1, max_length=100)


@orgs_router.get("", response_model=Many[OrgOut])
def list_orgs(call: Calling) -> Any:
    """Lists the caller's organisations, by name."""
    return data([_with_role(*pair) for pair in call.caller.orgs()])


@orgs_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[OrgOut])
def create_org(call: Calling, new: NewOrg) -> Any:
    """Creates an organisation, owned by the caller."""
    made = call.people.create_org(new.name)
    return data(_with_role(*call.caller.org(made.id)))


@orgs_router.get("/{org_id}", response_model=One[OrgOut])
def get_org(call: Calling, org_id: str) -> Any:
    """Returns one organisation by id or name."""
    return data(_with_role(*call.caller.org(org_id)))


@orgs_router.patch("/{org_id}", response_model=One[OrgOut])
def rename_org(call: Calling, org_id: str, new: NewName) -> Any:
    """Renames an organisation."""
    renamed = call.people.rename_org(org_id, new.name)
    return data(_with_role(*call.caller.org(renamed.id)))


@orgs_router.delete("/{org_id}", response_model=One[Removed])
def remove_org(call: Calling, org_id: str) -> Any:
    """Removes an organisation; 409 while it has teams. Hubs that were shared
    with it stay, for their members."""
    return data({"removed": call.people.remove_org(org_id).id})


@teams_router.get("", response_model=Many[TeamOut])
def list_teams(call: Calling) -> Any:
    """Lists the caller's teams and the other teams of the caller's organisations, by name."""
    return data([_with_role(*pair) for pair in call.caller.teams()])


@teams_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[TeamOut])
def create_team(call: Calling, new: NewTeam) -> Any:
    """Creates a team in an organisation that the caller manages, owned by the caller."""
    made = call.people.create_team(new.name, org=new.org)
    return data(_with_role(*call.caller.team(made.id)))


@teams_router.get("/{team_id}", response_model=One[TeamOut])
def get_team(call: Calling, team_id: str) -> Any:
    """Returns one team by id or name."""
    return data(_with_role(*call.caller.team(team_id)))


@teams_router.patch("/{team_id}", response_model=One[TeamOut])
def rename_team(call: Calling, team_id: str, new: NewName) -> Any:
    """Renames a team."""
    renamed = call.people.rename_team(team_id, new.name)
    return data(_with_role(*call.caller.team(renamed.id)))


@teams_router.delete("/{team_id}", response_model=One[Removed])
def remove_team(call: Calling, team_id: str) -> Any:
    """Removes a team. Its hubs stay and belong to no team: memories for the team are then for the
    members of the hub alone."""
    return data({"removed": call.people.remove_team(team_id).id})


def _with_role(place: Org | Team, standing: Standing) -> dict[str, Any]:
    return {**place._asdict(), "role": standing.role}


keys_router = APIRouter(prefix="/keys", tags=["keys"])


class NewKey(Body):
    """A new key; `hubs` are ids or names, and none means all."""

    name: str = Field(min_length=1, max_length=100)
    hubs: list[str] = Field(default=[], max_length=100)
    read_only: bool = False
    no_delete: bool = False
    expires_at: str | None = None


@keys_router.get("", response_model=Many[KeyOut])
def list_keys(call: Calling) -> Any:
    """Lists the caller's keys, also revoked ones, without their secrets. A limited key lists only
    itself: the others may be for hubs that it cannot reach."""
    return data(call.people.keys())


@keys_router.post("", status_code=status.HTTP_201_CREATED, response_model=One[KeyHanded])
def create_key(call: Calling, new: NewKey) -> Any:
    """Creates a key for the caller. Only this answer contains its secret."""
    handed = call.people.create_key(**new.model_dump())
    return data({**to_json(handed.what), "secret": handed.secret})


@keys_router.delete("/{key_id}", response_model=One[KeyOut])
def revoke_key(call: Calling, key_id: str) -> Any:
    """Revokes a key permanently; a limited key can revoke only itself."""
    return data(call.people.revoke_key(key_id))
