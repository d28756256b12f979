"""Counts of terms are kept between reads, and follow every write to the index."""

from pathlib import Path

import pytest

from holdfast.store.sqlite import SqliteStore
from holdfast.store.sqlite.rows import KnownTerms
from holdfast.testing import open_for_tests

TERMS = ("guitar", "violin")


def counts(store: SqliteStore, hub_id: str) -> tuple[dict[str, int], dict[str, int]]:
    with store.read() as reader:
        frequency = dict(reader.lexicon(hub_id, TERMS).frequency)
        return frequency, dict(reader.vocabulary(hub_id, "gu", limit=10))


def test_counts_follow_writes_of_another_process_and_removals(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        first = hub.remember("A guitar").memory
        # Another store on the same file, as another process has it.
        other = SqliteStore(str(tmp_path / "memory.db"))
        for _ in range(2):  # the second is answered from what is kept
            assert counts(other, hub.id) == ({"guitar": 1, "violin": 0}, {"guitar": 1})
        hub.remember("The guitar and the violin, and a guest")
        assert counts(other, hub.id) == (
            {"guitar": 2, "violin": 1},
            {"guest": 1, "guitar": 2},
        )
        hub.purge(first.id)
        assert counts(other, hub.id)[0] == {"guitar": 1, "violin": 1}
        memory.core.store.settle()
        assert counts(other, hub.id)[0] == {"guitar": 1, "violin": 1}
        other.close()


def test_what_a_write_took_back_is_not_kept(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        kept = hub.remember("A guitar").memory
        store = SqliteStore(str(tmp_path / "memory.db"))
        with pytest.raises(KeyError), store.write() as writer:
            writer.unindex(hub.id, kept.id)
            assert writer.lexicon(hub.id, TERMS).frequency["guitar"] == 0
            raise KeyError
        assert counts(store, hub.id) == ({"guitar": 1, "violin": 0}, {"guitar": 1})
        store.close()


def test_what_is_kept_is_bounded() -> None:
    known = KnownTerms()
    known.passages["a"] = 1
    known.make_room(60_000)
    assert known.passages
    known.make_room(60_000)
    assert not known.passages
    assert not known.vocabularies
