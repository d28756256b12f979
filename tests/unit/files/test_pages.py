"""A file for each category beside MEMORY.md: what edits mean there, and that turning it on and off
loses nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from holdfast import HubMemory, engine
from holdfast.api.memory import Holdfast
from holdfast.files import safe_read
from holdfast.files.memory_md.disk import MirrorFiles
from holdfast.files.memory_md.merge import SyncReport
from holdfast.testing import CountedIds, FixedClock, open_for_tests
from tests.unit.files.test_mirror import with_three

PREFERENCES = """\
## Preference
<!-- updated 2026-01-14 -->

- Ann likes tea. <!-- mem_00000001 -->
"""
FACTS = """\
## Fact
<!-- updated 2026-01-14 -->

- The server is Hilda. <!-- mem_00000002 -->
- It runs Debian. <!-- mem_00000003 -->
"""


def opened(home: Path, *, pages: bool, ids: CountedIds | None = None) -> Holdfast:
    settings = {"files.per_category": pages}
    return open_for_tests(home, clock=FixedClock(), ids=ids, settings=settings)


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Holdfast]:
    monkeypatch.setattr(safe_read, "PAUSE_S", 0)
    with opened(tmp_path, pages=True) as memory:
        yield memory


@pytest.fixture
def hub(memory: Holdfast) -> HubMemory:
    return with_three(memory)


@pytest.fixture
def folder(hub: HubMemory) -> Path:
    return Path(hub.folder)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.md")}


def test_each_category_has_a_file(folder: Path) -> None:
    assert texts(folder) == {
        "MEMORY.md": "# Long-term Memory\n",
        "preferences.md": PREFERENCES,
        "facts.md": FACTS,
    }


def test_a_category_whose_name_is_no_file_name_stays_in_memory_md(
    hub: HubMemory, folder: Path
) -> None:
    hub.remember("One", category="..", layer="long_term")
    hub.remember("Two", category="日本", layer="long_term")
    hub.remember("Three", category="readme", layer="long_term")
    hub.remember("Four", category="about me", layer="long_term")
    assert sorted(texts(folder)) == ["MEMORY.md", "about-me.md", "facts.md", "preferences.md"]
    rest = (folder / "MEMORY.md").read_text()
    assert all(word in rest for word in ("One", "Two", "Three"))
    assert hub.sync() == SyncReport()


def test_a_changed_line_is_a_new_revision(hub: HubMemory, folder: Path) -> None:
    edit(folder / "preferences.md", "likes tea", "likes coffee")
    assert hub.get(1).content == "Ann likes coffee."
    assert hub.history(1)[-1].change.reason == "edited in MEMORY.md"


def test_a_missing_line_is_archived(hub: HubMemory, folder: Path) -> None:
    edit(folder / "facts.md", "- It runs Debian. <!-- mem_00000003 -->\n", "")
    assert hub.get(3).state == "archived"


def test_a_new_line_is_a_memory_of_the_files_category(hub: HubMemory, folder: Path) -> None:
    edit(folder / "facts.md", "- It runs", "- It has 8 GB.\n- It runs")
    [new] = hub.sync().taken_in
    assert (new.content, new.category) == ("It has 8 GB.", "fact")
    assert "- It has 8 GB. <!-- mem_00000004 -->\n- It runs" in (folder / "facts.md").read_text()


@pytest.mark.parametrize("cut", [True, False])
def test_a_line_moved_or_copied_to_another_file_changes_its_category(
    hub: HubMemory, folder: Path, cut: bool
) -> None:
    line = "- It runs Debian. <!-- mem_00000003 -->\n"
    if cut:
        edit(folder / "facts.md", line, "")
        (folder / "preferences.md").write_text(PREFERENCES + line)
        assert hub.get(3).category == "preference"
        assert line in (folder / "preferences.md").read_text()
    else:
        (folder / "preferences.md").write_text(PREFERENCES + line)
    assert len(hub.list()) == 3
    assert sum(line in text for text in texts(folder).values()) == 1


def test_a_category_changed_by_a_tool_moves_the_line(hub: HubMemory, folder: Path) -> None:
    hub.update(3, category="project")
    assert "Debian" not in (folder / "facts.md").read_text()
    assert "- It runs Debian. <!-- mem_00000003 -->" in (folder / "projects.md").read_text()
    hub.undo()
    assert "Debian" in (folder / "facts.md").read_text()


def test_a_page_made_by_hand_is_taken_in(hub: HubMemory, folder: Path) -> None:
    (folder / "projects.md").write_text("# What I work on\n\n- Holdfast\n- A garden\n")
    assert {m.content for m in hub.list(category="project")} == {"Holdfast", "A garden"}
    assert (folder / "projects.md").read_text().startswith("# What I work on\n")
    assert hub.sync() == SyncReport()


def test_other_files_in_the_folder_are_left_alone(hub: HubMemory, folder: Path) -> None:
    for name in ("notes.md", "README.md", "2026-01-13.md", "todo.txt"):
        (folder / name).write_text("## Fact\n- Not a memory\n")
    hub.remember("One more", category="fact", layer="long_term")
    hub.sync()
    assert [m for m in hub.list(layer="long_term") if m.content == "Not a memory"] == []
    assert (folder / "notes.md").read_text() == "## Fact\n- Not a memory\n"
    # Once a category needs that name, what is there is taken in and not written over.
    hub.remember("A note", category="notes", layer="long_term")
    hub.sync()
    assert "Not a memory" in (folder / "notes.md").read_text()
    assert "A note" in (folder / "notes.md").read_text()


def test_a_page_that_was_deleted_is_restored(hub: HubMemory, folder: Path) -> None:
    edit(folder / "facts.md", "## Fact\n", "Mine.\n\n## Fact\n")
    hub.sync()
    before = texts(folder)
    (folder / "facts.md").unlink()
    (folder / "preferences.md").write_text("")
    report = hub.sync()
    assert texts(folder) == before
    assert len(report.notes) == 2
    assert len(hub.list()) == 3


def test_all_pages_are_injected_and_read_as_one(hub: HubMemory) -> None:
    assert hub.read_memory_md() == (
        "# Long-term Memory\n\n## Fact\n\n- The server is Hilda.\n- It runs Debian.\n"
        "\n## Preference\n\n- Ann likes tea.\n"
    )
    block = hub.context(style="minion")
    assert "Ann likes tea." in block
    assert "It runs Debian." in block


def test_a_rewrite_goes_to_the_pages(hub: HubMemory, folder: Path) -> None:
    text = hub.read_memory_md() or ""
    done = hub.rewrite_memory_md(
        text.replace("likes tea", "likes coffee").replace("- It runs Debian.\n", "")
        + "\n## Person\n- Bob\n"
    )
    assert [m.number for m in done.changed] == [1]
    assert [m.number for m in done.archived] == [3]
    assert sorted(texts(folder)) == ["MEMORY.md", "facts.md", "people.md", "preferences.md"]
    assert "- Ann likes coffee. <!-- mem_00000001 -->" in texts(folder)["preferences.md"]
    hub.undo()
    assert {m.content for m in hub.list()} == {
        "Ann likes tea.", "The server is Hilda.", "It runs Debian."
    }  # fmt: skip


FREE = "Free text.\n\n| a |\n|---|\n"


def lines(folder: Path) -> list[str]:
    found = [line for text in texts(folder).values() for line in text.splitlines()]
    return sorted(line for line in found if line.strip())


def test_turning_pages_on_and_off_again_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_read, "PAUSE_S", 0)
    ids = CountedIds()
    with opened(tmp_path, pages=False, ids=ids) as memory:
        hub = with_three(memory)
        folder = Path(hub.folder)
        edit(folder / "MEMORY.md", "# Long-term Memory\n", f"# Mine\n\n{FREE}")
        edit(folder / "MEMORY.md", "## Fact\n", "Between.\n\n## Fact\n")
        hub.sync()
        before, one_file = lines(folder), texts(folder)
        changes = hub.changes()
    with opened(tmp_path, pages=True, ids=ids) as memory:
        hub = memory.hub()
        assert len(hub.list()) == 3  # Any operation brings the files into the form that is wanted.
        assert sorted(texts(folder)) == ["MEMORY.md", "facts.md", "preferences.md"]
        assert texts(folder)["MEMORY.md"] == f"# Mine\n\n{FREE}\n"
        assert lines(folder) == before
        assert hub.changes() == changes
        hub.remember("Bob", category="person", layer="long_term")
        assert (folder / "people.md").exists()
    with opened(tmp_path, pages=False, ids=ids) as memory:
        hub = memory.hub()
        assert len(hub.list()) == 4
        assert sorted(texts(folder)) == ["MEMORY.md"]
        assert set(lines(folder)) >= set(before)
        assert hub.sync() == SyncReport()
        hub.forget(4)
        hub.sync()
    assert {line for line in lines(folder) if "mem_" in line} == {
        line for text in one_file.values() for line in text.splitlines() if "mem_" in line
    }


def test_a_rewrite_takes_in_a_page_that_was_made_by_hand(hub: HubMemory, folder: Path) -> None:
    (folder / "about-me.md").write_text("## About me\n\n- I cycle to work.\n")
    text = hub.read_memory_md() or ""
    hub.rewrite_memory_md(f"{text}\n## About me\n\n- I have two cats.\n")
    page = (folder / "about-me.md").read_text()
    assert "I cycle to work." in page
    assert "I have two cats." in page
    assert {"I cycle to work.", "I have two cats."} <= {memory.content for memory in hub.list()}


class Crash(Exception):
    """The process ends here."""


@contextmanager
def dying_after(writes: int) -> Iterator[None]:
    """Ends the process when so many files have been written."""
    left = writes
    put = MirrorFiles._put

    def die(self: MirrorFiles, name: str, text: str | None, *read: Any) -> None:
        nonlocal left
        if left == 0:
            raise Crash
        left -= 1
        put(self, name, text, *read)

    with mock.patch.object(MirrorFiles, "_put", die):
        yield


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("writes", [0, 1, 2, 3])
def test_a_crash_between_two_files_is_mended_by_the_next_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: bool, writes: int
) -> None:
    monkeypatch.setattr(safe_read, "PAUSE_S", 0)
    ids = CountedIds()
    with opened(tmp_path, pages=not on, ids=ids) as memory:
        hub = with_three(memory)
        folder = Path(hub.folder)
        edit(folder / "MEMORY.md", "# Long-term Memory\n", f"# Mine\n\n{FREE}")
        hub.sync()
        before = lines(folder)
    with opened(tmp_path, pages=on, ids=ids) as memory:
        with dying_after(writes), suppress(Crash):
            memory.hub().sync()
        hub = memory.hub()
        hub.sync()
        assert {m.content for m in hub.list()} == {
            "Ann likes tea.", "The server is Hilda.", "It runs Debian."
        }  # fmt: skip
        assert lines(folder) == before
        assert hub.sync() == SyncReport()
        assert (folder / "facts.md").exists() is on


def test_a_swap_of_two_lines_survives_a_crash(hub: HubMemory, folder: Path) -> None:
    engine.edit.update(hub.scope, 1, {"category": "fact"})
    engine.edit.update(hub.scope, 2, {"category": "preference"})
    with dying_after(1), pytest.raises(Crash):
        hub.sync()
    assert hub.sync().archived == ()
    assert (hub.get(1).category, hub.get(2).category) == ("fact", "preference")
    assert len(hub.list()) == 3
    assert len(re.findall("mem_", "".join(texts(folder).values()))) == 3


def test_an_edit_between_a_crash_and_the_next_sync_is_taken_in(
    hub: HubMemory, folder: Path
) -> None:
    engine.edit.update(hub.scope, 3, {"category": "preference"})
    with dying_after(1), pytest.raises(Crash):
        hub.sync()
    edit(folder / "facts.md", "Hilda", "Greta")
    assert hub.sync().archived == ()
    assert {m.content for m in hub.list()} == {
        "Ann likes tea.", "The server is Greta.", "It runs Debian."
    }  # fmt: skip
    assert hub.get(3).category == "preference"
    assert len(re.findall("mem_", "".join(texts(folder).values()))) == 3


def test_a_deleted_hub_takes_its_pages_along(memory: Holdfast) -> None:
    other = memory.create_hub("other")
    other.remember("Bob", category="person", layer="long_term")
    other.remember("Me", category="about me", layer="long_term")
    other.sync()
    folder = Path(other.folder)
    (folder / "notes.md").write_text("mine")
    memory.delete_hub("other")
    assert [path.name for path in folder.glob("*.md")] == ["notes.md"]


def test_a_purged_line_leaves_its_page_and_what_was_agreed(hub: HubMemory, folder: Path) -> None:
    hub.purge(2)
    assert "Hilda" not in "".join(texts(folder).values())
    with hub.core.store.read() as reader:
        for name in texts(folder):
            agreed = reader.agreed(hub.id, name)
            assert agreed is not None
            assert "Hilda" not in agreed.text
