"""What the tests of the MCP server share: the two eras of the protocol, a client in this process, a
server as a process, and a dialect with tools that are slow, noisy or broken on purpose."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server

from holdfast.agents import Dialect, Parameter, Tool, ToolContext
from tests.homes.sitecustomize import HOMES

# The handshake of 2025 and the envelope of 2026.
MODES = ("legacy", "auto")
# Longer than anything here takes on a busy machine; a test that hangs ends with an error.
PATIENCE_S = 30

Talk = Callable[[Client], Awaitable[Any]]


def talk(server: Any, mode: str, conversation: Talk, **options: Any) -> Any:
    """Lets a client of the SDK talk to a server: one in this process, a command or a transport."""

    async def run() -> Any:
        with anyio.fail_after(PATIENCE_S):
            async with Client(server, mode=mode, cache=None, **options) as client:
                return await conversation(client)

    return anyio.run(run)


def call(server: Server[Any], name: str, arguments: Any = None, mode: str = "auto") -> Any:
    """The answer of one tool."""
    return talk(server, mode, lambda client: client.call_tool(name, arguments))


def text_of(result: types.CallToolResult) -> str:
    """The text of an answer; there is always exactly one."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def command(
    home: Path, *words: str, folder: Path | None = None, env: Mapping[str, str] | None = None
) -> StdioServerParameters:
    """`holdfast mcp` as a process; `--odd` gives it the tools below."""
    odd = "--odd" in words
    code = "from holdfast.edges.cli import run; run()"
    if odd:
        code = f"from {__name__} import serve_odd_tools; serve_odd_tools()"
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", code, "mcp", *(word for word in words if word != "--odd")],
        cwd=folder or home.parent,
        env={
            "HOLDFAST_HOME": str(home),
            "HOLDFAST_EMBED_MODEL": "none",
            # A client hands on next to nothing of its environment.
            **{name: os.environ[name] for name in (HOMES,) if name in os.environ},
            "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), *sys.path]),
            **(env or {}),
        },
    )


# Tools that do what tools should not

# Set when a slow tool has stopped, for tests in this process.
stopped = threading.Event()


def _count(context: ToolContext, given: dict[str, Any]) -> str:
    """Many steps, each with a memory; it stops at the step where nobody waits any more."""
    stopped.clear()
    try:
        for step in range(given["steps"]):
            if given["store"]:
                context.hub.remember(f"Step {step} of the count", trust=context.trust)
            context.progress(step + 1, given["steps"], "steps")
            threading.Event().wait(0.01)
    finally:
        stopped.set()
    return "counted"


def _print(context: ToolContext, given: dict[str, Any]) -> str:
    print("a library prints to stdout")
    sys.stdout.flush()
    return "printed"


def _break(context: ToolContext, given: dict[str, Any]) -> str:
    raise ZeroDivisionError("a secret detail")


def _name(context: ToolContext, given: dict[str, Any]) -> dict[str, Any]:
    return {"agent": context.agent, "source": context.source, "echo": given["echo"]}


ODD = Dialect(
    name="holdfast",
    summary="Tools for tests.",
    instructions="Test.",
    tools=(
        Tool(
            "count",
            "Count",
            "Counts.",
            (
                Parameter("steps", "whole", "How many.", default=1_000),
                Parameter("store", "flag", "Store each.", default=False),
            ),
            _count,
        ),
        Tool("print", "Print", "Prints.", (), _print, reads=True),
        Tool("break", "Break", "Breaks.", (), _break, reads=True),
        Tool(
            "name",
            "Name",
            "Who calls.",
            (Parameter("echo", "value", "Anything."),),
            _name,
            reads=True,
            repeats=True,
        ),
    ),
)


def serve_odd_tools() -> None:
    """`holdfast mcp` with the tools above in place of its own."""
    from holdfast.agents.dialects import holdfast as ours
    from holdfast.edges.cli import run

    ours.DIALECT = ODD
    run()
