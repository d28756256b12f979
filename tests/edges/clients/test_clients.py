"""Each client's files on each system, what its entry looks like, and whose an entry is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from holdfast.edges.clients import CLIENTS, NAMES, files_of, find
from holdfast.edges.clients.program import Platform, command_line, is_ours, is_passing, program
from holdfast.errors import InvalidInput

HOME = os.path.join(os.sep, "home", "ann")


def place(platform: str, folder: str = "/work/project", **environ: str) -> Platform:
    return Platform(platform, environ, HOME, folder)


def path(*parts: str) -> str:
    return os.path.join(HOME, *parts)


MAC = ("Library", "Application Support")
ROAMING = ("AppData", "Roaming")
USER_FILES = [
    ("claude-code", "linux", (".claude.json",)),
    ("claude-code", "darwin", (".claude.json",)),
    ("claude-code", "win32", (".claude.json",)),
    ("claude-desktop", "linux", (".config", "Claude", "claude_desktop_config.json")),
    ("claude-desktop", "darwin", (*MAC, "Claude", "claude_desktop_config.json")),
    ("claude-desktop", "win32", (*ROAMING, "Claude", "claude_desktop_config.json")),
    ("cursor", "linux", (".cursor", "mcp.json")),
    ("cursor", "darwin", (".cursor", "mcp.json")),
    ("cursor", "win32", (".cursor", "mcp.json")),
    ("codex", "linux", (".codex", "config.toml")),
    ("codex", "darwin", (".codex", "config.toml")),
    ("codex", "win32", (".codex", "config.toml")),
    ("gemini", "linux", (".gemini", "settings.json")),
    ("gemini", "darwin", (".gemini", "settings.json")),
    ("gemini", "win32", (".gemini", "settings.json")),
    ("vscode", "linux", (".config", "Code", "User", "mcp.json")),
    ("vscode", "darwin", (*MAC, "Code", "User", "mcp.json")),
    ("vscode", "win32", (*ROAMING, "Code", "User", "mcp.json")),
    ("copilot-cli", "linux", (".copilot", "mcp-config.json")),
    ("copilot-cli", "darwin", (".copilot", "mcp-config.json")),
    ("copilot-cli", "win32", (".copilot", "mcp-config.json")),
    ("windsurf", "linux", (".codeium", "windsurf", "mcp_config.json")),
    ("windsurf", "darwin", (".codeium", "windsurf", "mcp_config.json")),
    ("windsurf", "win32", (".codeium", "windsurf", "mcp_config.json")),
    ("opencode", "linux", (".config", "opencode", "opencode.json")),
    ("opencode", "darwin", (".config", "opencode", "opencode.json")),
    ("opencode", "win32", (".config", "opencode", "opencode.json")),
    ("zed", "linux", (".config", "zed", "settings.json")),
    ("zed", "darwin", (".config", "zed", "settings.json")),
    ("zed", "win32", (*ROAMING, "Zed", "settings.json")),
]


def test_every_client_has_a_row_for_every_system() -> None:
    assert {row[0] for row in USER_FILES} == set(NAMES)
    assert len(USER_FILES) == 3 * len(NAMES)


@pytest.mark.parametrize(("name", "platform", "parts"), USER_FILES)
def test_the_file_of_a_person_is_where_the_client_looks(
    name: str, platform: str, parts: tuple[str, ...]
) -> None:
    assert files_of(find(name), place(platform), "user")[0] == path(*parts)


@pytest.mark.parametrize(
    ("name", "platform", "variable", "parts"),
    [
        ("claude-code", "linux", "CLAUDE_CONFIG_DIR", (".claude.json",)),
        ("codex", "darwin", "CODEX_HOME", ("config.toml",)),
        ("gemini", "linux", "GEMINI_CLI_HOME", (".gemini", "settings.json")),
        ("claude-desktop", "linux", "XDG_CONFIG_HOME", ("Claude", "claude_desktop_config.json")),
        ("vscode", "linux", "XDG_CONFIG_HOME", ("Code", "User", "mcp.json")),
        ("zed", "linux", "XDG_CONFIG_HOME", ("zed", "settings.json")),
        ("opencode", "win32", "XDG_CONFIG_HOME", ("opencode", "opencode.json")),
        ("vscode", "win32", "APPDATA", ("Code", "User", "mcp.json")),
        ("zed", "win32", "APPDATA", ("Zed", "settings.json")),
    ],
)
def test_a_variable_that_moves_a_clients_files_is_honoured(
    name: str, platform: str, variable: str, parts: tuple[str, ...]
) -> None:
    moved = place(platform, **{variable: os.path.join(os.sep, "else", "where")})
    expected = os.path.join(os.sep, "else", "where", *parts)
    assert files_of(find(name), moved, "user")[0] == expected
    relative = place(platform, **{variable: "where"})
    assert "where" not in files_of(find(name), relative, "user")[0]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("claude-code", (".mcp.json",)),
        ("cursor", (".cursor", "mcp.json")),
        ("codex", (".codex", "config.toml")),
        ("gemini", (".gemini", "settings.json")),
        ("vscode", (".vscode", "mcp.json")),
        ("windsurf", (".devin", "mcp_config.json")),
        ("opencode", ("opencode.json",)),
        ("zed", (".zed", "settings.json")),
    ],
)
def test_the_file_of_a_project_is_at_its_root(
    tmp_path: Path, name: str, parts: tuple[str, ...]
) -> None:
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "src" / "deep"
    inside.mkdir(parents=True)
    at = place("linux", str(inside))
    assert files_of(find(name), at, "project")[0] == str(tmp_path.joinpath(*parts))


def test_a_folder_that_is_no_repository_is_the_project_itself(tmp_path: Path) -> None:
    assert place("linux", str(tmp_path)).project == str(tmp_path)


def test_a_home_that_is_a_repository_is_no_project(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "notes"
    folder.mkdir()
    assert Platform("linux", {}, str(tmp_path), str(folder)).project == str(folder)


def test_a_client_without_settings_of_projects_says_so() -> None:
    with pytest.raises(InvalidInput, match="Claude Desktop has no settings of a project"):
        files_of(find("claude-desktop"), place("darwin"), "project")
    with pytest.raises(InvalidInput, match="no scope 'team'"):
        files_of(find("cursor"), place("linux"), "team")


def test_the_packaged_claude_desktop_on_windows_has_a_file_of_its_own(tmp_path: Path) -> None:
    local = tmp_path / "AppData" / "Local"
    package = local / "Packages" / "Claude_abc123"
    package.mkdir(parents=True)
    (local / "Packages" / "Other_1").mkdir()
    at = Platform("win32", {"LOCALAPPDATA": str(local)}, str(tmp_path), str(tmp_path))
    packaged, classic = files_of(find("claude-desktop"), at, "user")
    assert packaged == str(
        package / "LocalCache" / "Roaming" / "Claude" / "claude_desktop_config.json"
    )
    assert classic == str(
        tmp_path / "AppData" / "Roaming" / "Claude" / "claude_desktop_config.json"
    )


@pytest.mark.parametrize(
    ("platform", "folder"),
    [("linux", ".config"), ("darwin", ".config"), ("win32", "AppData/Roaming")],
)
def test_windsurf_that_became_devin_desktop_is_written_in_its_new_place(
    tmp_path: Path, platform: str, folder: str
) -> None:
    at = Platform(platform, {}, str(tmp_path), str(tmp_path))
    old, new = files_of(find("windsurf"), at, "user")
    assert old == str(tmp_path / ".codeium" / "windsurf" / "mcp_config.json")
    (tmp_path / folder / "devin").mkdir(parents=True)
    assert files_of(find("windsurf"), at, "user") == [new, old]
    assert new == str(tmp_path / folder / "devin" / "mcp_config.json")


def test_opencode_is_written_into_the_file_that_is_there(tmp_path: Path) -> None:
    at = Platform("linux", {}, str(tmp_path), str(tmp_path))
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{}")
    assert files_of(find("opencode"), at, "user")[0] == str(folder / "opencode.jsonc")
    (tmp_path / ".opencode").mkdir()
    (tmp_path / ".opencode" / "opencode.json").write_text("{}")
    first = files_of(find("opencode"), at, "project")[0]
    assert first == str(tmp_path / ".opencode" / "opencode.json")


@pytest.mark.parametrize(
    ("name", "holder", "entry"),
    [
        ("claude-code", ("mcpServers",), {"type": "stdio", "command": "/h", "args": ["mcp"]}),
        ("claude-desktop", ("mcpServers",), {"command": "/h", "args": ["mcp"]}),
        ("cursor", ("mcpServers",), {"type": "stdio", "command": "/h", "args": ["mcp"]}),
        ("codex", ("mcp_servers",), {"command": "/h", "args": ["mcp"]}),
        ("gemini", ("mcpServers",), {"command": "/h", "args": ["mcp"]}),
        ("vscode", ("servers",), {"type": "stdio", "command": "/h", "args": ["mcp"]}),
        ("windsurf", ("mcpServers",), {"command": "/h", "args": ["mcp"]}),
        ("opencode", ("mcp",), {"type": "local", "command": ["/h", "mcp"], "enabled": True}),
        ("zed", ("context_servers",), {"command": "/h", "args": ["mcp"]}),
    ],
)
def test_an_entry_has_the_shape_that_the_client_reads(
    name: str, holder: tuple[str, ...], entry: dict[str, Any]
) -> None:
    client = find(name)
    fields, first = client.entry(["/h", "mcp"])
    assert (client.holder, fields | first) == (holder, entry)


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ({}, ("mcp", "x")),
        ({"mcp": {"other": {"type": "local"}}}, ("mcp", "x")),
        ({"mcp": {"servers": {}}}, ("mcp", "servers", "x")),
        ({"mcp": {"servers": {"other": {}}, "old": {}}}, ("mcp", "servers", "x")),
        ({"mcp": {"servers": {"type": "remote", "url": "u"}}}, ("mcp", "x")),
        ({"mcp": []}, ("mcp", "x")),
    ],
)
def test_opencode_is_written_in_the_layout_that_the_file_has(
    value: dict[str, Any], at: tuple[str, ...]
) -> None:
    client = find("opencode")
    assert client.path("x", value) == at
    assert bool(client.entry_at(at, ["/h", "mcp"]).first) == (len(at) == 2)


def test_a_client_is_installed_when_its_folder_or_its_program_is_there(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    at = Platform("linux", {"PATH": str(programs)}, str(tmp_path), str(tmp_path))
    assert [client.name for client in CLIENTS if client.installed(at)] == []
    (tmp_path / ".cursor").mkdir()
    script = programs / "codex"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert [client.name for client in CLIENTS if client.installed(at)] == ["cursor", "codex"]


def test_an_unknown_client_is_told_with_the_nearest() -> None:
    with pytest.raises(InvalidInput) as caught:
        find("vs-code")
    assert "`vscode`" in caught.value.hint
    assert find("Claude-Code").name == "claude-code"


# What an entry starts


def test_the_script_in_use_is_called_by_its_full_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "holdfast"
    script.write_text("")
    assert program(str(script), "/py") == [str(script)]
    monkeypatch.chdir(tmp_path)
    assert program("./holdfast", "/py") == [str(script)]
    link = tmp_path / "bin" / "holdfast"
    link.parent.mkdir()
    link.symlink_to(script)
    assert program(str(link), "/py") == [str(link)]


def test_on_windows_the_ending_that_was_cut_off_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "holdfast.exe").write_text("")
    assert program(str(tmp_path / "holdfast"), "/py") == [str(tmp_path / "holdfast.exe")]


@pytest.mark.parametrize("script", ["/x/holdfast/__main__.py", "/x/pytest", "/gone/holdfast", "-c"])
def test_without_a_script_it_is_called_as_a_module(script: str) -> None:
    assert program(script, "/usr/bin/python3") == ["/usr/bin/python3", "-P", "-m", "holdfast"]


def test_options_are_in_the_line_only_when_they_are_given() -> None:
    assert command_line(["/h"]) == ["/h", "mcp"]
    line = command_line(
        ["/h"], hub="work", dialect="max", home="/m", read_only=True, all_tools=True
    )
    assert line == [
        *("/h", "mcp", "--home", "/m", "--hub", "work", "--dialect", "max"),
        *("--read-only", "--all-tools"),
    ]


def test_a_home_is_written_so_that_it_is_the_same_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command_line(["/h"], home="mem")[-1] == str(tmp_path / "mem")
    assert command_line(["/h"], home="~/mem")[-1] == os.path.expanduser("~/mem")


def test_a_path_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not Unicode"):
        command_line(["/h\udcff"])


@pytest.mark.parametrize(
    ("path", "passing"),
    [
        ("/h/.cache/uv/archive-v0/Xy/bin/holdfast", True),
        ("C:\\u\\uv\\cache\\archive-v0\\Xy\\Scripts\\holdfast.exe", True),
        ("/h/.local/pipx/.cache/1/bin/holdfast", True),
        ("/h/.local/bin/holdfast", False),
        ("/h/.local/share/uv/tools/holdfast/bin/holdfast", False),
    ],
)
def test_a_program_in_a_cache_is_known(path: str, passing: bool) -> None:
    assert is_passing(path) is passing


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        ({"command": "/x/holdfast", "args": ["mcp"]}, True),
        ({"command": "C:\\x\\Holdfast.EXE", "args": ["mcp", "--hub", "a"]}, True),
        ({"command": "/py", "args": ["-P", "-m", "holdfast", "mcp"], "env": {}}, True),
        ({"command": ["/x/holdfast", "mcp"], "type": "local"}, True),
        ({"command": "/x/holdfast", "args": ["recall"]}, False),
        ({"command": "/x/holdfast"}, False),
        ({"command": "npx", "args": ["mcp"]}, False),
        ({"command": "uvx", "args": ["holdfast", "mcp"]}, False),
        ({"command": "/x/holdfast-proxy", "args": ["mcp"]}, False),
        ({"url": "https://example.org/mcp"}, False),
        ({"command": "/x/holdfast", "args": "mcp"}, False),
        ({"command": "/x/holdfast", "args": ["mcp", 1]}, False),
        ({"command": None, "args": ["mcp"]}, False),
        ("holdfast mcp", False),
        (None, False),
    ],
)
def test_an_entry_is_ours_if_it_starts_holdfast_as_we_write_it(entry: Any, ours: bool) -> None:
    assert is_ours(entry) is ours
