"""Hubs over REST."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, status
from pydantic import BaseModel, Field

from holdfast.edges.http.call import Calling
from holdfast.edges.http.plain import plain_hub

router = APIRouter(prefix="/hubs", tags=["hubs"])


class NewHub(BaseModel):
    """A hub to be made."""

    name: str = Field(min_length=1, max_length=200)


@router.get("")
def list_hubs(call: Calling) -> dict[str, Any]:
    """The hubs in reach, by name."""
    return {"data": [plain_hub(hub, standing) for hub, standing in call.guest.hubs()]}


@router.post("", status_code=status.HTTP_201_CREATED)
def create_hub(call: Calling, new: NewHub) -> dict[str, Any]:
    """Makes a hub; whoever makes it owns it."""
    made = call.guest.create_hub(new.name)
    return {"data": plain_hub(*call.guest.stands(made.id))}
