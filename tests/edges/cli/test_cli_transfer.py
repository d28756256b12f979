"""export and import, as a shell sees them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.edges.cli.cli_calls import Run


def test_what_goes_out_comes_in_again(stocked: Run, tmp_path: Path) -> None:
    file = tmp_path / "hub.jsonl"
    stocked("update", "1", "Prefers spaces")
    assert stocked("export", str(file)).rows[0][:2] == ["exported", "default"]
    assert stocked("import", str(file), "--as", "copy").rows[0][:2] == ["imported", "copy"]
    first = [json.loads(line) for line in file.read_text().splitlines()]
    second = [json.loads(line) for line in stocked("export", "-", "--hub", "copy").out.splitlines()]
    assert second[1:] == first[1:]
    assert len(stocked("history", "1", "--hub", "copy").rows) == 2


def test_standard_output_and_input_work_too(stocked: Run) -> None:
    text = stocked("export", "-").out
    ran = stocked("import", "-", "--as", "copy", "--json", stdin=text)
    assert ran.json["memories"] == 3
    assert ran.json["hub"]["name"] == "copy"


def test_a_file_that_is_there_is_not_replaced_unasked(stocked: Run, tmp_path: Path) -> None:
    file = tmp_path / "hub.jsonl"
    file.write_text("precious")
    ran = stocked("export", str(file))
    assert ran.code == 4
    assert "--force" in ran.err
    assert file.read_text() == "precious"
    assert stocked("export", str(file), "--force", "--json").json["lines"] > 3
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_an_export_that_fails_leaves_no_file(stocked: Run, tmp_path: Path, monkeypatch) -> None:
    def broken(path: str, to: str) -> None:
        raise OSError(28, "No space left on device", to)

    monkeypatch.setattr("holdfast.edges.cli.transfer.os.replace", broken)
    ran = stocked("export", str(tmp_path / "hub.jsonl"))
    assert ran.code == 1
    assert "No space left" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_bad_files_are_refused_and_nothing_is_left(stocked: Run, tmp_path: Path) -> None:
    whole = stocked("export", "-").out
    lines = whole.splitlines(keepends=True)
    for text, message in (
        ("", "empty"),
        ("nonsense\n", "not a line of an export"),
        ("".join(lines[:-1]), "ends too early"),
        ("".join(lines[1:]), "does not say"),
        (whole.replace('"memory"', '"mammory"', 1), "cannot be read"),
        (whole.replace(lines[2], ""), "lines"),
    ):
        file = tmp_path / "bad.jsonl"
        file.write_text(text)
        ran = stocked("import", str(file), "--as", "copy")
        assert ran.code == 2, text
        assert message in ran.err
        assert [row[1] for row in stocked("hub", "list").rows] == ["default"]
    file.write_bytes(whole.encode().replace(b"Hilda", b"\xff\xfe"))
    assert "not UTF-8" in stocked("import", str(file), "--as", "copy").err
    assert [row[1] for row in stocked("hub", "list").rows] == ["default"]
    assert stocked("doctor").code == 0


def test_a_taken_name_and_a_missing_file_have_their_own_codes(stocked: Run, tmp_path: Path) -> None:
    text = stocked("export", "-").out
    assert stocked("import", "-", stdin=text).code == 4
    assert stocked("import", str(tmp_path / "nothing")).code == 3
    assert stocked("import", str(tmp_path), "--as", "copy").code == 2
    assert stocked("export", str(tmp_path)).code == 2


def test_a_folder_that_is_not_there_is_named(stocked: Run, tmp_path: Path) -> None:
    ran = stocked("export", str(tmp_path / "nowhere" / "hub.jsonl"))
    assert ran.code == 3
    assert f"There is no folder {tmp_path / 'nowhere'}." in ran.err
    assert "partial" not in ran.err
