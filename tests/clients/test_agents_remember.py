"""The agents' own programs with Holdfast in them: what is said in one session is in the request of
the next. Nothing but the model is not the real thing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clients.model_server import ModelServer
from tests.clients.programs import CLIENTS, Agent, needs

# On a busy machine opencode takes half a minute for each prompt.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
FACTS = (
    "I prefer tabs over spaces. My name is Ada Winter and I live in Lisbon. Remember that the"
    " staging server is called heron. We deploy with fly.io on Fridays."
)
# By the names that `holdfast setup` has for them.
_NAMES = {"gemini-cli": "gemini"}


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    for name in ("web", "shop"):
        (tmp_path / name / ".git").mkdir(parents=True)
    yield tmp_path
    stop_server(tmp_path / "home" / "holdfast")


def stop_server(home: Path) -> None:
    with suppress(OSError, ValueError):
        os.kill(int((home / "hooks" / "server.lock").read_text()), signal.SIGKILL)


def holdfast(agent: Agent, *words: str, folder: Path | None = None, programs: bool = False) -> str:
    """Without `programs`, setup does not find the agent's own program and does not start it."""
    environ = agent.environ if programs else {**agent.environ, "PATH": os.environ["PATH"]}
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        env=environ,
        cwd=folder or agent.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def set_up(client: str, root: Path, model: ModelServer) -> Agent:
    agent = Agent(client, root / "home", model)
    agent.prepare()
    assert "hooks answer in" in holdfast(agent, "setup", _NAMES.get(client, client))
    return agent


@pytest.mark.parametrize("client", [pytest.param(one, marks=needs(one)) for one in CLIENTS])
def test_what_one_session_says_the_next_one_knows(
    client: str, model: ModelServer, root: Path
) -> None:
    agent = set_up(client, root, model)
    agent.ask(FACTS, root / "web")
    agent.ask("Actually, I live in Porto now.", root / "web")
    # The process that keeps the memory open is killed; nothing that was said is lost.
    stop_server(agent.home / "holdfast")
    asked = agent.ask("Where do I live, and where is staging?", root / "web")
    for fact in ("Porto", "tabs", "Ada Winter", "heron", "fly.io"):
        assert fact in asked, fact
    assert "Lives in Lisbon" not in asked
    # In another project: what is about the person, and nothing of this one.
    other = agent.ask("What do you know about me?", root / "shop")
    for fact in ("Porto", "tabs", "Ada Winter"):
        assert fact in other, fact
    for fact in ("heron", "fly.io"):
        assert fact not in other, fact
    turns = json.loads(holdfast(agent, "log", "--json", "-n", "100", folder=root / "web"))["data"]
    said = [turn["content"] for turn in turns if turn["role"] == "user"]
    assert sum(FACTS in text for text in said) == 1 and len(said) == 3
    assert sum(turn["role"] == "assistant" for turn in turns) == 3


@needs("claude-code")
def test_a_client_that_is_killed_in_a_turn_loses_nothing_of_what_was_said(
    model: ModelServer, root: Path
) -> None:
    agent = set_up("claude-code", root, model)
    started = agent.start("Remember that the staging server is called heron.", root / "web")
    while not any("heron" in request.text for request in list(model.requests)):
        assert started.poll() is None, "it ended before it asked the model"
        time.sleep(0.01)
    started.kill()
    started.communicate()
    assert "heron" in agent.ask("Where is staging?", root / "web")


@needs("claude-code")
def test_claude_code_uses_the_tools_that_read_without_asking(
    model: ModelServer, root: Path
) -> None:
    from tests.clients.model_server import ToolCall

    agent = set_up("claude-code", root, model)
    assert "Claude Code: connected, hooks answer in" in holdfast(
        agent, "setup", "claude-code", programs=True
    )
    holdfast(agent, "remember", "The heron service listens on port 5544", folder=root / "web")
    model.tool_calls.append(ToolCall("mcp__holdfast__recall", {"query": "heron port"}))
    asked = ""
    # It does not wait for servers: on a busy machine the first request may not offer our tools.
    while model.tool_calls:
        asked = agent.ask("Use your memory.", root / "web")
    assert "best first" in asked
    # Nobody has been asked, so nothing was refused.
    assert "requested permissions" not in asked


@pytest.mark.parametrize("client", [pytest.param(one, marks=needs(one)) for one in CLIENTS])
def test_teardown_leaves_the_settings_as_they_were(
    client: str, model: ModelServer, root: Path
) -> None:
    agent = Agent(client, root / "home", model)
    agent.prepare()
    before = {path: path.read_bytes() for path in agent.home.rglob("*") if path.is_file()}
    name = _NAMES.get(client, client)
    holdfast(agent, "setup", name)
    assert holdfast(agent, "setup", name).startswith("unchanged")
    holdfast(agent, "teardown", name)
    after = {
        path: path.read_bytes()
        for path in agent.home.rglob("*")
        if path.is_file() and path in before
    }
    assert after == before


@needs("claude-code")
def test_the_plugin_folder_gives_claude_code_memory(model: ModelServer, root: Path) -> None:
    agent = Agent("claude-code", root / "home", model)
    agent.prepare()
    plugin = root / "plugin"
    holdfast(agent, "setup", "claude-code", "--plugin", str(plugin))
    for manifest in ("plugin.json", "marketplace.json"):
        agent.run("plugin", "validate", "--strict", str(plugin / ".claude-plugin" / manifest))
    agent.run("plugin", "marketplace", "add", str(plugin))
    agent.run("plugin", "install", "holdfast@holdfast")
    inventory = agent.run("plugin", "details", "holdfast")
    for part in ("UserPromptSubmit", "MCP servers (1)  holdfast", "memory"):
        assert part in inventory, inventory
    agent.ask(FACTS, root / "web")
    asked = agent.ask("Where do I live, and where is staging?", root / "web")
    for fact in ("Lisbon", "tabs", "Ada Winter", "heron"):
        assert fact in asked, fact
    settings = json.loads((agent.home / ".claude" / "settings.json").read_text())
    assert "hooks" not in settings, "the plugin brings them, and nothing else does"
