"""sources, as a shell sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "deploy.md").write_text("The deployment runs\non Hetzner.", encoding="utf-8")
    monkeypatch.setenv("HOLDFAST_SOURCES_READ", f"notes={folder}, none={tmp_path}/none, odd")
    return folder


def test_sources_are_listed_with_what_is_in_them_or_wrong_with_them(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    assert run("sources").rows == [
        ["notes", "folder", str(notes), "1 file, 1 passage."],
        [
            "none",
            "folder",
            f"{tmp_path}/none",
            f"There is no folder {tmp_path}/none. Check the name.",
        ],
        [
            *("odd", "folder", ""),
            "`odd` in sources.read is not written as NAME=WHERE. For example: notes=~/notes",
        ],
    ]
    listed = run("sources", "--json").data
    assert [(one["name"], bool(one["problem"])) for one in listed] == [
        *[("notes", False), ("none", True), ("odd", True)]
    ]


def test_sources_are_asked(run: Run, notes: Path) -> None:
    ran = run("sources", "where do we deploy?")
    assert ran.rows == [["notes", "deploy.md, line 1", "The deployment runs\\non Hetzner."]]
    assert "The source `none` could not be asked" in ran.err
    answer = run("sources", "deploy", "--json").data
    assert [one["where"] for one in answer["excerpts"]] == ["deploy.md, line 1"]
    assert len(answer["notes"]) == 2


def test_nothing_found_is_said(run: Run, notes: Path) -> None:
    ran = run("sources", "kubernetes")
    assert (ran.code, ran.out) == (0, "")
    assert "No source has anything on that." in ran.err


def test_without_sources_it_says_how_to_name_one(run: Run) -> None:
    ran = run("sources")
    assert (ran.code, ran.out) == (0, "")
    assert "holdfast config set sources.read" in ran.err
    assert run("sources", "--json").data == []
    assert run("sources", "tabs", "--json").data == {"excerpts": [], "notes": []}


def test_another_home_is_listed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("remember", "Prefers tabs", "--home", str(tmp_path / "other"))
    monkeypatch.setenv("HOLDFAST_SOURCES_READ", f"old=holdfast:{tmp_path}/other")
    assert run("sources").rows == [["old", "holdfast", f"{tmp_path}/other#default", "1 memory."]]
    assert run("sources", "tabs").rows == [["old", "#1 of hub default", "Prefers tabs"]]


def test_a_limit_that_is_none_is_refused(run: Run, notes: Path) -> None:
    assert run("sources", "deploy", "--limit", "0").code == 2
