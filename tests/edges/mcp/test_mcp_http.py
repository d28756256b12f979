"""The server over streamable HTTP: a real one on a free port, and who may reach it."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import holdfast
from holdfast import HubMemory
from holdfast.edges.cli import main
from holdfast.edges.mcp.http import asgi_app, find_key, make_key, serve
from holdfast.edges.mcp.server import make_server
from holdfast.errors import InvalidInput, NotFound
from tests.edges.mcp.sessions import MODES, PATIENCE_S, command, text_of

KEY = "a-key-that-is-long-enough"
VERSIONS = ("2025-11-25", "2026-07-28")
BODY = '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'


class Running(NamedTuple):
    url: str
    home: Path
    process: subprocess.Popen[str]


@pytest.fixture(scope="module")
def running(homes: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`holdfast mcp --http` with the odd tools, as a process; one for all tests here."""
    home = tmp_path_factory.mktemp("http") / "home"
    start = command(home, "--odd", "--http", "--port", "0", env={"HOLDFAST_MCP_KEY": KEY})
    process = subprocess.Popen(
        [start.command, *start.args],
        cwd=start.cwd,
        env={**os.environ, **(start.env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("holdfast mcp: hub default")
    found = re.search(r"http://127\.0\.0\.1:\d+/mcp", process.stderr.readline())
    assert found is not None
    yield Running(found[0], home, process)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, said
    with holdfast.open(home, settings={"embed.model": "none"}) as memory:
        assert not list(memory.core.store.check())


@asynccontextmanager
async def client_of(running: Running, mode: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {KEY}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as web:
        transport = streamable_http_client(running.url, http_client=web)
        async with Client(transport, mode=mode, cache=None) as client:
            yield client


def in_time(conversation: Any) -> Any:
    async def run() -> Any:
        with anyio.fail_after(PATIENCE_S):
            return await conversation()

    return anyio.run(run)


# Sessions


@pytest.mark.parametrize("mode", MODES)
def test_a_whole_session_over_http(running: Running, mode: str) -> None:
    async def session() -> None:
        async with client_of(running, mode) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["count", "print", "break", "name"]
            assert (await client.call_tool("name", {"echo": 1})).structured_content["echo"] == 1
            assert text_of(await client.call_tool("print")) == "printed"
            assert (await client.call_tool("break")).is_error
            assert (await client.call_tool("count", {"steps": "many"})).is_error
            assert (await client.call_tool("no_such_tool")).is_error
            assert (await client.call_tool("name", {"echo": "x" * 10_000_000})).is_error
            for row in (await client.list_resources()).resources:
                assert (await client.read_resource(row.uri)).contents
            for row in (await client.list_prompts()).prompts:
                given = {argument.name: "tabs" for argument in row.arguments or []}
                assert (await client.get_prompt(row.name, given)).messages

    in_time(session)


@pytest.mark.parametrize("mode", MODES)
def test_progress_and_cancellation_cross_http(running: Running, mode: str) -> None:
    heard: list[float] = []

    async def session() -> int:
        async with client_of(running, mode) as client:
            begun = anyio.Event()

            async def note(done: float, total: float | None, note: str | None) -> None:
                heard.append(done)
                begun.set()

            async def count() -> None:
                arguments = {"steps": 100_000, "store": True}
                await client.call_tool("count", arguments, progress_callback=note)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(count)
                await begun.wait()
                tasks.cancel_scope.cancel()
            # All of its threads are free again, so the count has stopped.
            for _ in range(10):
                assert not (await client.call_tool("name")).is_error
            return len(heard)

    assert in_time(session) >= 1


def test_two_clients_at_once_share_one_hub_and_one_that_drops_does_no_harm(
    running: Running,
) -> None:
    async def session() -> None:
        async with client_of(running, "auto") as steady:

            async def count() -> None:
                async with client_of(running, "legacy") as other:
                    await other.call_tool("count", {"steps": 100_000, "store": True})

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(count)
                for _ in range(20):
                    assert not (await steady.call_tool("count", {"steps": 1})).is_error
                # The other one leaves in mid-call, without a word.
                tasks.cancel_scope.cancel()
            for _ in range(20):
                assert not (await steady.call_tool("name")).is_error

    in_time(session)


# Who may reach it


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer wrong-but-just-as-long"}, 401),
        ({"Authorization": f"Bearer {KEY}x"}, 401),
        ({"Authorization": f"Bearer {KEY[:-1]}"}, 401),
        ({"Authorization": KEY}, 401),
        ({"Authorization": f"Basic {KEY}"}, 401),
        ({"Authorization": "Bearer"}, 401),
        ({"Authorization": f"Bearer {KEY}", "Origin": "https://evil.example"}, 403),
        ({"Authorization": f"Bearer {KEY}", "Origin": "null"}, 403),
        ({"Authorization": f"Bearer {KEY}", "Origin": "http://localhost.evil.example"}, 403),
        ({"Authorization": f"Bearer {KEY}", "Host": "evil.example"}, 421),
        ({"Authorization": f"Bearer {KEY}", "Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Authorization": f"bearer {KEY}", "Origin": "http://localhost:3000"}, 403),
        ({"Authorization": f"bearer {KEY}", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Authorization": f"bearer {KEY}"}, 400),
        ({"Authorization": f"Bearer {KEY}"}, 400),
    ],
)
def test_a_request_needs_the_key_this_host_and_no_foreign_page(
    running: Running, version: str, headers: dict[str, str], status: int
) -> None:
    more = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": version,
    }
    # Who gets through all doors finds that this is no whole request.
    answer = httpx2.post(running.url, headers={**more, **headers}, content="{}")
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"] == "Bearer"
        assert KEY not in answer.text
    for method in ("GET", "DELETE", "OPTIONS"):
        other = httpx2.request(method, running.url, headers={**more, **headers})
        assert other.status_code in ({status} if status != 400 else {400, 405, 404})
        for response in (answer, other):
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["cross-origin-resource-policy"] == "same-origin"


def test_without_a_key_a_post_has_to_be_json(hub: HubMemory) -> None:
    with TestClient(asgi_app(make_server(hub)), base_url="http://127.0.0.1:4653") as client:
        for media_type in ("text/plain", "application/x-www-form-urlencoded"):
            headers = {"Content-Type": media_type}
            assert client.post("/mcp", headers=headers, content="{}").status_code == 403
        assert client.delete("/mcp").status_code == 403
        headers = {"Content-Type": "application/json"}
        assert client.post("/mcp", headers=headers, content="{}").status_code == 400


def test_a_body_that_is_far_too_large_is_refused_before_it_is_read(running: Running) -> None:
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    answer = httpx2.post(running.url, headers=headers, content=b"x" * 40_000_000)
    assert answer.status_code == 413


# In this process: the app that others mount


def test_the_app_can_be_mounted_in_a_larger_one(hub: HubMemory) -> None:
    server = make_server(hub)
    app = asgi_app(server, key=KEY, hosts=["memory.example"], origins=["https://page.example"])
    outer = Starlette(
        routes=[Mount("/agents", app)], lifespan=lambda _: server.session_manager.run()
    )
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
        "Authorization": f"Bearer {KEY}",
        "Origin": "https://page.example",
        "Content-Type": "application/json",
    }
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    with TestClient(outer, base_url="https://memory.example") as client:
        answer = client.post("/agents/mcp", headers=headers, json=body)
        assert answer.status_code == 200
        assert answer.json()["result"]["tools"][0]["name"] == "remember"
        assert answer.headers["access-control-allow-origin"] == "https://page.example"
        del headers["Authorization"]
        assert client.post("/agents/mcp", headers=headers, json=body).status_code == 401


@pytest.mark.parametrize(
    ("origins", "origin", "allowed"),
    [
        (["https://page.example"], "https://page.example", True),
        (["https://page.example"], "https://evil.example", False),
        (["https://page.example"], "http://page.example", False),
        ([], "https://page.example", False),
        ([], "http://localhost:3000", False),
    ],
)
def test_a_browser_lets_only_named_pages_use_it(
    hub: HubMemory, origins: list[str], origin: str, allowed: bool
) -> None:
    app = asgi_app(make_server(hub), key=KEY, origins=origins)
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,mcp-protocol-version",
    }
    with TestClient(app, base_url="http://127.0.0.1:4653") as client:
        answer = client.options("/mcp", headers=headers)
    assert (answer.headers.get("access-control-allow-origin") == origin) is allowed
    assert (answer.status_code == 200) is allowed


# Keys and addresses


def test_a_key_is_made_in_a_new_file_for_its_owner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mcp.key"
    assert main(["mcp", "--make-key", str(file)]) == 0
    key = find_key(str(file))
    assert key is not None and len(key) >= 40
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert key not in capsys.readouterr().out
    assert main(["mcp", "--make-key", str(file)]) == 4
    assert find_key(str(file)) == key
    make_key(str(tmp_path / "other.key"))
    assert find_key(str(tmp_path / "other.key")) != key


def test_a_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mcp.key"
    file.write_text(KEY)
    file.chmod(0o644)
    with pytest.raises(InvalidInput, match=r"chmod 600"):
        find_key(str(file))
    file.chmod(0o600)
    assert find_key(str(file)) == KEY


@pytest.mark.parametrize(
    "key", ["", "short", "with a space in it", "schlüssel-mit-umlaut", "x" * 15]
)
def test_a_key_that_can_be_guessed_or_not_be_sent_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="--make-key"):
        find_key(None, {"HOLDFAST_MCP_KEY": key})


