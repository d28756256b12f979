"""Requests that a web page of another origin makes: refused on every route, read or write, and no
response can be embedded elsewhere. What a real browser sends is in tests/e2e/test_browser_pages.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import holdfast
from holdfast.edges.http.limits import Limits
from holdfast.edges.server.cross_origin import CrossOriginRules
from holdfast.errors import InvalidInput
from tests.edges.http.apps import make_app
from tests.edges.http.conftest import PATIENT, Asking, House
from tests.edges.http.serving import served

Opener = Callable[..., House]
UNSAFE = ("POST", "PUT", "PATCH", "DELETE")
SETTINGS = {"embed.model": "none", "actor": "olga", "hub": "plans"}
JSON = {"Content-Type": "application/json"}


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def is_protected(answer: Any) -> bool:
    """Once each: a browser ignores a policy that is named twice."""
    return (
        answer.headers.get("x-content-type-options") == "nosniff"
        and answer.headers.get("cross-origin-resource-policy") == "same-origin"
    )


@contextlib.contextmanager
def keyless_client(folder: Path, limits: Limits = PATIENT) -> Iterator[TestClient]:
    with holdfast.open(folder, settings=SETTINGS) as memory:
        memory.create_hub("plans").remember("The vault opens on Friday")
        app = make_app(memory, key_needed=False, limits=limits)
        with TestClient(app, base_url="http://localhost:4653") as client:
            yield client


@pytest.fixture
def keyless(tmp_path: Path) -> Iterator[TestClient]:
    """A server of this machine that needs no key."""
    with keyless_client(tmp_path) as client:
        yield client


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same for tests in which everything is refused."""
    with keyless_client(tmp_path_factory.mktemp("shared")) as client:
        yield client


def routes(client: TestClient) -> list[tuple[str, str]]:
    """Every method and path there is, with numbers in the place of parameters."""
    described = client.get("/openapi.json").json()["paths"]
    found = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, methods in described.items()
        for method in methods
    ]
    assert len(found) > 60
    more = [("GET", path) for path in ("/", "/healthz", "/readyz", "/metrics", "/openapi.json")]
    return [*found, *more, *((method, "/mcp") for method in ("GET", *UNSAFE))]


# Host


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:4653", "[::1]:9"])
def test_the_names_of_this_machine_are_known(ask: Asking, host: str) -> None:
    assert ask.get("/v1/hub", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "localhost:80:80", "localhost:x", "", "localhost@x"],
)
@pytest.mark.parametrize("path", ["/v1/hub", "/healthz", "/metrics", "/mcp", "/openapi.json"])
def test_a_request_for_another_host_is_refused(ask: Asking, host: str, path: str) -> None:
    assert code(ask.get(path, headers={"Host": host})) == (421, "wrong_host")


# Origin and Sec-Fetch-Site


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:3000"},
        {"Origin": "http://127.0.0.1:4653"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://localhost:4653", "Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_no_route_answers_a_page_of_another_origin(
    shared: TestClient, headers: dict[str, str]
) -> None:
    for method, path in routes(shared):
        answer = shared.request(method, path, headers={**JSON, **headers}, content="{}")
        assert code(answer) == (403, "foreign_origin"), (method, path)
        assert is_protected(answer), (method, path)


@pytest.mark.parametrize(
    "origin", ["file://", "http://localhost.evil.example", "localhost", "http://[::1]:1"]
)
@pytest.mark.parametrize("path", ["/v1/hub", "/mcp"])
def test_a_key_does_not_open_it_to_other_pages(ask: Asking, origin: str, path: str) -> None:
    assert code(ask.get(path, headers={"Origin": origin})) == (403, "foreign_origin")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://localhost:4653", "Sec-Fetch-Site": "same-origin"},
        # Behind a proxy that speaks TLS and passes the Host header on.
        {"Origin": "https://localhost:4653"},
        {"Sec-Fetch-Site": "none"},
        # What the fetch of Node.js sends.
        {"Sec-Fetch-Mode": "cors"},
    ],
    ids=str,
)
def test_our_own_page_and_programs_may_read_and_write(
    keyless: TestClient, headers: dict[str, str]
) -> None:
    assert keyless.get("/v1/memories", headers=headers).status_code == 200
    body = {"content": "Tea at four"}
    assert keyless.post("/v1/memories", headers=headers, json=body).status_code in (200, 201)


def test_a_preflight_is_not_granted(shared: TestClient) -> None:
    headers = {
        "Origin": "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,x-holdfast-client",
    }
    for path in ("/v1/memories", "/v1/memories/upload", "/mcp"):
        answer = shared.options(path, headers=headers)
        assert code(answer) == (403, "foreign_origin")
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_other_hosts_and_origins_are_known_where_they_are_configured(open_house: Opener) -> None:
    limits = PATIENT._replace(hosts=("memory.example",), origins=("https://app.example",))
    ask = open_house(limits).ask()
    headers = {"Host": "memory.example", "Origin": "https://app.example"}
    assert ask.get("/v1/hub", headers=headers).status_code == 200
    cross = {**headers, "Sec-Fetch-Site": "cross-site"}
    assert ask.get("/v1/hub", headers=cross).status_code == 200
    assert ask.get("/v1/hub", headers={"Host": "localhost"}).status_code == 421
    own = {"Host": "memory.example", "Origin": "https://memory.example"}
    assert ask.get("/v1/hub", headers=own).status_code == 200


