"""Several at once: writers take turns, readers see one moment, and a deadline stops a read.

No promise here waits for time to pass: threads meet at barriers and events.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.domain.query import EVERYTHING
from holdfast.errors import DeadlineExceeded
from holdfast.store.base import Store
from holdfast.store.values import Capability, TermQuery
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
            told = reader.statistics(HUB)
            lexicon = reader.lexicon(HUB, ["share"])
        count = _WRITERS * _WRITES
        assert [memory.number for memory in found] == list(range(1, count + 1))
        assert (told.revisions, told.changes, told.passages, told.vectors) == (count,) * 4
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
                # Another piece of work, another hub, and whoever reads and writes, are free.
                with store.alone("sweep", HUB) as other, store.alone("tidy", "hub_2") as elsewhere:
                    assert other
                    assert elsewhere
                with store.write() as writer:
                    writer.take_numbers(HUB, 1)
        with pytest.raises(KeyError), store.alone("tidy", HUB):
            raise KeyError
        with store.alone("tidy", HUB) as mine:
            assert mine
