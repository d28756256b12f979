"""A hub's files as an agent works with them: every version kept, file and memory in step."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.domain.hub import Viewer
from holdfast.errors import (
    AlreadyExists,
    Conflict,
    HoldfastError,
    InvalidInput,
    NotFound,
    StoreFull,
)
from holdfast.files import tool_files as kept_folder
from holdfast.files.tool_files import sync, tree
from holdfast.files.tool_files.operations import Files, FileText
from holdfast.files.tool_files.tree import Listing
from holdfast.testing import FixedClock, open_for_tests

NOTES = "/memories/notes.md"


@pytest.fixture
def memory(tmp_path: Path, clock: FixedClock) -> Iterator[Holdfast]:
    with open_for_tests(tmp_path / "home", clock=clock) as opened:
        yield opened


@pytest.fixture
def files(hub: HubMemory) -> Files:
    return hub.files(trust="agent", source_agent="claude")


@pytest.fixture
def folder(hub: HubMemory) -> Path:
    """The folder on the disk; made here, as a person may put files there first."""
    path = Path(hub.folder) / "files"
    path.mkdir(parents=True, mode=0o700)
    return path


def text_of(files: Files, path: str = NOTES) -> str:
    found = files.look(path)
    assert isinstance(found, FileText)
    return found.text


def paths_of(files: Files, path: str = "/memories") -> list[str]:
    found = files.look(path)
    assert isinstance(found, Listing)
    return [item.path for item in found.items]


def texts(hub: HubMemory, number: int = 1) -> list[str]:
    """Every text a memory ever had, oldest first."""
    out: list[str] = []
    for entry in hub.history(number):
        if not out or out[-1] != entry.after.content:
            out.append(entry.after.content)
    return out


# Each file a memory, each text a version


def test_a_created_file_is_a_document_that_recall_finds(hub: HubMemory, files: Files) -> None:
    files.create("/memories/food/tea.md", "Ann drinks oolong in the morning.\n")
    found = hub.recall("What does Ann drink?")[0].memory
    assert found.content == "Ann drinks oolong in the morning.\n"
    assert found.source_path == "food/tea.md"
    assert (found.layer, found.stability) == ("library", "stable")
    assert (found.trust, found.source, found.source_agent) == ("agent", "sdk", "claude")


def test_every_edit_is_a_version_that_can_be_read_and_compared(
    hub: HubMemory, files: Files, clock: FixedClock
) -> None:
    files.create(NOTES, "one\ntwo\n")
    before = clock.now()
    clock.tick()
    files.replace(NOTES, "two", "three")
    clock.tick()
    files.insert(NOTES, 0, "zero")
    assert texts(hub) == ["one\ntwo\n", "one\nthree\n", "zero\none\nthree\n"]
    assert hub.get(1, as_of=before).content == "one\ntwo\n"
    assert "+zero" in hub.diff(1)[-1].lines or "+zero" in hub.diff(1)[0].lines
    assert [entry.change.reason for entry in hub.history(1)] == [
        "created /memories/notes.md",
        "edited /memories/notes.md",
        "edited /memories/notes.md",
    ]


def test_undo_of_an_edit_brings_the_text_back_into_the_file(
    hub: HubMemory, files: Files, clock: FixedClock
) -> None:
    files.create(NOTES, "one\n")
    clock.tick()
    files.replace(NOTES, "one", "two")
    clock.tick()
    undone = hub.undo()
    assert (Path(hub.folder) / "files" / "notes.md").read_text() == "one\n"
    clock.tick()
    hub.undo(undone.change.id)
    assert (Path(hub.folder) / "files" / "notes.md").read_text() == "two\n"
    assert not hub.notes


def test_undo_of_a_create_takes_the_file_and_its_empty_folders_away(
    hub: HubMemory, files: Files
) -> None:
    files.create("/memories/a/b/notes.md", "one\n")
    undone = hub.undo()
    assert paths_of(files) == []
    hub.undo(undone.change.id)
    assert text_of(files, "/memories/a/b/notes.md") == "one\n"


def test_a_deleted_file_is_archived_and_undo_brings_it_back(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "Ann drinks oolong.")
    files.delete(NOTES)
    assert not (Path(hub.folder) / "files" / "notes.md").exists()
    assert not hub.recall("oolong")
    assert hub.get(1).state == "archived"
    hub.undo()
    assert text_of(files) == "Ann drinks oolong."
    assert hub.recall("oolong")


def test_a_deleted_folder_is_one_change_set(hub: HubMemory, files: Files) -> None:
    for name in ("a.md", "b.md", "deep/er/c.md"):
        files.create(f"/memories/box/{name}", f"This is {name}.")
    files.delete("/memories/box")
    assert paths_of(files) == []
    hub.undo()
    assert paths_of(files) == ["box", "box/a.md", "box/b.md", "box/deep"]
    assert text_of(files, "/memories/box/deep/er/c.md") == "This is deep/er/c.md."


def test_a_file_made_again_at_the_same_path_goes_on_with_its_history(
    hub: HubMemory, files: Files
) -> None:
    files.create(NOTES, "one")
    files.delete(NOTES)
    files.create(NOTES, "two")
    assert texts(hub) == ["one", "two"]
    assert hub.get(1).state == "active"


def test_a_renamed_file_keeps_its_memory_and_its_history(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    files.replace(NOTES, "one", "two")
    files.rename(NOTES, "/memories/old/notes.md")
    assert hub.get(1).source_path == "old/notes.md"
    assert texts(hub) == ["one", "two"]
    assert text_of(files, "/memories/old/notes.md") == "two"
    hub.undo()
    assert paths_of(files) == ["notes.md"]
    assert hub.get(1).source_path == "notes.md"


def test_a_renamed_folder_takes_all_its_memories_along(hub: HubMemory, files: Files) -> None:
    files.create("/memories/a/x.md", "x")
    files.create("/memories/a/b/y.md", "y")
    files.rename("/memories/a", "/memories/c/d")
    assert [hub.get(n).source_path for n in (1, 2)] == ["c/d/x.md", "c/d/b/y.md"]
    assert text_of(files, "/memories/c/d/b/y.md") == "y"
    hub.undo()
    assert paths_of(files) == ["a", "a/b", "a/x.md"]


def test_a_file_renamed_to_where_one_was_deleted_leaves_that_one_archived(
    hub: HubMemory, files: Files
) -> None:
    files.create(NOTES, "first")
    files.delete(NOTES)
    files.create("/memories/b.md", "second")
    files.rename("/memories/b.md", NOTES)
    assert text_of(files) == "second"
    assert (hub.get(1).content, hub.get(1).state) == ("first", "archived")
    hub.undo()
    assert paths_of(files) == ["b.md"]


def test_two_files_may_say_the_same_and_have_their_own_histories(
    hub: HubMemory, files: Files
) -> None:
    files.create("/memories/a.md", "same words")
    files.create("/memories/b.md", "same words")
    files.replace("/memories/b.md", "same", "other")
    assert texts(hub, 1) == ["same words"]
    assert texts(hub, 2) == ["same words", "other words"]


def test_a_file_of_a_kind_that_is_not_imported_is_kept_and_versioned_too(
    hub: HubMemory, files: Files
) -> None:
    files.create("/memories/table.csv", "tea,3\n")
    files.replace("/memories/table.csv", "3", "4")
    hub.index_files()
    assert hub.get(1).state == "active"
    hub.undo()
    assert text_of(files, "/memories/table.csv") == "tea,3\n"


def test_clear_removes_everything_and_can_be_undone(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    files.create("/memories/a/b.md", "two")
    files.clear()
    assert paths_of(files) == []
    hub.undo()
    assert paths_of(files) == ["a", "a/b.md", "notes.md"]


def test_all_of_it_works_on_a_system_without_handles_for_folders(
    hub: HubMemory, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_folder, "_HANDLES", False)
    files.create("/memories/a/notes.md", "one")
    files.insert("/memories/a/notes.md", 0, "zero")
    files.rename("/memories/a", "/memories/b")
    files.rename("/memories/b/notes.md", NOTES)
    assert text_of(files) == "zero\none"
    files.delete(NOTES)
    files.delete("/memories/b")
    assert paths_of(files) == []
    hub.undo()
    hub.undo()
    assert paths_of(files) == ["b", "b/notes.md"]


# To the letter


@pytest.mark.parametrize(
    "text",
    [
        "no end",
        "end\n",
        "two\r\nlines\r\n",
        "mixed\r\nlines\n",
        "\n\nblank lines\n\n\n",
        "tab\tx\n",
        "  indented\n",
        "é and é\n",
        "emoji 🍵\n",
        "\u200e odd spaces \u00a0\n",
    ],
)
def test_a_text_survives_to_the_letter_through_file_memory_and_undo(
    hub: HubMemory, files: Files, text: str
) -> None:
    files.create(NOTES, "KEY" + text)
    assert (Path(hub.folder) / "files" / "notes.md").read_bytes() == ("KEY" + text).encode()
    assert hub.get(1).content == "KEY" + text
    files.replace(NOTES, "KEY", "VALUE")
    assert text_of(files) == "VALUE" + text
    hub.undo()
    assert (Path(hub.folder) / "files" / "notes.md").read_bytes() == ("KEY" + text).encode()


@pytest.mark.parametrize(
    ("before", "line", "new", "after"),
    [
        ("", 0, "x", "x\n"),
        ("a", 0, "x", "x\na"),
        ("a", 1, "x", "a\nx"),
        ("a", 1, "x\n", "a\nx"),
        ("a\n", 1, "x\n", "a\nx\n"),
        ("a\nb\n", 1, "x", "a\nx\nb\n"),
        ("a\nb\n", 2, "x\ny", "a\nb\nx\ny\n"),
        ("a\nb", 1, "\n", "a\n\nb"),
        ("a\r\nb\r\n", 1, "x\ny\n", "a\r\nx\r\ny\r\nb\r\n"),
        ("a\r\nb", 2, "x", "a\r\nb\r\nx"),
    ],
)
def test_insert_puts_lines_in_and_changes_no_other(
    files: Files, before: str, line: int, new: str, after: str
) -> None:
    files.create(NOTES, before)
    files.insert(NOTES, line, new)
    assert text_of(files) == after


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny", "x\r\ny\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb", "x", "x\r\n"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\nb\r\n", "b", "x\ny", "a\nx\ny\r\n"),
        ("a\nb\n", "b\n", "", "a\n"),
    ],
)
def test_line_ends_of_windows_stay_what_they_are(
    files: Files, before: str, old: str, new: str, after: str
) -> None:
    files.create(NOTES, before)
    files.replace(NOTES, old, new)
    assert text_of(files) == after


def test_a_byte_order_mark_stays_and_is_no_part_of_the_text(
    hub: HubMemory, files: Files, folder: Path
) -> None:
    (folder / "notes.md").write_bytes(b"\xef\xbb\xbfone\n")
    files.replace(NOTES, "one", "two")
    assert (folder / "notes.md").read_bytes() == b"\xef\xbb\xbftwo\n"
    assert texts(hub) == ["one\n", "two\n"]
    hub.undo()
    assert (folder / "notes.md").read_bytes() == b"\xef\xbb\xbfone\n"


@pytest.mark.parametrize("blank", ["", "\n", " \t\n"])
def test_an_empty_file_is_a_file_without_a_memory(hub: HubMemory, files: Files, blank: str) -> None:
    files.create(NOTES, blank)
    assert text_of(files) == blank
    assert not hub.list()
    files.insert(NOTES, 0, "one")
    assert hub.get(1).content == "one\n" + blank
    files.replace(NOTES, "one\n" + blank, blank)
    assert text_of(files) == blank
    assert hub.get(1).state == "archived"
    hub.undo()
    assert text_of(files) == "one\n" + blank


# Hand edits


def test_a_hand_edit_between_two_calls_is_a_version_too(
    hub: HubMemory, files: Files, clock: FixedClock
) -> None:
    files.create(NOTES, "one\n")
    (Path(hub.folder) / "files" / "notes.md").write_text("one\nby hand\n")
    files.replace(NOTES, "one", "two")
    assert texts(hub) == ["one\n", "one\nby hand\n", "two\nby hand\n"]
    assert hub.history(1)[1].after.trust == "user"


def test_a_hand_edit_is_taken_in_by_looking_at_the_file(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    (Path(hub.folder) / "files" / "notes.md").write_text("by hand")
    assert text_of(files) == "by hand"
    assert hub.get(1).content == "by hand"
    hub.undo()
    assert text_of(files) == "one"


def test_a_file_put_there_by_hand_is_kept_before_it_is_deleted(
    hub: HubMemory, files: Files, folder: Path
) -> None:
    (folder / "mine.txt").write_text("my own words")
    files.delete("/memories/mine.txt")
    assert hub.get(1).content == "my own words"
    hub.undo()
    assert (folder / "mine.txt").read_text() == "my own words"


def test_a_file_removed_by_hand_is_archived_when_it_is_asked_for(
    hub: HubMemory, files: Files
) -> None:
    files.create(NOTES, "one")
    (Path(hub.folder) / "files" / "notes.md").unlink()
    with pytest.raises(NotFound):
        files.look(NOTES)
    assert (hub.get(1).state, hub.get(1).state_reason) == ("archived", "file removed")


def test_a_hand_edit_that_cannot_be_taken_in_now_can_still_be_read(
    hub: HubMemory, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create(NOTES, "one")
    (Path(hub.folder) / "files" / "notes.md").write_text("by hand")

    def full(*args: object, **values: object) -> None:
        raise StoreFull("There is no room left.")

    with monkeypatch.context() as patched:
        patched.setattr(sync.KeptFiles, "reconcile", full)
        assert text_of(files) == "by hand"
    assert hub.get(1).content == "one"
    assert text_of(files) == "by hand"
    assert hub.get(1).content == "by hand"


def test_a_hand_edit_is_not_overwritten_by_an_undo(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    files.replace(NOTES, "one", "two")
    (Path(hub.folder) / "files" / "notes.md").write_text("by hand")
    hub.undo()
    assert text_of(files) == "by hand"
    assert texts(hub) == ["one", "two", "one", "by hand"]


def test_a_document_that_was_indexed_becomes_a_kept_file_when_it_is_edited(
    hub: HubMemory, files: Files, folder: Path
) -> None:
    (folder / "notes.md").write_text("one")
    hub.index_files()
    files.replace(NOTES, "one", "two")
    assert texts(hub) == ["one", "two"]
    hub.undo()
    assert (folder / "notes.md").read_text() == "one"


# In step with indexing and with what others do to the memories


def test_indexing_finds_nothing_to_do_after_the_tool_wrote(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one\n")
    files.create("/memories/copy.md", "one\n")
    files.create("/memories/gone.md", "gone\n")
    files.delete("/memories/gone.md")
    files.rename("/memories/copy.md", "/memories/a/copy.md")
    before = hub.changes()
    for _ in range(2):
        report = hub.index_files()
        assert not (report.added or report.updated or report.removed or report.refused), report
    assert hub.changes() == before


def test_indexing_archives_a_file_removed_by_hand_though_another_says_the_same(
    hub: HubMemory, files: Files
) -> None:
    files.create("/memories/a.md", "same words")
    files.create("/memories/b.md", "same words")
    hub.index_files()
    (Path(hub.folder) / "files" / "b.md").unlink()
    assert hub.index_files().removed == ("b.md",)
    assert [hub.get(number).state for number in (1, 2)] == ["active", "archived"]


def test_what_is_changed_in_the_store_is_written_to_the_file(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    hub.update(1, content="two")
    assert (Path(hub.folder) / "files" / "notes.md").read_text() == "two"
    hub.forget(1)
    assert not (Path(hub.folder) / "files" / "notes.md").exists()
    hub.restore(1)
    assert (Path(hub.folder) / "files" / "notes.md").read_text() == "two"
    hub.remember("three", source_path="notes.md")
    assert (Path(hub.folder) / "files" / "notes.md").read_text() == "three"
    assert not hub.notes


def test_archiving_a_memory_hides_it_and_leaves_the_file(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    hub.archive(1)
    assert text_of(files) == "one"
    assert hub.get(1).state == "archived"
    files.replace(NOTES, "one", "two")
    assert hub.get(1).state == "active"


def test_archiving_the_memory_of_a_deleted_file_does_not_bring_it_back(
    hub: HubMemory, files: Files
) -> None:
    files.create(NOTES, "one")
    files.delete(NOTES)
    hub.archive(1, reason="not needed")
    with pytest.raises(NotFound):
        files.look(NOTES)
    assert paths_of(files) == []
    hub.restore(1)
    assert text_of(files) == "one"


def test_a_purge_takes_the_file_along(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "my secret")
    hub.purge(1)
    left = [path for path in Path(hub.folder).rglob("*") if path.is_file()]
    assert not any(b"secret" in path.read_bytes() for path in left)
    assert paths_of(files) == []


def test_a_document_that_was_only_read_is_never_written(
    hub: HubMemory, files: Files, folder: Path
) -> None:
    (folder / "notes.md").write_text("one")
    hub.index_files()
    hub.update(1, content="two")
    hub.forget(1)
    assert (folder / "notes.md").read_text() == "one"


def test_what_is_private_to_somebody_is_in_no_file(hub: HubMemory, files: Files) -> None:
    hub.remember("only mine", source_path="notes.md", boundary="private", layer="library")
    files.create(NOTES, "for all")
    assert hub.get(1).content == "only mine"
    hub.forget(1)
    hub.update(2, boundary="private")
    assert paths_of(files) == []
    hub.undo()
    assert text_of(files) == "for all"


def test_the_files_go_with_their_hub_and_what_a_person_put_there_stays(
    memory: Holdfast, hub: HubMemory, files: Files, folder: Path
) -> None:
    files.create("/memories/a/notes.md", "one")
    files.create("/memories/edited.md", "one")
    (folder / "edited.md").write_text("by hand")
    (folder / "mine.md").write_text("mine")
    memory.delete_hub("work")
    assert sorted(os.listdir(folder)) == ["edited.md", "mine.md"]


def test_who_may_not_see_what_is_the_hubs_sees_no_files(hub: HubMemory, files: Files) -> None:
    files.create(NOTES, "one")
    caller = HubMemory(hub.core.acting("eve", viewer=Viewer("eve", ("org",))), hub.info, hub.home)
    with pytest.raises(NotFound, match="no files in hub `work` that you may see"):
        caller.files()
    member = HubMemory(hub.core.acting("bob"), hub.info, hub.home)
    assert text_of(member.files()) == "one"


def test_another_hub_has_other_files(memory: Holdfast, files: Files) -> None:
    files.create(NOTES, "one")
    assert paths_of(memory.create_hub("other").files()) == []


# Crashes and failures


class Killed(BaseException):
    """Like kill -9: nothing is tidied up that the process itself would tidy."""


def kill_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    def killed(*args: object, **values: object) -> None:
        raise Killed

    monkeypatch.setattr(owner, name, killed)


COMMANDS: dict[str, tuple[Callable[[Files], None], str]] = {
    "create": (lambda files: files.create("/memories/new.md", "new"), "/memories/new.md"),
    "replace": (lambda files: files.replace(NOTES, "one", "two") and None, NOTES),
    "insert": (lambda files: files.insert(NOTES, 1, "two") and None, NOTES),
    "delete": (lambda files: files.delete(NOTES), NOTES),
    "rename": (lambda files: files.rename(NOTES, "/memories/new.md"), NOTES),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("moment", ["put", "move", "remove", "stage", "agree", "sync"])
def test_a_crash_in_a_command_leaves_it_done_or_not_done(
    hub: HubMemory, files: Files, command: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create(NOTES, "one\n")
    run, _ = COMMANDS[command]
    with monkeypatch.context() as patched:
        kill_at(patched, sync.KeptFiles if moment == "agree" else kept_folder.Folder, moment)
        with contextlib.suppress(Killed):
            run(files)
    # The next look finishes it; then file and memory say the same.
    for path in (NOTES, "/memories/new.md"):
        with contextlib.suppress(NotFound):
            files.look(path)
    on_disk = {p.name: p.read_text() for p in (Path(hub.folder) / "files").iterdir()}
    on_disk = {name: text for name, text in on_disk.items() if not name.startswith(".")}
    in_store = {m.source_path: m.content for m in hub.list()}
    assert on_disk == in_store
    assert on_disk in ({"notes.md": "one\n"}, RESULTS[command])
    files.create("/memories/later.md", "later")
    assert not [p for p in (Path(hub.folder) / "files").iterdir() if p.name.startswith(".")]


RESULTS = {
    "create": {"notes.md": "one\n", "new.md": "new"},
    "replace": {"notes.md": "two\n"},
    "insert": {"notes.md": "one\ntwo\n"},
    "delete": {},
    "rename": {"new.md": "one\n"},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("moment", ["put", "move", "remove", "stage"])
def test_a_command_that_fails_changes_nothing(
    hub: HubMemory, files: Files, command: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create(NOTES, "one\n")
    files.create("/memories/other.md", "other\n")
    run, _ = COMMANDS[command]

    def full(*args: object, **values: object) -> None:
        raise StoreFull("There is no room left.")

    with monkeypatch.context() as patched:
        patched.setattr(kept_folder.Folder, moment, full)
        try:
            run(files)
        except StoreFull:
            assert paths_of(files) == ["notes.md", "other.md"]
            assert text_of(files) == "one\n"
            assert hub.get(1).content == "one\n"
            assert hub.get(1).state == "active"
            assert hub.get(1).source_path == "notes.md"


def test_half_a_delete_is_none(
    hub: HubMemory, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        files.create(f"/memories/box/{name}.md", name)
    remove = kept_folder.Folder.remove

    def stubborn(self: kept_folder.Folder, name: str, *rest: object) -> None:
        if name == "b.md":
            raise StoreFull("No.")
        remove(self, name, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(kept_folder.Folder, "remove", stubborn)
        with pytest.raises(StoreFull):
            files.delete("/memories/box")
    assert paths_of(files, "/memories/box") == ["a.md", "b.md", "c.md"]
    assert {memory.state for memory in hub.list()} == {"active"}
    assert len(hub.list()) == 3


def test_a_save_by_someone_else_in_the_very_moment_is_not_overwritten(
    hub: HubMemory, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.create(NOTES, "one\n")
    stage = kept_folder.Folder.stage

    def meanwhile(self: kept_folder.Folder, data: bytes) -> str:
        (Path(hub.folder) / "files" / "notes.md").write_text("by hand\n")
        return stage(self, data)

    with monkeypatch.context() as patched:
        patched.setattr(kept_folder.Folder, "stage", meanwhile)
        with pytest.raises(Conflict):
            files.replace(NOTES, "one", "two")
    assert text_of(files) == "by hand\n"
    assert texts(hub)[-1] == "by hand\n"


# What is refused


def test_a_folder_is_made_for_its_owner_only_and_so_is_a_file(hub: HubMemory, files: Files) -> None:
    os.umask(0)
    try:
        files.create("/memories/a/b/notes.md", "one")
        files.replace("/memories/a/b/notes.md", "one", "two")
    finally:
        os.umask(0o022)
    root = Path(hub.folder) / "files"
    for path in (root, root / "a", root / "a" / "b"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((root / "a" / "b" / "notes.md").stat().st_mode) == 0o600


def every_command(files: Files, path: str) -> dict[str, Callable[[], object]]:
    return {
        "look": lambda: files.look(path),
        "create": lambda: files.create(path, "new"),
        "replace": lambda: files.replace(path, "secret", "x"),
        "insert": lambda: files.insert(path, 0, "x"),
        "delete": lambda: files.delete(path),
        "rename": lambda: files.rename(path, "/memories/away.md"),
        "rename to": lambda: files.rename(NOTES, path),
    }


@pytest.mark.parametrize(
    "command", ["look", "create", "replace", "insert", "delete", "rename", "rename to"]
)
@pytest.mark.parametrize(
    "path", ["/memories/link.md", "/memories/links/secret.md", "/memories/dangling.md"]
)
@pytest.mark.parametrize("handles", [True, False], ids=["by handle", "by path"])
def test_a_link_is_never_followed(
    hub: HubMemory,
    files: Files,
    tmp_path: Path,
    command: str,
    path: str,
    handles: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As on a system without handles for folders.
    monkeypatch.setattr(kept_folder, "_HANDLES", handles and kept_folder._HANDLES)
    files.create(NOTES, "one")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    root = Path(hub.folder) / "files"
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "links").symlink_to(outside)
    (root / "dangling.md").symlink_to(outside / "nothing.md")
    with pytest.raises(HoldfastError) as refused:
        every_command(files, path)[command]()
    assert "secret" not in str(refused.value).replace(path, "")
    assert sorted(os.listdir(outside)) == ["secret.md"]
    assert (outside / "secret.md").read_text() == "secret"
    assert paths_of(files) == ["notes.md"]


def test_a_folder_with_a_link_in_it_is_not_deleted(
    files: Files, hub: HubMemory, tmp_path: Path
) -> None:
    files.create("/memories/box/a.md", "one")
    (tmp_path / "secret.md").write_text("secret")
    (Path(hub.folder) / "files" / "box" / "link").symlink_to(tmp_path)
    with pytest.raises(InvalidInput, match="is a link, of which no version is kept"):
        files.delete("/memories/box")
    assert (tmp_path / "secret.md").exists()
    assert text_of(files, "/memories/box/a.md") == "one"


@pytest.mark.skipif(not kept_folder._HANDLES, reason="this system has no handles for folders")
@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_swapped_in_between_look_and_use_is_refused(
    hub: HubMemory,
    files: Files,
    tmp_path: Path,
    what: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files.create("/memories/box/a.md", "mine")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("secret")
    swapped = Path(hub.folder) / "files" / "box"
    target = outside
    if what == "file":
        swapped, target = swapped / "a.md", outside / "a.md"
    kind = kept_folder.Folder.kind

    def swapping(self: kept_folder.Folder, name: str) -> kept_folder.Kind | None:
        """Every look sees what should be there, and every use comes just after the swap."""
        if swapped.is_symlink():
            swapped.unlink()
            swapped.with_name("was").rename(swapped)
        found = kind(self, name)
        if name == swapped.name:
            swapped.rename(swapped.with_name("was"))
            swapped.symlink_to(target)
        return found

    monkeypatch.setattr(kept_folder.Folder, "kind", swapping)
    with pytest.raises(InvalidInput, match="is a link"):
        files.look("/memories/box/a.md")
    with pytest.raises(InvalidInput, match="is a link"):
        files.replace("/memories/box/a.md", "secret", "x")
    assert (outside / "a.md").read_text() == "secret"
    assert os.listdir(outside) == ["a.md"]


def test_a_pipe_keeps_nobody_waiting(files: Files, folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    with pytest.raises(InvalidInput, match="Unsupported file type"):
        files.look("/memories/pipe.md")
    assert paths_of(files) == []


@pytest.mark.parametrize("path", ["/memories/Notes.md", "/memories/NOTES.MD", "/memories/notes.md"])
def test_names_that_differ_only_in_case_are_not_two_files(files: Files, path: str) -> None:
    files.create("/memories/notes.MD", "one")
    with pytest.raises(AlreadyExists, match="some systems take the two for one"):
        files.create(path, "two")
    with pytest.raises(NotFound):
        files.look(path)
    files.rename("/memories/notes.MD", path)
    assert paths_of(files) == [path.removeprefix("/memories/")]


def test_a_folder_that_differs_only_in_case_is_not_a_second_one(files: Files) -> None:
    files.create("/memories/Box/a.md", "one")
    with pytest.raises(AlreadyExists):
        files.create("/memories/box/b.md", "two")


def test_composed_and_decomposed_letters_are_not_two_files(files: Files) -> None:
    files.create("/memories/caf\u00e9.md", "one")
    with pytest.raises(AlreadyExists):
        files.create("/memories/cafe\u0301.md", "two")


def test_what_cannot_be_stored_is_refused_and_nothing_is_left(hub: HubMemory, files: Files) -> None:
    for text in ("a\0b", "half \ud83d", "x" * 3_000_001):
        with pytest.raises(InvalidInput):
            files.create(NOTES, text)
    files.create(NOTES, "one")
    with pytest.raises(InvalidInput):
        files.replace(NOTES, "one", "x" * 3_000_001)
    assert text_of(files) == "one"
    assert sorted(os.listdir(Path(hub.folder) / "files")) == ["notes.md"]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"a\0b", b"x" * 3_000_001])
def test_a_file_that_cannot_be_kept_is_neither_edited_nor_deleted(
    files: Files, folder: Path, data: bytes
) -> None:
    (folder / "notes.md").write_bytes(data)
    for command in (
        lambda: files.replace(NOTES, "a", "b"),
        lambda: files.delete(NOTES),
        lambda: files.clear(),
    ):
        with pytest.raises(InvalidInput):
            command()
    assert (folder / "notes.md").read_bytes() == data


def test_a_file_in_the_place_of_a_folder_is_a_sentence(files: Files) -> None:
    files.create(NOTES, "one")
    for command in every_command(files, f"{NOTES}/below.md").values():
        with pytest.raises(HoldfastError):
            command()
    with pytest.raises(InvalidInput, match="so nothing can be below it"):
        files.create(f"{NOTES}/below.md", "two")


def test_there_is_a_bound_on_the_number_of_files(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "FILES_MAX", 3)
    for name in "abc":
        files.create(f"/memories/{name}.md", name)
    with pytest.raises(InvalidInput, match="more than"):
        files.create("/memories/d.md", "d")
    files.delete("/memories/a.md")
    files.create("/memories/d.md", "d")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_can_still_be_read(files: Files, hub: HubMemory) -> None:
    files.create(NOTES, "one")
    root = Path(hub.folder) / "files"
    root.chmod(0o500)
    try:
        with pytest.raises(HoldfastError):
            files.create("/memories/b.md", "two")
        assert text_of(files) == "one"
    finally:
        root.chmod(0o700)


def test_looking_at_a_hub_without_files_makes_none(hub: HubMemory, files: Files) -> None:
    assert files.look("/memories") == Listing("/memories", 0, ())
    with pytest.raises(NotFound):
        files.look(NOTES)
    assert not Path(hub.folder).exists()
