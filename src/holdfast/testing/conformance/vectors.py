"""Vectors: set once for a passage and a model, counted, and told apart by model."""

from __future__ import annotations

import pytest

from holdfast.store.base import Store
from holdfast.store.values import Capability, VectorRow
from holdfast.testing.conformance.base import HUB, MODEL, StoreCase, index, make_memory, put

SECOND = "model-two"


class Vectors(StoreCase):
    """What a store keeps beside the passages."""

    @pytest.fixture(autouse=True)
    def _only_with_vectors(self, request: pytest.FixtureRequest) -> None:
        if request.function.__qualname__.startswith("Vectors."):
            store: Store = request.getfixturevalue("store")
            if Capability.VECTORS not in store.capabilities:
                pytest.skip("the store does not claim to keep vectors")

    def test_vectors_come_back_in_the_order_of_their_passages(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "a\nb\nc"), [[b"\x00a"], [], [bytes(range(256)), b"second"]])
            put(writer, make_memory(2, "d"), [[b"d"]])
        with store.read() as reader:
            rows = list(reader.vectors(HUB, MODEL, after=0))
            assert [(row.window, row.vector) for row in rows] == [
                (0, b"\x00a"),
                (0, bytes(range(256))),
                (1, b"second"),
                (0, b"d"),
            ]
            ids = [row.passage_id for row in rows]
            assert ids == sorted(ids)
            assert list(reader.vectors(HUB, MODEL, after=ids[1])) == rows[3:]
            assert reader.vectors_of(HUB, MODEL, "mem_1") == rows[:3]
            passages = {one.passage_id: one for one in reader.passages(HUB, ["mem_1", "mem_2"])}
            assert [passages[pk].memory_id for pk in ids] == ["mem_1"] * 3 + ["mem_2"]
            assert [one.windows for one in passages.values()] == [3, 3, 3, 1]
            assert reader.vector_state(HUB, MODEL)[:2] == (4, 3)
            assert reader.statistics(HUB).vectors == 4
            assert reader.unembedded_count(HUB, MODEL) == 1

    def test_models_are_told_apart(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1), [[b"one"]])
            (row,) = writer.vectors(HUB, MODEL, after=0)
            assert writer.vector_models(HUB) == [MODEL]
            writer.set_vectors(HUB, SECOND, [VectorRow(row.passage_id, 0, b"two")])
            assert writer.vector_models(HUB) == sorted([MODEL, SECOND])
        with store.read() as reader:
            assert [r.vector for r in reader.vectors(HUB, MODEL, after=0)] == [b"one"]
            assert [r.vector for r in reader.vectors(HUB, SECOND, after=0)] == [b"two"]
            assert list(reader.vectors(HUB, "model-three", after=0)) == []
            assert reader.statistics(HUB).vectors == 2

    def test_what_has_no_vector_is_listed_until_it_gets_one(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "a\nb"), [[b"a"]])
            put(writer, make_memory(2, "c"))
        with store.read() as reader:
            missing = reader.unembedded(HUB, MODEL, limit=9)
            assert [one.memory_id for one in missing] == ["mem_1", "mem_2"]
            assert reader.unembedded_count(HUB, MODEL) == 2
            assert len(reader.unembedded(HUB, MODEL, limit=1)) == 1
            first = missing[0].passage_id
            assert reader.unembedded(HUB, MODEL, limit=9, after=first) == missing[1:]
            assert reader.unembedded_count(HUB, SECOND) == 3
        with store.write() as writer:
            writer.set_vectors(HUB, MODEL, [VectorRow(one.passage_id, 0, b"n") for one in missing])
        with store.read() as reader:
            assert reader.unembedded(HUB, MODEL, limit=9) == []
            assert reader.unembedded_count(HUB, MODEL) == 0
            assert reader.vector_state(HUB, MODEL).size == 3

    def test_vectors_of_passages_that_are_gone_are_passed_over(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            (old,) = writer.passages(HUB, ["mem_1"])
        with store.write() as writer:
            index(writer, make_memory(1))
        with store.write() as writer:
            rows = [VectorRow(old.passage_id, 0, b"late"), VectorRow(10**12, 0, b"never")]
            writer.set_vectors(HUB, MODEL, rows)
        with store.read() as reader:
            assert list(reader.vectors(HUB, MODEL, after=0)) == []
            assert reader.vector_state(HUB, MODEL).size == 0
            assert reader.unembedded_count(HUB, MODEL) == 1
        assert store.check() == []

    def test_a_vector_that_is_set_stays_as_it_is(self, store: Store) -> None:
        """A passage never changes, so its vector does not; a cache relies on that."""
        with store.write() as writer:
            put(writer, make_memory(1), [[b"first"]])
            (row,) = writer.vectors(HUB, MODEL, after=0)
            writer.set_vectors(HUB, MODEL, [VectorRow(row.passage_id, 0, b"second")])
        with store.read() as reader:
            assert list(reader.vectors(HUB, MODEL, after=0)) == [row]
            assert reader.vector_state(HUB, MODEL).size == 1

    def test_the_state_tells_every_difference(self, store: Store) -> None:
        """Two moments with the same state have the same vectors."""
        known: dict[object, list[VectorRow]] = {}

        def look() -> None:
            with store.read() as reader:
                rows = list(reader.vectors(HUB, MODEL, after=0))
                state = reader.vector_state(HUB, MODEL)
            assert state.size == len(rows)
            assert known.setdefault(state, rows) == rows
            if rows:
                assert state.newest >= rows[-1].passage_id

        look()
        for number in range(1, 4):
            with store.write() as writer:
                put(writer, make_memory(number, "a\nb"), [[b"x%d" % number]])
            look()
        with store.write() as writer:
            missing = writer.unembedded(HUB, MODEL, limit=1)
            rows = [VectorRow(one.passage_id, 0, b"late") for one in missing]
            writer.set_vectors(HUB, MODEL, rows)
        look()
        with store.write() as writer:
            index(writer, make_memory(2), [[b"again"]])
        look()
        with store.write() as writer:
            writer.unindex(HUB, "mem_3")
        look()
        with store.write() as writer:
            writer.purge(HUB, "mem_1")
        look()
        with store.write() as writer:
            put(writer, make_memory(4), [[b"new"]])
        look()
        with store.write() as writer:
            writer.drop_derived()
        look()
        for number in (2, 3, 4):
            with store.write() as writer:
                index(writer, make_memory(number, "c\nd"), [[b"rebuilt%d" % number], [b"and"]])
            look()
        assert len(known) > 10

    def test_the_id_of_a_passage_is_never_used_again(self, store: Store) -> None:
        """Vectors are made outside of any write: an id must still mean the same when they come."""
        with store.write() as writer:
            put(writer, make_memory(1))
            put(writer, make_memory(2))
            old = {one.passage_id for one in writer.passages(HUB, ["mem_1", "mem_2"])}
        with store.write() as writer:
            writer.purge(HUB, "mem_2")
        with store.write() as writer:
            writer.drop_derived()
            index(writer, make_memory(1))
            (new,) = writer.passages(HUB, ["mem_1"])
        assert new.passage_id not in old
