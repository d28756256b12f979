"""API keys over REST: one's own are made, listed and revoked. A key never makes one that may do
more than itself."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from fastapi import APIRouter, status
from pydantic import Field

from holdfast.domain.access import Key
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.shapes import KeyHanded, KeyOut, Many, One
from holdfast.engine.people import keys
from holdfast.errors import Forbidden, NotFound
from holdfast.text import normalise
from holdfast.text.names import parse_id, parse_label

router = APIRouter(prefix="/keys", tags=["keys"])


class NewKey(Body):
    """A key to be made; `hubs` are ids or names, and none means all."""

    name: str = Field(min_length=1, max_length=100)
    hubs: list[str] = Field(default=[], max_length=100)
    read_only: bool = False
    no_delete: bool = False
    expires_at: str | None = None


@router.get("", response_model=Many[KeyOut])
def list_keys(call: Calling) -> Any:
    """One's own keys, revoked ones among them; never their secrets. A limited one lists itself: the
    others may be for hubs that are none of its business."""
    own = call.caller.key
    found = keys.keys(call.memory.core, call.caller.actor)
    if own is not None and _limited(own):
        found = [key for key in found if key.id == own.id]
    return {"data": [_plain(key) for key in found]}


@router.post("", status_code=status.HTTP_201_CREATED, response_model=One[KeyHanded])
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


@router.delete("/{key_id}", response_model=One[KeyOut])
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
