"""The Anthropic SDK's memory tool over a hub: its real client and tool runner, a scripted API."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import HubMemory

anthropic = pytest.importorskip("anthropic", reason="the Anthropic SDK is not installed")

import anyio  # noqa: E402
from anthropic.lib.tools import (  # noqa: E402
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)
from anthropic.types.beta import BetaMemoryTool20250818ViewCommand  # noqa: E402

from holdfast.adapters.anthropic_memory import (  # noqa: E402
    AsyncHoldfastMemoryTool,
    HoldfastMemoryTool,
)
from tests.unit.adapters.scripted_api import ScriptedApi, scripted_api  # noqa: E402

SCRIPT: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/ann.md", "file_text": "Ann drinks oolong.\n"},
    {"command": "create", "path": "/memories/ann.md", "file_text": "again"},
    {"command": "str_replace", "path": "/memories/ann.md", "old_str": "oolong", "new_str": "tea"},
    {"command": "insert", "path": "/memories/ann.md", "insert_line": 1, "insert_text": "At noon."},
    {"command": "view", "path": "/memories/ann.md", "view_range": [1, 2]},
    {"command": "rename", "old_path": "/memories/ann.md", "new_path": "/memories/people/ann.md"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "delete", "path": "/memories/people"},
    {"command": "erase"},
    {"path": "/memories"},
]
ANSWERS = [
    (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden"
        " items:\n0B\t/memories",
        False,
    ),
    ("File created successfully at: /memories/ann.md", False),
    ("File /memories/ann.md already exists", True),
    (
        "The memory file has been edited. Here is the snippet showing the change (with line"
        " numbers):\n     1\tAnn drinks tea.\n     2\t",
        False,
    ),
    ("The file /memories/ann.md has been edited.", False),
    (
        "Here's the content of /memories/ann.md with line numbers:\n     1\tAnn drinks tea."
        "\n     2\tAt noon.",
        False,
    ),
    ("Successfully renamed /memories/ann.md to /memories/people/ann.md", False),
    ("Path /memories/../../etc/passwd would escape /memories directory", True),
    ("Successfully deleted /memories/people", False),
    (
        "memory: command must be one of view, create, str_replace, insert, delete, rename;"
        " 'erase' is none of them.",
        True,
    ),
    ("memory: command must be given.", True),
]


@pytest.fixture
def api() -> Iterator[ScriptedApi]:
    with scripted_api(SCRIPT) as server:
        yield server


def asked(tool: Any) -> dict[str, Any]:
    return {
        "model": "claude-test",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Remember that Ann drinks oolong."}],
        "tools": [tool],
    }


def test_a_conversation_with_the_tool_runner(hub: HubMemory, api: ScriptedApi) -> None:
    tool = HoldfastMemoryTool(hub, agent="claude")
    assert isinstance(tool, BetaAbstractMemoryTool)
    with anthropic.Anthropic(api_key="none", base_url=api.url, max_retries=0) as client:
        last = client.beta.messages.tool_runner(**asked(tool)).until_done()
    assert last.content[0].text == "Done."
    assert api.results == ANSWERS
    assert api.requests[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert [entry.after.content for entry in hub.history(1)][:3] == [
        "Ann drinks oolong.\n",
        "Ann drinks tea.\n",
        "Ann drinks tea.\nAt noon.\n",
    ]
    assert hub.get(1).source_agent == "claude"
    assert hub.get(1).trust == "agent"


def test_the_same_conversation_with_the_async_tool_runner(hub: HubMemory, api: ScriptedApi) -> None:
    tool = AsyncHoldfastMemoryTool(hub)
    assert isinstance(tool, BetaAsyncAbstractMemoryTool)

    async def converse() -> None:
        async with anthropic.AsyncAnthropic(
            api_key="none", base_url=api.url, max_retries=0
        ) as client:
            await client.beta.messages.tool_runner(**asked(tool)).until_done()

    anyio.run(converse)
    assert api.results == ANSWERS


def test_the_async_tool_keeps_nobody_waiting(hub: HubMemory) -> None:
    """Many commands at once, all of them done, none on the loop's own thread."""
    tool = AsyncHoldfastMemoryTool(hub)
    replies: list[str] = []

    async def create(number: int) -> None:
        replies.append(
            await tool.call(
                {"command": "create", "path": f"/memories/{number}.md", "file_text": f"{number}"}
            )
        )

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(create, number)

    anyio.run(all_at_once)
    assert len(replies) == 12
    assert len(hub.list()) == 12


