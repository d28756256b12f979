"""Tools over MCP, through the SDK's own client, in both eras of the protocol."""

from __future__ import annotations

import json
import os
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

import holdfast
from holdfast import HubMemory
from holdfast.agents.dialects import NAMES as DIALECTS
from holdfast.agents.dialects import find_dialect
from holdfast.edges.mcp.server import Options, make_server
from tests.edges.mcp import sessions
from tests.edges.mcp.sessions import MODES, call, talk, text_of

pytestmark = pytest.mark.parametrize("mode", MODES)


def listed(server: Any, mode: str) -> list[types.Tool]:
    found: types.ListToolsResult = talk(server, mode, lambda client: client.list_tools())
    return found.tools


def test_a_server_says_who_it_is_and_when_to_use_memory(hub: HubMemory, mode: str) -> None:
    async def look(client: Client) -> tuple[Any, Any]:
        return client.server_info, client.instructions

    info, instructions = talk(make_server(hub), mode, look)
    assert (info.name, info.version) == ("holdfast", holdfast.__version__)
    assert info.title and hub.name in info.description
    assert instructions == find_dialect("holdfast").instructions
    assert "Recall before" in instructions and "Remember what" in instructions


@pytest.mark.parametrize("dialect", DIALECTS)
def test_tools_are_listed_in_the_order_of_the_dialect_with_all_four_hints(
    hub: HubMemory, mode: str, dialect: str
) -> None:
    server = make_server(hub, Options(dialect, all_tools=True))
    tools = listed(server, mode)
    rows = find_dialect(dialect).tools
    assert [tool.name for tool in tools] == [row.name for row in rows]
    assert tools == listed(server, mode)
    for tool, row in zip(tools, rows, strict=True):
        assert tool.title == row.title and tool.description == row.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is row.reads
        assert tool.annotations.destructive_hint is row.destroys
        assert tool.annotations.idempotent_hint is (row.reads or row.repeats)
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["type"] == "object"


def test_rarer_tools_are_listed_only_when_asked_for(hub: HubMemory, mode: str) -> None:
    few = {tool.name for tool in listed(make_server(hub), mode)}
    extra = {tool.name for tool in find_dialect("holdfast").tools if tool.extra}
    assert extra and not few & extra
    refused = call(make_server(hub), next(iter(extra)), {}, mode)
    assert refused.is_error


def test_what_one_tool_remembers_another_recalls(hub: HubMemory, mode: str) -> None:
    async def session(client: Client) -> types.CallToolResult:
        await client.call_tool("remember", {"content": "The staging server is called heron"})
        return await client.call_tool("recall", {"query": "staging server"})

    found = talk(make_server(hub), mode, session)
    assert not found.is_error
    assert "heron" in text_of(found)
    assert hub.get(1).source == "mcp" and hub.get(1).trust == "agent"


def test_an_answer_that_is_data_comes_structured_and_as_text(hub: HubMemory, mode: str) -> None:
    hub.remember("The staging server is called heron")
    found = call(make_server(hub, Options("chatgpt")), "search", {"query": "heron"}, mode)
    assert found.structured_content["results"][0]["title"]
    assert json.loads(text_of(found)) == found.structured_content


def test_the_client_is_noted_as_the_agent(odd_tools: None, hub: HubMemory, mode: str) -> None:
    who = types.Implementation(name="claude\n code " + "x" * 200, version="1")
    found = talk(
        make_server(hub), mode, lambda client: client.call_tool("name", {}), client_info=who
    )
    assert found.structured_content["agent"] == ("claude code " + "x" * 200)[:100]
    assert found.structured_content["source"] == "mcp"


# Mistakes

MISTAKES = [
    ("recall", {}, "query must be given"),
    ("recall", None, "query must be given"),
    ("recall", {"query": 5}, "query must be text"),
    ("recall", {"query": "x", "limit": "ten"}, "limit must be a whole number"),
    ("recall", {"query": "x", "limit": 10**9}, "limit must be 1 to 50"),
    ("recall", {"query": "x", "colour": "red"}, "no argument 'colour'"),
    ("recall", {"query": {"a": [1]}}, "query must be text"),
    ("remember", {"content": ""}, "content"),
    ("remember", {"content": "x", "kind": "guess"}, "kind must be one of"),
    ("memory_get", {"number": 404}, "There is no memory #404"),
    ("no_such_tool", {}, "There is no tool 'no_such_tool'"),
    ("", {}, "There is no tool ''"),
    ("../remember", {"content": "x"}, "There is no tool"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), MISTAKES)
def test_a_mistake_is_answered_with_a_sentence(
    hub: HubMemory, mode: str, name: str, arguments: Any, said: str
) -> None:
    found = call(make_server(hub), name, arguments, mode)
    assert found.is_error
    assert said in text_of(found)
    assert "Traceback" not in text_of(found)


def test_arguments_that_are_no_object_are_answered_with_a_sentence(
    hub: HubMemory, mode: str
) -> None:
    async def session(client: Client) -> list[dict[str, Any]]:
        send = client.session._dispatcher.send_raw_request
        meta = (await _envelope(client)) if mode != "legacy" else {}
        return [
            await send("tools/call", {"name": "recall", "arguments": wrong, **meta})
            for wrong in ("tabs", ["tabs"], 5, True)
        ]

    for answer in talk(make_server(hub), mode, session):
        assert answer["isError"] is True
        assert "must be an object" in answer["content"][0]["text"]


async def _envelope(client: Client) -> dict[str, Any]:
    return {
        "_meta": {
            types.PROTOCOL_VERSION_META_KEY: client.protocol_version,
            types.CLIENT_CAPABILITIES_META_KEY: {},
        }
    }


