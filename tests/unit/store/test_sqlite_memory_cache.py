"""Memories are kept between reads, and are what the row holds, whoever changed it."""

from pathlib import Path

import apsw
import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.memory import Memory
from holdfast.errors import StoreDamaged
from holdfast.store.sqlite import SqliteStore, rows
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
