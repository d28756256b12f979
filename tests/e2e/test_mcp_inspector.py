"""The official MCP inspector, in its command-line mode, against `holdfast mcp`.

`make inspector` installs it (and `make test` tries to); where it or node is missing, the tests are
skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_INSTALLED = Path(sys.prefix) / "inspector" / "node_modules" / ".bin"
INSPECTOR = shutil.which("mcp-inspector", path=str(_INSTALLED)) or shutil.which("mcp-inspector")

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
    pytest.mark.skipif(
        INSPECTOR is None, reason="the MCP inspector is not installed: `make inspector`"
    ),
    pytest.mark.slow,
]


@pytest.fixture
def inspect(tmp_path: Path) -> Any:
    """What the inspector prints for one method, as JSON."""
    env = {
        **os.environ,
        "HOME": str(tmp_path),
        "HOLDFAST_HOME": str(tmp_path / "home"),
        "HOLDFAST_EMBED_MODEL": "none",
    }
    # Older inspectors hand on only what is named.
    named = [f"HOLDFAST_HOME={tmp_path / 'home'}", "HOLDFAST_EMBED_MODEL=none"]
    given = [word for pair in named for word in ("-e", pair)]
    server = [sys.executable, "-m", "holdfast.edges.cli", "mcp"]

    def run(method: str, *words: str) -> Any:
        ran = subprocess.run(
            [str(INSPECTOR), "--cli", *given, *server, "--method", method, *words],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return run


def test_the_inspector_lists_and_calls_tools(inspect: Any) -> None:
    tools = inspect("tools/list")["tools"]
    assert [tool["name"] for tool in tools][:2] == ["remember", "recall"]
    for tool in tools:
        hints = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
        assert hints <= set(tool["annotations"])
    kept = inspect(
        "tools/call", "--tool-name", "remember", "--tool-arg", "content=Prefers tabs over spaces"
    )
    assert "Remembered #1" in kept["content"][0]["text"]
    found = inspect("tools/call", "--tool-name", "recall", "--tool-arg", "query=tabs or spaces")
    assert "Prefers tabs over spaces" in found["content"][0]["text"]
    assert not found.get("isError")


def test_the_inspector_reads_a_resource_and_a_prompt(inspect: Any) -> None:
    read = inspect("resources/read", "--uri", "memory://default/MEMORY.md")
    assert read["contents"][0]["mimeType"] == "text/markdown"
    prompt = inspect(
        "prompts/get",
        *("--prompt-name", "recall_before_answering", "--prompt-args", "question=Tabs?"),
    )
    assert "> Tabs?" in prompt["messages"][0]["content"]["text"]
