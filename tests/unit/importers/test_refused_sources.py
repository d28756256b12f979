"""What importers say of sources that are damaged, hostile, or of something else."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import zipfile
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError, InvalidInput
from holdfast.importers import Found, Record, Skipped, importer_named, item_of
from holdfast.importers.markdown import front_matter
from tests.unit.importers.sources import (
    chatgpt_zip,
    claude_mem,
    claude_zip,
    csv_table,
    database,
    json_lines_table,
    packed,
)


def read(program: str, path: Path, **options: str) -> list[Found]:
    return list(importer_named(program).read(str(path), options))


def test_an_export_of_another_service_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is an export of Claude") as caught:
        read("chatgpt", claude_zip(tmp_path))
    assert "holdfast import claude" in caught.value.command
    with pytest.raises(InvalidInput, match="is an export of ChatGPT"):
        read("claude", chatgpt_zip(tmp_path))


def test_an_archive_that_was_cut_off_is_refused(tmp_path: Path) -> None:
    path = chatgpt_zip(tmp_path)
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(InvalidInput, match="the archive is broken"):
        read("chatgpt", path)


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * 30_000_000)
    with pytest.raises(InvalidInput, match="would unpack to"):
        read("chatgpt", path)


def test_a_member_that_lies_about_its_size_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.importers.source_files.JSON_BYTES_MAX", 1_000)
    path = packed(tmp_path / "large.zip", {"conversations.json": ["x" * 2_000]})
    with pytest.raises(InvalidInput, match="more than 1,000 bytes"):
        read("chatgpt", path)


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    path = packed(tmp_path / "odd.zip", {"../../conversations.json": [], "/etc/user.json": {}})
    with pytest.raises(InvalidInput, match="no conversations"):
        read("chatgpt", path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["odd.zip"]


def test_a_database_of_another_version_is_named(tmp_path: Path) -> None:
    path = database(tmp_path / "db", "CREATE TABLE memories (id INTEGER, body TEXT)", {})
    with pytest.raises(InvalidInput, match="has no column `content`") as caught:
        read("mcp-memory-service", path)
    assert "stores its data differently" in caught.value.message
    with pytest.raises(InvalidInput, match="no table `observations`"):
        read("claude-mem", path)
    with pytest.raises(InvalidInput, match="is no database of mem0"):
        read("mem0", path)


def test_a_view_without_end_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "endless.db"
    endless = (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
        " SELECT n AS content_hash, 'a' AS content, '' AS tags, '{}' AS metadata FROM c"
    )
    with sqlite3.connect(path) as other:
        other.execute(f"CREATE VIEW memories AS {endless}")
    other.close()
    with pytest.raises(InvalidInput, match="no table `memories`"):
        next(iter(importer_named("mcp-memory-service").read(str(path), {})))


def test_a_note_with_brackets_and_spaces_in_masses_is_read_once(tmp_path: Path) -> None:
    # Each of these took longer with the square of its length.
    wide = " " * 100_000
    lines = ("[" * 100_000, "[[a#" * 25_000, f"- [a] b{wide}c", f"- [a] b{wide}(c)d", f"a{wide}b")
    (tmp_path / "a.md").write_text("---\ntitle: a\na" + wide + "b\n---\n" + "\n".join(lines))
    assert len(read("basic-memory", tmp_path)) == 3
    text = "\n" * 100_000 + "# A heading" + wide + "b\nwords"
    (tmp_path / "memories.json").write_text(json.dumps([{"conversations_memory": text}]))
    (found,) = read("claude", tmp_path / "memories.json")
    assert isinstance(found, Record) and found.text == "words"


def test_text_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database")
    with pytest.raises(InvalidInput, match="is not a SQLite database"):
        read("claude-mem", path)


def test_a_database_that_is_open_elsewhere_is_read_as_it_is(tmp_path: Path) -> None:
    """Rows that are still in the log of the other program are seen, and nothing of it changes."""
    path = claude_mem(tmp_path) / "claude-mem.db"
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.execute("UPDATE observations SET text = 'Changed just now' WHERE id = 2")
    other.commit()
    log = Path(f"{path}-wal").read_bytes()
    assert log
    found = {one.text for one in read("claude-mem", path) if isinstance(one, Record)}
    assert "Changed just now" in found
    assert Path(f"{path}-wal").read_bytes() == log
    other.close()


def test_a_closed_database_gets_no_files_beside_it(tmp_path: Path) -> None:
    path = claude_mem(tmp_path) / "claude-mem.db"
    other = sqlite3.connect(path)
    other.execute("PRAGMA journal_mode = WAL")
    other.close()
    read("claude-mem", path)
    assert [one.name for one in tmp_path.iterdir()] == ["claude-mem.db"]


class _Attack:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, ("/tmp/holdfast-was-here",)


def test_pickled_code_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "mem0.faiss").write_bytes(b"")
    (tmp_path / "mem0.pkl").write_bytes(pickle.dumps((_Attack(), {})))
    with pytest.raises(InvalidInput, match="which is not read from a file"):
        read("mem0", tmp_path)
    assert not os.path.exists("/tmp/holdfast-was-here")
    database(
        tmp_path / "storage.sqlite",
        "CREATE TABLE points (id TEXT, point BLOB)",
        {"points": [("1", pickle.dumps({"id": "1", "payload": _Attack()}))]},
    )
    (found,) = read("mem0", tmp_path / "storage.sqlite")
    assert isinstance(found, Skipped)
    assert not os.path.exists("/tmp/holdfast-was-here")


def test_pickled_data_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    # A tuple of twice the one before: 300 bytes that are 2 to the power of 60 values.
    shared: object = ("x", "y")
    for _ in range(60):
        shared = (shared, shared)
    (tmp_path / "mem0.faiss").write_bytes(b"")
    (tmp_path / "mem0.pkl").write_bytes(pickle.dumps(({"a": {"data": shared}}, {})))
    with pytest.raises(InvalidInput, match="unfolds to far more"):
        read("mem0", tmp_path)


def test_a_mapping_names_columns_that_are_there(tmp_path: Path) -> None:
    path = csv_table(tmp_path)
    with pytest.raises(InvalidInput, match="holds the text"):
        read("csv", path)
    with pytest.raises(InvalidInput, match="has no column 'missing'") as caught:
        read("csv", path, text="missing")
    assert "when, what, who, labels" in caught.value.hint
    with pytest.raises(InvalidInput, match="A mapping has no field 'colour'"):
        read("csv", path, text="what", colour="who")


def test_columns_without_a_place_are_metadata(tmp_path: Path) -> None:
    first, second = read("json", json_lines_table(tmp_path))
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert dict(first.metadata) == {"weight": 2}
    assert list(first.tags) == ["a"]
    assert second.id == "id:7"


def test_lines_that_are_no_json_are_named_and_stop_nothing(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_text('{"text": "Likes tea"}\n{"text": \n[1]\n{"text": "Has a cat"}\n')
    found = read("json", path)
    assert [one.text for one in found if isinstance(one, Record)] == ["Likes tea", "Has a cat"]
    assert [one.id for one in found if isinstance(one, Skipped)] == ["line 2", "line 3"]


def test_values_of_another_type_leave_the_rest_readable(tmp_path: Path) -> None:
    """A list for the id of a node, a number for a list, an id that is none or no text."""
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hello"]}}
    tree = {"a": {"message": said, "parent": ["b"]}, "b": {"children": ["a"], "parent": {}}}
    chat = [{"id": "c", "mapping": tree, "current_node": ["a"]}]
    (tmp_path / "conversations.json").write_text(json.dumps(chat))
    (found,) = read("chatgpt", tmp_path / "conversations.json")
    assert isinstance(found, Record)
    assert found.text == "User: Hello"
    entity = {"type": "entity", "name": "Ada", "entityType": "person", "observations": True}
    (tmp_path / "memory.jsonl").write_text(json.dumps(entity))
    (found,) = read("mcp-memory", tmp_path / "memory.jsonl")
    assert isinstance(found, Record)
    rows = [(None, "Nobody's", "ADD"), (7, "Likes tea", "ADD")]
    made = "CREATE TABLE history (memory_id, new_memory, event)"
    (found,) = read("mem0", database(tmp_path / "history.db", made, {"history": rows}))
    assert isinstance(found, Record)
    assert (found.id, found.text) == ("7", "Likes tea")
    own = {"memory": "Likes tea", "run_id": ["r"], "actor_id": 7, "expiration_date": "9999-12-31"}
    (tmp_path / "export.json").write_text(json.dumps([own]))
    (found,) = read("mem0", tmp_path / "export.json")
    assert isinstance(found, Record)
    draft = item_of(found, "mem0").draft
    assert (draft.session, draft.speaker) == ("['r']", "7")
    assert draft.expires_at is not None


@pytest.mark.parametrize("program", ["mem0", "letta", "graphiti", "chatgpt", "claude"])
@pytest.mark.parametrize("value", [None, 7, "text", [], {}, [[]], [None], {"results": 3}])
def test_json_of_something_else_is_refused_with_a_sentence(
    tmp_path: Path, program: str, value: object
) -> None:
    path = tmp_path / "some.json"
    path.write_text(json.dumps(value))
    try:
        found = read(program, path)
    except HoldfastError as error:
        assert error.message.endswith(".")
    else:
        assert not any(isinstance(one, Record) for one in found)


def test_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000)
    for program in ("mem0", "chatgpt", "letta"):
        with pytest.raises(InvalidInput):
            read(program, path)


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("title: A", {"title": "A"}),
        ("tags:\n- a\n- b", {"tags": ["a", "b"]}),
        ("tags:\n  - a", {"tags": ["a"]}),
        ("tags: [a, 'b c']", {"tags": ["a", "b c"]}),
        ('title: "A: b"', {"title": "A: b"}),
        ("link: [[A]]", {"link": "[[A]]"}),
        ("empty:", {"empty": None}),
        ("text: |\n  one\n  two", {"text": "|\none\ntwo"}),
    ],
)
def test_front_matter_is_understood(head: str, fields: dict[str, object]) -> None:
    assert front_matter(f"---\n{head}\n---\nBody") == (fields, "Body")


@pytest.mark.parametrize("text", ["Body", "---\nno end", "--- x\na: b\n---\n", "----\n"])
def test_what_is_no_front_matter_is_text(text: str) -> None:
    assert front_matter(text) == ({}, text)
