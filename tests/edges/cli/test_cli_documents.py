"""index-files, as a shell sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.edges.cli.cli_calls import Run


@pytest.fixture
def files(home: Path) -> Path:
    folder = home / "hubs" / "default" / "files"
    folder.mkdir(parents=True)
    (folder / "tea.md").write_text("How to brew tea", encoding="utf-8")
    (folder / "photo.png").write_bytes(b"\x89PNG")
    return folder


def test_the_hubs_files_become_documents_and_a_second_run_has_nothing_to_do(
    run: Run, files: Path
) -> None:
    assert run("index-files").rows == [
        ["added", "tea.md"],
        ["skipped", "photo.png", "files of this kind are not indexed"],
    ]
    assert "How to brew tea" in run("recall", "brew").out
    ran = run("index-files", "--json")
    answer = ran.data
    assert (ran.json["result"], answer["added"]) == ("indexed", [])
    assert answer["skipped"] == [
        {"path": "photo.png", "reason": "files of this kind are not indexed"}
    ]
    assert answer["unchanged"] == ["tea.md"]


def test_a_dry_run_only_tells(run: Run, files: Path) -> None:
    assert run("index-files", "--dry-run").rows[0] == ["added", "tea.md"]
    assert run("index-files", "--dry-run", "--json").json["result"] == "would index"
    assert run("list").rows == []


def test_more_than_ten_new_files_of_another_folder_are_asked_about(
    run: Run, tmp_path: Path
) -> None:
    other = tmp_path / "project"
    other.mkdir()
    for n in range(11):
        (other / f"{n}.md").write_text(f"Note {n}", encoding="utf-8")
    refused = run("index-files", str(other))
    assert refused.code == 2
    assert "Index 11 files" in refused.err
    assert run("list").rows == []
    assert len(run("index-files", str(other), "--yes").rows) == 11
    assert run("index-files", str(other)).rows == []


def test_many_files_gone_at_once_are_asked_about(run: Run, files: Path) -> None:
    for n in range(12):
        (files / f"{n}.md").write_text(f"Note {n}", encoding="utf-8")
    run("index-files")
    for n in range(12):
        (files / f"{n}.md").unlink()
    ran = run("index-files")
    assert ["withheld", "0.md"] in ran.rows
    assert "12 files are gone" in ran.err
    assert "--yes" in ran.err
    assert ["removed", "0.md"] in run("index-files", "--yes").rows
    assert len(run("list").rows) == 1


def test_a_folder_that_is_not_there_is_a_sentence(run: Run, tmp_path: Path) -> None:
    ran = run("index-files", str(tmp_path / "nowhere"))
    assert ran.code == 3
    assert "There is no folder" in ran.err
