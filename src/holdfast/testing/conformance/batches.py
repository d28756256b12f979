"""Conformance: many rows at once, and several writers at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.domain.change import Change, Receipt
from holdfast.domain.memory import Memory
from holdfast.domain.query import EVERYTHING
from holdfast.errors import DeadlineExceeded, HoldfastError, StoreError
from holdfast.store.base import Reader, Store, Writer
from holdfast.store.values import Capability, TermQuery, VectorRow
from holdfast.testing.conformance.base import (
    HUB,
    StoreCase,
    at,
    differences,
    make_hub,
    make_memory,
    observe,
    put,
    revise,
)


class _Failure(Exception):
    """Something that goes wrong in the middle of a write."""


def _add(writer: Writer) -> None:
    put(writer, make_memory(9, "shared words"), [[b"v"]])


def _everything(writer: Writer) -> None:
    first = writer.memory(HUB, "mem_1")
    assert first is not None
    _add(writer)
    revise(writer, first, "chg_half", at(50), content="rewritten", key="new key")
    writer.purge(HUB, "mem_2")
    writer.add_receipt(HUB, Receipt("mem_2", 2, at(50), "tester", "", 1))
    writer.count_access(HUB, ["mem_3"], at(60))
    writer.count_shown(HUB, ["mem_3"])
    writer.count_mention(HUB, ["mem_3"])
    writer.mark_undone(HUB, "chg_3", "chg_half")
    writer.set_vectors(HUB, "model-one", [VectorRow(1, 0, b"w")])
    writer.take_numbers(HUB, 5)
    writer.add_hub(make_hub("hub_half"))
    writer.rename_hub(HUB, "halfway")


def _derived(writer: Writer) -> None:
    writer.unindex(HUB, "mem_1")
    writer.drop_derived()


def _drop(writer: Writer) -> None:
    writer.drop_hub(HUB)


# Each breaks a promise that the tables make, whatever the caller means by it.
FORBIDDEN: dict[str, Callable[[Writer], None]] = {
    "an id that is taken": lambda w: w.add_memory(make_memory(1)._replace(number=50)),
    "a number that is taken": lambda w: w.add_memory(make_memory(1)._replace(id="mem_new")),
    "a key that is taken": lambda w: w.add_memory(make_memory(50, key="key 1")),
    "a path that is taken": lambda w: w.add_memory(make_memory(50, source_path="/path/1")),
    "a key that is taken, set later": lambda w: w.set_memory(make_memory(2, key="key 1")),
    "setting a memory that is not there": lambda w: w.set_memory(make_memory(50)),
    "a memory of a hub that is not there": lambda w: w.add_memory(
        make_memory(50, hub_id="hub_none")
    ),
    "numbers of a hub that is not there": lambda w: _ignore(w.take_numbers("hub_none", 1)),
    "a change set that is there already": lambda w: w.add_change(
        Change("chg_1", HUB, at(1), "tester", "update")
    ),
    "a revision of a memory that is not there": lambda w: w.add_revision(
        HUB, "chg_1", "mem_50", 1, at(1), {}
    ),
    "a revision of a change set that is not there": lambda w: w.add_revision(
        HUB, "chg_none", "mem_1", 2, at(1), {}
    ),
    "a hub id that is taken": lambda w: w.add_hub(make_hub(HUB, "other name")),
    "a hub name that is taken": lambda w: w.add_hub(make_hub("hub_new", "a")),
    "a hub renamed to a name that is taken": lambda w: w.rename_hub("hub_b", "a"),
    "an index of a memory that is not there": lambda w: w.index(HUB, "mem_50", "", [], ""),
}


def _ignore(_: object) -> None:
    """Turns an expression into a statement that lambda can hold."""


class Batches(StoreCase):
    """All or nothing."""

    def _fill_batch(self, store: Store) -> list[Memory]:
        memories = [
            make_memory(n, f"shared words {n}", key=f"key {n}", source_path=f"/path/{n}")
            for n in (1, 2, 3)
        ]
        with store.write() as writer:
            writer.add_hub(make_hub("hub_b"))
            for memory in memories:
                put(writer, memory, [[b"vector"]])
        return [*memories, make_memory(9, "shared words")]

    @pytest.mark.parametrize("act", [_add, _everything, _derived, _drop])
    def test_a_write_that_fails_leaves_nothing(
        self, store: Store, act: Callable[[Writer], None]
    ) -> None:
        memories = self._fill_batch(store)
        with store.read() as reader:
            before = observe(reader, HUB, memories, changes=["chg_half"])
        with pytest.raises(_Failure), store.write() as writer:
            act(writer)
            raise _Failure
        with store.read() as reader:
            after = observe(reader, HUB, memories, changes=["chg_half"])
            assert reader.hub_by_id("hub_half") is None
        assert differences(before, after) == {}
        assert store.check() == []

    @pytest.mark.parametrize("act", list(FORBIDDEN.values()), ids=list(FORBIDDEN))
    def test_what_the_store_forbids_is_an_error_and_leaves_nothing(
        self, store: Store, act: Callable[[Writer], None]
    ) -> None:
        memories = self._fill_batch(store)
        with store.read() as reader:
            before = observe(reader, HUB, memories)
        with pytest.raises(HoldfastError), store.write() as writer:
            put(writer, make_memory(20, "came before the failure"))
            act(writer)
        with store.read() as reader:
            assert differences(before, observe(reader, HUB, memories)) == {}

    def test_after_a_failed_write_the_next_one_works(self, store: Store) -> None:
        with pytest.raises(_Failure), store.write() as writer:
            put(writer, make_memory(1))
            raise _Failure
        with store.write() as writer:
            put(writer, make_memory(1, "the second try"))
        with store.read() as reader:
            found = reader.memory(HUB, "mem_1")
        assert found is not None
        assert found.content == "the second try"

    def test_a_writer_sees_what_it_has_written(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "shared words"), [[b"v"]])
            seen = observe(writer, HUB, [make_memory(1, "shared words")])
        with store.read() as reader:
            committed = observe(reader, HUB, [make_memory(1, "shared words")])
        assert differences(seen, committed) == {}
        assert committed["statistics"].memories == 1

    def test_saying_what_will_be_looked_for_changes_no_answer(self, store: Store) -> None:
        """By a reader and by a writer, which goes on to make some of it."""
        named = {"key": "a key", "source_path": "a path"}
        there = [make_memory(1), make_memory(2, **named)]
        coming = [make_memory(3), make_memory(4, key="coming"), make_memory(5, source_path="new")]
        with store.write() as writer:
            for memory in there:
                put(writer, memory)

        def look(reader: Reader) -> list[object]:
            return [
                (
                    reader.memories_by_hash(HUB, one.content_hash),
                    one.key is not None and reader.memory_by_key(HUB, one.key),
                    one.source_path is not None and reader.memory_by_path(HUB, one.source_path),
                )
                for one in (*there, *coming)
            ]

        with store.read() as reader:
            before = look(reader)
            reader.expect(HUB, [*there, *coming])
            assert look(reader) == before
        with store.write() as writer:
            writer.expect(HUB, [*there, *coming])
            assert look(writer) == before
            put(writer, coming[0])
            put(writer, coming[1])
            # An old one may get a name that was looked for.
            revise(writer, there[0], "chg_new", at(50), source_path="new")
            inside = look(writer)
        with store.read() as reader:
            assert look(reader) == inside != before

    def test_a_write_inside_a_write_is_refused_and_harms_neither(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            with pytest.raises(StoreError), store.write():
                pass
            put(writer, make_memory(2))
        with store.read() as reader:
            assert reader.statistics(HUB).memories == 2

    def test_a_write_that_need_not_be_durable_is_seen_at_once(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
        with store.write(durable=False) as writer:
            # Shown twice counts as two, even within one call.
            writer.count_shown(HUB, ["mem_1", "mem_1"])
            writer.count_access(HUB, ["mem_1", "mem_none"], at(9))
            writer.count_mention(HUB, ["mem_1", "mem_none", "mem_1"])
        with store.read() as reader:
            found = reader.memory(HUB, "mem_1")
            revisions = reader.revisions(HUB, "mem_1")
        assert found == make_memory(
            1, shown_count=2, access_count=1, mention_count=3, accessed_at=at(9)
        )
        assert len(revisions) == 1

    def test_numbers_are_given_out_once(self, store: Store) -> None:
        with store.write() as writer:
            assert writer.take_numbers(HUB, 3) == 1
            assert writer.take_numbers(HUB, 1) == 4
            put(writer, make_memory(4))
        with store.write() as writer:
            writer.purge(HUB, "mem_4")
            assert writer.take_numbers(HUB, 1) == 5
        with store.read() as reader:
            hub = reader.hub_by_id(HUB)
        assert hub is not None
        assert hub.numbers == 5

    def test_a_key_and_a_path_are_free_again_when_their_memory_is_forgotten(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            old = put(writer, make_memory(1, key="k", source_path="/p"))
            revise(writer, old, "chg_forget", at(5), forgotten_at=at(5))
            assert writer.memory_by_key(HUB, "k") is None
            assert writer.memory_by_path(HUB, "/p") is None
            put(writer, make_memory(2, key="k", source_path="/p"))
        with store.read() as reader:
            for found in (reader.memory_by_key(HUB, "k"), reader.memory_by_path(HUB, "/p")):
                assert found is not None
                assert found.number == 2


_WRITERS = 6
_WRITES = 15
# Far more than any of these takes; only a deadlock gets here.
_PATIENCE_S = 60


def _all_at_once(acts: list[Callable[[], None]]) -> None:
    """Runs each in a thread of its own, all let go together; the first error is raised."""
    start = threading.Barrier(len(acts))

    def run(act: Callable[[], None]) -> None:
        start.wait(_PATIENCE_S)
        act()

    with ThreadPoolExecutor(len(acts)) as pool:
        for done in [pool.submit(run, act) for act in acts]:
            done.result(_PATIENCE_S)


class Together(StoreCase):
    """Threads that share one store."""

    def test_writers_in_threads_lose_nothing_and_share_no_number(self, store: Store) -> None:
        def write() -> None:
            for _ in range(_WRITES):
                with store.write() as writer:
                    put(writer, make_memory(writer.take_numbers(HUB, 1), "shared words"), [[b"v"]])

        _all_at_once([write] * _WRITERS)
        with store.read() as reader:
            found = reader.memories(HUB, EVERYTHING, order="number", after=None, limit=1000)
            statistics = reader.statistics(HUB)
            lexicon = reader.lexicon(HUB, ["share"])
        count = _WRITERS * _WRITES
        assert [memory.number for memory in found] == list(range(1, count + 1))
        assert (
            statistics.revisions,
            statistics.changes,
            statistics.passages,
            statistics.vectors,
        ) == (count,) * 4
        assert lexicon.frequency == {"share": count}
        assert store.check() == []

    def test_readers_beside_writers_always_see_whole_writes(self, store: Store) -> None:
        done = threading.Event()
        with store.write() as writer:
            writer.add_hub(make_hub("hub_b"))

        def write() -> None:
            try:
                for _ in range(_WRITES):
                    with store.write() as writer:
                        number = writer.take_numbers(HUB, 1)
                        put(writer, make_memory(number))
                        put(writer, make_memory(number, hub_id="hub_b"))
            finally:
                done.set()

        def read() -> None:
            seen = 0
            while True:
                last = done.is_set()
                with store.read() as reader:
                    mine, theirs = reader.statistics(HUB), reader.statistics("hub_b")
                    again = reader.statistics(HUB)
                assert mine == again
                assert mine.memories == theirs.memories == mine.revisions == theirs.passages
                assert mine.memories >= seen
                seen = mine.memories
                if last:
                    assert seen == _WRITES
                    return

        _all_at_once([write, read, read])

    def test_a_reader_does_not_see_a_later_write(self, store: Store) -> None:
        memories = [make_memory(1, "shared words", key="k"), make_memory(2, "shared words too")]
        with store.write() as writer:
            put(writer, memories[0], [[b"v"]])
        with store.read() as reader:
            before = observe(reader, HUB, memories)
            with store.write() as writer:
                put(writer, memories[1], [[b"w"]])
                revise(writer, memories[0], "chg_later", at(9), content="other", key="j")
            assert differences(before, observe(reader, HUB, memories)) == {}
            with store.read() as later:
                assert later.statistics(HUB).memories == 2
        with store.read() as reader:
            assert reader.statistics(HUB).memories == 2

    def test_a_reader_sees_one_moment_of_all_hubs(self, store: Store) -> None:
        if Capability.SNAPSHOT not in store.capabilities:
            pytest.skip("the store claims one moment of each hub alone")
        # Many, so that two of them are on different servers where a store has several.
        others = [f"hub_{number}" for number in range(2, 10)]
        with store.write() as writer:
            for hub_id in others:
                writer.add_hub(make_hub(hub_id))
        with store.read() as reader:
            assert reader.memory(HUB, "mem_1") is None
            with store.write() as writer:
                for hub_id in (HUB, *others):
                    put(writer, make_memory(1, hub_id=hub_id))
            for hub_id in (HUB, *others):
                assert reader.memory(hub_id, "mem_1") is None, hub_id

    def test_a_reader_does_not_wait_for_a_writer(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))

            def read() -> None:
                with store.read() as reader:
                    assert reader.statistics(HUB).memories == 0

            _all_at_once([read, read])
            # Nor in the same thread, where it would wait for ever.
            read()
        with store.read() as reader:
            assert reader.statistics(HUB).memories == 1

    def test_a_writer_waits_for_the_one_before_it(self, store: Store) -> None:
        inside, release = threading.Event(), threading.Event()
        order: list[str] = []

        def first() -> None:
            with store.write() as writer:
                inside.set()
                assert release.wait(_PATIENCE_S)
                put(writer, make_memory(1))
                order.append("first")

        def second() -> None:
            assert inside.wait(_PATIENCE_S)
            release.set()
            with store.write() as writer:
                order.append("second")
                assert writer.memory(HUB, "mem_1") is not None

        _all_at_once([first, second])
        assert order == ["first", "second"]

    def test_a_deadline_stops_a_read_and_says_so(self, store: Store) -> None:
        if Capability.DEADLINES not in store.capabilities:
            pytest.skip("the store does not claim to know deadlines")
        with store.write() as writer:
            for number in range(1, 401):
                put(writer, make_memory(number, "common words"))
        with pytest.raises(DeadlineExceeded), store.read(deadline_s=0.0) as reader:
            for _ in range(200):
                reader.search_terms(HUB, TermQuery(("common",)), EVERYTHING, limit=400)
                reader.memories(HUB, EVERYTHING, order="updated", after=None, limit=400)
        # The deadline was that read's alone.
        with store.read() as reader:
            for _ in range(20):
                found = reader.search_terms(HUB, TermQuery(("common",)), EVERYTHING, limit=400)
                assert len(found) == 400
        with store.read(deadline_s=60.0) as reader:
            assert reader.statistics(HUB).memories == 400

    def test_one_at_a_time_is_at_what_only_one_may_be_at(self, store: Store) -> None:
        if Capability.ALONE not in store.capabilities:
            with store.alone("tidy", HUB) as first, store.alone("tidy", HUB) as second:
                assert first
                assert second
            return
        for _ in range(2):
            with store.alone("tidy", HUB) as mine:
                assert mine
                with store.alone("tidy", HUB) as second:
                    assert not second
                # Other work, other hubs, and readers and writers are not blocked.
                with store.alone("sweep", HUB) as other, store.alone("tidy", "hub_2") as elsewhere:
                    assert other
                    assert elsewhere
                with store.write() as writer:
                    writer.take_numbers(HUB, 1)
        with pytest.raises(KeyError), store.alone("tidy", HUB):
            raise KeyError
        with store.alone("tidy", HUB) as mine:
            assert mine
