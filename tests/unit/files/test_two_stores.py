"""Two stores of one kind, used in turn with the same home: the files of the one are not taken for
edits by the other, whether they have their hubs' ids in common or not."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Conflict, Holdfast
from holdfast.api.hub import HubMemory
from holdfast.domain.clock import TimeIds
from holdfast.testing import FixedClock, open_for_tests
from holdfast.wiring.copies import move_store
from tests.postgres_server import ROLE, database

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")


def _opened(url: str, home: Path, clock: FixedClock) -> Holdfast:
    return open_for_tests(home, clock=clock, ids=TimeIds(clock), settings={"store.url": url})


@pytest.fixture
def urls(tmp_path: Path) -> tuple[str, str]:
    return f"sqlite:{tmp_path / 'one.db'}", f"sqlite:{tmp_path / 'two.db'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def of_each_kind(
    request: pytest.FixtureRequest, urls: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    if request.param == "sqlite":
        yield urls
        return
    with database(ROLE) as one, database(ROLE) as two:
        yield one, two


def _copied(one: str, two: str) -> None:
    if one.startswith("sqlite:"):
        shutil.copy(one.removeprefix("sqlite:"), two.removeprefix("sqlite:"))
    else:
        move_store(one, two)


def _begun(urls: tuple[str, str], home: Path, clock: FixedClock, *texts: str) -> None:
    """A hub in the first store with these texts and its files, and a copy of it in the second."""
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h", create=True)
        hub.sync()
        for text in texts:
            hub.remember(text)
    _copied(*urls)


def _texts(hub: HubMemory) -> set[str]:
    return {one.content for one in hub.list()}


def test_a_copy_of_a_store_does_not_take_the_files_of_the_other_for_edits(
    of_each_kind: tuple[str, str], tmp_path: Path
) -> None:
    home, clock, urls = tmp_path / "home", FixedClock(), of_each_kind
    _begun(urls, home, clock, "Tea is at four", "The office is in Bonn")
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h")
        hub.forget(2)
        hub.remember("Lunch is at one")
        hub.journal_add("Slept well")
        hub.files().create("/memories/plan.md", "Of the first store\n")
        assert hub.notes == []
    with _opened(urls[1], home, clock) as memory:
        hub = memory.hub("h")
        both = {"Tea is at four", "The office is in Bonn"}
        assert _texts(hub) == both
        assert {"were last written for another store" in note for note in hub.notes} == {True}
        hub.journal()
        with pytest.raises(Conflict, match="another store"):
            hub.files().create("/memories/other.md", "Of the second\n")
        hub.remember("Supper is at eight")
        assert _texts(hub) == both | {"Supper is at eight"}
        assert "Supper" not in Path(hub.memory_md).read_text()
        # Who says so has what either of them knew; nothing counts as deleted.
        hub.sync(confirm=True)
        assert both | {"Supper is at eight", "Lunch is at one"} <= _texts(hub)
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h")
        assert _texts(hub) >= {"Tea is at four", "Lunch is at one", "Slept well"}
        assert not _texts(hub) & {"The office is in Bonn", "Supper is at eight"}
        assert any("were last written for another store" in note for note in hub.notes)


def test_a_copy_takes_the_files_over_where_nobody_wrote_since(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    home, clock = tmp_path / "home", FixedClock()
    _begun(urls, home, clock, "Tea is at four")
    with _opened(urls[1], home, clock) as memory:
        hub = memory.hub("h")
        hub.remember("Supper is at eight")
        assert hub.notes == []
        assert "Supper" in Path(hub.memory_md).read_text()
    with _opened(urls[0], home, clock) as memory:
        assert _texts(memory.hub("h")) == {"Tea is at four"}


def test_a_copy_in_which_something_was_not_purged_leaves_the_files_alone(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    home, clock = tmp_path / "home", FixedClock()
    _begun(urls, home, clock, "Tea is at four", "The office is in Bonn")
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h")
        hub.purge(1)
        assert hub.notes == []
        hub.purge(2)  # with which the newest change goes
        hub.remember("Lunch is at one")
        assert hub.notes == []
    with _opened(urls[1], home, clock) as memory:
        hub = memory.hub("h")
        assert _texts(hub) == {"Tea is at four", "The office is in Bonn"}
        assert any("were last written for another store" in note for note in hub.notes)


def test_files_that_memories_of_the_other_store_were_made_from_are_not_swept(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    home, clock = tmp_path / "home", FixedClock()
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h", create=True)
        hub.remember("Tea is at four")
    _copied(*urls)
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h")
        made = hub.remember_file(io.BytesIO(b"Lunch is at one.\n"), name="lunch.txt").memory
        hub.attachments.sweep()
    with _opened(urls[1], home, clock) as memory:
        place = memory.hub("h").attachments
        assert "another store" in place.check()[0]
        assert place.sweep() == 0
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h")
        assert Path(hub.attachment(made.id).path).exists()
        # What belongs to nobody goes as ever.
        astray = Path(hub.attachments.path("f" * 64))
        astray.parent.mkdir()
        astray.write_bytes(b"left")
        assert hub.attachments.sweep() == 1


def test_who_wrote_files_last_looks_nothing_up_to_know_them(
    urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _opened(urls[0], tmp_path / "home", FixedClock()) as memory:
        hub = memory.hub("h", create=True)
        hub.sync()
        monkeypatch.delattr("holdfast.files.hub_folder.was_in_state")
        hub.remember("Tea is at four")
        hub.remember("Lunch is at one")
        assert hub.notes == []


def test_an_entry_that_gets_no_line_as_the_journals_are_anothers_is_kept_and_told(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    home, clock = tmp_path / "home", FixedClock()
    with _opened(urls[0], home, clock) as memory:
        memory.hub("h", create=True).sync()
    _copied(*urls)
    with _opened(urls[0], home, clock) as memory:
        memory.hub("h").remember("Tea is at four")
    with _opened(urls[1], home, clock) as memory:
        hub = memory.hub("h")
        hub.journal_add("Slept well")
        assert any("were last written for another store" in note for note in hub.notes)
        assert _texts(hub) == {"Slept well"}
    assert not list((home / "hubs" / "h").glob("2*.md"))


def test_who_may_only_read_a_database_reads_beside_files_of_another(tmp_path: Path) -> None:
    home, clock = tmp_path / "home", FixedClock()
    with database(ROLE) as one, database(ROLE) as two:
        with _opened(one, home, clock) as memory:
            hub = memory.hub("h", create=True)
            hub.sync()
            hub.journal_add("Slept well")
        _copied(one, two)
        clock.tick()
        with _opened(one, home, clock) as memory:
            memory.hub("h").remember("Tea is at four")
        only_read = "options=-c%20default_transaction_read_only%3Don"
        with _opened(f"{two}&{only_read}", home, clock) as memory:
            days = memory.hub("h").journal()
            assert [entry.text for day in days for entry in day.entries] == ["Slept well"]
            assert "another store" in days.notes[0]


def test_files_of_a_hub_of_the_same_name_in_another_store_are_left_alone(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    home, clock = tmp_path / "home", FixedClock()
    with _opened(urls[0], home, clock) as memory:
        hub = memory.hub("h", create=True)
        hub.sync()
        hub.remember("Tea is at four")
        hub.files().create("/memories/plan.md", "Of the first store\n")
    clock.tick()
    with _opened(urls[1], home, clock) as memory:
        hub = memory.hub("h", create=True)
        assert _texts(hub) == set()
        assert all("files of another hub" in note for note in hub.notes)
        with pytest.raises(Conflict, match="another hub"):
            hub.files().create("/memories/other.md", "Of the second\n")
        assert _texts(hub) == set()