def test_a_key_comes_from_the_file_before_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "mcp.key"
    file.write_text(KEY + "\n")
    file.chmod(0o600)
    assert find_key(str(file), {"HOLDFAST_MCP_KEY": "another-key-long-enough"}) == KEY
    assert find_key(None, {"HOLDFAST_MCP_KEY": KEY}) == KEY
    assert find_key(None, {}) is None
    with pytest.raises(NotFound):
        find_key(str(tmp_path / "missing"))


@pytest.fixture
def refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """What `holdfast mcp` says when it does not start."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_EMBED_MODEL", "none")

    def run(*words: str) -> str:
        assert main(["mcp", "--hub", "web", *words]) == 2
        return capsys.readouterr().err

    return run


def test_it_does_not_listen_to_others_without_a_key(refused: Any) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example.org"):
        said = refused("--http", "--host", host)
        assert "a key is needed" in said
        assert "holdfast mcp --make-key mcp.key" in said


def test_the_function_that_serves_needs_a_key_for_others_too(hub: HubMemory) -> None:
    with pytest.raises(InvalidInput, match="a key is needed"):
        serve(make_server(hub), host="0.0.0.0", port=0)


def test_a_port_that_is_taken_is_a_sentence(refused: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = refused("--http", "--port", str(taken.getsockname()[1]))
    assert "cannot be had" in said and "--port" in said
    assert "no port" in refused("--http", "--port", "70000")


def test_options_for_http_need_http(refused: Any) -> None:
    for words in (["--port", "1"], ["--key-file", "x"], ["--allow-host", "x"]):
        assert "Add --http" in refused(*words)


def test_a_dialect_that_is_not_there_is_a_sentence(refused: Any) -> None:
    assert "There is no dialect 'klingon'" in refused("--dialect", "klingon")


# Bodies


def test_a_body_that_does_not_arrive_is_given_up() -> None:
    from holdfast.edges.mcp.http import BodyInTime

    told: list[Any] = []

    async def receive() -> Any:
        await anyio.sleep_forever()

    async def send(message: Any) -> None:
        told.append(message)

    async def never(*_: object) -> None:
        raise AssertionError("a session was asked before its body was there")

    scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}
    anyio.run(BodyInTime(never, seconds=0.01), scope, receive, send)
    assert told[0]["status"] == 408
