"""sync, watch, conflicts, compact, as a shell sees them."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import engine
from tests.edges.cli.cli_calls import Run


@pytest.fixture
def file(home: Path) -> Path:
    return home / "hubs" / "default" / "MEMORY.md"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_first_sync_makes_the_file(stocked: Run, file: Path) -> None:
    ran = stocked("sync")
    assert (ran.code, ran.out) == (0, "")
    text = file.read_text()
    assert text.startswith("# Long-term Memory\n\n## Preference\n<!-- updated ")
    assert "- Prefers tabs over spaces <!-- mem_" in text


def test_without_a_sync_there_are_no_files(stocked: Run, home: Path) -> None:
    stocked("recall", "tabs")
    assert not (home / "hubs").exists()


def test_an_edit_is_taken_in_by_the_next_command(stocked: Run, file: Path) -> None:
    stocked("sync")
    edit(file, "tabs over spaces", "spaces over tabs")
    assert "Prefers spaces over tabs" in stocked("recall", "prefers").out
    assert [row[:3] for row in stocked("history", "1").rows][-1][0] == "2"


def test_what_is_remembered_appears_in_the_file(stocked: Run, file: Path) -> None:
    stocked("sync")
    stocked("remember", "Ann is tall", "--category", "person")
    assert "## Person\n" in file.read_text()
    assert "- Ann is tall <!-- mem_" in file.read_text()


def test_a_sync_says_what_it_took_in_and_archived(stocked: Run, file: Path) -> None:
    stocked("sync")
    text = file.read_text()
    line = next(line for line in text.splitlines() if "Hilda" in line)
    file.write_text(text.replace(f"{line}\n", "- The server is called Greta\n"))
    ran = stocked("sync", "--json").data
    assert [memory["content"] for memory in ran["taken_in"]] == ["The server is called Greta"]
    assert [memory["state_reason"] for memory in ran["archived"]] == ["removed from MEMORY.md"]
    assert ran["file"] == str(file)
    assert stocked("sync").out == ""


def test_a_sync_that_would_archive_too_much_asks(run: Run, file: Path) -> None:
    for number in range(8):
        run("remember", f"Fact number {number}", "--category", "fact")
    run("sync")
    kept = [line for line in file.read_text().splitlines() if "number" not in line]
    file.write_text("\n".join(kept) + "\n")
    refused = run("sync")
    assert refused.code == 5
    assert "lacks 8 of the 8" in refused.err
    assert "holdfast sync --confirm" in refused.err
    # Another command still answers, and says what is wrong with the file.
    listed = run("list")
    assert (listed.code, len(listed.rows)) == (0, 8)
    assert "lacks 8 of the 8" in listed.err
    assert len(run("sync", "--confirm").rows) == 8
    assert run("list").out == ""


def test_a_conflict_is_listed_until_it_is_settled(stocked: Run, file: Path, home: Path) -> None:
    stocked("sync")
    with holdfast.open(home) as memory:
        hub = memory.hub()
        # A write of somebody who was stopped before the file could follow.
        engine.edit.update(hub.scope, 1, {"content": "Prefers three spaces"})
    edit(file, "tabs over spaces", "four spaces")
    ran = stocked("conflicts")
    [(clash, _, _, in_store, in_file)] = ran.rows
    assert (in_store, in_file) == ("Prefers three spaces", "Prefers four spaces")
    assert "- Prefers three spaces <!--" in file.read_text()
    assert "- Prefers four spaces <!--" in file.read_text()
    assert stocked("conflicts", "settle", clash, "--keep", "file").rows == [
        ["settled", clash, "file"]
    ]
    assert "three" not in file.read_text()
    assert file.read_text().count("four") == 1
    nothing = stocked("conflicts")
    assert (nothing.out, nothing.err) == ("", "There is no conflict.\n")
    assert stocked("conflicts", "settle", clash).code == 3


def test_a_wrong_choice_names_the_right_ones(stocked: Run) -> None:
    ran = stocked("conflicts", "settle", "cls_1", "--keep", "fiel")
    assert ran.code == 2
    assert "'file'" in ran.err


def test_watching_without_its_package_says_how_to_get_it(
    stocked: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "watchfiles":
            raise ImportError("No module named 'watchfiles'")
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "watchfiles", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    ran = stocked("watch")
    assert ran.code == 6
    assert "pip install holdfast-memory" in ran.err


def test_watching_takes_in_what_is_saved(
    stocked: Run, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def saves(home: str, **rest: Any) -> Any:
        edit(file, "tabs over spaces", "spaces over tabs")
        yield {"default"}
        file.write_bytes(b"\xff")
        yield {"default", "unknown"}

    monkeypatch.setattr("holdfast.files.folder_walk.watch_hubs", saves)
    ran = stocked("watch")
    assert ran.code == 0
    assert ran.rows[0] == ["taken in", "1", "Prefers spaces over tabs"]
    assert "is not UTF-8" in ran.err
    assert "There is no hub `unknown`" in ran.err


# compact


def test_compact_says_what_it_would_merge_and_then_does(stocked: Run) -> None:
    stocked("remember", "Prefers tabs, over spaces.", "--category", "preference")
    assert stocked("compact", "--dry-run").out == "1\t4\n"
    assert "undo" not in stocked("compact", "--dry-run").err
    ran = stocked("compact")
    assert (ran.code, ran.out) == (0, "1\t4\n")
    assert "`holdfast undo chg_" in ran.err
    assert stocked("compact").err.strip() == "There is nothing to merge."
    stocked("undo")
    done = stocked("compact", "--dry-run", "--json").data
    assert [one["survivor"]["number"] for one in done["merged"]] == [1]
    assert (done["change"], done["dry_run"]) == (None, True)
