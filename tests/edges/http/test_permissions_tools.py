"""Every tool of every dialect × every role × every key × every boundary, by `permissions_tools`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from holdfast import NotFound
from holdfast.agents import ToolContext
from holdfast.agents.dialects import NAMES, find_dialect
from holdfast.agents.toolset import Reply, Toolset
from holdfast.api.caller import Caller
from holdfast.engine.people import keys
from tests.edges.http.permissions import BOUNDARIES, ROLES, SCOPES, Scene
from tests.edges.http.permissions_tools import ANSWERED, NO_HUB, REFUSED, TOOLS, expected_call


@pytest.fixture
def callers(scene: Scene) -> dict[tuple[str, str], Caller]:
    memory = scene.house.memory
    return {
        (role, scope): Caller(memory, keys.find_key(memory.core, scene.keys[role, scope]))
        for role in ROLES
        for scope in SCOPES
    }


def test_every_tool_is_in_the_table() -> None:
    there = {f"{name} {tool.name}" for name in NAMES for tool in find_dialect(name).tools}
    assert there == {" ".join(name.split()[:2]) for name in TOOLS}


def test_what_is_offered_to_readers_is_what_the_table_says() -> None:
    reading = {" ".join(name.split()[:2]) for name, call in TOOLS.items() if call.reads}
    offered = {
        f"{name} {tool.name}"
        for name in NAMES
        for tool in find_dialect(name).offered(all_tools=True, read_only=True)
    }
    assert offered == reading


@pytest.mark.parametrize("name", TOOLS)
def test_each_role_and_key_may_call_what_the_table_says(
    scene: Scene, callers: dict[tuple[str, str], Caller], name: str
) -> None:
    call = TOOLS[name]
    for boundary in BOUNDARIES if call.about is not None else ("org",):
        for (role, scope), caller in callers.items():
            wanted = expected_call(call, role, scope, boundary)
            if wanted == NO_HUB and boundary != "org":
                continue  # They are turned away before a memory is looked for.
            assert _came_to(scene, caller, name, role, boundary) == wanted, (role, scope, boundary)


def test_a_rewrite_archives_what_it_leaves_out_and_nothing_that_its_caller_does_not_see(
    tmp_path: Path,
) -> None:
    scene = Scene(tmp_path)
    with scene.house:
        hidden = scene.stored(scene.line("private"))
        for role, scope in (("contributor", "full"), ("admin", "no-delete"), ("owner", "full")):
            # The first one finds nothing in the file that they see.
            reply = _rewrite(scene, role, scope, "- tea at four\n")
            assert scene.stored(hidden.id) == hidden
            assert hidden.content not in reply.text
        seen = scene.line("hub")
        text = scene.of("admin").read_memory_md() or ""
        without = text.replace(scene.stored(seen).content, "something else entirely")
        assert _rewrite(scene, "admin", "no-delete", without).failed
        assert scene.stored(seen).state == "active"
        assert not _rewrite(scene, "admin", "full", without).failed
        assert scene.stored(seen).state == "archived"
        assert scene.stored(hidden.id) == hidden


def _rewrite(scene: Scene, role: str, scope: str, text: str) -> Reply:
    memory = scene.house.memory
    caller = Caller(memory, keys.find_key(memory.core, scene.keys[role, scope]))
    tools = Toolset(find_dialect("minion"), ToolContext(caller.hub(scene.hub.id), caller=caller))
    return tools.call("memory_update", {"action": "rewrite", "content": text})


def _came_to(scene: Scene, caller: Caller, name: str, role: str, boundary: str) -> str:
    call = TOOLS[name]
    dialect, tool = name.split()[:2]
    # As the MCP server of `holdfast serve` makes them.
    try:
        hub, standing = caller.hub_standing(scene.hub.id)
    except NotFound:
        return NO_HUB
    context = ToolContext(caller.hub(hub.id), every_hub=True, caller=caller)
    read_only = not standing.allows("write", caller.key)
    tools = Toolset(find_dialect(dialect), context, all_tools=True, read_only=read_only)
    scene.calling = context.hub
    memory = ""
    if call.about is not None:
        kept, owner = ("private", role) if boundary == "own" else (boundary, "somebody")
        memory = scene.spare(partial(call.about, scene), kept, owner)
    reply = tools.call(tool, call.arguments(scene, memory))
    if not reply.failed and not call.reads:
        scene.used()
    return REFUSED if reply.failed else ANSWERED
