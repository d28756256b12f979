"""Who may run which operation on people through `POST /v1/operations/people/…`: members,
invitations, teams, organisations and keys. The table is written by hand; the routes of REST run the
same operations and have their rows in `permissions`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from holdfast.api.operation import remote_operations_of
from holdfast.api.people import People
from tests.edges.http.permissions import (
    GROUP_ROLES,
    MAY_IN_ORG,
    MAY_IN_TEAM,
    ROLES,
    SCOPES,
    Route,
    Scene,
    expected,
    expected_in_group,
)

PATH = "POST /v1/operations/people/{operation}"


class Row(NamedTuple):
    """What an operation takes, and arguments besides the place; `made` makes what they name."""

    takes: str
    arguments: Callable[[Scene, str, str], dict[str, Any]] = lambda scene, kind, place: {}


def member(scene: Scene, kind: Any, place: str) -> dict[str, Any]:
    return {"actor": scene.member(kind, place)}


def invite(scene: Scene, kind: Any, place: str) -> dict[str, Any]:
    return {"invite_id": scene.invite(kind, place)}


# Operations that name a hub, a team or an organisation.
IN_PLACES = {
    "members": Row("belong"),
    "set_member": Row("manage", lambda s, k, p: {**member(s, k, p), "role": "viewer"}),
    "remove_member": Row("manage", member),
    "invite": Row("manage", lambda s, k, p: {"role": "viewer"}),
    "invites": Row("manage"),
    "withdraw_invite": Row("manage", invite),
}
IN_TEAMS = {
    "rename_team": Row("own", lambda s, k, p: {"new": s.new()}),
    "remove_team": Row("remove"),
}
IN_ORGS = {
    "rename_org": Row("own", lambda s, k, p: {"new": s.new()}),
    "remove_org": Row("remove"),
    "create_team": Row("manage", lambda s, k, p: {"name": s.new()}),
}
# What is about oneself, whatever one's role: which keys may run it.
_NO_HUB_KEY = ("full", "read-only", "no-delete")
ABOUT_ONESELF: dict[str, tuple[tuple[str, ...], Callable[[Scene, str], dict[str, Any]]]] = {
    "orgs": (_NO_HUB_KEY, lambda s, r: {}),
    "teams": (_NO_HUB_KEY, lambda s, r: {}),
    "create_org": (("full", "no-delete"), lambda s, r: {"name": s.new()}),
    "accept_invite": (("full", "no-delete"), lambda s, r: {"token": s.token()}),
    "keys": (SCOPES, lambda s, r: {}),
    "create_key": (("full",), lambda s, r: {"name": "another"}),
    "revoke_key": (("full",), lambda s, r: {"key_id": s.key_of(r)}),
}


@pytest.fixture(scope="module")
def scene(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("people"))
    with made.house:
        yield made


def run(scene: Scene, role: str, scope: str, name: str, arguments: dict[str, Any]) -> Any:
    ask = scene.house.ask(scene.keys[role, scope])
    return ask.post(f"/v1/operations/people/{name}", {"arguments": arguments})


def test_every_operation_on_people_is_in_a_table() -> None:
    named = {*IN_PLACES, *IN_TEAMS, *IN_ORGS, *ABOUT_ONESELF, "share"}
    assert named == set(remote_operations_of(People))


@pytest.mark.parametrize("name", [*IN_PLACES, "share"])
def test_each_role_and_key_may_do_it_in_a_hub_as_the_table_says(scene: Scene, name: str) -> None:
    row = IN_PLACES.get(name) or Row("manage", lambda s, k, p: {"delete_policy": "own"})
    for role in ROLES:
        for scope in SCOPES:
            given = {**row.arguments(scene, "hub", scene.hub.id), "hub": scene.hub.id}
            answer = run(scene, role, scope, name, given)
            wanted = expected(Route(row.takes, 200), role, scope)
            assert answer.status_code == wanted, (role, scope, answer.text)


@pytest.mark.parametrize("kind", ["team", "org"])
@pytest.mark.parametrize("name", [*IN_PLACES, *IN_TEAMS, *IN_ORGS])
def test_each_role_in_a_team_or_an_organisation_may_do_it_as_the_table_says(
    scene: Scene, name: str, kind: str
) -> None:
    tables = {"team": {**IN_PLACES, **IN_TEAMS}, "org": {**IN_PLACES, **IN_ORGS}}
    if name not in tables[kind]:
        return
    row, may = tables[kind][name], MAY_IN_TEAM if kind == "team" else MAY_IN_ORG
    removed = row.takes == "remove"
    if removed:
        scene.renew_group(team=kind == "team")
    for role in GROUP_ROLES:
        for scope in SCOPES:
            place = scene.group[1] if kind == "team" else scene.group[0]
            given = {**row.arguments(scene, kind, place), kind: place}
            answer = run(scene, role, scope, name, given)
            wanted = expected_in_group(may, Route(row.takes, 200), role, scope)
            assert answer.status_code == wanted, (role, scope, answer.text)
            if removed and wanted == 200:
                scene.renew_group(team=kind == "team")
    if removed:
        scene.renew_group()


@pytest.mark.parametrize("name", ABOUT_ONESELF)
@pytest.mark.parametrize("role", ["outsider", "viewer", "owner"])
def test_what_is_about_oneself_depends_on_the_key_alone(scene: Scene, name: str, role: str) -> None:
    scopes, arguments = ABOUT_ONESELF[name]
    for scope in SCOPES:
        answer = run(scene, role, scope, name, arguments(scene, role))
        assert answer.status_code == (200 if scope in scopes else 403), (scope, answer.text)


def test_nobody_runs_one_without_a_key(scene: Scene) -> None:
    for name in remote_operations_of(People):
        for key in ("hf_nobody", "hf_" + "A" * 43):
            answer = scene.house.ask(key).post(f"/v1/operations/people/{name}", {"arguments": {}})
            assert answer.status_code == 401, name


def test_a_key_does_not_act_for_somebody_else(scene: Scene) -> None:
    for name, arguments in (
        ("create_key", {"name": "mine", "actor": "owner"}),
        ("accept_invite", {"token": scene.token(), "actor": "owner"}),
    ):
        answer = run(scene, "viewer", "full", name, arguments)
        assert answer.status_code == 400, answer.text
    answer = run(scene, "owner", "full", "keys", {"everyone": True})
    assert answer.status_code == 403


def test_only_an_owner_makes_owners_and_removes_them(scene: Scene) -> None:
    place = {"hub": scene.hub.id}
    for name, arguments in (
        ("set_member", {"actor": "new-owner", "role": "owner", **place}),
        ("set_member", {"actor": "owner", "role": "viewer", **place}),
        ("remove_member", {"actor": "owner", **place}),
        ("invite", {"role": "owner", **place}),
    ):
        assert run(scene, "admin", "full", name, arguments).status_code == 403, name
    assert run(scene, "owner", "full", "invite", {"role": "owner", **place}).status_code == 200


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_member", {"actor": "ann"}),
        ("set_member", {"actor": 5, "role": "viewer"}),
        ("set_member", {"actor": "ann", "role": "king"}),
        ("set_member", {"actor": "ann", "role": "viewer", "hub": "plans", "team": "team"}),
        ("invite", {"days": 0}),
        ("invite", {"days": 366}),
        ("invite", {"colour": "red"}),
        ("create_org", {"name": ""}),
        ("create_org", {"name": "x" * 500}),
        ("create_key", {"name": "k", "hubs": ["plans"] * 101}),
        ("create_key", {"name": "k", "expires_at": "soon"}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    scene: Scene, name: str, arguments: dict[str, Any]
) -> None:
    answer = run(scene, "owner", "full", name, arguments)
    assert answer.status_code == 400, answer.text


def test_what_is_no_operation_is_not_there(scene: Scene) -> None:
    for name in ("_named", "change_hub", "hub", "delete_hub", "nothing", "__init__"):
        assert run(scene, "owner", "full", name, {}).status_code == 404, name
