"""The programs that start Holdfast as their MCP server. Here is a row per client: its name, where
its settings are, what an entry looks like, how to see it. Each row is what the client's own
documentation says; docs/how-to/set-up-a-client.md names the pages.

`jsonc` reads JSON with comments, `json_text` and `toml_text` edit text, `program` says what an
entry starts, `settings_file` reads and writes the file, and records which folders that made.
`install_server` puts an entry into a file, `install_hooks` the hooks; all else in the file stays.
Nothing here knows the command line, and none of it opens a memory.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Literal, NamedTuple

from holdfast.edges.clients.program import Platform
from holdfast.errors import InvalidInput

Scope = Literal["user", "project"]
SCOPES: tuple[Scope, ...] = ("user", "project")


class ServerEntry(NamedTuple):
    """The entry of the MCP server that setup writes into a client's settings. `fields` are ours and
    kept up to date; `first` are only written with a new entry, as a person may change them."""

    fields: dict[str, Any]
    first: dict[str, Any]


# What an entry looks like


def _plain(line: Sequence[str]) -> ServerEntry:
    return ServerEntry({"command": line[0], "args": list(line[1:])}, {})


def _typed(line: Sequence[str]) -> ServerEntry:
    return ServerEntry({"type": "stdio", "command": line[0], "args": list(line[1:])}, {})


def _copilot(line: Sequence[str]) -> ServerEntry:
    fields = {"type": "local", "command": line[0], "args": list(line[1:])}
    return ServerEntry(fields, {"tools": ["*"]})


def _opencode(line: Sequence[str]) -> ServerEntry:
    return ServerEntry({"type": "local", "command": list(line)}, {"enabled": True})


def _opencode_holder(value: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Version 2 of opencode has its servers in `mcp.servers`, and still reads those of version 1
    in `mcp`. A server that is called `servers` has a type."""
    servers = value.get("mcp")
    servers = servers.get("servers") if isinstance(servers, dict) else None
    if isinstance(servers, dict) and not isinstance(servers.get("type"), str):
        return ("mcp", "servers")
    return None


class Client(NamedTuple):
    """One client. `files` are those of a scope: the first is written, an entry of ours may be in
    any. `holder` is the path of the object that has an entry per server."""

    name: str
    title: str
    files: Callable[[Platform, Scope], list[str]]
    signs: Callable[[Platform], list[str]]
    programs: tuple[str, ...]
    restart: str
    holder: tuple[str, ...] = ("mcpServers",)
    entry: Callable[[Sequence[str]], ServerEntry] = _plain
    language: Literal["json", "toml"] = "json"
    scopes: tuple[Scope, ...] = SCOPES
    # Where the file may hold its servers in another place, which place that is.
    holder_in: Callable[[Mapping[str, Any]], tuple[str, ...] | None] = lambda value: None

    @property
    def format(self) -> ModuleType:
        """The editor for the text of its files, imported late: tomlkit is slow to load."""
        if self.language == "toml":
            from holdfast.edges.clients import toml_text

            return toml_text
        from holdfast.edges.clients import json_text

        return json_text

    def path(self, name: str, value: Mapping[str, Any]) -> tuple[str, ...]:
        """The path of the entry of that name in a file with this value."""
        return (*(self.holder_in(value) or self.holder), name)

    def entry_at(self, path: Sequence[str], line: Sequence[str]) -> ServerEntry:
        """The entry that starts this command line, as it is written at that path."""
        entry = self.entry(line)
        # Only the first layout of opencode has `enabled`; its second refuses it.
        return entry if tuple(path[:-1]) == self.holder else entry._replace(first={})

    def installed(self, place: Platform, ours: Callable[[str], bool] = lambda sign: False) -> bool:
        """Whether it seems to be installed: it has a folder of its own, or its program exists. What
        is `ours`, created by a setup, does not count."""
        if any(os.path.exists(sign) and not ours(sign) for sign in self.signs(place)):
            return True
        from shutil import which

        path = place.environ.get("PATH", "")
        return any(which(program, path=path) for program in self.programs)


