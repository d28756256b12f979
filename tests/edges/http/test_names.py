"""A name is parsed before anything is decided: every spelling that parses to the same name gets the
same answer, on every route. Which parameters are names is written down here; a new parameter that
is not in either list fails."""

from __future__ import annotations

import asyncio
import inspect
import unicodedata
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx2
import pytest
from fastapi.routing import iter_route_contexts

from holdfast.api.hub import HubMemory
from holdfast.api.operation import remote_operations_of
from holdfast.domain.hub import PersonName, ScopeKind
from holdfast.domain.records import Record
from holdfast.engine.people import members as access
from holdfast.engine.people import teams
from holdfast.text.names import parse_label
from tests.edges.http.conftest import House
from tests.edges.http.permissions import (
    ORG_ROUTES,
    OWN_ROUTES,
    ROUTES,
    TEAM_ROUTES,
    Request,
    Scene,
)
from tests.edges.http.permissions_operations import OPERATIONS, request_of

# Parameters that name a person, a place, a memory or another record, or one of a closed list that
# permissions depend on.
NAMES = {
    *("actor", "hub_id", "org_id", "team_id", "memory_id", "invite_id", "key_id"),
    *("hub", "hubs", "org", "team", "name", "role", "delete_policy", "token", "boundary"),
    *("key", "ids", "reference", "references", "parent", "supersedes", "change", "changes"),
}
# Parameters that are text, times, filters or settings of one request.
OTHERS = {
    *("Idempotency-Key", "Last-Event-ID", "as_of", "assistant", "assisted_by_agent", "at"),
    *(
        "about",
        "folder",
        "folders",
        "sessions",
        "before",
        "category",
        "content",
        "content_type",
        "context",
        "count_tokens",
        "cursor",
    ),
    *("expires_at", "if-match", "kind", "layer", "messages", "metadata", "mode", "note", "now"),
    *("occurred_at", "occurred_until", "option", "options", "order", "plan", "project", "q"),
    *("query", "question", "reason", "session", "since", "source", "source_agent", "source_path"),
    *("speaker", "stability", "state", "style", "summary", "tag", "tags", "text", "title", "trust"),
    # The names in the arguments of an operation have tests of their own.
    *("operation", "arguments"),
    *("unit", "until", "user", "valid_from", "valid_until", "when", "where", "zone", "items"),
    # `turn` is the caller's own name for one, so that what is sent twice is taken in once.
    *("noted", "turn", "turns"),
    # Compared with the owner of the memory, and refused where it is anybody else.
    "owner_id",
    # The exact id of a run that is under way; any other is refused.
    "import_run",
}
# A name of another meaning on one route: text that is stored, not compared.
NOT_NAMES = {
    ("GET /v1/log/recovery", "name"),
    ("POST /v1/conversations", "name"),
    ("POST /v1/log", "role"),
}

SPELLINGS: dict[str, Callable[[str], str]] = {
    "a space before": lambda name: f" {name}",
    "other spaces around": lambda name: f"\u00a0\t{name}\u3000\r\n",
    "decomposed": lambda name: unicodedata.normalize("NFD", name),
}
HIDDEN = ("\u200b", "\u202e", "\u3164")