def test_a_command_can_be_given_as_the_sdks_value(hub: HubMemory) -> None:
    tool = HoldfastMemoryTool(hub)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo"})
    command = BetaMemoryTool20250818ViewCommand(
        command="view", path="/memories/a.md", view_range=[2, -1]
    )
    assert tool.execute(command) == (
        "Here's the content of /memories/a.md with line numbers:\n     2\ttwo"
    )
    other = AsyncHoldfastMemoryTool(hub)
    assert anyio.run(other.execute, command) == tool.execute(command)


def test_a_failure_is_the_sdks_own_error(hub: HubMemory) -> None:
    tool = HoldfastMemoryTool(hub)
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/no.md"})
    for nonsense in (None, "view", 5, ["view"]):
        with pytest.raises(ToolError):
            tool.call(nonsense)


def test_everything_can_be_cleared_and_comes_back_with_undo(hub: HubMemory) -> None:
    tool = HoldfastMemoryTool(hub)
    tool.call({"command": "create", "path": "/memories/a.md", "file_text": "one"})
    tool.call({"command": "create", "path": "/memories/b/c.md", "file_text": "two"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert len(str(tool.call({"command": "view", "path": "/memories"})).splitlines()) == 2
    hub.undo()
    assert "/memories/b/c.md" in str(tool.call({"command": "view", "path": "/memories"}))
    assert anyio.run(AsyncHoldfastMemoryTool(hub).clear_all_memory) == "All memory cleared"


def test_the_cache_control_is_handed_on(hub: HubMemory) -> None:
    for kind in (HoldfastMemoryTool, AsyncHoldfastMemoryTool):
        tool = kind(hub, cache_control={"type": "ephemeral"})
        assert tool.to_dict() == {
            "type": "memory_20250818",
            "name": "memory",
            "cache_control": {"type": "ephemeral"},
        }


def test_without_the_sdk_the_error_says_how_to_get_it() -> None:
    code = (
        "import sys; sys.modules['anthropic'] = None\n"
        "try:\n    import holdfast.adapters.anthropic_memory\n"
        "except ImportError as error:\n    print(error)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert 'pip install "holdfast-memory[anthropic]"' in said


def test_the_sdk_is_loaded_only_by_who_uses_it() -> None:
    code = (
        "import sys, holdfast, holdfast.adapters; holdfast.tools\n"
        "import holdfast.agents.dialects.anthropic\n"
        "print('anthropic' in sys.modules, 'pydantic' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert said.split() == ["False", "False"]


# Views of what is there, refusals, edits and moves, in the words of the SDK's own tool.
SAME_AS_THE_SDK: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree\n"},
    {"command": "create", "path": "/memories/a.md", "file_text": "x"},
    {"command": "view", "path": "/memories/a.md"},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/a.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/none.md"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "2"},
    {"command": "str_replace", "path": "/memories/a.md", "old_str": "zzz", "new_str": "2"},
    {"command": "create", "path": "/memories/d/b.md", "file_text": "x\nx\n"},
    {"command": "str_replace", "path": "/memories/d/b.md", "old_str": "x", "new_str": "2"},
    {"command": "str_replace", "path": "/memories/none.md", "old_str": "x", "new_str": "2"},
    {"command": "str_replace", "path": "/memories/d", "old_str": "x", "new_str": "2"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "zero"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": 99, "insert_text": "zero"},
    {"command": "insert", "path": "/memories/a.md", "insert_line": -1, "insert_text": "zero"},
    {"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "zero"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/d/b.md"},
    {"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/x.md"},
    {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/c.md"},
    {"command": "delete", "path": "/memories/c.md"},
    {"command": "delete", "path": "/memories/c.md"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/d"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../x"},
]


def test_answers_and_errors_are_those_of_the_sdks_own_tool_to_the_letter(
    hub: HubMemory, tmp_path: Path
) -> None:
    builtin = pytest.importorskip("anthropic.lib.tools._beta_builtin_memory_tool")
    theirs = builtin.BetaLocalFilesystemMemoryTool(str(tmp_path / "sdk"))
    ours = HoldfastMemoryTool(hub)

    def answer(tool: Any, command: dict[str, Any]) -> tuple[bool, str]:
        try:
            return True, tool.call(dict(command))
        except ToolError as error:
            return False, str(error)

    for command in SAME_AS_THE_SDK:
        assert answer(ours, command) == answer(theirs, command), command
