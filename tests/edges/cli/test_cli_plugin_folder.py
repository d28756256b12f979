"""Holdfast as a plugin folder of Claude Code; tests/clients has it in the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


def test_the_folder_has_all_parts_and_teardown_takes_it_away(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    assert run("setup", "claude-code", "--plugin", str(folder), "--hub", "work").code == 0
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "holdfast"
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    entry = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["holdfast"]
    assert entry["args"][-3:] == ["--hooks", "--hub", "work"]
    assert "holdfast session" in (folder / "commands" / "memory.md").read_text()
    again = run("setup", "claude-code", "--plugin", str(folder), "--hub", "work")
    assert {row[0] for row in again.rows} == {"unchanged"}
    (folder / "notes.txt").write_text("mine")
    run("setup", "claude-code", "--plugin", str(folder))
    run("teardown", "claude-code", "--plugin", str(folder))
    # What a person put there stays, and nothing else.
    assert [path.name for path in folder.rglob("*")] == ["notes.txt"]


@pytest.mark.parametrize("was_there", [False, True])
def test_teardown_removes_the_folder_only_if_setup_made_it(
    run: Run, tmp_path: Path, was_there: bool
) -> None:
    folder = tmp_path / "plugin"
    if was_there:
        folder.mkdir()
    assert run("setup", "claude-code", "--plugin", str(folder)).code == 0
    assert run("teardown", "claude-code", "--plugin", str(folder)).code == 0
    assert folder.is_dir() == was_there
    assert not list(folder.rglob("*"))


def test_a_dry_run_writes_nothing(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "plugin"
    ran = run("setup", "claude-code", "--plugin", str(folder), "--dry-run")
    assert {row[0] for row in ran.rows} == {"would add"}
    assert not folder.exists()


@pytest.mark.parametrize("words", [("cursor",), ("--all",), ("claude-code", "--file", "x.json")])
def test_only_claude_code_has_a_plugin_folder(
    run: Run, tmp_path: Path, words: tuple[str, ...]
) -> None:
    ran = run("setup", *words, "--plugin", str(tmp_path / "plugin"))
    assert ran.code != 0 and "Claude Code alone" in ran.err


def test_a_folder_with_something_else_is_refused(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    for command in ("setup", "teardown"):
        ran = run(command, "claude-code", "--plugin", str(folder))
        assert ran.code != 0 and "is not a plugin of Holdfast" in ran.err
    assert [path.name for path in folder.iterdir()] == ["diary.txt"]
