"""The server as a process: it says where it is, answers REST and MCP, and ends when it is told to,
with what it accepted written."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from holdfast import Holdfast
from holdfast.edges.http.app import serve
from holdfast.engine.people import keys, members
from holdfast.errors import InvalidInput
from holdfast.testing import open_for_tests
from tests.edges.test_worker import until

# A server that has not answered by then never will.
WAIT_S = 20


class Server:
    """A running `holdfast serve`."""

    def __init__(self, home: Path, *options: str) -> None:
        environment = {**os.environ, "HOLDFAST_HOME": str(home), "HOLDFAST_EMBED_MODEL": "none"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "serve", "--port", "0", *options],
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stderr is not None
        lines = [self.process.stderr.readline()]
        while lines[-1] not in ("", "Ctrl-C ends it.\n"):
            lines.append(self.process.stderr.readline())
        self.greeting = "".join(lines)
        found = re.search(r"listening on (http://\S+)", self.greeting)
        assert found, self.greeting
        self.url = found[1]

    def ask(self, path: str, body: Any = None, **headers: str) -> Any:
        data = None if body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.url + path, data, sent)
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return json.load(answer)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        _, self.said = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    running = Server(tmp_path)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


def test_it_answers_and_ends_with_everything_written(server: Server, tmp_path: Path) -> None:
    assert "asks for no key" in server.greeting
    assert server.ask("/healthz") == {"data": {"status": "up"}}
    assert server.ask("/v1/memories", {"content": "Prefers tabs"})["data"]["number"] == 1
    assert server.ask("/v1/recall", {"query": "tabs"})["data"][0]["memory"]["number"] == 1

    async def over_mcp() -> str:
        from mcp.client.client import Client

        async with Client(f"{server.url}/mcp/default") as client:
            reply = await client.call_tool("recall", {"query": "tabs"})
            return str(reply.content[0])

    assert "Prefers tabs" in anyio.run(over_mcp)
    assert server.end() == 0
    with open_for_tests(tmp_path) as memory:
        assert [one.content for one in memory.hub("default").list()] == ["Prefers tabs"]


def test_what_is_saved_in_a_file_is_taken_in_without_a_request(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")
    with open_for_tests(tmp_path) as memory:
        hub = memory.create_hub("work")
        hub.remember("Prefers tabs", layer="long_term")
        hub.sync()
        file = Path(hub.memory_md)
        server = Server(tmp_path)
        try:
            saved = 0

            def is_taken_in() -> bool:
                nonlocal saved
                saved += 1
                file.write_text(re.sub(r"Prefers \S+", f"Prefers {saved}", file.read_text()))
                with memory.core.store.read() as reader:
                    [kept] = reader.memories_by_id(hub.id, ["mem_00000001"]).values()
                return kept.content != "Prefers tabs"

            until(is_taken_in)
        finally:
            server.end()
    # What a library has to say about itself is no part of the server's log.
    assert "detected" not in server.said


@pytest.mark.parametrize("made", [False, True])
def test_where_keys_are_needed_and_no_hub_is_there_it_says_what_comes_first(
    tmp_path: Path, made: bool
) -> None:
    """Nobody but who is at the machine gets a hub by writing to it."""
    if made:
        with open_for_tests(tmp_path) as memory:
            memory.create_hub("work")
    server = Server(tmp_path, "--require-key")
    server.ask("/healthz")
    assert server.end() == 0
    assert ("holdfast hub create" in server.greeting) is not made


def test_over_mcp_a_key_reaches_what_its_actor_does(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        work, other = memory.create_hub("work"), memory.create_hub("other")
        work.remember("The heron nests by the weir")
        work.remember("Only mine", boundary="private")
        other.remember("The vault is blue")
        members.set_member(memory.core, "hub", work.id, "bob", "viewer")
        key = keys.create_key(memory.core, "laptop", actor="bob").secret
    server = Server(tmp_path, "--require-key")
    try:
        seen = anyio.run(_session, server.url, key)
    finally:
        server.end()
    assert "remember" not in seen["tools"]
    assert "heron" in seen["heron"]
    assert "Only mine" not in seen["mine"]
    assert "other" not in seen["hubs"]
    assert "vault" not in seen["vault"].replace("“vault", "")
    assert seen["refused"] == [401, 401, 404]


async def _session(url: str, key: str) -> dict[str, Any]:
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {key}"}
    async with httpx2.AsyncClient(headers=headers) as http:
        transport = streamable_http_client(f"{url}/mcp/work", http_client=http)
        async with Client(transport) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            said = {
                name: str((await client.call_tool("recall", {"query": query})).content)
                for name, query in (("heron", "heron"), ("mine", "only"), ("vault", "vault"))
            }
        transport = streamable_http_client(f"{url}/mcp/work?dialect=memax", http_client=http)
        async with Client(transport) as client:
            said["hubs"] = str((await client.call_tool("memax_hubs", {})).content)
        foreign = await http.post(f"{url}/mcp/other", json={})
    async with httpx2.AsyncClient() as http:
        none = await http.post(f"{url}/mcp/work", json={})
        wrong = await http.post(
            f"{url}/mcp/work", json={}, headers={"Authorization": "Bearer hf_x"}
        )
    refused = [none.status_code, wrong.status_code, foreign.status_code]
    return {**said, "tools": tools, "refused": refused}


def test_beyond_this_machine_only_with_a_key(memory: Holdfast) -> None:
    with pytest.raises(InvalidInput, match="holdfast key create"):
        serve(memory, host="0.0.0.0", port=0)


def test_a_port_that_is_taken_is_a_sentence(memory: Holdfast) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InvalidInput, match="cannot be had"):
            serve(memory, port=taken.getsockname()[1])
