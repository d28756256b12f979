"""Team: hubs and their members, keys, use and health. What may be done is decided by the engine and
the caller's role, as over REST."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.domain.access import ROLES
from holdfast.edges.web.strings import t
from holdfast.edges.web.visit import Visit, route
from holdfast.engine.people import keys, members
from holdfast.engine.people.records import parse_role
from holdfast.engine.upkeep import doctor
from holdfast.errors import Forbidden, NotFound
from holdfast.text.names import parse_id, parse_label, parse_person

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import Route

    from holdfast.domain.access import Key, Role

_USAGE_DAYS = 30
_HUBS_MAX = 50


def _limited(key: Key) -> bool:
    return bool(key.hubs or key.read_only or key.no_delete or key.expires_at)


def _keys(visit: Visit) -> dict[str, Any]:
    """One's own keys. A limited one sees itself alone, and makes none."""
    own = visit.caller.key
    found = keys.keys(visit.memory.core, visit.caller.actor)
    limited = own is not None and _limited(own)
    if own is not None and limited:
        found = [key for key in found if key.id == own.id]
    return {"keys": found, "may_make_keys": not limited, "secret": "", "own_key": own}


def _members(visit: Visit) -> dict[str, Any]:
    hub, standing = visit.caller.hub_standing(visit.hub_name)
    found = members.members(visit.memory.core, "hub", hub.id) if standing.role else []
    return {
        "members": found,
        "roles": ROLES,
        "owner": hub.owner,
        "may_manage": visit.allows("manage"),
    }


def _page(visit: Visit) -> Response:
    hub = visit.hub()
    counted = hub.statistics()
    reach = [
        (slug, name, visit.other_hub(one.id, "read").statistics())
        for slug, name, one in visit.hubs[:_HUBS_MAX]
    ]
    values = {
        "tab": "team",
        "counted": counted,
        "reach": reach,
        "more_hubs": max(len(visit.hubs) - _HUBS_MAX, 0),
        "usage": hub.usage(days=_USAGE_DAYS) if visit.allows("read_log") else [],
        "local": visit.caller.local,
        **_keys(visit),
        **_members(visit),
    }
    return visit.page("team.html", values)


def _create_key(visit: Visit) -> Response:
    own = visit.caller.key
    if own is not None and _limited(own):
        raise Forbidden(t("team.limited_key"))
    name = parse_label(visit.field("name"), "key")
    hubs = (visit.hub().id,) if visit.has("this_hub") else ()
    handed = keys.create_key(visit.caller.core, name, hubs=hubs, read_only=visit.has("read_only"))
    values = _keys(visit) | {"secret": handed.secret}
    return visit.fragment("_keys.html", values)


def _revoke_key(visit: Visit) -> Response:
    wanted = parse_id(visit.path("key"), "key")
    mine = {key.id for key in _keys(visit)["keys"]}
    if wanted not in mine:
        raise NotFound(t("team.no_key"))
    keys.revoke_key(visit.memory.core, wanted)
    return visit.fragment("_keys.html", _keys(visit))


def _set_member(visit: Visit) -> Response:
    hub = visit.hub("manage")
    who = parse_person(visit.field("actor"))
    role = parse_role(visit.field("role"))
    held = members.role_in(visit.memory.core, "hub", hub.id, who)
    _require_owner_for(visit, held, role)
    members.set_member(visit.caller.core, "hub", hub.id, who, role)
    return visit.fragment("_members.html", _members(visit))


def _remove_member(visit: Visit) -> Response:
    hub = visit.hub("manage")
    who = members.member_called(visit.memory.core, "hub", hub.id, visit.field("actor"))
    _require_owner_for(visit, members.role_in(visit.memory.core, "hub", hub.id, who))
    members.remove_member(visit.caller.core, "hub", hub.id, who)
    return visit.fragment("_members.html", _members(visit))


def _require_owner_for(visit: Visit, *roles: Role | None) -> None:
    """Owners are made, changed and removed by owners."""
    if "owner" in roles:
        visit.hub("own")


def _doctor(visit: Visit) -> Response:
    """Checks the whole store and changes nothing; for the owner of the machine."""
    if not visit.caller.local:
        raise Forbidden(t("team.doctor_local"))
    return visit.fragment("_doctor.html", {"diagnosis": doctor.examine(visit.memory.core)})


def routes() -> list[Route]:
    post = ("POST",)
    return [
        route("/h/{hub}/team", _page),
        route("/h/{hub}/keys", _create_key, methods=post),
        route("/h/{hub}/keys/{key}/revoke", _revoke_key, methods=post),
        route("/h/{hub}/members", _set_member, methods=post),
        route("/h/{hub}/members/remove", _remove_member, methods=post),
        route("/h/{hub}/doctor", _doctor, methods=post),
    ]
