"""Every tool of every dialect, called by a client: whatever it is given, the answer is a sentence
or data, and never a fault or an error of the protocol."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

from holdfast import HubMemory
from holdfast.agents.dialects import NAMES as DIALECTS
from holdfast.edges.mcp.server import Options, make_server
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
