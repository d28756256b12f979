"""`holdfast status`: whether memory works in this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from holdfast.edges.hooks.state_files import note_error
from tests.edges.cli.cli_calls import Run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no repository, and a person without agents."""
    folder = tmp_path / "folder"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("HOLDFAST_PROJECTS_HUBS", "true")
    return folder


def test_a_new_home_is_not_made_by_looking(screen: Run, home: Path) -> None:
    ran = screen("status")
    assert (ran.code, "none yet" in ran.out) == (0, True)
    assert not home.exists()


def test_it_names_the_hub_and_counts_what_is_in_it(stocked: Run, screen: Run) -> None:
    stocked("log", "add", "user", "The build is red", "--session", "s1")
    shown = screen("status", width=80).out
    assert "hub      default (your own" in shown
    assert "         3 memories\n         1 turn logged, the last 20" in shown
    data = stocked("status", "--json").data
    assert [(one["name"], one["memories"], one["turns"]) for one in data["hubs"]] == [
        ("default", 3, 1)
    ]
    stocked("journal", "add", "Talked to Ines")
    assert "3 memories, 1 note in the journal\n" in screen("status").out
    assert stocked("log", "pause").code == 0
    assert "turns are not logged" in screen("status").out


def test_a_repository_has_a_hub_with_the_persons_beside_it(
    run: Run, screen: Run, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("remember", "I live in Bonn")
    repository = elsewhere / "shop"
    (repository / ".git").mkdir(parents=True)
    monkeypatch.chdir(repository)
    assert "not made yet" in screen("status").out
    run("remember", "The shop sells hats")
    assert "beside   default (yours" in screen("status").out
    # `hub list` marks the hub that the other commands use here.
    rows = run("hub", "list").rows
    assert [(row[0], row[1]) for row in rows] == [("", "default"), ("*", "shop")]


def test_it_says_which_agents_are_set_up(run: Run, screen: Run, tmp_path: Path) -> None:
    (tmp_path / "person" / ".cursor").mkdir(parents=True)
    assert "agents   Cursor: not set up (`holdfast setup`)" in screen("status").out
    run("setup", "cursor")
    assert "agents   Cursor: set up" in screen("status").out


def test_it_says_which_agents_lost_their_hooks(run: Run, screen: Run, tmp_path: Path) -> None:
    person = tmp_path / "person"
    for name in (".claude", ".codex", ".cursor"):
        (person / name).mkdir(parents=True)
    run("setup", "--all", "--quiet")
    settings = person / ".claude" / "settings.json"
    settings.write_text('{"theme": "dark"}\n')
    hooks = person / ".codex" / "hooks.json"
    hooks.write_text(hooks.read_text().replace(sys.executable, "/gone/python"))
    out = screen("status", width=400).out
    assert "agents   Cursor: set up\n" in out
    assert f"Claude Code: set up, but its hooks are not in {settings} (`holdfast setup" in out
    assert "Codex: set up, but its hooks start /gone/python, which is gone" in out
    settings.write_text("{")
    assert f"{settings} cannot be read: line 1, column 2" in screen("status", width=400).out
    settings.unlink()
    assert [one["problems"] for one in run("setup", "--json").data if one["problems"]] == [
        [f"its hooks are not in {settings}"],
        ["its hooks start /gone/python, which is gone"],
    ]
    assert "entry `holdfast` was there already" in screen("setup", "claude-code", "--quiet").out
    run("setup", "codex", "--quiet")
    assert "agents   Claude Code, Cursor, Codex: set up\n" in screen("status", width=400).out


def test_an_agent_without_hooks_by_choice_lacks_none(run: Run, screen: Run, tmp_path: Path) -> None:
    (tmp_path / "person" / ".claude").mkdir(parents=True)
    run("setup", "claude-code", "--no-hooks", "--quiet")
    assert "agents   Claude Code: set up\n" in screen("status", width=400).out


def test_an_entry_whose_program_is_gone_is_named(run: Run, screen: Run, tmp_path: Path) -> None:
    entry = tmp_path / "person" / ".cursor" / "mcp.json"
    entry.parent.mkdir(parents=True)
    entry.write_text('{"mcpServers": {"holdfast": {"command": "/gone/holdfast", "args": ["mcp"]}}}')
    assert "Cursor: set up, but its server starts /gone/holdfast, which is gone" in (
        screen("status", width=400).out
    )


def test_it_says_that_hooks_failed(screen: Run, home: Path) -> None:
    note_error(str(home), "Stop", "There is no room left.")
    assert "hooks    failed once, last 20" in screen("status", width=400).out
    note_error(str(home), "Stop", "There is no room left.")
    assert "There is no room left. (`holdfast doctor`)" in screen("status", width=400).out
