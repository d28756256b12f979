"""Nothing crosses hubs: not a row, not a count, not a word's frequency."""

from __future__ import annotations

from typing import Any

from holdfast.domain.memory import Memory
from holdfast.store.base import Store, Writer
from holdfast.store.values import VectorRow
from holdfast.testing.conformance.base import (
    HUB,
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

OTHER = "hub_b"


def _fill(writer: Writer, hub_id: str, mark: str, count: int = 3) -> list[Memory]:
    """The same ids, numbers, keys, paths, sessions, speakers and words in whatever hub."""
    memories = [
        make_memory(
            number,
            f"shared words number{number}",
            hub_id=hub_id,
            summary=mark,
            key=f"key {number}",
            source_path=f"/path/{number}",
            session="session",
            speaker=f"speaker {number}",
            tags=("tag",),
        )
        for number in range(1, count + 1)
    ]
    for memory in memories:
        put(writer, memory, [[mark.encode()]])
    memories[0] = revise(writer, memories[0], "chg_revised", at(100), title=f"{mark} title")
    return memories


def _observed(store: Store, memories: list[Memory]) -> dict[str, Any]:
    with store.read() as reader:
        return observe(reader, HUB, memories, changes=["chg_revised", "chg_later"])


class Isolation(StoreCase):
    """Two hubs with the same ids, keys, numbers and words."""

    def test_what_is_written_to_one_hub_is_not_seen_in_another(self, store: Store) -> None:
        with store.write() as writer:
            mine = _fill(writer, HUB, "mine")
        before = _observed(store, mine)
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            theirs = _fill(writer, OTHER, "theirs", count=5)
        assert differences(before, _observed(store, [*mine])) == {}
        with store.read() as reader:
            seen = observe(reader, OTHER, theirs, changes=["chg_revised"])
        assert "theirs" in repr(seen)
        assert "mine" not in repr(seen)
        assert seen["statistics"].memories == 5

    def test_what_changes_in_one_hub_changes_nothing_in_another(self, store: Store) -> None:
        with store.write() as writer:
            mine = _fill(writer, HUB, "mine")
            writer.add_hub(make_hub(OTHER))
            theirs = _fill(writer, OTHER, "theirs", count=4)
        before = _observed(store, mine)
        with store.read() as reader:
            passages = [one.passage_id for one in reader.passages(HUB, ["mem_2"])]
        with store.write() as writer:
            revise(writer, theirs[1], "chg_later", at(200), content="rewritten", key="key x")
            revise(writer, theirs[2], "chg_later", at(200), forgotten_at=at(200))
            writer.mark_undone(OTHER, "chg_revised", "chg_later")
            writer.count_access(OTHER, ["mem_1", "mem_2"], at(300))
            writer.count_shown(OTHER, ["mem_1", "mem_2"])
            writer.count_mention(OTHER, ["mem_1", "mem_2"])
            writer.set_vectors(OTHER, "model-two", [VectorRow(pk, 0, b"x") for pk in passages])
            writer.unindex(OTHER, "mem_1")
            index(writer, theirs[0], [[b"again"]])
            writer.purge(OTHER, "mem_4")
            writer.take_numbers(OTHER, 10)
            writer.set_hub_state(OTHER, "importing", 99)
            writer.rename_hub(OTHER, "renamed")
        assert differences(before, _observed(store, mine)) == {}
        with store.read() as reader:
            assert list(reader.vectors(HUB, "model-two", after=0)) == []

    def test_a_hub_that_is_dropped_takes_everything_of_its_own_and_nothing_else(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            mine = _fill(writer, HUB, "mine")
            writer.add_hub(make_hub(OTHER))
            theirs = _fill(writer, OTHER, "theirs", count=5)
            writer.purge(OTHER, "mem_5")
        before = _observed(store, mine)
        with store.write() as writer:
            writer.drop_hub(OTHER)
        assert differences(before, _observed(store, mine)) == {}
        with store.write() as writer:
            assert writer.hub_by_id(OTHER) is None
            # A hub made anew under the same id begins with nothing.
            writer.add_hub(make_hub(OTHER))
        with store.read() as reader:
            seen = observe(reader, OTHER, theirs, changes=["chg_revised"])
        assert "theirs" not in repr(seen)
        assert seen["statistics"].memories == seen["statistics"].passages == 0
        assert seen["lexicon"].passages == 0
        assert store.check() == []
