"""Every route × every role × every key × every boundary, by the table in `permissions`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from tools.reference.permissions import page

import holdfast
from holdfast.agents import ToolContext
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Toolset
from holdfast.api.caller import Caller
from holdfast.api.hub import HubMemory
from holdfast.api.operation import remote_operations_of
from holdfast.domain.hub import ScopeKind
from holdfast.engine.people import keys, members
from tests.edges.http.conftest import House
from tests.edges.http.permissions import (
    BOUNDARIES,
    GROUP_ROLES,
    MAY_IN_ORG,
    MAY_IN_TEAM,
    OPEN_ROUTES,
    ORG_ROUTES,
    OWN_ROUTES,
    ROLES,
    ROUTES,
    SCOPES,
    SEES,
    TEAM_ROUTES,
    Route,
    Scene,
    expected,
    expected_in_group,
)
from tests.edges.http.permissions_operations import OPERATION_ROUTES, OPERATIONS
from tests.edges.http.test_permissions_people import PATH as PEOPLE

_ALL_ROUTES = {**ROUTES, **OPERATION_ROUTES}
_ABOUT_ONE = [name for name, route in _ALL_ROUTES.items() if route.about is not None]


class Crowd:
    """All of them with all of their keys, asking the app itself: thousands of requests."""

    def __init__(self, scene: Scene, asked: httpx2.AsyncClient) -> None:
        self.scene = scene
        self._asked = asked

    async def ask(self, name: str, route: Route, role: str, scope: str, boundary: str) -> Any:
        scene = self.scene
        method, path = name.split()[:2]
        memory = "" if route.about is None else scene.about(route, boundary, role)
        request = route.request(scene, memory)
        kind: ScopeKind = "team" if "{team_id}" in path else "org" if "{org_id}" in path else "hub"
        org, team = scene.group
        place = {"hub": scene.hub.id, "team": team, "org": org}[kind]
        path = path.format(
            memory_id=memory,
            hub_id=scene.hub.id,
            org_id=org,
            team_id=team,
            operation="".join(name.split()[2:3]),
            actor=scene.spare(scene.member, kind, place) if "{actor}" in path else "",
            invite_id=scene.spare(scene.invite, kind, place) if "{invite_id}" in path else "",
        )
        headers = {
            "Authorization": f"Bearer {scene.keys[role, scope]}",
            "X-Hub-ID": scene.hub.id,
        }
        answer = await self._asked.request(
            method, path + request.path, json=request.json, files=request.files, headers=headers
        )
        if answer.status_code < 400 and method != "GET":
            scene.used()
        return answer

    async def check(self, name: str, role: str, scope: str, boundary: str = "org") -> None:
        route = _ALL_ROUTES[name]
        answer = await self.ask(name, route, role, scope, boundary)
        wanted = expected(route, role, scope, boundary)
        said = f"{name} by {role} with a key {scope}, boundary {boundary}: {answer.text[:300]}"
        assert answer.status_code == wanted, said
        if wanted >= 400:
            assert set(answer.json()) == {"error"}


def in_crowd(scene: Scene, work: Callable[[Crowd], Coroutine[Any, Any, None]]) -> None:
    """Runs it in one loop, without a thread and a portal for each request."""

    async def run() -> None:
        transport = httpx2.ASGITransport(app=scene.house.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await work(Crowd(scene, client))

    asyncio.run(run())


def test_every_route_is_in_the_table(scene: Scene) -> None:
    routes = {
        f"{method} {route.path}".replace(":path}", "}")
        for route in iter_route_contexts(scene.house.app.routes)
        if (route.path or "").startswith(("/v1/", "/healthz", "/readyz", "/metrics"))
        for method in route.methods or ()
    }
    named = {*_ALL_ROUTES, *TEAM_ROUTES, *ORG_ROUTES, *OWN_ROUTES, *OPEN_ROUTES, PEOPLE}
    in_table = {" ".join(name.split()[:2]) for name in named}
    assert routes - in_table == set(), "add what they take to permissions.py"
    assert in_table - routes == set(), "there are no such routes"


def test_every_operation_is_in_the_table() -> None:
    in_table, declared = (
        {name.split()[0] for name in OPERATIONS},
        set(remote_operations_of(HubMemory)),
    )
    assert declared - in_table == set(), "add them to permissions_operations.py"
    assert in_table - declared == set(), "there are no such operations"


def test_the_page_says_what_the_table_says() -> None:
    written = Path(__file__).parents[3] / "docs" / "reference" / "permissions.md"
    assert written.read_text("utf-8") == page(), "run `make reference`"


_HUB_REMOVED = "DELETE /v1/hubs/{hub_id}"


def _boundaries(name: str) -> tuple[str, ...]:
    if name not in _ABOUT_ONE:
        return ("org",)
    return BOUNDARIES


@pytest.mark.parametrize("name", [name for name in _ALL_ROUTES if name != _HUB_REMOVED])
def test_each_role_and_key_may_do_what_the_table_says(scene: Scene, name: str) -> None:
    """With every boundary, where it is about one memory. Whoever does not reach the hub is refused
    before a memory is looked for: they ask for the one that the most people see."""

    async def work(crowd: Crowd) -> None:
        for boundary in _boundaries(name):
            for role in ROLES:
                for scope in SCOPES:
                    if boundary == "org" or (role != "outsider" and scope != "other hub"):
                        await crowd.check(name, role, scope, boundary)

    in_crowd(scene, work)


def test_only_an_owner_deletes_a_hub(tmp_path: Path) -> None:
    scene = Scene(tmp_path)

    async def work(crowd: Crowd) -> None:
        for role in ROLES:
            for scope in SCOPES:
                if expected(ROUTES[_HUB_REMOVED], role, scope) != 200:
                    await crowd.check(_HUB_REMOVED, role, scope)
        await crowd.check(_HUB_REMOVED, "owner", "full")

    with scene.house:
        in_crowd(scene, work)


@pytest.mark.parametrize("name", [*TEAM_ROUTES, *ORG_ROUTES])
def test_each_role_in_a_team_or_an_organisation_may_do_what_the_table_says(
    scene: Scene, name: str
) -> None:
    may = MAY_IN_TEAM if name in TEAM_ROUTES else MAY_IN_ORG
    route = {**TEAM_ROUTES, **ORG_ROUTES}[name]
    removed = route.takes == "remove"

    async def work(crowd: Crowd) -> None:
        for role in GROUP_ROLES:
            for scope in SCOPES:
                wanted = expected_in_group(may, route, role, scope)
                answer = await crowd.ask(name, route, role, scope, "org")
                assert answer.status_code == wanted, (role, scope, answer.text)
                if removed and wanted == 200:
                    scene.renew_group(team=name in TEAM_ROUTES)

    if removed:
        scene.renew_group(team=name in TEAM_ROUTES)
    in_crowd(scene, work)
    if removed:
        scene.renew_group()


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


@pytest.mark.parametrize("name", [*_ALL_ROUTES, *TEAM_ROUTES, *ORG_ROUTES, *OWN_ROUTES])
def test_nobody_comes_in_without_a_key(scene: Scene, name: str) -> None:
    method, path = name.split()[:2]
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
@pytest.mark.parametrize(
    "name", [name for name in _ABOUT_ONE if _ALL_ROUTES[name].takes == "delete"]
)
def test_the_delete_policy_says_what_contributors_delete(
    scene: Scene, name: str, policy: str, own: int, others: int
) -> None:
    core = scene.house.memory.core
    members.set_card(core, scene.hub.id, delete_policy=policy)
    try:

        async def work(crowd: Crowd) -> None:
            for boundary, wanted in (("own", own), ("hub", others)):
                scene.used()
                answer = await crowd.ask(name, _ALL_ROUTES[name], "contributor", "full", boundary)
                assert answer.status_code == wanted, (boundary, answer.text)

        in_crowd(scene, work)
    finally:
        members.set_card(core, scene.hub.id, delete_policy="own")


# Who deletes a file of somebody else's, and one of their own, through the memory tool.
DELETES_FILES = {
    ("viewer", "full"): (False, False),
    ("contributor", "full"): (False, True),
    ("contributor", "no-delete"): (False, False),
    ("contributor", "read-only"): (False, False),
    ("admin", "full"): (True, True),
    ("admin", "no-delete"): (False, False),
    ("owner", "this hub"): (True, True),
    ("owner", "no-delete"): (False, False),
}


@pytest.mark.parametrize(("who", "allowed"), DELETES_FILES.items(), ids=str)
def test_a_file_is_deleted_by_who_may_delete_its_memory(
    scene: Scene, who: tuple[str, str], allowed: tuple[bool, bool]
) -> None:
    memory = scene.house.memory
    caller = Caller(memory, keys.find_key(memory.core, scene.keys[who]))
    for owner, may in zip(("somebody", who[0]), allowed, strict=True):
        path = f"/memories/{scene.new().replace(' ', '-')}.md"
        made = holdfast.tools("anthropic", scene.of(owner)).call(
            "memory", {"command": "create", "path": path, "file_text": f"Notes on {path}"}
        )
        assert not made.failed
        deletion = {"command": "delete", "path": path}
        reply = holdfast.tools("anthropic", caller.hub(scene.hub.id)).call("memory", deletion)
        assert reply.failed is not may, (owner, reply.text)
        view = {"command": "view", "path": path}
        assert holdfast.tools("anthropic", scene.of(owner)).call("memory", view).failed is may


def test_members_are_listed_for_members_alone_by_the_tool_too(scene: Scene) -> None:
    memory = scene.house.memory
    for role in ROLES[1:]:
        caller = Caller(memory, keys.find_key(memory.core, scene.keys[role, "full"]))
        context = ToolContext(caller.hub(scene.hub.id), every_hub=True, caller=caller)
        tools = Toolset(find_dialect("memax"), context, all_tools=True)
        (name,) = (tool.name for tool in tools.tools if "members" in tool.name)
        assert tools.call(name, {}).failed is (role in ("org", "team")), role


@pytest.fixture(scope="module")
def zoo(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A scene with a memory of each boundary, and nothing else."""
    made = Scene(tmp_path_factory.mktemp("zoo"))
    with made.house:
        for boundary in BOUNDARIES[:4]:
            made.somebody.remember(f"zebra{boundary} zebra", boundary=boundary)
        yield made


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "other hub"])
@pytest.mark.parametrize("role", ROLES[1:])
def test_whoever_reads_sees_what_the_boundaries_let_through(
    zoo: Scene, role: str, scope: str
) -> None:
    """Lists, searches, recall, counts and the rest all go by the same eyes, whatever the key."""
    seen = [f"zebra{one}" for one in BOUNDARIES[:4] if role in SEES[one]]
    hidden = [f"zebra{one}" for one in BOUNDARIES[:4] if role not in SEES[one]]
    ask = zoo.house.ask(zoo.keys[role, scope])
    reading = (
        ("GET", "/v1/memories?limit=100", None),
        ("GET", "/v1/memories/search?q=zebra", None),
        ("GET", "/v1/memories/scan", None),
        ("POST", "/v1/recall", {"query": "zebra", "limit": 100}),
        ("GET", "/v1/context?budget=5000&query=zebra", None),
    )
    for method, path, body in reading:
        told = ask(method, path, json=body).text
        assert [word for word in seen if word not in told] == [], path
        assert [word for word in hidden if word in told] == [], path
    assert ask.get("/v1/usage").json()["data"]["memories"] == len(seen)
    topics = ask.get("/v1/topics").json()["data"]
    assert sum(topic["count"] for topic in topics) == len(seen)
    assert len(ask.get("/v1/changes").json()["data"]) == len(seen)
    exported = ask.get("/v1/export").text
    belongs = role not in ("org", "team")
    assert [word for word in seen if word in exported] == (seen if belongs else [])
    assert [word for word in hidden if word in exported] == []


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