# Where the files are


def _in(user: Callable[[Platform], str], *project: str) -> Callable[[Platform, Scope], list[str]]:
    """One file for the user, one for a project."""

    def files(place: Platform, scope: Scope) -> list[str]:
        if scope == "project":
            return [os.path.join(place.project, *project)]
        return [user(place)]

    return files


def _claude_code(place: Platform) -> str:
    return os.path.join(place.named("CLAUDE_CONFIG_DIR") or place.home, ".claude.json")


def _claude_desktop_folders(place: Platform) -> list[str]:
    """On Windows the packaged app has files of its own, and does not see those outside."""
    packaged = []
    if place.platform == "win32":
        packages = glob.escape(os.path.join(place.local_app_data, "Packages"))
        packaged = sorted(glob.glob(os.path.join(packages, "Claude_*")))
    inside = [os.path.join(found, "LocalCache", "Roaming", "Claude") for found in packaged]
    return [*inside, os.path.join(place.app_data, "Claude")]


def _claude_desktop(place: Platform, scope: Scope) -> list[str]:
    return [
        os.path.join(folder, "claude_desktop_config.json")
        for folder in _claude_desktop_folders(place)
    ]


def _codex_home(place: Platform) -> str:
    return place.named("CODEX_HOME") or place.at_home(".codex")


def _gemini_home(place: Platform) -> str:
    return os.path.join(place.named("GEMINI_CLI_HOME") or place.home, ".gemini")


def _copilot_home(place: Platform) -> str:
    return place.named("COPILOT_HOME") or place.at_home(".copilot")


def devin_folder(place: Platform) -> str:
    base = place.app_data if place.platform == "win32" else place.config
    return os.path.join(base, "devin")


def _windsurf(place: Platform, scope: Scope) -> list[str]:
    """Windsurf became Devin Desktop, which has a folder of its own; older ones do not have it."""
    if scope == "project":
        return [os.path.join(place.project, ".devin", "mcp_config.json")]
    folders = [place.at_home(".codeium", "windsurf"), devin_folder(place)]
    if os.path.isdir(devin_folder(place)):
        folders.reverse()
    return [os.path.join(folder, "mcp_config.json") for folder in folders]


def _opencode_files(place: Platform, scope: Scope) -> list[str]:
    """The file that exists; it may have comments."""
    folders = [os.path.join(place.config, "opencode")]
    if scope == "project":
        folders = [place.project, os.path.join(place.project, ".opencode")]
    names = ("opencode.json", "opencode.jsonc")
    files = [os.path.join(folder, name) for folder in folders for name in names]
    # Sorting keeps the order of those that are there, and of those that are not.
    return sorted(files, key=lambda file: not os.path.lexists(file))


def _zed(place: Platform) -> str:
    if place.platform == "win32":
        return os.path.join(place.app_data, "Zed")
    if place.platform == "darwin":
        return place.at_home(".config", "zed")
    return os.path.join(place.config, "zed")


