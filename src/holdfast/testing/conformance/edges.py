"""Empty hubs, unknown ids, and a store that is closed."""

from __future__ import annotations

import pytest

from holdfast.domain.query import EVERYTHING, Filter
from holdfast.errors import StoreClosed
from holdfast.store.base import Store
from holdfast.store.values import Lexicon, TermQuery, VectorState
from holdfast.testing.conformance.base import HUB, MODEL, StoreCase, at, make_memory, observe, put


class Edges(StoreCase):
    """Nothing is an answer too."""

    @pytest.mark.parametrize("hub_id", [HUB, "hub_none", ""])
    def test_an_empty_or_unknown_hub_answers_with_nothing(self, store: Store, hub_id: str) -> None:
        asked = [make_memory(1, "words", key="k", source_path="/p", session="s")]
        with store.read() as reader:
            seen = observe(reader, hub_id, asked)
        told = seen.pop("statistics")
        for name in ("hub", "hubs", "hub_by_id"):
            seen.pop(name)
        assert seen.pop("adjacent") == [True]
        assert seen.pop("vector_state") == VectorState(0, 0, 0, 0)
        lexicon: Lexicon = seen.pop("lexicon")
        assert (lexicon.passages, lexicon.terms, set(lexicon.frequency.values())) == (0, 0, {0})
        for name, answer in seen.items():
            items = answer if isinstance(answer, list) else [answer]
            assert not any(items), name
        assert isinstance(told.hub, str)
        assert not any(value for name, value in told._asdict().items() if name != "hub")

    def test_unknown_things_are_not_found(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "words"))
        with store.read() as reader:
            assert reader.hub("none") is None
            assert reader.hub("") is None
            assert reader.memory(HUB, "mem_none") is None
            assert reader.memory(HUB, "") is None
            assert reader.memory_by_number(HUB, 0) is None
            assert reader.memory_by_number(HUB, -1) is None
            assert reader.memory_by_number(HUB, 10**15) is None
            assert reader.memory_by_key(HUB, "") is None
            assert reader.memory_by_path(HUB, "") is None
            assert reader.memories_by_hash(HUB, "") == []
            assert reader.memories_by_id(HUB, []) == {}
            assert reader.memories_by_id(HUB, ["mem_none"]) == {}
            assert reader.passages(HUB, []) == []
            assert reader.candidates(HUB, [], EVERYTHING) == []
            assert reader.candidates(HUB, [10**12, -1], EVERYTHING) == []
            assert reader.lexicon(HUB, []).frequency == {}
            assert reader.search_terms(HUB, TermQuery(()), Filter(), limit=5) == []
            assert reader.vectors_of(HUB, MODEL, "mem_none") == []

    def test_writes_about_nothing_write_nothing(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
        with store.write() as writer:
            writer.count_access(HUB, [], at(1))
            writer.count_shown(HUB, [])
            writer.count_mention(HUB, [])
            writer.set_vectors(HUB, MODEL, [])
            writer.drop_hub("hub_none")
        with store.write():
            pass
        with store.read() as reader:
            assert reader.memory(HUB, "mem_1") == make_memory(1)
        assert store.check() == []

    def test_a_closed_store_says_that_it_is_closed(self, store: Store) -> None:
        store.close()
        with pytest.raises(StoreClosed), store.read():
            pass
        with pytest.raises(StoreClosed), store.write():
            pass
        with pytest.raises(StoreClosed):
            store.check()
        with pytest.raises(StoreClosed):
            store.settle()

    def test_closing_twice_is_no_error(self, store: Store) -> None:
        store.close()
        store.close()
