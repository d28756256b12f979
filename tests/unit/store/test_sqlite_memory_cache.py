"""What readers keep between reads is what the rows hold, whoever changed them."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.hub import PersonName, Viewer
from holdfast.domain.memory import Memory
from holdfast.domain.query import Filter
from holdfast.errors import StoreDamaged
from holdfast.store.sqlite import SqliteStore, rows
from holdfast.store.values import TermQuery
from holdfast.testing import open_for_tests


def read(store: SqliteStore, memory: Memory) -> Memory | None:
    with store.read() as reader:
        return reader.memories_by_id(memory.hub_id, [memory.id, "mem_none"]).get(memory.id)


def damage(home: Path, sql: str) -> None:
    connection = apsw.Connection(str(home / "memory.db"))
    connection.execute(sql)
    connection.close()


def stored(memory: Holdfast, home: Path) -> tuple[SqliteStore, Memory]:
    """A memory that was read once by a store of its own, as by another process."""
    kept = memory.hub().remember("A guitar").memory
    store = SqliteStore(str(home / "memory.db"))
    assert read(store, kept) == kept
    return store, kept


def test_counters_and_changes_of_another_process_are_seen(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        now = memory.core.now()
        with memory.core.store.write() as writer:
            writer.count_access(kept.hub_id, [kept.id], now)
            writer.count_shown(kept.hub_id, [kept.id])
        counted = read(store, kept)
        assert counted == kept._replace(access_count=1, shown_count=1, accessed_at=now)
        changed = memory.hub().update(kept.id, content="A violin")
        assert read(store, kept) == changed._replace(access_count=1, shown_count=1, accessed_at=now)
        memory.hub().purge(kept.id)
        assert read(store, kept) is None
        store.close()


def test_damage_is_found_by_every_store_that_has_not_read_the_row_before(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        damage(tmp_path, "UPDATE memories SET content = 'A violin'")
        # What was compared before is still right; a writer compares the row itself.
        assert read(store, kept) == kept
        with pytest.raises(StoreDamaged), store.write() as writer:
            writer.memories_by_id(kept.hub_id, [kept.id])
        store.close()
        other = SqliteStore(str(tmp_path / "memory.db"))
        with pytest.raises(StoreDamaged):
            read(other, kept)
        other.close()


@pytest.mark.parametrize("column", ["checksum", "shown_count", "counters_check"])
def test_damage_to_what_is_compared_is_found_at_once(tmp_path: Path, column: str) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        damage(tmp_path, f"UPDATE memories SET {column} = {column} + 1")
        with pytest.raises(StoreDamaged):
            read(store, kept)
        store.close()


def test_what_is_kept_is_bounded_and_has_no_metadata(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_MEMORIES_MAX", 2)
    with open_for_tests(tmp_path) as memory:
        store, first = stored(memory, tmp_path)
        hub = memory.hub()
        others = [hub.remember(text).memory for text in ("One thing", "Another", "A third")]
        noted = hub.remember("With a note", metadata={"n": 1}).memory
        for one in (*others, noted):
            assert read(store, one) == one
        ids = [one.id for one in (first, *others, noted)]
        kept = store._caches.memories.find(first.hub_id, ids)
        assert list(kept) == [one.id for one in others[1:]]
        store.close()


# Between two writes a reader keeps the passages that a search has found.


def found(store: SqliteStore, hub_id: str, wanted: Filter, *, viewer: Viewer | None = None) -> int:
    """How many passages about guitars a reader finds, by words and by their numbers."""
    with store.read(viewer=viewer) as reader:
        by_words = reader.search_terms(hub_id, TermQuery(("guitar",)), wanted, limit=10)
        numbers = [one.passage_id for one in by_words]
        assert {one.passage_id for one in reader.candidates(hub_id, numbers, wanted)} == {*numbers}
        return len(by_words)


def test_a_passage_that_was_read_expires_with_its_memory(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        now = memory.core.now()
        memory.hub().remember("A guitar for a day", expires_at=now + timedelta(days=1))
        later = now + timedelta(days=2)
        for moment, count in ((now, 2), (later, 1), (now, 2), (later, 1)):
            assert found(store, kept.hub_id, Filter(alive_at=moment)) == count
        store.close()


def test_a_passage_that_was_read_counts_for_the_filter_and_the_viewer_that_admit_it(
    tmp_path: Path,
) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        hub = memory.hub()
        hub.log_turn("user", "My guitar is out of tune")
        hub.archive(hub.remember("An old guitar", tags=["old"]).memory.id)
        hub.remember("A secret guitar", boundary="private")
        stranger = Viewer(PersonName("someone"), ("hub",))
        asked = (
            (Filter(turns=True), None, 3),
            (Filter(), None, 2),
            (Filter(states=("archived",)), None, 1),
            (Filter(tags=("old",), states=()), None, 1),
            (Filter(turns=True), stranger, 2),
            (Filter(session="none"), None, 0),
        )
        for wanted, viewer, count in asked + asked:
            assert found(store, kept.hub_id, wanted, viewer=viewer) == count
        store.close()


def test_what_is_kept_of_a_state_goes_with_the_next_write(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        hub, wanted = memory.hub(), Filter()
        counts = [found(store, kept.hub_id, wanted)]
        with store.read() as reader:
            assert reader.speakers(kept.hub_id, limit=5) == []
        for write in (
            lambda: hub.remember("Another guitar", session="s", speaker="Ada"),
            lambda: hub.forget(kept.id),
            lambda: hub.restore(kept.id),
            lambda: hub.update(kept.id, content="A violin"),
        ):
            write()
            counts.append(found(store, kept.hub_id, wanted))
            with store.read() as reader:
                assert reader.speakers(kept.hub_id, limit=5) == ["Ada"]
        assert counts == [1, 2, 1, 2, 1]
        store.close()


def test_memories_of_a_session_are_adjacent_until_one_comes_between(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        hub = memory.hub()
        first, between, last = (
            hub.remember(text, session="s").memory for text in ("Tea is hot", "Rice", "Snow falls")
        )
        pairs = [("s", first.number, between.number), ("s", first.number, last.number)]

        def adjacent() -> list[bool]:
            with store.read() as reader:
                return reader.adjacent(kept.hub_id, pairs)

        assert adjacent() == adjacent() == [True, False]
        hub.forget(between.id)
        assert adjacent() == [True, True]
        store.close()


def test_what_is_kept_of_a_state_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_ROWS_MAX", 2)
    with open_for_tests(tmp_path) as memory:
        store, kept = stored(memory, tmp_path)
        for text in ("A red guitar", "A blue guitar", "A small guitar"):
            memory.hub().remember(text)
        for _ in range(3):
            assert found(store, kept.hub_id, Filter()) == 4
        with store.read() as reader:
            before = reader._read_before(kept.hub_id)
            assert before is not None and len(before) == 0
        store.close()


def test_memories_are_read_once_in_a_state_though_nothing_was_searched(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        made = [memory.hub().remember(f"Guitar {number}").memory for number in range(8)]
        store = SqliteStore(str(tmp_path / "memory.db"))
        with store.read() as reader:
            ids = [one.id for one in made]
            first = reader.memories_by_id(made[0].hub_id, ids)
            asked: list[str] = []
            reader._connection.exec_trace = lambda _, sql, __: asked.append(sql) or True
            assert reader.memories_by_id(made[0].hub_id, ids) == first
            reader._connection.exec_trace = None
        assert asked == []
        store.close()
