"""Every tool of every dialect, called by a client: whatever it is given, the answer is a sentence
or data, and never a fault or an error of the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

import holdfast
from holdfast import HubMemory
from holdfast.agents import ToolContext
from holdfast.agents.dialects import NAMES as DIALECTS
from holdfast.agents.dialects import find_dialect
from holdfast.agents.toolset import Toolset
from holdfast.edges.mcp.server import Options, make_server
from holdfast.testing import open_for_tests
from tests.edges.mcp.sessions import MODES, talk, text_of

EXAMPLES: dict[str, Any] = {
    "string": "tabs",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": ["tabs", "spaces"],
    "object": {},
}
HOSTILE: tuple[Any, ...] = (
    "",
    "../../etc/passwd",
    "/memories/../../x",
    "%2e%2e%2f",
    "a\0b",
    "'; DROP TABLE memories; --",
    "\u202e",
    -1,
    10**30,
    1.5,
    True,
    [],
    {},
    [[["x"]]],
    {"a": {"b": None}},
)


def value_for(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    for branch in schema.get("anyOf", ()):
        return value_for(branch)
    kind = schema.get("type", "string")
    value = EXAMPLES[kind[0] if isinstance(kind, list) else kind]
    if isinstance(value, int) and not isinstance(value, bool):
        return max(value, schema.get("minimum", value))
    return value


def assert_well_formed(name: str, answer: types.CallToolResult) -> None:
    text = text_of(answer)
    assert "fault" not in text, f"{name}: {text}"
    assert "Traceback" not in text
    if not answer.is_error and answer.structured_content is not None:
        assert isinstance(answer.structured_content, dict)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_tool_answers(hub: HubMemory, dialect: str, mode: str) -> None:
    hub.remember("Prefers tabs over spaces", key="tabs")
    hub.journal_add("Talked about tabs")

    async def session(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert tools
        for tool in tools:
            known = tool.input_schema["properties"]
            every = {name: value_for(schema) for name, schema in known.items()}
            needed = {name: every[name] for name in tool.input_schema.get("required", ())}
            for arguments in (needed, every, {}, None, {"no_such_argument": 1}):
                assert_well_formed(tool.name, await client.call_tool(tool.name, arguments))
            # The eras differ in the envelope, not in what a tool makes of its arguments.
            for name in known if mode == "auto" else ():
                for wrong in HOSTILE:
                    arguments = {**needed, name: wrong}
                    assert_well_formed(tool.name, await client.call_tool(tool.name, arguments))

    talk(make_server(hub, Options(dialect, all_tools=True)), mode, session)
    assert not list(hub.core.store.check())


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_client_gets_the_very_answers_that_the_library_gives(
    tmp_path: Path, dialect: str
) -> None:
    def opened(name: str) -> holdfast.Holdfast:
        # The same ids and times on both sides, so that answers can be compared to the letter.
        return open_for_tests(tmp_path / name, settings={"time_zone": "UTC", "actor": "ada"})

    two_home = str(tmp_path / "two")

    async def session(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            known = tool.input_schema["properties"]
            every = {name: value_for(schema) for name, schema in known.items()}
            needed = {name: every[name] for name in tool.input_schema.get("required", ())}
            for arguments in (needed, every, needed):
                reply = toolset.call(tool.name, arguments)
                answer = await client.call_tool(tool.name, arguments)
                assert text_of(answer) == reply.text.replace(str(tmp_path / "one"), two_home)
                assert answer.is_error == reply.failed
                assert answer.structured_content == reply.data

    with opened("one") as one, opened("two") as two:
        hubs = [memory.hub("web", create=True) for memory in (one, two)]
        for hub in hubs:
            hub.remember("Prefers tabs over spaces", key="tabs")
        context = ToolContext(hubs[0], agent="ada", source="mcp")
        toolset = Toolset(find_dialect(dialect), context, all_tools=True)
        who = types.Implementation(name="ada", version="1")
        server = make_server(hubs[1], Options(dialect, all_tools=True))
        talk(server, "auto", session, client_info=who)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_arguments_at_all_make_a_fault(hub: HubMemory, dialect: str, data: Any) -> None:
    server = make_server(hub, Options(dialect, all_tools=True))

    async def session(client: Client) -> None:
        for tool in (await client.list_tools()).tools:
            known = st.sampled_from(sorted(tool.input_schema["properties"]) or ["x"])
            arguments = data.draw(st.dictionaries(known | st.text(), json_values, max_size=4))
            assert_well_formed(tool.name, await client.call_tool(tool.name, arguments))

    talk(server, "auto", session)
