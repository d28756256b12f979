"""Organisations and their teams over REST: make, list, rename, remove. Who belongs to one is in
`people`; a hub is given to one where hubs are changed."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, status
from pydantic import Field

from holdfast.domain.access import Org, Standing, Team
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.shapes import Many, One, OrgOut, Removed, TeamOut
from holdfast.engine.people import teams
from holdfast.text.names import parse_label

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
