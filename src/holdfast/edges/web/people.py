"""Hubs and their members, keys, usage and health; organisations and their teams, members
and invitations. What may be done is decided by the operations and the caller's role, as over
REST; what the caller may not see is not on the page."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote

from holdfast.api import checkup
from holdfast.api.people import is_limited
from holdfast.domain.hub import ROLES
from holdfast.edges.web.rendering import t
from holdfast.edges.web.visit import Visit, route
from holdfast.errors import Forbidden, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response
    from starlette.routing import Route

    from holdfast.domain.hub import Invite, Member, Org, Team


_USAGE_DAYS = 30
_HUBS_MAX = 50


def _keys(visit: Visit, secret: str = "") -> dict[str, Any]:
    """The caller's keys, or only the limited key in use; and whether the caller may create keys."""
    own = visit.caller.key
    may_make = own is None or not is_limited(own)
    found = visit.caller.people().keys()
    return {"keys": found, "may_make_keys": may_make, "secret": secret, "own_key": own}


def _members(visit: Visit) -> dict[str, Any]:
    hub, standing = visit.caller.hub_standing(visit.hub_name)
    found = visit.caller.people().members(hub.id) if standing.role is not None else []
    return {
        "members": found,
        "roles": ROLES,
        "owner": hub.owner,
        "may_manage": visit.allows("manage"),
    }


def _team_page(visit: Visit) -> Response:
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
    hubs = (visit.hub().id,) if visit.has("this_hub") else ()
    handed = visit.caller.people().create_key(
        visit.field("name"), hubs=hubs, read_only=visit.has("read_only")
    )
    return visit.fragment("_keys.html", _keys(visit, handed.secret))


def _revoke_key(visit: Visit) -> Response:
    visit.caller.people().revoke_key(visit.path("key"))
    return visit.fragment("_keys.html", _keys(visit))


def _set_hub_member(visit: Visit) -> Response:
    people = visit.caller.people()
    people.set_member(visit.field("actor"), visit.field("role"), hub=visit.hub_name)
    return visit.fragment("_members.html", _members(visit))


def _remove_hub_member(visit: Visit) -> Response:
    # The page has no form to leave a hub: only those who manage it remove members.
    hub = visit.hub("manage")
    visit.caller.people().remove_member(visit.field("actor"), hub=hub.id)
    return visit.fragment("_members.html", _members(visit))


def _doctor(visit: Visit) -> Response:
    """Checks the installation and changes nothing; for the owner of the machine."""
    if not visit.caller.local:
        raise Forbidden(t("team.doctor_local"))
    memory = visit.memory
    found = checkup.check_up(memory, checkup.embedding_model(memory), repair=False)
    values = {
        "problems": [said for _, said in checkup.problems_in_words(memory, found)],
        "unembedded": found.diagnosis.unembedded,
    }
    return visit.fragment("_doctor.html", values)


Kind: TypeAlias = Literal["org", "team"]
# For how many days an invitation is valid.
_DAYS, _DAYS_MAX = 7, 365


class Group(NamedTuple):
    """An organisation or a team on its web page: those of its people and invitations that the
    caller may see."""

    kind: Kind
    id: str
    name: str
    members: Sequence[Member]
    invites: Sequence[Invite]
    may_manage: bool


def _overview(visit: Visit) -> Response:
    people = visit.caller.people()
    orgs, teams = people.orgs(), people.teams()
    rows = [(org, [team for team in teams if team.org_id == org.id]) for org in orgs]
    # A member of a team need not be a member of its organisation, and then does not see it.
    known = {org.id for org in orgs}
    alone = [team for team in teams if team.org_id not in known]
    return visit.page("orgs.html", {"tab": "team", "rows": rows, "alone": alone})


def _create_org(visit: Visit) -> Response:
    made = visit.caller.people().create_org(visit.field("name"))
    return visit.redirect(visit.url(f"/orgs/{made.id}"))


def _create_team(visit: Visit) -> Response:
    made = visit.caller.people().create_team(visit.field("name"), org=visit.field("org"))
    return visit.redirect(visit.url(f"/teams/{made.id}"))


# The page of an organisation or a team; `kind` says which.


