"""`holdfast status`: whether memory works in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

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
