"""The agents' own programs, each in a home of its own and pointed at the model server on loopback.

`make clients` installs them (and `make test` tries to); where one is missing, its tests are
skipped with that reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.model_server import ANSWER, ModelServer

_INSTALLED = Path(sys.prefix) / "clients" / "node_modules" / ".bin"
CLIENTS = ("claude-code", "codex", "gemini-cli", "opencode")
_PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "opencode": "opencode",
}
# Longer than the slowest of them takes on a busy machine.
_TIMEOUT_S = 100


def path_of(client: str) -> str | None:
    """Where the program of a client is; only the pinned one counts."""
    return shutil.which(_PROGRAMS[client], path=str(_INSTALLED))


def needs(client: str) -> pytest.MarkDecorator:
    """Skips a test where the program of a client is missing."""
    missing = shutil.which("node") is None or path_of(client) is None
    return pytest.mark.skipif(missing, reason=f"{client} is not installed: `make clients`")


class Agent(NamedTuple):
    """A program with a home folder and a scrubbed environment."""

    client: str
    home: Path
    model: ModelServer

    @property
    def environ(self) -> dict[str, str]:
        """What the program and everything that it starts sees."""
        return {
            "PATH": f"{_INSTALLED}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "HOLDFAST_HOME": str(self.home / "holdfast"),
            "HOLDFAST_EMBED_MODEL": "none",
            **_ENVIRONMENTS[self.client](self.model.url),
        }

    def prepare(self) -> None:
        """Writes the settings that point the program at the model server."""
        self.home.mkdir(parents=True, exist_ok=True)
        for name, text in _SETTINGS[self.client](self.model.url).items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def start(self, prompt: str, project: Path, *, resume: bool = False) -> subprocess.Popen[str]:
        """The program at work on one prompt."""
        words = _COMMANDS[self.client](prompt, resume)
        return subprocess.Popen(
            [str(path_of(self.client)), *words],
            cwd=project,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> str:
        """What a command of the program prints that asks no model."""
        ran = subprocess.run(
            [str(path_of(self.client)), *words],
            cwd=self.home,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def ask(self, prompt: str, project: Path, *, resume: bool = False) -> str:
        """Runs one prompt; what the model was sent in its course, as text."""
        self.model.take()
        started = self.start(prompt, project, resume=resume)
        try:
            out, err = started.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            started.kill()
            raise
        assert started.returncode == 0, out + err
        assert ANSWER in out, "it has not shown what the model answered"
        return "\n".join(request.text for request in self.model.take())


def _claude_code(prompt: str, resume: bool) -> list[str]:
    return ["-p", *(["-c"] if resume else []), prompt]


def _codex(prompt: str, resume: bool) -> list[str]:
    given = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]
    return ["exec", *given, *(["resume", "--last"] if resume else []), prompt]


def _gemini(prompt: str, resume: bool) -> list[str]:
    return ["-m", "gemini-2.5-flash", *(["-r", "latest"] if resume else []), "-p", prompt]


def _opencode(prompt: str, resume: bool) -> list[str]:
    return ["run", *(["-c"] if resume else []), prompt]


_COMMANDS = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
}
_ENVIRONMENTS = {
    "claude-code": lambda url: {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # It waits five seconds for servers of tools, which is too short on a busy machine.
        "MCP_CONNECTION_NONBLOCKING": "0",
        "MCP_CONNECT_TIMEOUT_MS": "60000",
        "IS_SANDBOX": "1",
    },
    "codex": lambda url: {"TEST_KEY": "test"},
    "gemini-cli": lambda url: {
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "test",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    },
    "opencode": lambda url: {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    },
}


def _codex_settings(url: str) -> dict[str, str]:
    text = (
        'model = "test-model"\nmodel_provider = "loopback"\n\n[model_providers.loopback]\n'
        f'name = "loopback"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "TEST_KEY"\n'
    )
    return {".codex/config.toml": text}


def _opencode_settings(url: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "loopback",
        "options": {"baseURL": f"{url}/v1", "apiKey": "test"},
        "models": {"test-model": {"name": "test-model"}},
    }
    settings = {
        "model": "loopback/test-model",
        "small_model": "loopback/test-model",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"loopback": provider},
    }
    return {".config/opencode/opencode.json": json.dumps(settings, indent=2) + "\n"}


_SETTINGS = {
    "claude-code": lambda url: {".claude/settings.json": "{}\n"},
    "codex": _codex_settings,
    "gemini-cli": lambda url: {
        ".gemini/settings.json": json.dumps(
            {"security": {"auth": {"selectedType": "gemini-api-key"}}}, indent=2
        )
        + "\n"
    },
    "opencode": _opencode_settings,
}
