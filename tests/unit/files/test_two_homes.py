"""Two homes on one database: one of them keeps a hub's files, the other leaves them alone, says so,
and can take them over. Nothing counts as deleted because it is not in a folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Conflict, Holdfast
from holdfast.api.hub import HubMemory
from holdfast.domain.clock import TimeIds
from holdfast.files import hub_folder
from holdfast.files.memory_md.cache import PLACE
from holdfast.testing import FixedClock, open_for_tests
from holdfast.wiring.copies import move_store
from tests.postgres_server import ROLE, database


@pytest.fixture
def url() -> Iterator[str]:
    with database(ROLE) as found:
        yield found


def _opened(url: str, home: Path, clock: FixedClock | None = None) -> Holdfast:
    clock = clock or FixedClock()
    return open_for_tests(home, clock=clock, ids=TimeIds(clock), settings={"store.url": url})


def _listed(memory: Holdfast) -> set[str]:
    return _texts(memory.hub("h"))


def _texts(hub: HubMemory) -> set[str]:
    return {one.content for one in hub.list()}


def test_the_second_home_leaves_the_files_alone_and_says_so(url: str, tmp_path: Path) -> None:
    with _opened(url, tmp_path / "one") as one, _opened(url, tmp_path / "two") as two:
        first = one.hub("h", create=True)
        first.sync()
        for text in ("Tea is at four", "The office is in Bonn"):
            first.remember(text)
        second = two.hub("h")
        # A folder of its own, by mistake: without its files everything would look deleted.
        (tmp_path / "two" / "hubs" / "h").mkdir(parents=True)
        stray = tmp_path / "two" / "hubs" / "h" / "MEMORY.md"
        stray.write_text("- something old\n")
        assert _listed(two) == {"Tea is at four", "The office is in Bonn"}
        second.remember("Lunch is at one")
        assert stray.read_text() == "- something old\n"
        (note,) = second.notes
        assert "kept in another folder, on the machine" in note
        assert "holdfast sync --confirm" in note
        with pytest.raises(Conflict, match="are left alone"):
            second.sync()
        # And the one that keeps them takes in what the other wrote.
        first.get(1)
        assert _listed(one) == {"Tea is at four", "The office is in Bonn", "Lunch is at one"}
        assert "Lunch is at one" in Path(first.memory_md).read_text()
        assert first.notes == []


def test_a_journal_is_written_where_the_files_are(url: str, tmp_path: Path) -> None:
    with _opened(url, tmp_path / "one") as one, _opened(url, tmp_path / "two") as two:
        first, second = one.hub("h", create=True), two.hub("h")
        first.journal_add("Slept well")
        second.journal_add("Met Ada")
        second.journal_add("Met Ada", once=True)
        assert not (tmp_path / "two" / "hubs" / "h").exists()
        days = second.journal()
        assert [entry.text for day in days for entry in day.entries] == ["Slept well", "Met Ada"]
        first.journal()
        (written,) = (tmp_path / "one" / "hubs" / "h").glob("2*.md")
        assert [line for line in ("Slept well", "Met Ada") if line in written.read_text()] == [
            "Slept well",
            "Met Ada",
        ]
        assert len(_listed(one)) == 2


def test_a_folder_that_is_shared_is_one_place(url: str, tmp_path: Path) -> None:
    with _opened(url, tmp_path / "one") as one, _opened(url, tmp_path / "two") as two:
        first = one.hub("h", create=True)
        first.sync()
        first.remember("Tea is at four")
        (tmp_path / "two" / "hubs").mkdir(parents=True, exist_ok=True)
        # Mounted on another machine, under another path.
        (tmp_path / "two" / "hubs" / "h").symlink_to(tmp_path / "one" / "hubs" / "h")
        second = two.hub("h")
        second.remember("Lunch is at one")
        assert second.notes == []
        assert "Lunch is at one" in Path(first.memory_md).read_text()


def test_a_home_that_takes_over_loses_nothing(url: str, tmp_path: Path) -> None:
    with _opened(url, tmp_path / "one") as one, _opened(url, tmp_path / "two") as two:
        first = one.hub("h", create=True)
        first.sync()
        texts = {f"Fact number {number} of the office" for number in range(12)}
        for text in sorted(texts):
            first.remember(text)
        first.journal_add("Slept well")
        second = two.hub("h")
        # With less in it than the store has, and one line more.
        (tmp_path / "two" / "hubs" / "h").mkdir(parents=True)
        Path(second.memory_md).write_text("## Fact\n\n- Written by hand\n")
        second.sync(confirm=True)
        assert _listed(two) == texts | {"Slept well", "Written by hand"}
        assert all(text in Path(second.memory_md).read_text() for text in texts)
        # From then on the first one leaves them alone.
        hub_folder._FOUND.clear()
        first.remember("Lunch is at one")
        assert any("kept in another folder" in note for note in first.notes)
        assert "Lunch is at one" not in Path(first.memory_md).read_text()


def test_a_folder_that_lost_its_mark_is_known_by_where_it_is(url: str, tmp_path: Path) -> None:
    with _opened(url, tmp_path / "one") as one:
        hub = one.hub("h", create=True)
        hub.sync()
        (tmp_path / "one" / "hubs" / "h" / PLACE).unlink()
        hub_folder._FOUND.clear()
        hub.remember("Tea is at four")
        assert hub.notes == []
        assert (tmp_path / "one" / "hubs" / "h" / PLACE).exists()


def test_an_old_home_is_asked_about_before_an_empty_database_takes_it_in(
    url: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with open_for_tests(home) as old:
        hub = old.hub("h", create=True)
        hub.sync()
        hub.remember("Tea is at four")
        hub.journal_add("Slept well")
    with _opened(url, home) as memory:
        hub = memory.hub("h", create=True)
        assert hub.list() == []
        assert {note.partition("h` ")[0] for note in hub.notes}
        assert all("files of another hub" in note for note in hub.notes)
        hub.sync(confirm=True)
        assert {one.content for one in hub.list()} == {"Tea is at four", "Slept well"}


@pytest.mark.sqlite_only("is about a store that one machine uses")
def test_one_file_on_one_machine_needs_no_mark(tmp_path: Path) -> None:
    with open_for_tests(tmp_path / "home") as memory:
        hub = memory.hub("h", create=True)
        hub.sync()
        assert not Path(hub.folder, PLACE).exists()
        shutil.rmtree(hub.folder)
        hub.sync()
        assert Path(hub.memory_md).exists()


def _moved(url: str, home: Path) -> None:
    """A home with two memories and files, moved to the database; the old store is still there."""
    with _opened("", home) as old:
        hub = old.hub("h", create=True)
        hub.sync()
        for text in ("Tea is at four", "The office is in Bonn"):
            hub.remember(text)
    move_store(f"sqlite:{home / 'memory.db'}", url)


@pytest.mark.sqlite_only("is about a home that was moved away from the embedded store")
def test_the_old_store_does_not_take_in_what_the_new_one_wrote(url: str, tmp_path: Path) -> None:
    home, both = tmp_path / "home", {"Tea is at four", "The office is in Bonn"}
    _moved(url, home)
    with _opened(url, home) as new:
        hub = new.hub("h")
        hub.forget(2)
        assert hub.notes == []
        assert "Bonn" not in Path(hub.memory_md).read_text()
    with _opened("", home) as old:
        hub = old.hub("h")
        assert _texts(hub) == both
        (note,) = hub.notes
        assert "were last written for another store" in note
        assert "holdfast sync --confirm" in note
        with pytest.raises(Conflict, match="another store"):
            hub.sync()
        hub.sync(confirm=True)
        assert _texts(hub) == both
        assert "Bonn" in Path(hub.memory_md).read_text()
    # And the other way: the new one asks from then on, though the old one wrote nothing since.
    with _opened(url, home) as new:
        hub = new.hub("h")
        assert _texts(hub) == {"Tea is at four"}
        assert any("were last written for another store" in note for note in hub.notes)


@pytest.mark.sqlite_only("is about a home that was moved away from the embedded store")
def test_the_new_store_asks_where_the_old_one_went_on(url: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    _moved(url, home)
    with _opened("", home) as old:
        old.hub("h").forget(2)
    with _opened(url, home) as new:
        hub = new.hub("h")
        assert _texts(hub) == {"Tea is at four", "The office is in Bonn"}
        (note,) = hub.notes
        assert "were last written for another store" in note


@pytest.mark.sqlite_only("is about a home that was moved away from the embedded store")
def test_a_journal_of_the_new_store_is_not_taken_in_by_the_old_one(
    url: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    _moved(url, home)
    with _opened(url, home) as new:
        new.hub("h").journal_add("Slept well")
    with _opened("", home) as old:
        hub = old.hub("h")
        (note,) = hub.journal().notes
        assert _texts(hub) == {"Tea is at four", "The office is in Bonn"}
        assert "were last written for another store" in note


@pytest.mark.sqlite_only("is about a home that is moved back to the embedded store")
def test_a_store_that_was_moved_back_goes_on_with_the_files(url: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    _moved(url, home)
    with _opened(url, home) as new:
        new.hub("h").forget(2)
    (home / "memory.db").unlink()
    move_store(url, f"sqlite:{home / 'memory.db'}")
    with _opened("", home) as old:
        hub = old.hub("h")
        hub.remember("Lunch is at one")
        assert hub.notes == []
        assert "Lunch is at one" in Path(hub.memory_md).read_text()
    with _opened(url, home) as new:
        assert _listed(new) == {"Tea is at four"}