def test_arguments_of_ten_megabytes_are_refused_and_the_server_goes_on(
    hub: HubMemory, mode: str
) -> None:
    async def session(client: Client) -> list[types.CallToolResult]:
        large = "x" * 10_000_000
        return [
            await client.call_tool("remember", {"content": large}),
            await client.call_tool("recall", {"query": large}),
            await client.call_tool("remember", {"content": "x", "tags": ["y"] * 5_000_000}),
            await client.call_tool("recall", {"query": "x"}),
        ]

    *refused, fine = talk(make_server(hub), mode, session)
    for answer in refused:
        assert answer.is_error and "more than 3,100,000 characters" in text_of(answer)
    assert not fine.is_error
    assert hub.statistics().memories == 0


def test_a_fault_of_ours_is_a_sentence_without_its_details(
    odd_tools: None, hub: HubMemory, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = call(make_server(hub), "break", {}, mode)
    assert found.is_error
    assert "fault (ZeroDivisionError)" in text_of(found)
    assert "secret" not in text_of(found)
    # A person finds where it happened on standard error.
    assert "a secret detail" in caplog.text


def test_what_a_person_should_know_of_the_files_is_said_once_on_stderr(
    hub: HubMemory, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    hub.remember("Prefers tabs")
    hub.sync()
    os.unlink(hub.memory_md)

    async def session(client: Client) -> None:
        for _ in range(3):
            assert not (await client.call_tool("recall", {"query": "tabs"})).is_error

    talk(make_server(hub), mode, session)
    assert hub.notes
    assert [record.getMessage() for record in caplog.records] == [
        f"holdfast mcp: {note}" for note in hub.notes
    ]


# Read-only


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_read_only_server_offers_no_tool_that_writes(
    hub: HubMemory, mode: str, dialect: str
) -> None:
    server = make_server(hub, Options(dialect, read_only=True, all_tools=True))
    rows = find_dialect(dialect).when_read_only or find_dialect(dialect).tools
    tools = listed(server, mode)
    assert [tool.name for tool in tools] == [row.name for row in rows if row.reads]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


def test_a_read_only_server_refuses_to_write(hub: HubMemory, mode: str) -> None:
    server = make_server(hub, Options(read_only=True))
    refused = call(server, "remember", {"content": "Prefers tabs"}, mode)
    assert refused.is_error and "read-only" in text_of(refused)
    assert hub.statistics().memories == 0


def test_a_read_only_server_says_so_in_its_instructions(hub: HubMemory, mode: str) -> None:
    async def look(client: Client) -> str | None:
        return client.instructions

    said = talk(make_server(hub, Options(read_only=True)), mode, look)
    assert said is not None and "read-only" in said


# Other hubs


def test_a_memory_of_another_hub_is_not_found(
    memory: holdfast.Holdfast, hub: HubMemory, mode: str
) -> None:
    other = memory.hub("other", create=True)
    secret = other.remember("The launch code is heron", key="code").memory
    for reference in ({"id": secret.id}, {"number": 1}, {"key": "code"}):
        found = call(make_server(hub), "memory_get", reference, mode)
        assert found.is_error and "heron" not in text_of(found)
    assert "heron" not in text_of(call(make_server(hub), "recall", {"query": "launch code"}, mode))


# Long calls


def test_long_calls_say_how_far_they_are(odd_tools: None, hub: HubMemory, mode: str) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(done: float, total: float | None, note: str | None) -> None:
        steps.append((done, total, note))

    async def session(client: Client) -> types.CallToolResult:
        return await client.call_tool("count", {"steps": 30}, progress_callback=note)

    assert text_of(talk(make_server(hub), mode, session)) == "counted"
    assert steps[0] == (1, 30, "steps") and steps[-1] == (30, 30, "steps")
    # Not one for each step: a client is not flooded.
    assert 2 <= len(steps) <= 10
    assert [done for done, *_ in steps] == sorted(done for done, *_ in steps)


def test_a_cancelled_call_stops_and_what_it_wrote_is_whole(
    odd_tools: None, hub: HubMemory, mode: str
) -> None:
    async def session(client: Client) -> types.CallToolResult:
        begun = anyio.Event()

        async def note(done: float, total: float | None, note: str | None) -> None:
            begun.set()

        async def count() -> None:
            arguments = {"steps": 100_000, "store": True}
            await client.call_tool("count", arguments, progress_callback=note)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(count)
            await begun.wait()
            tasks.cancel_scope.cancel()
        # The server goes on, for the same client.
        return await client.call_tool("name", {})

    assert not talk(make_server(hub), mode, session).is_error
    assert sessions.stopped.wait(sessions.PATIENCE_S)
    kept = hub.statistics()
    assert 0 < kept.memories < 100_000
    assert kept.revisions == kept.memories
    assert not list(hub.core.store.check())


def test_calls_of_one_client_run_side_by_side(odd_tools: None, hub: HubMemory, mode: str) -> None:
    async def session(client: Client) -> list[str]:
        done: list[str] = []

        async def one(name: str, arguments: dict[str, Any]) -> None:
            await client.call_tool(name, arguments)
            done.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one, "count", {"steps": 50})
            tasks.start_soon(one, "name", {})
        return done

    assert talk(make_server(hub), mode, session) == ["name", "count"]


# What the protocol itself refuses


def test_an_unknown_method_is_an_error_of_the_protocol(hub: HubMemory, mode: str) -> None:
    async def session(client: Client) -> Any:
        meta = (await _envelope(client)) if mode != "legacy" else {}
        with pytest.raises(MCPError, match="Method not found"):
            await client.session._dispatcher.send_raw_request("memory/steal", meta)
        return (await client.list_tools()).tools

    assert talk(make_server(hub), mode, session)
