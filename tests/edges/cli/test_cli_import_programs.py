"""Imports from other programs, as a shell sees them."""

from __future__ import annotations

from pathlib import Path

from tools.reference.importers import page

from tests.edges.cli.cli_calls import Run
from tests.unit.importers.sources import mcp_lines, mem0_qdrant

_PAGE = Path(__file__).parents[3] / "docs" / "reference" / "importers.md"


def test_the_page_is_what_the_importers_say() -> None:
    assert _PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


def test_the_help_has_a_sentence_for_each_importer_whose_title_is_plural_or_not(run: Run) -> None:
    listed = run("help").out
    assert "Import memories from Graphiti and Zep." in listed
    assert "Import memories from a CSV file." in listed
    assert "has stored" not in listed


def test_the_name_for_a_hub_is_suggested_by_its_option(run: Run) -> None:
    assert "Did you mean `--as`?" in run("import", "work.jsonl", "--name", "copy").err


def test_a_preview_then_an_import_then_an_undo(run: Run, tmp_path: Path) -> None:
    path = str(mcp_lines(tmp_path))
    preview = run("import", "mcp-memory", path, "--dry-run")
    assert preview.rows == [["default", "-", "4", *["0"] * 7]]
    assert "Nothing was written" in preview.err
    assert run("list").rows == []
    ran = run("import", "mcp-memory", path, "--json").json
    assert ran["data"]["rows"][0]["new"] == 4
    assert len(run("list").rows) == 4
    again = run("import", "mcp-memory", path)
    assert again.rows == [["default", "-", "0", "0", "4", *["0"] * 5]]
    assert "holdfast undo" not in again.err
    undone = run("import", "mcp-memory", path, "--undo")
    assert undone.rows[0][0] == "default"
    assert run("list").rows == []


def test_the_change_that_is_named_can_be_undone(run: Run, tmp_path: Path) -> None:
    ran = run("import", "mcp-memory", str(mcp_lines(tmp_path)))
    words = ran.err.partition("`holdfast ")[2].partition("`")[0].split()
    assert run(*words).code == 0
    assert run("list").rows == []


def test_users_are_split_by_a_flag(run: Run, tmp_path: Path) -> None:
    path = str(mem0_qdrant(tmp_path))
    refused = run("import", "mem0", path)
    assert refused.code == 2
    assert "--split" in refused.err
    rows = run("import", "mem0", path, "--split").rows
    assert [row[0] for row in rows] == ["agents.user.alice", "agents.user.bob"]
    assert [row[1:3] for row in rows] == [["alice", "2"], ["bob", "1"]]
    assert len(run("list", "--hub", "agents.user.alice").rows) == 2


def test_what_is_not_there_is_an_error_with_a_code(run: Run, tmp_path: Path) -> None:
    assert run("import", "mem0", str(tmp_path / "missing")).code == 3
    assert run("import", "mem0", str(tmp_path), "--undo").code == 3


def test_an_export_in_a_format_goes_to_a_file_a_folder_or_out(stocked: Run, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    ran = stocked("export", str(file), "--format", "csv")
    assert ran.rows[0] == ["exported", "default", str(file), "3"]
    assert stocked("export", str(file), "--format", "csv").code == 4
    assert stocked("export", str(file), "--format", "csv", "--force").code == 0
    folder = tmp_path / "notes"
    assert stocked("export", str(folder), "--format", "markdown", "--json").data["memories"] == 3
    assert len(list(folder.glob("*.md"))) == 3
    assert stocked("export", str(folder), "--format", "markdown").code == 4
    assert len(stocked("export", "-", "--format", "jsonl").out.splitlines()) == 3
    assert stocked("export", "-", "--format", "xml").code == 2
    assert stocked("export", "-", "--format", "markdown").code == 2


def test_what_was_exported_comes_in_again(stocked: Run, tmp_path: Path) -> None:
    file = str(tmp_path / "out.jsonl")
    stocked("export", file, "--format", "jsonl")
    stocked("hub", "create", "copy")
    rows = stocked("import", "json", file, "--hub", "copy").rows
    assert rows[0][:3] == ["copy", "-", "3"]


def test_the_help_of_import_leads_to_the_programs(run: Run) -> None:
    shown = run("import", "--help").out
    assert "`holdfast import mem0`" in shown
    assert "`holdfast help admin`" in shown