CLIENTS = (
    Client(
        "claude-code",
        "Claude Code",
        _in(_claude_code, ".mcp.json"),
        lambda place: [_claude_code(place), place.at_home(".claude")],
        ("claude",),
        "Start a new session of Claude Code; `/mcp` there lists it.",
        entry=_typed,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        _claude_desktop,
        _claude_desktop_folders,
        (),
        "Quit Claude Desktop and start it again; closing its window is not enough.",
        scopes=("user",),
    ),
    Client(
        "cursor",
        "Cursor",
        _in(lambda place: place.at_home(".cursor", "mcp.json"), ".cursor", "mcp.json"),
        lambda place: [place.at_home(".cursor")],
        ("cursor", "cursor-agent"),
        "Restart Cursor; its settings list it under MCP.",
        entry=_typed,
    ),
    Client(
        "codex",
        "Codex",
        _in(lambda place: os.path.join(_codex_home(place), "config.toml"), ".codex", "config.toml"),
        lambda place: [_codex_home(place)],
        ("codex",),
        "Start a new session of Codex; `/mcp` there lists it.",
        holder=("mcp_servers",),
        language="toml",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        _in(
            lambda place: os.path.join(_gemini_home(place), "settings.json"),
            ".gemini",
            "settings.json",
        ),
        lambda place: [_gemini_home(place)],
        ("gemini",),
        "Restart Gemini CLI; `/mcp` there lists it.",
    ),
    Client(
        "vscode",
        "VS Code",
        _in(
            lambda place: os.path.join(place.app_data, "Code", "User", "mcp.json"),
            ".vscode",
            "mcp.json",
        ),
        lambda place: [os.path.join(place.app_data, "Code", "User")],
        ("code",),
        "Restart VS Code, or run `MCP: List Servers` there and start it.",
        holder=("servers",),
        entry=_typed,
    ),
    Client(
        "copilot-cli",
        "Copilot CLI",
        _in(lambda place: os.path.join(_copilot_home(place), "mcp-config.json"), ".mcp.json"),
        lambda place: [_copilot_home(place)],
        ("copilot",),
        "Start a new session of Copilot CLI; `/mcp` there lists it.",
        entry=_copilot,
        scopes=("user",),
    ),
    Client(
        "windsurf",
        "Windsurf (Devin Desktop)",
        _windsurf,
        lambda place: [place.at_home(".codeium", "windsurf"), devin_folder(place)],
        ("windsurf", "devin-desktop"),
        "Restart Windsurf or Devin Desktop; the agent's panel lists it under MCP.",
    ),
    Client(
        "opencode",
        "opencode",
        _opencode_files,
        lambda place: [os.path.join(place.config, "opencode")],
        ("opencode",),
        "Restart opencode; `opencode mcp list` shows it.",
        holder=("mcp",),
        entry=_opencode,
        holder_in=_opencode_holder,
    ),
    Client(
        "zed",
        "Zed",
        _in(lambda place: os.path.join(_zed(place), "settings.json"), ".zed", "settings.json"),
        lambda place: [_zed(place)],
        ("zed", "zeditor"),
        "Restart Zed; the settings of its agent list it.",
        holder=("context_servers",),
    ),
)
NAMES = tuple(client.name for client in CLIENTS)


def find(name: str) -> Client:
    """The client of that name."""
    for client in CLIENTS:
        if client.name == name.lower():
            return client
    near = _nearest(name.lower())
    guess = f"Did you mean `{near}`? " if near else ""
    known = f"Holdfast knows {', '.join(NAMES)}."
    raise InvalidInput(f"There is no client {name!r}.", hint=guess + known)


def _nearest(word: str) -> str:
    """The name that was probably meant, or ''. Part of a name counts more than letters that
    happen to be alike: `clod` is short for claude-code, though codex has as many of its letters."""
    from difflib import get_close_matches

    if len(word) < 2:
        return ""
    found = (
        [name for name in NAMES if name.startswith(word)]
        or get_close_matches(word, NAMES, n=1, cutoff=0.75)
        or [name for name in NAMES if any(part.startswith(word) for part in name.split("-"))]
        or [name for name in NAMES if name[0] == word[0] and _is_within(word, name)]
        or get_close_matches(word, NAMES, n=1)
    )
    return found[0] if found else ""


def _is_within(word: str, name: str) -> bool:
    """Whether a name contains the letters of a word in order."""
    letters = iter(name)
    return all(letter in letters for letter in word)


def files_of(client: Client, place: Platform, scope: str) -> list[str]:
    """The files of a client in a scope; the first is the one to write."""
    known = [one for one in SCOPES if one == scope]
    if not known:
        raise InvalidInput(f"There is no scope {scope!r}.", hint=f"Use {' or '.join(SCOPES)}.")
    if known[0] not in client.scopes:
        raise InvalidInput(
            f"{client.title} has no settings of a {scope}.",
            hint=f"Use --scope {client.scopes[0]}, or name a file with --file.",
        )
    return client.files(place, known[0])
