"""Counts of terms are kept between reads, and follow every write to the index."""

from pathlib import Path

import pytest

from holdfast.store.sqlite import SqliteStore
from holdfast.store.sqlite.rows import HubState, KnownTerms
from holdfast.testing import open_for_tests

TERMS = ("guitar", "violin")


def state(passages: int) -> HubState:
    return HubState(1, passages, passages, passages, passages, passages)


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
    known.keep_counts({"a": 1})
    known.keep_vocabulary("b", 5, {"be": 2})
    known.keep_counts({f"c{n}": 1 for n in range(60_000)})
    assert known.count("a") == 1
    assert known.vocabulary("b", 5) == {"be": 2}
    known.keep_counts({f"d{n}": 1 for n in range(60_000)})
    assert known.count("a") is None
    assert known.vocabulary("b", 5) is None
    assert known.count("d7") == 1


def test_states_of_a_hub_share_counts_and_keep_their_own() -> None:
    first = KnownTerms(state(2))
    first.keep_counts({"guitar": 2, "violin": 0})
    first.keep_vocabulary("gu", 2, {"guitar": 2})
    second = first.with_passages(state(4), [["guitar", "guest", "guitar"], ["violin"]])
    assert second is not None
    assert (second.count("guitar"), second.count("violin"), second.count("tea")) == (3, 1, None)
    # All terms with these two letters are known, so others are in no passage.
    assert (second.count("guest"), second.count("gutter")) == (1, 0)
    assert list((second.vocabulary("gu", 2) or {}).items()) == [("guest", 1), ("guitar", 3)]
    # What is counted on is of the later state: an earlier one reads it anew.
    assert first.count("guitar") is None
    assert first.count("guest") is None
    assert first.vocabulary("gu", 2) is None
    assert first.with_passages(state(5), [["tea"]]) is None
    third = second.with_passages(state(6), [["gum"], ["gust"]])
    assert third is not None
    # More than were asked for: which are the first, the index tells.
    assert third.vocabulary("gu", 2) is None
    assert second.vocabulary("gu", 2) == {"guest": 1, "guitar": 3}