@pytest.mark.parametrize("origin", ["null", "*", "app.example", "https://app.example/page", ""])
def test_what_is_no_origin_cannot_be_configured(origin: str) -> None:
    with pytest.raises(InvalidInput, match="origin"):
        CrossOriginRules.checked(("localhost",), (origin,))


# Writes


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "text/plain; application/json"},
        {"Content-Type": "text/plain, application/json"},
        {"Authorization": "Basic b2xnYTpzZWNyZXQ="},
    ],
    ids=str,
)
def test_a_write_needs_a_header_that_no_page_can_add_unasked(
    shared: TestClient, headers: dict[str, str]
) -> None:
    """Even where a browser says nothing of where a request comes from, as old ones do."""
    for method, path in routes(shared):
        if method in UNSAFE:
            answer = shared.request(method, path, headers=headers, content="{}")
            assert code(answer) == (403, "client_header_missing"), (method, path)
            assert is_protected(answer), (method, path)
    assert [one["number"] for one in shared.get("/v1/memories").json()["data"]] == [1]


@pytest.mark.parametrize(
    "headers",
    [{"X-Holdfast-Client": "curl"}, {"X-Hub-ID": "plans"}, {"Idempotency-Key": "k1"}, JSON],
    ids=str,
)
def test_any_one_of_these_headers_is_enough(keyless: TestClient, headers: dict[str, str]) -> None:
    assert keyless.post("/v1/memories/1/forget", headers=headers).status_code == 200


def test_an_upload_works_with_the_header(keyless: TestClient) -> None:
    files = {"file": ("note.txt", b"The vault opens at nine")}
    refused = keyless.post("/v1/memories/upload", files=files, data={"pinned": "true"})
    assert code(refused) == (403, "client_header_missing")
    answer = keyless.post(
        "/v1/memories/upload",
        files=files,
        data={"pinned": "true"},
        headers={"X-Holdfast-Client": "curl"},
    )
    assert answer.status_code in (200, 201, 202), answer.text


def test_the_client_of_the_library_needs_no_key(tmp_path: Path) -> None:
    with holdfast.open(tmp_path, settings=SETTINGS) as memory:
        memory.create_hub("plans")
        with (
            served(make_app(memory, key_needed=False, limits=PATIENT)) as url,
            holdfast.Client(url, hub="plans") as client,
        ):
            hub = client.hub()
            hub.remember("Tea at four")
            (tmp_path / "note.txt").write_text("Coffee at five", encoding="utf-8")
            hub.remember_file(str(tmp_path / "note.txt"))
            hub.forget(1)
            assert [memory.number for memory in hub.list()] == [2]


# What every response carries


def test_every_response_has_the_headers(keyless: TestClient) -> None:
    for method, path in routes(keyless):
        if path in ("/v1/events", "/mcp") and method == "GET":
            continue  # They have no end; see the next tests.
        answer = keyless.request(method, path, headers=JSON, content="{}")
        assert is_protected(answer), (method, path, answer.status_code)
    for path in ("/nowhere", "/v1/nowhere", "/v1/memories/999", "/mcp/nowhere?dialect=x"):
        assert is_protected(keyless.get(path)), path
    assert is_protected(keyless.request("BREW", "/v1/hub"))


def test_refusals_of_other_gates_have_the_headers(tmp_path: Path) -> None:
    with keyless_client(tmp_path, PATIENT._replace(body_bytes_max=10)) as client:
        large = client.post("/v1/memories", json={"content": "x" * 20})
        assert large.status_code == 413
        assert is_protected(large)
        away = client.get("/v1/hub", headers={"Host": "evil.example"})
        assert away.status_code == 421
        assert is_protected(away)
    with keyless_client(tmp_path / "2", Limits(per_minute=1)) as client:
        client.get("/v1/hub")
        often = client.get("/v1/hub")
        assert often.status_code == 429
        assert is_protected(often)


def test_a_fault_of_the_server_has_the_headers(
    keyless: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("holdfast.edges.http.call.Call.hub", broken)
    answer = keyless.get("/v1/memories")
    assert answer.status_code == 500
    assert is_protected(answer)


def test_streams_have_the_headers(tmp_path: Path) -> None:
    import httpx2

    with holdfast.open(tmp_path, settings=SETTINGS) as memory:
        memory.create_hub("plans")
        with served(make_app(memory, key_needed=False, limits=PATIENT)) as url:
            with httpx2.stream("GET", f"{url}/v1/events") as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                assert is_protected(answer)
            asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
            accept = {"Accept": "application/json, text/event-stream"}
            assert is_protected(httpx2.post(f"{url}/mcp", json=asked, headers=accept))
