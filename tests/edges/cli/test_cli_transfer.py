"""export and import, as a shell sees them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NoReturn

import pytest

from holdfast import Holdfast
from holdfast.errors import StoreFull
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


def test_an_export_of_a_hub_that_is_here_is_recognised(stocked: Run, tmp_path: Path) -> None:
    file = tmp_path / "hub.jsonl"
    stocked("export", str(file))
    ran = stocked("import", str(file))
    assert ran.code == 4
    assert "This is an export of the hub `default`, which is here already" in ran.err
    assert "--as default-2" in ran.err
    stocked("import", str(file), "--as", "default-2")
    assert "--as default-3" in stocked("import", str(file)).err
    stocked("hub", "create", "other")
    lines = file.read_text().replace('"name":"default"', '"name":"other"', 1)
    assert "another one" in stocked("import", "-", stdin=lines).err


def test_on_a_new_machine_an_export_takes_the_place_of_the_empty_hub(
    stocked: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "hub.jsonl"
    stocked("export", str(file))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "new"))
    assert stocked("list").out == ""
    assert stocked("hub", "list").rows[0][1] == "default"
    assert stocked("import", str(file)).rows[0][:2] == ["imported", "default"]
    assert len(stocked("list").rows) == 3
    assert [row[1] for row in stocked("hub", "list").rows] == ["default"]


@pytest.mark.parametrize(
    "used",
    [
        [("remember", "Mine"), ("purge", "1", "--yes")],
        [("member", "set", "bob", "--role", "viewer")],
        [("sync",)],
        [("observe", "--user", "Hello there", "--session", "s")],
    ],
)
def test_an_import_takes_the_place_of_no_hub_that_was_used(
    stocked: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: list[tuple[str, ...]]
) -> None:
    file = tmp_path / "hub.jsonl"
    stocked("export", str(file))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "new"))
    for words in used:
        assert stocked(*words).code == 0
    ran = stocked("import", str(file))
    assert (ran.code, "another one" in ran.err) == (4, True)


def test_standard_output_and_input_work_too(stocked: Run) -> None:
    text = stocked("export", "-").out
    ran = stocked("import", "-", "--as", "copy", "--json", stdin=text)
    assert ran.data["memories"] == 3
    assert ran.data["hub"]["name"] == "copy"


def test_a_file_that_is_there_is_not_replaced_unasked(stocked: Run, tmp_path: Path) -> None:
    file = tmp_path / "hub.jsonl"
    file.write_text("precious")
    ran = stocked("export", str(file))
    assert ran.code == 4
    assert "--force" in ran.err
    assert file.read_text() == "precious"
    assert stocked("export", str(file), "--force", "--json").data["lines"] > 3
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_an_export_that_fails_leaves_no_file(stocked: Run, tmp_path: Path, monkeypatch) -> None:
    def broken(path: str, to: str) -> None:
        raise OSError(28, "No space left on device", to)

    monkeypatch.setattr("holdfast.edges.cli.transfer.os.replace", broken)
    ran = stocked("export", str(tmp_path / "hub.jsonl"))
    assert ran.code == StoreFull.exit_code
    assert "There is no room left for" in ran.err
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


def pushed(run: Run, folder: Path) -> bytes:
    """A memory with a file, in the hub in use; what is in the file."""
    (folder / "notes.pdf").write_bytes(b"%PDF-1.4 not much of one")
    assert run("push", str(folder / "notes.pdf")).code == 0
    return b"%PDF-1.4 not much of one"


def files_of(home: Path, hub: str) -> list[bytes]:
    found = (home / "hubs" / hub / "attachments").glob("??/*")
    return [path.read_bytes() for path in found]


def test_an_export_takes_the_files_along_and_says_where_they_stay_behind(
    run: Run, tmp_path: Path, home: Path
) -> None:
    data = pushed(run, tmp_path)
    file = tmp_path / "hub.jsonl"
    ran = run("export", str(file))
    assert f"1 file of memories: {file}.files.tar. Keep both." in ran.err
    assert "1 file of memories: not in it." in run("export", "-").err
    assert "1 file of memories came along" in run("import", str(file), "--as", "copy").err
    assert files_of(home, "copy") == [data]
    (tmp_path / "hub.jsonl.files.tar").write_bytes(b"broken" * 200)
    refused = run("import", str(file), "--as", "third")
    assert refused.code != 0
    assert "Nothing was changed." in refused.err
    assert "third" not in run("hub", "list").out
    assert run("export", str(file), "--force", "--json").data["files"] == 1


def test_a_backup_takes_the_files_along(run: Run, tmp_path: Path, home: Path) -> None:
    data = pushed(run, tmp_path)
    backup = tmp_path / "all.db"
    told = run("backup", str(backup), "--json").data
    assert (told["files"], told["files_path"]) == (1, f"{backup}.files.tar")
    for path in (home / "hubs" / "default" / "attachments").glob("??/*"):
        path.unlink()
    assert run("restore-backup", str(backup), "--yes", "--json").data["files"] == 1
    assert files_of(home, "default") == [data]
    for path in (home / "hubs" / "default" / "attachments").glob("??/*"):
        path.unlink()
    (tmp_path / "all.db.files.tar").unlink()
    ran = run("restore-backup", str(backup), "--yes")
    assert "1 file of memories: not in the backup, and not on this machine." in ran.err
    (tmp_path / "all.db.files.tar").write_bytes(b"broken" * 200)
    run("remember", "After the backup")
    refused = run("restore-backup", str(backup), "--yes")
    assert (refused.code != 0, "Nothing was changed." in refused.err) == (True, True)
    assert "After the backup" in run("list").out


def test_a_restore_that_was_a_mistake_can_be_taken_back_with_its_files(
    run: Run, tmp_path: Path, home: Path
) -> None:
    run("remember", "Only words")
    run("backup", str(tmp_path / "old.db"))
    data = pushed(run, tmp_path)
    told = run("restore-backup", str(tmp_path / "old.db"), "--yes", "--json").data
    # A worker removes what nobody speaks of now.
    assert run("work").code == 0
    assert files_of(home, "default") == []
    again = run("restore-backup", told["safety_copy"], "--yes", "--json").data
    assert (again["files"], again["files_missing"]) == (1, 0)
    assert files_of(home, "default") == [data]


def test_an_import_that_finds_no_more_room_does_not_say_that_nothing_was_written(
    stocked: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise StoreFull("There is no room left.", hint="Nothing was written.")

    file = tmp_path / "facts.json"
    file.write_text('[{"text": "Likes tea"}]')
    monkeypatch.setattr(Holdfast, "import_from", full)
    ran = stocked("import", "json", str(file))
    assert ran.code == StoreFull.exit_code
    assert "run it again" in ran.err
    assert "Nothing was written" not in ran.err
