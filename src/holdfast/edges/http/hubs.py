"""Hubs over REST: make, list, rename, share, delete, and their rules. Who belongs to one is in
`people`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, status
from pydantic import Field

from holdfast.domain.access import Act
from holdfast.domain.hub import Hub
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.shapes import Deleted, HubOut, Many, One, ThisHub
from holdfast.edges.http.to_json import plain_hub
from holdfast.engine.people import members

router = APIRouter(prefix="/hubs", tags=["hubs"])
joining = APIRouter(tags=["hubs"])


class NewHub(Body):
    """A hub to be made."""

    name: str = Field(min_length=1, max_length=200)


class HubChanges(Body):
    """What is to be different; an empty team or organisation is none."""

    name: str | None = Field(default=None, min_length=1, max_length=200)
    team: str | None = None
    org: str | None = None
    delete_policy: str | None = None


@router.get("", response_model=Many[HubOut])
def list_hubs(call: Calling) -> Any:
    """The hubs in reach, by name."""
    return {"data": [plain_hub(hub, standing) for hub, standing in call.caller.hubs()]}


@router.post("", status_code=status.HTTP_201_CREATED, response_model=One[HubOut])
def create_hub(call: Calling, new: NewHub) -> Any:
    """Makes a hub, which the caller owns."""
    made = call.caller.create_hub(new.name)
    return {"data": plain_hub(*call.caller.hub_standing(made.id))}


@router.get("/{hub_id}", response_model=One[HubOut])
def get_hub(call: Calling, hub_id: str) -> Any:
    """One hub by id or name; whom it is shared with, its members learn."""
    return {"data": _told(call, hub_id)}


@router.patch("/{hub_id}", response_model=One[HubOut])
def change_hub(call: Calling, hub_id: str, changes: HubChanges) -> Any:
    """Renames a hub, gives it to a team, shares it with an organisation, or says what contributors
    may delete. Only who belongs to a team or an organisation gives it a hub."""
    return {"data": _told(call, call.people.change_hub(hub_id, **changes.model_dump()))}


def _told(call: Call, hub_id: str) -> dict[str, Any]:
    hub, standing = call.caller.hub_standing(hub_id)
    data = plain_hub(hub, standing)
    if standing.role is None:
        return data
    card = members.card(call.memory.core, hub.id)
    return {**data, "team_id": card.team_id, "org_id": card.org_id}


@router.delete("/{hub_id}", response_model=One[Deleted])
def delete_hub(call: Calling, hub_id: str) -> Any:
    """Removes a hub and everything in it, for good."""
    hub = _allowed(call, hub_id, "own")
    call.caller.require_deletes()
    call.memory.delete_hub(hub.name)
    return {"data": {"deleted": hub.id}}


@joining.get("/hub", response_model=ThisHub)
def this_hub(call: Calling) -> Any:
    """The hub that `X-Hub-ID` names, else the one the server uses; and the server's time."""
    data = plain_hub(*call.caller.hub_standing(call.hub_name))
    return {"data": data, "now": call.memory.core.now().isoformat()}


def _allowed(call: Call, hub_id: str, act: Act) -> Hub:
    hub, standing = call.caller.hub_standing(hub_id)
    call.caller.require(standing, act, hub.called)
    return hub