def _named(visit: Visit, kind: Kind) -> dict[str, str]:
    """The organisation or team in the address, as an argument of the operations on people."""
    return {kind: visit.path("place")}


def _place(visit: Visit, kind: Kind) -> Org | Team:
    people = visit.caller.people()
    found: Sequence[Org | Team] = people.orgs() if kind == "org" else people.teams()
    for one in found:
        if one.id == visit.path("place"):
            return one
    raise NotFound(t("orgs.none"))


def _values(visit: Visit, kind: Kind, secret: str = "") -> dict[str, Any]:
    place, people, named = _place(visit, kind), visit.caller.people(), _named(visit, kind)
    try:
        invites, may_manage = people.invites(**named), True
    except Forbidden:
        invites, may_manage = [], False
    try:
        members = people.members(**named)
    except Forbidden:
        # Members of an organisation see its other teams, but not their members.
        members = []
    group = Group(kind, place.id, place.name, members, invites, may_manage)
    teams = people.teams(place.id) if kind == "org" else []
    return {"tab": "team", "group": group, "teams": teams, "roles": ROLES, "secret": secret}


def _place_page(visit: Visit, kind: Kind) -> Response:
    return visit.page("org.html", _values(visit, kind))


def _people(visit: Visit, kind: Kind, secret: str = "") -> Response:
    return visit.fragment("_org_people.html", _values(visit, kind, secret))


def _set_member(visit: Visit, kind: Kind) -> Response:
    people = visit.caller.people()
    people.set_member(visit.field("actor"), visit.field("role"), **_named(visit, kind))
    return _people(visit, kind)


def _remove_member(visit: Visit, kind: Kind) -> Response:
    visit.caller.people().remove_member(visit.field("actor"), **_named(visit, kind))
    try:
        return _people(visit, kind)
    except NotFound:
        # The caller has left it.
        return visit.redirect(visit.url("/orgs"))


def _invite(visit: Visit, kind: Kind) -> Response:
    days = visit.field("days") or str(_DAYS)
    if not days.isdigit() or not 1 <= int(days[:9]) <= _DAYS_MAX:
        raise InvalidInput(t("orgs.days_wrong", most=_DAYS_MAX))
    people = visit.caller.people()
    handed = people.invite(visit.field("role"), days=int(days), **_named(visit, kind))
    return _people(visit, kind, handed.secret)


def _withdraw(visit: Visit, kind: Kind) -> Response:
    visit.caller.people().withdraw_invite(visit.field("invite"), **_named(visit, kind))
    return _people(visit, kind)


def _rename(visit: Visit, kind: Kind) -> Response:
    people, place, new = visit.caller.people(), visit.path("place"), visit.field("name")
    if kind == "org":
        people.rename_org(place, new)
    else:
        people.rename_team(place, new)
    return visit.redirect(visit.url(f"/{kind}s/{quote(place, safe='')}"))


def _remove(visit: Visit, kind: Kind) -> Response:
    people, place = visit.caller.people(), visit.path("place")
    if kind == "org":
        people.remove_org(place)
    else:
        people.remove_team(place)
    return visit.redirect(visit.url("/orgs"))


_POSTS = {
    "/members": _set_member,
    "/members/remove": _remove_member,
    "/invites": _invite,
    "/invites/withdraw": _withdraw,
    "/rename": _rename,
    "/remove": _remove,
}


def _routes_of(kind: Kind) -> list[Route]:
    one = f"/h/{{hub}}/{kind}s/{{place}}"
    return [
        route(one, partial(_place_page, kind=kind)),
        *(route(one + path, partial(view, kind=kind), post=True) for path, view in _POSTS.items()),
    ]


ROUTES = [
    route("/h/{hub}/team", _team_page),
    route("/h/{hub}/keys", _create_key, post=True),
    route("/h/{hub}/keys/{key}/revoke", _revoke_key, post=True),
    route("/h/{hub}/members", _set_hub_member, post=True),
    route("/h/{hub}/members/remove", _remove_hub_member, post=True),
    route("/h/{hub}/doctor", _doctor, post=True),
    route("/h/{hub}/orgs", _overview),
    route("/h/{hub}/orgs", _create_org, post=True),
    route("/h/{hub}/teams", _create_team, post=True),
    *_routes_of("org"),
    *_routes_of("team"),
]