@pytest.fixture(scope="module")
def scene(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    made = Scene(tmp_path_factory.mktemp("scene"))
    with made.house:
        made.house.app.state.stopping.set()
        yield made


def _parameters(scene: Scene) -> set[tuple[str, str]]:
    """Every parameter of every route that can be text, as (route, parameter)."""
    found = set()
    for route in iter_route_contexts(scene.house.app.routes):
        path = (route.path or "").replace(":path}", "}")
        dependant = getattr(route, "dependant", None)
        if not path.startswith("/v1/") or dependant is None:
            continue
        for method in route.methods or ():
            for one in (
                *dependant.path_params,
                *dependant.query_params,
                *dependant.header_params,
                *dependant.body_params,
            ):
                fields = getattr(one.field_info.annotation, "model_fields", None)
                pairs = (
                    [(one.alias, one.field_info.annotation)]
                    if fields is None
                    else [(name, field.annotation) for name, field in fields.items()]
                )
                found |= {(f"{method} {path}", name) for name, kind in pairs if "str" in str(kind)}
    return found


def _named(scene: Scene) -> set[tuple[str, str]]:
    return {pair for pair in _parameters(scene) if pair[1] in NAMES} - NOT_NAMES


def test_every_parameter_is_a_name_or_is_not(scene: Scene) -> None:
    unknown = {pair for pair in _parameters(scene) if pair[1] not in NAMES | OTHERS}
    assert not unknown, "Add each of them to NAMES or to OTHERS."


class Example(NamedTuple):
    """A request that has a name in it, made anew each time. `values` are what stands in the path,
    `json` is the body, `query` the query."""

    route: str
    values: dict[str, str]
    json: Any = None
    query: dict[str, str] | None = None


def _more(scene: Scene) -> dict[tuple[str, str], Callable[[], dict[str, Any]]]:
    """Bodies with the names that the table of permissions does not give."""
    org, team = scene.group
    new = scene.new
    return {
        ("PATCH /v1/hubs/{hub_id}", "team"): lambda: {"team": team},
        ("PATCH /v1/hubs/{hub_id}", "org"): lambda: {"org": org},
        ("PATCH /v1/hubs/{hub_id}", "name"): lambda: {"name": "plans"},
        ("POST /v1/keys", "hubs"): lambda: {"name": "k", "hubs": [scene.hub.id]},
        ("POST /v1/changes/touched", "changes"): lambda: {"changes": [scene.change()]},
        ("POST /v1/memories", "parent"): lambda: {"content": new(), "parent": scene.memory()},
        ("POST /v1/memories", "supersedes"): lambda: {
            "content": new(),
            "supersedes": scene.memory(),
        },
        ("POST /v1/memories", "key"): lambda: {"content": new(), "key": f"clé {new()}"},
        ("POST /v1/memories", "boundary"): lambda: {"content": new(), "boundary": "private"},
        ("PATCH /v1/memories/{memory_id}", "key"): lambda: {"key": f"clé {new()}"},
        ("PATCH /v1/memories/{memory_id}", "boundary"): lambda: {"boundary": "team"},
    }


def _example(scene: Scene, route: str, parameter: str, role: str) -> Example:
    kind: ScopeKind = "team" if "{team_id}" in route else "org" if "{org_id}" in route else "hub"
    org, team = scene.group
    place = {"hub": scene.hub.id, "team": team, "org": org}[kind]
    row = ROUTES.get(route) or TEAM_ROUTES.get(route) or ORG_ROUTES.get(route)
    request: Request
    memory = ""
    if row is None:
        request = OWN_ROUTES[route][2](scene, "")
    else:
        memory = "" if row.about is None else row.about(scene, "org", "somebody")
        request = row.request(scene, memory)
    values = {"memory_id": memory, "hub_id": scene.hub.id, "org_id": org, "team_id": team}
    if "{actor}" in route:
        scene.new()
        name = f"zoë{scene.made}"
        access.set_member(scene.house.memory.core, kind, place, PersonName(name), "viewer")
        values["actor"] = name
    if "{key_id}" in route:
        values["key_id"] = scene.key_of(role)
    if "{invite_id}" in route:
        values["invite_id"] = scene.invite(kind, place)
    more = _more(scene).get((route, parameter))
    query = dict(part.split("=") for part in request.path[1:].split("&") if part)
    body = request.json if more is None else more()
    return Example(route, values, body, query)


def _spelled(example: Example, parameter: str, spell: Callable[[str], str]) -> Example:
    """The same request with that name spelled another way."""

    def respell(value: Any) -> Any:
        return [spell(one) for one in value] if isinstance(value, list) else spell(value)

    if parameter in example.values:
        return example._replace(
            values={**example.values, parameter: spell(example.values[parameter])}
        )
    if parameter in (query := example.query or {}):
        return example._replace(query={**query, parameter: spell(query[parameter])})
    # A name that no example gives is not tried, and that must not go unnoticed.
    assert parameter in (example.json or {}), f"Give {parameter} of {example.route} in `_more`."
    return example._replace(json={**example.json, parameter: respell(example.json[parameter])})


class Sender:
    def __init__(self, scene: Scene, client: httpx2.AsyncClient) -> None:
        self._scene = scene
        self._client = client

    async def status(self, example: Example, role: str) -> int:
        method, path = example.route.split()
        values = {name: quote(value, safe="") for name, value in example.values.items()}
        path = path.format(**values)
        key = self._scene.keys[role, "full"]
        answer = await self._client.request(
            method,
            path,
            params=example.query or None,
            json=example.json,
            headers={"Authorization": f"Bearer {key}", "X-Hub-ID": self._scene.hub.id},
        )
        return answer.status_code


def _send(scene: Scene, work: Callable[[Sender], Any]) -> None:
    async def run() -> None:
        transport = httpx2.ASGITransport(app=scene.house.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await work(Sender(scene, client))

    asyncio.run(run())


_HUB_ROLES = ("outsider", "viewer", "contributor", "admin", "owner")
_GROUP_ROLES = ("outsider", "org viewer", "org admin", "org owner", "team admin", "team owner")


def _roles(route: str) -> tuple[str, ...]:
    in_group = route in TEAM_ROUTES or route in ORG_ROUTES
    return _GROUP_ROLES if in_group else _HUB_ROLES


# What takes its target away is asked by those who may not; the owner's turn has tests of its own.
_REMOVES = {"DELETE /v1/hubs/{hub_id}", "DELETE /v1/orgs/{org_id}", "DELETE /v1/teams/{team_id}"}


def test_every_spelling_of_a_name_is_decided_the_same_on_every_route(scene: Scene) -> None:
    wrong = []

    async def work(sender: Sender) -> None:
        for route, parameter in sorted(_named(scene)):
            for role in _roles(route):
                if route in _REMOVES and "owner" in role:
                    continue
                make = partial(_example, scene, route, parameter, role)
                plain = await sender.status(make(), role)
                for how, spell in SPELLINGS.items():
                    example = make()
                    asked = _spelled(example, parameter, spell)
                    if asked == example:
                        continue
                    status = await sender.status(asked, role)
                    if status != plain:
                        wrong.append((route, parameter, role, how, plain, status))

    _send(scene, work)
    assert not wrong, "\n".join(map(str, wrong))


def test_no_name_with_a_hidden_character_is_taken_for_another(scene: Scene) -> None:
    wrong = []

    async def work(sender: Sender) -> None:
        for route, parameter in sorted(_named(scene)):
            role = "org owner" if route in ORG_ROUTES or route in TEAM_ROUTES else "owner"
            if parameter == "changes":
                continue  # A list of what may be there: what is not is left out of the answer.
            for hidden in HIDDEN:
                example = _example(scene, route, parameter, role)
                asked = _spelled(example, parameter, lambda name, hidden=hidden: hidden + name)
                status = await sender.status(asked, role)
                if status < 400:
                    wrong.append((route, parameter, f"U+{ord(hidden):04X}", status))

    _send(scene, work)
    assert not wrong, "\n".join(map(str, wrong))


# Names in the arguments of operations

_OPERATION = "POST /v1/operations/{operation}"
# An argument of an operation that has a name and is none, as in NOT_NAMES.
_NOT_NAMED = {("archive_conversation", "name"), ("recovery_prompt", "name"), ("log_turn", "role")}
# Arguments with the names that the table of permissions does not give. A draft, and an item of
# several, have names in them.
_MORE_ARGUMENTS: dict[tuple[str, str], dict[str, Any]] = {
    ("remember", "key"): {"content": "{new}", "key": "clé {new}"},
    ("remember", "boundary"): {"content": "{new}", "boundary": "private"},
    ("remember", "parent"): {"content": "{new}", "parent": "{memory}"},
    ("remember", "supersedes"): {"content": "{new}", "supersedes": "{memory}"},
    ("update", "key"): {"reference": "{memory}", "key": "clé {new}"},
    ("update", "boundary"): {"reference": "{memory}", "boundary": "team"},
    ("remember_draft", "draft.key"): {"draft": {"content": "{new}", "key": "clé {new}"}},
    ("remember_draft", "draft.boundary"): {"draft": {"content": "{new}", "boundary": "hub"}},
    ("remember_draft", "draft.parent"): {"draft": {"content": "{new}", "parent": "{memory}"}},
    ("remember_draft", "draft.supersedes"): {
        "draft": {"content": "{new}", "supersedes": "{memory}"}
    },
    ("remember_many", "items.0.value.key"): {
        "items": [{"kind": "Draft", "value": {"content": "{new}", "key": "clé {new}"}}]
    },
}


def _arguments_that_name() -> set[tuple[str, str]]:
    """Every argument of every operation that is a name, as (operation, argument)."""
    found = set(_MORE_ARGUMENTS)
    for operation in remote_operations_of(HubMemory):
        method = inspect.unwrap(getattr(HubMemory, operation))
        for one in inspect.signature(method).parameters.values():
            if not any(kind in str(one.annotation) for kind in ("str", "Reference", "Draft")):
                continue
            known = one.name in NAMES | OTHERS | {"draft"}
            assert known, f"Add {one.name} of {operation} to NAMES or to OTHERS."
            if one.name in NAMES:
                found.add((operation, one.name))
    return found - _NOT_NAMED


def _operation_example(scene: Scene, operation: str, argument: str) -> Example:
    arguments = _MORE_ARGUMENTS.get((operation, argument)) or OPERATIONS[operation].arguments
    row = OPERATIONS[operation]
    about = row.about or Scene.memory
    request = request_of(row._replace(arguments=arguments))(scene, about(scene, "org", "somebody"))
    return Example(_OPERATION, {"operation": operation}, request.json)


def _respelled(example: Example, argument: str, spell: Callable[[str], str]) -> Example:
    """The same call with that name, found by its path in the arguments, spelled another way."""

    def within(value: Any, path: list[str]) -> Any:
        if not path:
            return [spell(one) for one in value] if isinstance(value, list) else spell(value)
        at: Any = int(path[0]) if isinstance(value, list) else path[0]
        changed = value.copy()
        changed[at] = within(value[at], path[1:])
        return changed

    changed = within(example.json["arguments"], argument.split("."))
    return example._replace(json={**example.json, "arguments": changed})


def test_every_spelling_of_a_name_is_decided_the_same_in_every_operation(scene: Scene) -> None:
    wrong = []

    async def work(sender: Sender) -> None:
        for operation, argument in sorted(_arguments_that_name()):
            for role in ("outsider", "viewer", "contributor", "owner"):
                make = partial(_operation_example, scene, operation, argument)
                plain = await sender.status(make(), role)
                assert plain == 200 or role != "owner", (operation, argument, plain)
                for how, spell in SPELLINGS.items():
                    example = make()
                    asked = _respelled(example, argument, spell)
                    if asked == example:
                        continue
                    status = await sender.status(asked, role)
                    if status != plain:
                        wrong.append((operation, argument, role, how, plain, status))

    _send(scene, work)
    assert not wrong, "\n".join(map(str, wrong))


def test_no_name_with_a_hidden_character_is_taken_for_another_in_an_operation(
    scene: Scene,
) -> None:
    wrong = []

    async def work(sender: Sender) -> None:
        for operation, argument in sorted(_arguments_that_name()):
            if argument == "changes":
                continue  # As on the route of its own.
            for hidden in HIDDEN:
                example = _operation_example(scene, operation, argument)
                asked = _respelled(example, argument, lambda name, hidden=hidden: hidden + name)
                status = await sender.status(asked, "owner")
                if status < 400:
                    wrong.append((operation, argument, f"U+{ord(hidden):04X}", status))

    _send(scene, work)
    assert not wrong, "\n".join(map(str, wrong))


@pytest.mark.parametrize("scope", ["hub", "team", "org"])
@pytest.mark.parametrize("spelling", ["alice", "%20alice", "alice%20", "%C2%A0alice", "alice%0A"])
def test_an_admin_does_not_demote_or_remove_an_owner_by_another_spelling(
    house: House, scope: ScopeKind, spelling: str
) -> None:
    place = _place_with_an_owner(house, scope)
    admin = house.ask(house.key("adam"))
    path = f"/v1/{scope}s/{place}/members/{spelling}"
    assert admin("PUT", path, json={"role": "viewer"}).status_code == 403
    assert admin("DELETE", path).status_code == 403
    assert access.role_in(house.memory.core, scope, place, PersonName("alice")) == "owner"


@pytest.mark.parametrize("scope", ["hub", "team", "org"])
def test_no_second_member_looks_like_the_first(house: House, scope: ScopeKind) -> None:
    place = _place_with_an_owner(house, scope)
    admin = house.ask(house.key("adam"))
    for spelling in ("\u200balice", "alice\u2060", "аlice", "ａlice"):
        path = f"/v1/{scope}s/{place}/members/{quote(spelling)}"
        answer = admin("PUT", path, json={"role": "viewer"})
        assert answer.status_code == 400, spelling
        assert answer.json()["error"]["hint"]
    for twin in ("aIice", "a1ice", "аӏісе"):
        path = f"/v1/{scope}s/{place}/members/{quote(twin)}"
        answer = admin("PUT", path, json={"role": "viewer"})
        assert answer.status_code == 409, twin
        assert "looks like" in answer.json()["error"]["message"]
    members = {one.actor for one in access.members(house.memory.core, scope, place)}
    assert members == {"adam", "alice", "olga"}


def test_a_hidden_member_from_before_can_be_removed(house: House) -> None:
    core = house.memory.core
    body = {"role": "viewer", "added_by": ""}
    with core.store.write(hub=house.hub.id) as writer:
        writer.put_record(Record(house.hub.id, "member", "\u200bada", core.now(), body))
    path = f"/v1/hubs/{house.hub.id}/members/{quote(chr(0x200B) + 'ada')}"
    assert house.ask()("PUT", path, json={"role": "admin"}).status_code == 400
    assert house.ask(house.member("vera", "viewer"))("DELETE", path).status_code == 403
    assert house.ask()("DELETE", path).status_code == 200
    assert house.ask()("DELETE", path).status_code == 400


def _place_with_an_owner(house: House, scope: ScopeKind) -> str:
    """A hub, a team or an organisation that alice owns too, and adam manages."""
    core = house.memory.core
    org = teams.create_org(core, parse_label("org", "organisation"))
    team = teams.create_team(core, org.id, parse_label("team", "team"))
    place = {"hub": house.hub.id, "team": team.id, "org": org.id}[scope]
    access.set_member(core, scope, place, PersonName("alice"), "owner")
    access.set_member(core, scope, place, PersonName("adam"), "admin")
    return place
