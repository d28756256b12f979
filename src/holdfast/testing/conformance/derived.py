"""Derived state can be dropped and built again; canonical state does not notice."""

from __future__ import annotations

from holdfast.domain.query import EVERYTHING
from holdfast.store.base import Store
from holdfast.store.values import TermQuery
from holdfast.testing.conformance.base import (
    HUB,
    MODEL,
    StoreCase,
    at,
    differences,
    index,
    make_hub,
    make_memory,
    observe,
    put,
    revise,
)

_DERIVED = frozenset(
    {"lexicon", "search_terms", "search_substring", "matching", "passages", "candidates"}
    | {"vector_models", "vector_state", "vectors", "vectors_of"}
    | {"unembedded", "unembedded_count", "statistics"}
)


class Derived(StoreCase):
    """Passages, words, substrings and vectors."""

    def test_dropping_what_is_derived_loses_nothing_canonical(self, store: Store) -> None:
        memories = [make_memory(n, f"shared words {n}", session="s") for n in (1, 2, 3)]
        with store.write() as writer:
            writer.add_hub(make_hub("hub_b"))
            for memory in memories:
                put(writer, memory, [[b"v"]])
            revise(writer, memories[2], "chg_forget", at(9), forgotten_at=at(9))
        with store.read() as reader:
            before = observe(reader, HUB, memories)
        with store.write() as writer:
            writer.drop_derived()
        with store.read() as reader:
            after = observe(reader, HUB, memories)
            assert reader.search_terms(HUB, TermQuery(("share",)), EVERYTHING, limit=5) == []
            assert reader.lexicon(HUB, ["share"]) == (0, 0, {"share": 0})
            assert reader.passages(HUB, ["mem_1"]) == []
            assert list(reader.vectors(HUB, MODEL, after=0)) == []
        assert set(differences(before, after)) <= _DERIVED
        counted = ("passages", "vectors")
        left = after["statistics"]._replace(**dict.fromkeys(counted, 0))
        assert left == before["statistics"]._replace(**dict.fromkeys(counted, 0))

    def test_a_check_finds_what_is_missing_and_nothing_when_it_is_built_again(
        self, store: Store
    ) -> None:
        memories = [make_memory(n, f"shared words {n}") for n in (1, 2)]
        with store.write() as writer:
            for memory in memories:
                put(writer, memory, [[b"v"]])
        assert store.check() == []
        with store.write() as writer:
            writer.drop_derived()
        found = store.check()
        assert {problem.memory_id for problem in found if problem.memory_id} == {"mem_1", "mem_2"}
        assert all(problem.derived for problem in found)
        with store.write() as writer:
            for memory in memories:
                index(writer, memory, [[b"v"]])
        assert store.check() == []
        with store.read() as reader:
            assert len(reader.search_terms(HUB, TermQuery(("share",)), EVERYTHING, limit=5)) == 2
            assert reader.search_substring(HUB, "red wor", EVERYTHING, limit=5) == [
                "mem_2",
                "mem_1",
            ]
            assert reader.vector_state(HUB, MODEL).size == 2
            assert reader.statistics(HUB).passages == 2
            assert reader.lexicon(HUB, ["share"]).frequency == {"share": 2}

    def test_a_check_finds_a_forgotten_memory_that_is_still_in_the_index(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1))
            after = revise(writer, one, "chg_forget", at(9), forgotten_at=at(9))
            index(writer, after)
        assert [problem.memory_id for problem in store.check()] == ["mem_1"]

    def test_taking_out_what_is_not_in_changes_nothing(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            writer.unindex(HUB, "mem_none")
            writer.unindex(HUB, "mem_1")
            writer.unindex(HUB, "mem_1")
            writer.drop_derived()
            writer.unindex(HUB, "mem_1")
        with store.read() as reader:
            assert reader.lexicon(HUB, []).passages == 0

    def test_a_check_finds_nothing_wrong_in_what_others_have_written(self, store: Store) -> None:
        """What a reader knew before must not make a later check cry wolf."""
        for number in range(1, 25):
            with store.read() as reader:
                reader.search_terms(HUB, TermQuery(("share",)), EVERYTHING, limit=5)
                reader.search_substring(HUB, "red wor", EVERYTHING, limit=5)
                reader.lexicon(HUB, ["share"])
            with store.write() as writer:
                put(writer, make_memory(number, f"shared words {number}"))
                if number % 3 == 0:
                    writer.purge(HUB, f"mem_{number - 1}")
            if number % 6 == 0:
                store.settle()
                assert store.check() == []
