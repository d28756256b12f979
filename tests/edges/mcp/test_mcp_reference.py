"""The reference names what the server has; and nobody pays for the server who does not start it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import HubMemory
from holdfast.agents.toolset import tools
from holdfast.edges.mcp import http, resources, server, stdio
from holdfast.edges.mcp.resources import Prompts, Resources
from holdfast.edges.server import listening
from tests.edges.mcp.sessions import call, text_of

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "mcp.md"


def test_the_reference_names_every_resource_and_prompt(hub: HubMemory) -> None:
    text = PAGE.read_text(encoding="utf-8")
    for template in Resources(hub).templates():
        assert f"`{template.uri_template}`" in text
    for prompt in Prompts(hub, tools("holdfast", hub)).listed():
        assert f"`{prompt.name}`" in text
        assert all(f"`{argument.name}`" in text for argument in prompt.arguments or [])


@pytest.mark.parametrize(
    "said",
    [
        f"{stdio._LINE_BYTES_MAX:,} bytes",
        f"{stdio._LAST_ANSWERS_S} seconds",
        f"{stdio._STOP_S} seconds",
        f"{http.BODY_BYTES_MAX:,} bytes",
        f"at least {listening.KEY_CHARS_MIN} letters",
        f"{server._ARGUMENTS_ROOM:,} characters",
        f"newest {resources.DAYS_LISTED} journals",
        f"`{http.KEY_VARIABLE}`",
        f"`{http.PATH}`",
    ],
)
def test_the_reference_has_the_bounds_of_the_code(said: str) -> None:
    assert said in PAGE.read_text(encoding="utf-8")


def test_help_does_not_load_the_server() -> None:
    code = (
        "import sys; from holdfast.edges.cli import main; main(['mcp', '--help']);"
        "sys.exit(bool({'mcp', 'mcp_types', 'pydantic', 'anyio'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0 and "holdfast mcp" in ran.stdout


def test_a_hub_that_is_deleted_while_it_is_served_is_a_sentence(
    memory: holdfast.Holdfast, hub: HubMemory
) -> None:
    serving = server.make_server(hub)
    memory.delete_hub(hub.name)
    for name, arguments in (("recall", {"query": "tabs"}), ("remember", {"content": "Tabs"})):
        answer = call(serving, name, arguments)
        assert answer.is_error and "is not there any more" in text_of(answer)
