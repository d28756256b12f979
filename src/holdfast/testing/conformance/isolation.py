"""Conformance: hubs are isolated, and a viewer sees only what they may see."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.change import Change, Receipt
from holdfast.domain.hub import MEMBER_SEES, PersonName, Viewer
from holdfast.domain.memory import Boundary, Memory
from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import Clash, Turn
from holdfast.store.base import Store, Writer
from holdfast.store.values import VectorRow
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


ADA = Viewer(PersonName("ada"))
BOB = Viewer(PersonName("bob"))
MARK = "xyzzy"
# The contents of a cache belong to the hub; no caller sees them.
OF_THE_HUB = {
    *("lexicon", "vocabulary", "vector_state", "vectors", "unembedded", "unembedded_count")
}


def marked(number: int, **fields: Any) -> Memory:
    """A memory that would be known by its mark in every answer."""
    mark = f"{MARK}{number}"
    return make_memory(
        number,
        f"the {mark} is blue",
        title=mark,
        key=mark,
        source_path=f"/{mark}",
        speaker=mark,
        session="talk",
        owner="ada",
        **fields,
    )


def fill(store: Store) -> list[Memory]:
    """Two that everyone sees, and between them one that is private to ada."""
    plain = [
        make_memory(1, "the first is blue", owner="ada", session="talk", speaker="ana"),
        make_memory(3, "the third is blue", owner="bob", session="talk", speaker="ben"),
    ]
    private = marked(2, boundary="private")
    with store.write() as writer:
        for memory in (plain[0], private, plain[1]):
            put(writer, memory, [[b"\x01" * 4]])
        writer.add_change(Change("chg_x", HUB, at(50), "ada", "update", MARK))
        private = revise(writer, private, "chg_x", at(50), content=f"the {MARK} is red")
        writer.add_clash(HUB, Clash("cla_1", private.id, "MEMORY.md", MARK, MARK, at(60)))
    return [plain[0], private, plain[1]]


class Viewers(StoreCase):
    """Reading with somebody's eyes."""

    def test_no_answer_holds_what_is_private_to_another(self, store: Store) -> None:
        memories = fill(store)
        with store.read(viewer=BOB) as reader:
            seen = observe(reader, HUB, memories, changes=["chg_x"])
            for name, answer in seen.items():
                if name not in OF_THE_HUB:
                    assert MARK not in repr(answer), name
            statistics = reader.statistics(HUB)
            assert (statistics.memories, statistics.visible) == (2, 2)
            assert (statistics.revisions, statistics.changes) == (2, 2)
            assert (statistics.passages, statistics.vectors) == (2, 2)
            assert statistics.conflicts == 0
            assert statistics.newest == at(3)
            assert reader.speakers(HUB, limit=9) == ["ana", "ben"]
            assert reader.adjacent(HUB, [("talk", 1, 3)]) == [True]
            assert reader.changed_after(HUB, at(40)) == []
            assert reader.revised_since(HUB, 0, limit=9) == ["mem_1", "mem_3"]
            assert reader.vectors_of(HUB, MODEL, "mem_2") == []
        for viewer in (ADA, None):
            with store.read(viewer=viewer) as reader:
                everything = observe(reader, HUB, memories, changes=["chg_x"])
                assert reader.statistics(HUB).memories == 3
                assert reader.memory(HUB, "mem_2") == memories[1]
                assert reader.adjacent(HUB, [("talk", 1, 3)]) == [False]
                assert reader.vectors_of(HUB, MODEL, "mem_1")
            for name in ("memories", "revisions", "changes", "clashes", "search_terms", "matching"):
                assert everything[name] != seen[name], name

    def test_a_write_sees_with_the_same_eyes(self, store: Store) -> None:
        fill(store)
        with store.write(viewer=BOB) as writer:
            assert writer.memory(HUB, "mem_2") is None
            assert writer.memory_by_key(HUB, f"{MARK}2") is None
        with store.write(viewer=ADA) as writer:
            assert writer.memory_by_key(HUB, f"{MARK}2") is not None

    @pytest.mark.parametrize("boundary", ["private", "hub", "team", "org"])
    @pytest.mark.parametrize("allowed", [(), ("org",), ("team", "org"), MEMBER_SEES])
    def test_boundaries_decide_for_all_but_the_owner(
        self, store: Store, boundary: Boundary, allowed: tuple[Boundary, ...]
    ) -> None:
        memory = marked(1, boundary=boundary)
        with store.write() as writer:
            put(writer, memory)
        with store.read(viewer=Viewer(PersonName("bob"), allowed)) as reader:
            found = reader.memories(HUB, EVERYTHING, order="newest", after=None, limit=9)
            assert bool(found) == (boundary in allowed)
            assert (reader.memory(HUB, memory.id) is not None) == (boundary in allowed)
        with store.read(viewer=Viewer(PersonName("ada"), allowed)) as reader:
            assert reader.memory(HUB, memory.id) == memory

    @pytest.mark.parametrize("allowed", [(), ("org",), ("team", "org"), MEMBER_SEES])
    def test_turns_and_receipts_are_seen_like_what_is_the_hubs(
        self, store: Store, allowed: tuple[Boundary, ...]
    ) -> None:
        with store.write() as writer:
            writer.add_turn(Turn("trn_1", HUB, "user", "the sky is blue", at(1), "tui", "talk"))
            writer.add_receipt(HUB, Receipt("mem_gone", 4, at(2), "ada", "because", 3))
        count = int("hub" in allowed)
        with store.read(viewer=Viewer(PersonName("bob"), allowed)) as reader:
            assert len(reader.turns(HUB, limit=9)) == count
            assert len(reader.turns(HUB, limit=9, session="talk")) == count
            assert len(list(reader.scan_turns(HUB))) == count
            assert len(reader.receipts(HUB)) == count
            assert reader.statistics(HUB).turns == reader.statistics(HUB).receipts == count

    def test_a_viewer_with_an_odd_name_is_only_a_name(self, store: Store) -> None:
        memory = marked(1, boundary="private")
        with store.write() as writer:
            put(writer, memory)
        for name in ("' OR 1=1 --", "ada' --", "ADA", "", 'ada"', "ad\x00a"):
            with store.read(viewer=Viewer(PersonName(name))) as reader:
                assert reader.memory(HUB, memory.id) is None, name
        odd = marked(2, boundary="private")._replace(owner="o'brien --")
        with store.write() as writer:
            put(writer, odd)
        with store.read(viewer=Viewer(PersonName("o'brien --"))) as reader:
            assert reader.memory(HUB, odd.id) == odd

    def test_keys_and_paths_of_private_memories_are_apart(self, store: Store) -> None:
        shared = make_memory(1, "shared", owner="ada", key="db", source_path="/db")
        adas = make_memory(2, "ada's", owner="ada", key="db", source_path="/db", boundary="private")
        bobs = make_memory(3, "bob's", owner="bob", key="db", source_path="/db", boundary="private")
        with store.write() as writer:
            for memory in (shared, adas, bobs):
                put(writer, memory)
        for viewer, own in ((ADA, adas), (BOB, bobs), (Viewer(PersonName("eve")), shared)):
            with store.read(viewer=viewer) as reader:
                assert reader.memory_by_key(HUB, "db") == own
                assert reader.memory_by_path(HUB, "/db") == own
                assert reader.memory_by_key(HUB, "db", audience="") == shared
                assert reader.memory_by_path(HUB, "/db", audience="") == shared
        with store.read(viewer=ADA) as reader:
            assert reader.memory_by_key(HUB, "db", audience="ada") == adas
            assert reader.memory_by_key(HUB, "db", audience="bob") is None
