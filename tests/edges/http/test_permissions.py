"""Every route × every role × every key × every boundary, by the table in `permissions`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import iter_route_contexts

from tests.edges.http.conftest import House
from tests.edges.http.permissions import (
    BOUNDARIES,
    OPEN_ROUTES,
    OWN_ROUTES,
    ROLES,
    ROUTES,
    SCOPES,
    SEES,
    Route,
    Scene,
    expected,
)

_ABOUT_ONE = [name for name, route in ROUTES.items() if route.about is not None]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("scene"))
    with made.house:
        # A stream of events ends at once, so that its status can be looked at.
        made.house.app.state.stopping.set()
        yield made


def asked(scene: Scene, name: str, route: Route, role: str, scope: str, boundary: str) -> Any:
    method, path = name.split()
    memory = "" if route.about is None else scene.about(route, boundary)
    request = route.request(scene, memory)
    path = path.format(
        memory_id=memory,
        hub_id=scene.hub.id,
        actor=scene.member() if "{actor}" in path else "",
        invite_id=scene.invite() if "{invite_id}" in path else "",
    )
    ask = scene.house.ask(scene.keys[role, scope], scene.hub.id)
    return ask(method, path + request.path, json=request.json, files=request.files)


def checked(scene: Scene, name: str, role: str, scope: str, boundary: str = "org") -> None:
    answer = asked(scene, name, ROUTES[name], role, scope, boundary)
    wanted = expected(ROUTES[name], role, scope, boundary)
    said = f"{name} by {role} with a key {scope}, boundary {boundary}: {answer.text[:300]}"
    assert answer.status_code == wanted, said
    if wanted >= 400:
        assert set(answer.json()) == {"error"}
    elif not name.startswith("GET"):
        scene.used()


def test_every_route_is_in_the_table(scene: Scene) -> None:
    routes = {
        f"{method} {route.path}"
        for route in iter_route_contexts(scene.house.app.routes)
        if (route.path or "").startswith(("/v1/", "/healthz", "/readyz", "/metrics"))
        for method in route.methods or ()
    }
    assert routes == {*ROUTES, *OWN_ROUTES, *OPEN_ROUTES}


@pytest.mark.parametrize("name", [name for name in ROUTES if name != "DELETE /v1/hubs/{hub_id}"])
def test_each_role_and_key_may_do_what_the_table_says(scene: Scene, name: str) -> None:
    for role in ROLES:
        for scope in SCOPES:
            checked(scene, name, role, scope)


def test_only_an_owner_deletes_a_hub(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    name = "DELETE /v1/hubs/{hub_id}"
    with scene.house:
        for role in ROLES:
            for scope in SCOPES:
                if expected(ROUTES[name], role, scope) != 200:
                    checked(scene, name, role, scope)
        checked(scene, name, "owner", "full")


@pytest.mark.parametrize("name", _ABOUT_ONE)
def test_a_memory_behind_a_boundary_is_not_there_for_those_outside(scene: Scene, name: str) -> None:
    for role in ROLES:
        for boundary in BOUNDARIES:
            checked(scene, name, role, "full", boundary)


@pytest.mark.parametrize("name", OWN_ROUTES)
@pytest.mark.parametrize("role", ["outsider", "viewer", "owner"])
def test_what_is_about_oneself_depends_on_the_key_alone(scene: Scene, name: str, role: str) -> None:
    scopes, status, request = OWN_ROUTES[name]
    method, path = name.split()
    for scope in SCOPES:
        sent = request(scene, "")
        target = path.format(key_id=scene.key_of(role))
        ask = scene.house.ask(scene.keys[role, scope])
        answer = ask(method, target + sent.path, json=sent.json)
        assert answer.status_code == (status if scope in scopes else 403), (scope, answer.text)


@pytest.mark.parametrize("name", [*ROUTES, *OWN_ROUTES])
def test_nobody_comes_in_without_a_key(scene: Scene, name: str) -> None:
    method, path = name.split()
    body = {} if method in ("POST", "PUT", "PATCH") else None
    for key in ("", "hf_nobody", "hf_" + "A" * 43):
        answer = scene.house.ask(key or "none")(
            method,
            path,
            json=body,
            headers={} if key else {"Authorization": ""},
        )
        # A body is looked at first, and says nothing of what there is.
        assert answer.status_code in (400, 401), answer.text
        known = ("unauthorized", "invalid_request", "missing_content")
        assert answer.json()["error"]["code"] in known


@pytest.mark.parametrize("name", OPEN_ROUTES)
def test_whether_the_server_is_well_needs_no_key(scene: Scene, name: str) -> None:
    method, path = name.split()
    answer = scene.house.ask()(method, path, headers={"Authorization": ""})
    assert answer.status_code == OPEN_ROUTES[name]


@pytest.mark.parametrize(
    ("policy", "own", "others"), [("none", 403, 403), ("own", 200, 403), ("any", 200, 200)]
)
@pytest.mark.parametrize("name", [name for name in _ABOUT_ONE if ROUTES[name].takes == "delete"])
def test_the_delete_policy_says_what_contributors_delete(
    scene: Scene, name: str, policy: str, own: int, others: int
) -> None:
    from holdfast.engine import access

    core = scene.house.memory.core
    access.set_card(core, scene.hub.id, delete_policy=policy)
    try:
        for owner, wanted in (("contributor", own), ("somebody", others)):
            route = ROUTES[name]._replace(
                about=lambda scene, boundary, owner=owner: scene.memory(boundary, owner)
            )
            scene.used()
            answer = asked(scene, name, route, "contributor", "full", "hub")
            assert answer.status_code == wanted, (owner, answer.text)
    finally:
        access.set_card(core, scene.hub.id, delete_policy="own")


@pytest.mark.parametrize("role", ROLES[1:])
def test_whoever_reads_sees_what_the_boundaries_let_through(tmp_path: Path, role: str) -> None:
    """Lists, searches, recall, counts and the rest all go by the same eyes."""
    scene = Scene(tmp_path)
    with scene.house as house:
        seen = {b: f"zebra{b}" for b in BOUNDARIES if role in SEES[b]}
        hidden = {b: f"zebra{b}" for b in BOUNDARIES if role not in SEES[b]}
        for word in (*seen.values(), *hidden.values()):
            scene.somebody.remember(f"{word} zebra", boundary=word.removeprefix("zebra"))
        ask = house.ask(scene.keys[role, "full"])
        reading = (
            ("GET", "/v1/memories?limit=100", None),
            ("GET", "/v1/memories/search?q=zebra", None),
            ("GET", "/v1/memories/scan", None),
            ("POST", "/v1/recall", {"query": "zebra", "limit": 100}),
            ("GET", "/v1/context?budget=5000&query=zebra", None),
        )
        for method, path, body in reading:
            told = ask(method, path, json=body).text
            assert [word for word in seen.values() if word not in told] == [], path
            assert [word for word in hidden.values() if word in told] == [], path
        assert ask.get("/v1/usage").json()["data"]["memories"] == len(seen)
        topics = ask.get("/v1/topics").json()["data"]
        assert sum(topic["count"] for topic in topics) == len(seen)
        assert len(ask.get("/v1/changes").json()["data"]) == len(seen)


def test_a_hub_out_of_reach_reads_like_one_that_is_not_there(house: House) -> None:
    outsider = house.key("outsider")
    real = house.ask(outsider, house.hub.id).get("/v1/memories")
    made_up = "hub_" + "0" * (len(house.hub.id) - 4)
    none = house.ask(outsider, made_up).get("/v1/memories")
    assert real.status_code == none.status_code == 404
    assert real.json() == _with(none.json(), made_up, house.hub.id)


def _with(body: dict[str, Any], old: str, new: str) -> Any:
    import json

    return json.loads(json.dumps(body).replace(old, new))
