"""An entry goes into a client's file and out again: backups, links, modes, and what is refused."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.edges.clients import CLIENTS, Client, find, settings_file
from holdfast.edges.clients.install_server import Outcome, look, set_up, tear_down
from holdfast.edges.clients.json_text import parse as parse_json
from holdfast.errors import (
    AlreadyExists,
    Conflict,
    HoldfastError,
    InvalidInput,
    StoreError,
    StoreReadOnly,
)
from tests.edges.clients import json_texts
from tests.edges.clients.test_toml_text import texts as toml_texts

NOW = datetime(2026, 5, 27, 12, 30, tzinfo=UTC)
LINE = ["/usr/bin/holdfast", "mcp"]
CURSOR = find("cursor")


def put(client: Client, path: Path, line: list[str] = LINE, **how: Any) -> Outcome:
    return set_up(client, str(path), "holdfast", line, **({"now": NOW} | how))


def take(client: Client, path: Path, **how: Any) -> Outcome:
    return tear_down(client, str(path), "holdfast", **({"now": NOW} | how))


def backups(path: Path) -> list[Path]:
    return [Path(one) for one in settings_file.backups(str(path))]


def entry(path: Path) -> Any:
    return json.loads(path.read_text())["mcpServers"]["holdfast"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "client" / "mcp.json"


@pytest.fixture
def filled(path: Path) -> Path:
    path.parent.mkdir()
    path.write_text('{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n')
    return path


# To the letter


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_a_file_that_was_not_there_is_made_and_goes_again(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "file"
    made = put(client, path)
    assert (made.result, made.backup) == ("added", None)
    assert look(client, str(path), "holdfast").state == "ours"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert put(client, path).result == "unchanged"
    gone = take(client, path)
    assert (gone.result, gone.after) == ("removed", None)
    assert not path.exists()


TEXTS = {"json": json_texts.texts(), "toml": toml_texts()}


@given(st.sampled_from(CLIENTS), st.data())
def test_setup_and_teardown_give_back_the_same_bytes(client: Client, data: st.DataObject) -> None:
    import tempfile

    text = data.draw(
        st.one_of(TEXTS[client.language], st.sampled_from(["", "{}", "# x\n", "// x"]))
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(text.encode())
        try:
            outcome = put(client, path)
        except HoldfastError:
            # Refused, such as a list where an object is needed: nothing may have happened.
            assert path.read_bytes() == text.encode()
            assert backups(path) == []
            return
        assume(outcome.result == "added")
        assert Path(outcome.backup or "").read_bytes() == text.encode()
        assert put(client, path).result == "unchanged"
        put(client, path, [*LINE, "--hub", "work"])
        assert take(client, path).result == "removed"
        assert path.read_bytes() == text.encode()


def test_what_a_person_changed_since_stays_when_the_entry_goes(filled: Path) -> None:
    put(CURSOR, filled)
    edited = filled.read_text().replace('"x"', '"y" /* mine */')
    filled.write_text(edited)
    take(CURSOR, filled)
    assert filled.read_text() == (
        '{\n  "mcpServers": {\n    "other": {"command": "y" /* mine */}\n  }\n}\n'
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{"a": 1}', '{"a": 1, "b": 2}'),
        ('{"a": 1, "mcpServers": {}}', '{"a": 1, "mcpServers": {}, "b": 2}'),
    ],
)
def test_an_empty_object_goes_along_only_if_it_was_made_for_the_entry(
    path: Path, text: str, after: str
) -> None:
    path.parent.mkdir()
    path.write_text(text)
    put(CURSOR, path)
    path.write_text(path.read_text()[:-1] + ', "b": 2}')
    take(CURSOR, path)
    assert path.read_text() == after


def test_a_backup_that_cannot_take_the_entry_is_no_hindrance(filled: Path) -> None:
    put(CURSOR, filled)
    backups(filled)[0].write_text('{"mcpServers": []}')
    backups(filled)[0].with_name("mcp.json.holdfast-20260101T000000Z.bak").write_text("{ oops")
    assert take(CURSOR, filled).result == "removed"
    assert list(json.loads(filled.read_text())["mcpServers"]) == ["other"]


def test_fields_that_a_person_added_to_the_entry_stay_when_it_is_updated(path: Path) -> None:
    client = find("opencode")
    put(client, path)
    path.write_text(path.read_text().replace("true", "false"))
    assert put(client, path).result == "unchanged"
    assert put(client, path, [*LINE, "--read-only"]).result == "updated"
    now = json.loads(path.read_text())["mcp"]["holdfast"]
    assert now == {"type": "local", "command": [*LINE, "--read-only"], "enabled": False}


def test_the_second_layout_of_opencode_is_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"mcp": {"servers": {"a": {"type": "local", "command": ["x"]}}}}')
    before = path.read_text()
    put(find("opencode"), path)
    servers = json.loads(path.read_text())["mcp"]["servers"]
    assert servers["holdfast"] == {"type": "local", "command": LINE}
    take(find("opencode"), path)
    assert path.read_text() == before


# Backups


def test_a_backup_is_for_its_owner_only_and_dated(filled: Path) -> None:
    filled.chmod(0o644)
    backup = Path(put(CURSOR, filled).backup or "")
    assert backup.name == "mcp.json.holdfast-20260527T123000Z.bak"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert '"holdfast"' not in backup.read_text()


def test_nothing_is_backed_up_when_nothing_changes(filled: Path) -> None:
    put(CURSOR, filled)
    written = filled.stat()
    assert put(CURSOR, filled, now=NOW + timedelta(days=1)).backup is None
    assert len(backups(filled)) == 1
    assert filled.stat() == written


def test_the_last_few_backups_and_the_first_are_kept_and_nothing_else_is_removed(
    filled: Path,
) -> None:
    other = filled.with_name("mcp.json.bak")
    other.write_text("mine")
    strange = filled.with_name("mcp.json.holdfast-yesterday.bak")
    strange.write_text("mine too")
    for number in range(12):
        # Three in each second.
        put(
            CURSOR, filled, [*LINE, "--hub", f"h{number}"], now=NOW + timedelta(seconds=number // 3)
        )
    kept = backups(filled)
    assert [one.name.partition("holdfast-")[2] for one in kept] == [
        *("20260527T123003Z-3.bak", "20260527T123003Z-2.bak", "20260527T123003Z.bak"),
        *("20260527T123002Z-3.bak", "20260527T123000Z.bak"),
    ]
    assert '"h10"' in kept[0].read_text()
    assert "holdfast" not in kept[-1].read_text()
    assert other.exists() and strange.exists()


# Links, modes, and what is in the way


def test_a_link_stays_a_link_and_its_target_is_written(filled: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mcp.json"
    target.parent.mkdir()
    filled.rename(target)
    target.chmod(0o640)
    filled.symlink_to(target)
    before = target.read_bytes()
    put(CURSOR, filled)
    assert filled.is_symlink()
    assert entry(target)["command"] == LINE[0]
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [one.parent for one in backups(filled)] == [filled.parent]
    take(CURSOR, filled)
    assert filled.is_symlink()
    assert target.read_bytes() == before


def test_a_link_to_nothing_gets_its_target_and_keeps_it(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "mcp.json"
    path.parent.mkdir()
    path.symlink_to(target)
    put(CURSOR, path)
    assert entry(target)
    take(CURSOR, path)
    assert path.is_symlink()
    assert parse_json(target.read_text()) == {}


def test_a_read_only_file_is_left_alone(filled: Path) -> None:
    filled.chmod(0o444)
    before = filled.read_bytes()
    with pytest.raises(StoreReadOnly, match="read-only"):
        put(CURSOR, filled)
    assert filled.read_bytes() == before
    assert backups(filled) == []


def test_a_folder_or_a_pipe_in_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(InvalidInput, match="is not a file"):
        put(CURSOR, path)
    pipe = path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInput, match="is not a file"):
        put(CURSOR, pipe)
    assert look(CURSOR, str(path), "holdfast").state == "unreadable"


def test_a_file_in_place_of_the_folder_is_refused(path: Path) -> None:
    path.parent.write_text("")
    with pytest.raises(InvalidInput, match="its folder is none"):
        put(CURSOR, path)


@pytest.mark.parametrize("text", ["null", "[]", '"x"', '{"mcpServers": []}', "{", "{'a': 1}"])
def test_a_file_that_cannot_be_used_is_reported_with_its_place_and_untouched(
    path: Path, text: str
) -> None:
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(InvalidInput, match=r"line 1, column \d+: "):
        put(CURSOR, path)
    assert path.read_text() == text
    assert backups(path) == []


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b'{"a": "\xe9"}'])
def test_a_file_that_is_not_utf8_is_refused(path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    with pytest.raises(InvalidInput, match="not UTF-8"):
        put(CURSOR, path)
    assert path.read_bytes() == data


def test_a_file_that_is_far_too_large_is_refused(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings_file, "BYTES_MAX", 10)
    with pytest.raises(InvalidInput, match="more than 10 bytes"):
        put(CURSOR, filled)


# Whose entry it is


THEIRS = '{"mcpServers": {"holdfast": {"command": "npx", "args": ["mcp"]}, "b": {}}}'


def test_an_entry_that_is_not_ours_is_replaced_only_by_force(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(THEIRS)
    with pytest.raises(AlreadyExists, match="did not write"):
        put(CURSOR, path)
    assert path.read_text() == THEIRS
    assert look(CURSOR, str(path), "holdfast").state == "other"
    assert put(CURSOR, path, force=True).result == "replaced"
    assert entry(path)["command"] == LINE[0]
    assert list(json.loads(path.read_text())["mcpServers"]) == ["b", "holdfast"]


def test_an_entry_that_is_not_ours_is_taken_out_only_by_force(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(THEIRS)
    with pytest.raises(Conflict, match="left alone"):
        take(CURSOR, path)
    assert path.read_text() == THEIRS
    take(CURSOR, path, force=True)
    assert json.loads(path.read_text()) == {"mcpServers": {"b": {}}}


def test_nothing_is_written_when_it_is_only_tried(filled: Path) -> None:
    before = sorted(filled.parent.iterdir()), filled.read_bytes()
    outcome = put(CURSOR, filled, dry_run=True)
    assert (outcome.result, outcome.backup) == ("added", None)
    assert (sorted(filled.parent.iterdir()), filled.read_bytes()) == before


# Others at the same time, and an end in the middle


def test_a_client_that_writes_at_the_same_time_loses_nothing(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its change comes between our reading and our writing, so we begin again."""
    real = settings_file.write_atomic
    written = []

    def write(path: str, data: bytes, **how: Any) -> None:
        if not written:
            filled.write_text('{"mcpServers": {}, "theirs": 1}')
        written.append(path)
        real(path, data, **how)

    monkeypatch.setattr(settings_file, "write_atomic", write)
    put(CURSOR, filled)
    assert json.loads(filled.read_text())["theirs"] == 1
    assert entry(filled)["command"] == LINE[0]
    assert len(backups(filled)) == 1


def test_a_client_that_never_stops_writing_is_told_of(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = settings_file.write_atomic
    numbers = iter(range(100))

    def write(path: str, data: bytes, **how: Any) -> None:
        filled.write_text(json.dumps({"turn": next(numbers)}))
        real(path, data, **how)

    monkeypatch.setattr(settings_file, "write_atomic", write)
    with pytest.raises(Conflict, match="all the time"):
        put(CURSOR, filled)
    assert list(json.loads(filled.read_text())) == ["turn"]
    assert backups(filled) == []


def test_a_write_that_fails_leaves_the_file_and_no_litter(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.read_bytes()
    real = os.replace

    def replace(source: str, target: str) -> None:
        if target == str(filled):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(StoreError, match="no room"):
        put(CURSOR, filled)
    assert filled.read_bytes() == before
    assert list(filled.parent.iterdir()) == [filled]


def test_an_edit_that_would_touch_other_parts_is_not_written(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled.read_bytes()
    monkeypatch.setattr(
        "holdfast.edges.clients.json_text.with_value", lambda *_: '{"mcpServers": {}}'
    )
    with pytest.raises(StoreError, match="without touching other parts"):
        put(CURSOR, filled)
    assert filled.read_bytes() == before
