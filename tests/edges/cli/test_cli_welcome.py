"""What `holdfast` prints in a new home."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.edges.cli.help import MachineSummary, look_around, welcome
from holdfast.edges.clients.program import Platform
from tests.edges.cli.cli_calls import Run


@pytest.fixture
def place(tmp_path: Path) -> Platform:
    """A person who uses Claude Code and Codex, in a project of their own."""
    person = tmp_path / "ann"
    project = person / "web"
    for folder in (".claude/projects/-web", ".codex/sessions/2026/05/01", "web/.git"):
        (person / folder).mkdir(parents=True)
    for name in ("a", "b"):
        (person / ".claude/projects/-web" / f"{name}.jsonl").write_text("")
    (person / ".codex/sessions/2026/05/01/rollout-1.jsonl").write_text("")
    (person / ".claude/CLAUDE.md").write_text("Use tabs.")
    (project / "AGENTS.md").write_text("Use spaces.")
    return Platform("linux", {"PATH": ""}, str(person), str(project))


def test_it_says_what_was_found_and_what_to_do(place: Platform) -> None:
    found = look_around(place)
    assert found == MachineSummary(
        ("Claude Code", "Codex"),
        {"claude-code": 2, "codex": 1},
        (os.path.join("~", ".claude", "CLAUDE.md"), "AGENTS.md"),
    )
    text = welcome(found, place.at_home(".holdfast"), place)
    assert "2 of Claude Code, 1 of Codex" in text
    for step in ("holdfast setup ", "holdfast import claude-code ", "holdfast import claude-md "):
        assert f"  {step}" in text
    assert "in ~/.holdfast." in text


def test_where_there_is_nothing_it_offers_the_tour(tmp_path: Path) -> None:
    place = Platform("linux", {"PATH": ""}, str(tmp_path), str(tmp_path))
    text = welcome(look_around(place), place.at_home(".holdfast"), place)
    assert "any MCP client works" in text
    assert "holdfast demo" in text
    assert "holdfast setup " not in text
    assert "conversations" not in text


def test_it_fits_a_small_terminal_however_much_there_is(place: Platform) -> None:
    agents = tuple(f"An agent with a long name {n}" for n in range(20))
    counts = {"claude-code": 123_456, "codex": 98_765, "gemini-cli": 54_321}
    notes = tuple(f"~/a/very/long/place/of/notes/number/{n}/CLAUDE.md" for n in range(30))
    text = welcome(MachineSummary(agents, counts, notes), "/" + "deep/" * 40 + ".holdfast", place)
    lines = text.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "more)" in text


@pytest.mark.sqlite_only("without a store in the settings, a home is new where it has no file")
def test_only_a_new_home_is_greeted_and_nothing_is_written(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run().out.startswith("Welcome to Holdfast")
    assert not home.exists()
    monkeypatch.setenv("HOLDFAST_SERVER", "http://127.0.0.1:1")
    assert run().out.startswith("Holdfast: long-term memory")
    monkeypatch.delenv("HOLDFAST_SERVER")
    assert run("remember", "Prefers tabs").code == 0
    assert run().out.startswith("Holdfast: long-term memory")
