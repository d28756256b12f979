"""A whole store into another: nothing is left behind, a broken move goes on, the source stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.domain.hub import Hub
from holdfast.domain.records import NO_HUB, Record
from holdfast.engine.people import records
from holdfast.engine.transfer.copy import Moved, move
from holdfast.engine.transfer.export_format import digest, digest_of_records
from holdfast.errors import AlreadyExists, Conflict, NotFound, ServerUnreachable
from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore
from holdfast.store.sqlite import SqliteStore
from holdfast.testing import FixedClock, HashEmbedder
from holdfast.wiring import open_store
from tests.postgres_server import database

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    """A store in which there is something of everything."""
    home = tmp_path / "home"
    with holdfast.open(home, embedder=HashEmbedder()) as memory:
        for name in ("default", "work"):
            hub = memory.hub(name, create=True)
            for number in range(30):
                hub.remember(f"Fact number {number} of {name}, with a few words", tags=["t"])
            hub.update(1, content="Changed since")
            hub.remember("The office moved to Bonn", supersedes=2, boundary="private")
            hub.forget(3)
            hub.undo()
            hub.purge(4)
            hub.pin(5)
            hub.log_turn("user", "Good morning")
            hub.journal_add("A line of the day")
            hub.sync()
        memory.core.wait()
        with memory.core.store.write() as writer:
            now = memory.core.now()
            writer.put_record(Record(NO_HUB, "key", "k1", now, {"who": "ada"}, lookup="abc"))
    store = SqliteStore(str(home / "memory.db"), read_only=True)
    yield store
    store.close()


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with _store(request.param, tmp_path) as store:
        yield store


@contextmanager
def _store(kind: str, folder: Path) -> Iterator[Store]:
    if kind == "postgresql":
        with database() as url:
            store = open_store(url)
            yield store
            store.close()
        return
    store = InMemoryStore() if kind == "memory" else SqliteStore(str(folder / "t.db"))
    yield store
    store.close()


_QUIET = {"recall.count_shown": False}


def moved(source: Store, target: Store, run: str = "run_1", **options: Any) -> Moved:
    return move(source, target, clock=options.pop("clock", FixedClock()), run=run, **options)


def whole(store: Store) -> dict[str, Any]:
    with store.read() as reader:
        hubs = {hub: digest(reader, hub.id) for hub in reader.hubs()}
        return {"hubs": hubs, "records": digest_of_records(reader, NO_HUB)}


def test_everything_arrives(source: Store, target: Store) -> None:
    done = moved(source, target)
    assert whole(target) == whole(source)
    assert [hub.name for hub in done.hubs] == ["default", "work"]
    tables = done.hubs[0].tables
    assert tables["memories"].rows == 31
    assert any(name.startswith("vectors of") and tables[name].rows > 25 for name in tables)
    assert tables["turns"].rows == 1
    assert tables["agreed"].rows >= 1
    assert tables["receipts"].rows == 1
    assert done.records >= 1


def test_a_store_goes_to_a_database_server_and_back(source: Store, tmp_path: Path) -> None:
    with _store("postgresql", tmp_path) as server, _store("sqlite", tmp_path) as back:
        moved(source, server)
        moved(server, back, "run_2")
        assert whole(server) == whole(back) == whole(source)
        assert not back.check()


def test_what_arrived_is_found_and_can_be_undone(source: Store, tmp_path: Path) -> None:
    moved(source, SqliteStore(str(tmp_path / "new.db")))
    home, store = tmp_path / "home", SqliteStore(str(tmp_path / "new.db"))
    with holdfast.open(home, embedder=HashEmbedder(), store=store, settings=_QUIET) as memory:
        hub = memory.hub("work")
        found = hub.recall("fact number 17", meaning=True)
        with holdfast.open(home, embedder=HashEmbedder(), settings=_QUIET) as old:
            before = old.hub("work").recall("fact number 17", meaning=True)
        # The probability is estimated from a sample of vectors, in the order of the store.
        assert [hit._replace(probability=0) for hit in found] == [
            hit._replace(probability=0) for hit in before
        ]
        assert [hit.probability for hit in found] == pytest.approx(
            [hit.probability for hit in before], abs=0.02
        )
        assert len(found) == 5
        assert [entry.after.content for entry in hub.history(1)][-1] == "Changed since"
        number = hub.remember("Something new").memory.number
        assert number == 33
        hub.undo()
        assert not memory.core.store.check()


class BrokenOff(Exception):
    """Somebody pulled the plug."""


class Breaking:
    """A store whose so-many-th write fails after nothing of it was kept."""

    def __init__(self, store: Store, at: int) -> None:
        self._store, self._left = store, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def write(self, **options: Any) -> Iterator[Any]:
        with self._store.write(**options) as writer:
            yield writer
            self._left -= 1
            if self._left == 0:
                raise BrokenOff


def test_a_move_that_was_broken_off_anywhere_goes_on(source: Store) -> None:
    expected = whole(source)
    broken = 0
    for at in range(1, 60):
        target = InMemoryStore()
        try:
            moved(source, Breaking(target, at))  # type: ignore[arg-type]
        except BrokenOff:
            broken += 1
            with target.read() as reader:
                done = [hub for hub in reader.hubs() if hub.state == "active"]
            assert all(found == expected["hubs"][hub] for hub, found in _of(target, done))
        else:
            assert whole(target) == expected
            break
        later = FixedClock()
        later.tick(minutes=10)
        moved(source, target, "run_2", clock=later)
        assert whole(target) == expected
    assert broken > 15


def _of(store: Store, hubs: list[Any]) -> Iterator[tuple[Any, Any]]:
    with store.read() as reader:
        for hub in hubs:
            yield hub, digest(reader, hub.id)


def test_only_what_is_missing_is_copied_on_the_second_attempt(source: Store) -> None:
    target = InMemoryStore()
    with pytest.raises(BrokenOff):
        moved(source, Breaking(target, 12))  # type: ignore[arg-type]
    told: list[str] = []
    later = FixedClock()
    later.tick(minutes=10)
    moved(source, target, "run_2", clock=later, report=lambda what, done, total: told.append(what))
    assert "default: memories" not in told
    assert "work: memories" in told


def test_a_source_that_changed_between_two_attempts_is_copied_as_it_is_now(
    source: Store, tmp_path: Path
) -> None:
    target = InMemoryStore()
    with pytest.raises(BrokenOff):
        moved(source, Breaking(target, 14))  # type: ignore[arg-type]
    with holdfast.open(tmp_path / "home", embedder=HashEmbedder()) as memory:
        memory.hub().update(7, content="Changed in the middle of a move")
        memory.delete_hub("work")
    later = FixedClock()
    later.tick(minutes=10)
    moved(source, target, "run_2", clock=later)
    assert whole(target) == whole(source)


def test_a_target_with_hubs_of_its_own_is_refused(source: Store, tmp_path: Path) -> None:
    with holdfast.open(tmp_path / "other") as memory:
        memory.hub(create=True).remember("Mine")
        before = whole(memory.core.store)
        with pytest.raises(AlreadyExists, match="has a hub `default` already"):
            moved(source, memory.core.store)
        assert whole(memory.core.store) == before


def test_a_move_that_was_interrupted_goes_on_at_once(source: Store) -> None:
    target = InMemoryStore()

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "work: memories":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moved(source, target, report=interrupt)
    told: list[str] = []
    moved(source, target, "run_2", report=lambda what, done, total: told.append(what))
    assert "default: memories" not in told
    assert whole(target) == whole(source)


def test_a_hub_that_is_half_there_is_no_damage(source: Store, target: Store) -> None:
    """Its revisions come after its memories; a backup would bring nothing back."""

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "default: changes":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        moved(source, target, report=interrupt)
    assert [found.what for found in target.check() if not found.derived] == []
    moved(source, target, "run_2")
    assert target.check() == []


def test_two_moves_into_one_store_do_not_mix(source: Store) -> None:
    target = InMemoryStore()

    def begin_another(what: str, done: int, total: int) -> None:
        with pytest.raises(Conflict, match="Another move"):
            moved(source, target, "run_2")

    moved(source, target, report=begin_another)
    assert whole(target) == whole(source)


def test_a_move_whose_server_is_gone_keeps_its_turn_until_its_pulse_has_run_out(
    source: Store,
) -> None:
    target = InMemoryStore()

    def vanish(what: str, done: int, total: int) -> None:
        raise ServerUnreachable("The server is gone.")

    with pytest.raises(ServerUnreachable):
        moved(source, target, report=vanish)
    with pytest.raises(Conflict, match="Another move"):
        moved(source, target, "run_2")
    later = FixedClock()
    later.tick(minutes=10)
    moved(source, target, "run_2", clock=later)
    assert whole(target) == whole(source)


def test_one_hub_goes_into_a_store_that_has_others(source: Store, target: Store) -> None:
    with target.write() as writer:
        other = next(hub for hub in _hubs(source) if hub.name == "default")
        writer.add_hub(other._replace(id="hub_other", name="other"))
        writer.put_record(Record(NO_HUB, "key", "own", other.created_at, {"who": "eve"}))
    done = moved(source, target, only="work")
    assert [hub.name for hub in done.hubs] == ["work"]
    assert sorted(hub.name for hub in _hubs(target)) == ["other", "work"]
    (there,) = [hub for hub in _hubs(target) if hub.name == "work"]
    with source.read() as mine, target.read() as theirs:
        assert digest(mine, there.id) == digest(theirs, there.id)
        # The target's own records are as they were, and the owner finds the hub.
        assert [one.id for one in theirs.records(NO_HUB, "key", limit=9)] == ["own"]
        assert list(records.of(theirs, there.owner, "hub")) == [there.id]
        assert theirs.records(NO_HUB, "move", limit=9) == []
    assert not target.check()


def test_one_hub_is_refused_where_its_name_or_the_hub_itself_is_there(
    source: Store, tmp_path: Path
) -> None:
    with _store("sqlite", tmp_path) as target:
        with pytest.raises(NotFound, match="There is no hub `nowhere`"):
            moved(source, target, only="nowhere")
        moved(source, target, only="work")
        with pytest.raises(AlreadyExists, match="has the hub `work` already"):
            moved(source, target, only="work")
        with target.write() as writer:
            writer.add_hub(_hubs(source)[0]._replace(id="hub_other", name="default"))
        with pytest.raises(AlreadyExists, match="another hub that is called `default`"):
            moved(source, target, only="default")


def test_one_hub_whose_move_was_broken_off_goes_on(source: Store, tmp_path: Path) -> None:
    with _store("sqlite", tmp_path) as target:

        def stop(what: str, done: int, total: int) -> None:
            if "revisions" in what:
                raise BrokenOff

        with pytest.raises(BrokenOff):
            moved(source, target, only="work", report=stop)
        (half,) = _hubs(target)
        assert half.state == "importing"
        moved(source, target, "run_2", only="work")
        (there,) = _hubs(target)
        with source.read() as mine, target.read() as theirs:
            assert digest(mine, there.id) == digest(theirs, there.id)


def _hubs(store: Store) -> list[Hub]:
    with store.read() as reader:
        return reader.hubs()
