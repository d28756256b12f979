"""The kit itself: it asks every question, and it notices a store that breaks a promise."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.store.base import Reader, Writer
from holdfast.store.inmemory import InMemoryReader, InMemoryStore, InMemoryWriter
from holdfast.testing import CountedIds, FixedClock, HashEmbedder, StoreConformance, open_for_tests
from holdfast.testing.conformance.base import HUB, make_hub, observe


def _methods(protocol: type) -> set[str]:
    return {name for name in vars(protocol) if not name.startswith("_")}


def test_an_observation_asks_every_reader_method() -> None:
    store = InMemoryStore()
    with store.write() as writer:
        writer.add_hub(make_hub())
    with store.read() as reader:
        assert set(observe(reader, HUB, [])) == _methods(Reader)


def test_every_writer_method_is_used_by_the_kit() -> None:
    import holdfast.testing.conformance as kit

    source = "".join(path.read_text() for path in Path(kit.__file__).parent.glob("*.py"))
    unused = [name for name in _methods(Writer) if f".{name}(" not in source]
    assert unused == []


# Each takes one promise away from the in-memory store; the kit must go red for every one.
def _lose_microseconds(patch: pytest.MonkeyPatch) -> None:
    add = InMemoryWriter.add_memory

    def coarse(self: InMemoryWriter, memory: Any) -> None:
        add(self, memory._replace(created_at=memory.created_at.replace(microsecond=0), title="x"))

    patch.setattr(InMemoryWriter, "add_memory", coarse)


def _leak_between_hubs(patch: pytest.MonkeyPatch) -> None:
    def everyone(self: InMemoryReader, hub_id: str, *, limit: int) -> list[str]:
        hubs = self._state.hubs.values()
        return sorted({m.speaker for hub in hubs for m in hub.memories.values() if m.speaker})

    patch.setattr(InMemoryReader, "speakers", everyone)


def _keep_half_of_a_failed_write(patch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def write(self: InMemoryStore, *, durable: bool = True) -> Iterator[InMemoryWriter]:
        self._ready()
        yield InMemoryWriter(self._state)

    patch.setattr(InMemoryStore, "write", write)


def _reuse_numbers(patch: pytest.MonkeyPatch) -> None:
    def take(self: InMemoryWriter, hub_id: str, count: int) -> int:
        own = self._own(hub_id)
        first = max((m.number for m in own.memories.values()), default=0) + 1
        own.hub = own.hub._replace(numbers=first + count - 1)
        return first

    patch.setattr(InMemoryWriter, "take_numbers", take)


def _keep_the_index_of_what_is_purged(patch: pytest.MonkeyPatch) -> None:
    def purge(self: InMemoryWriter, hub_id: str, memory_id: str) -> int:
        own = self._own(hub_id)
        before = len(own.revisions)
        own.revisions = [r for r in own.revisions if r.memory_id != memory_id]
        return before - len(own.revisions)

    patch.setattr(InMemoryWriter, "purge", purge)


def _page_by_offset(patch: pytest.MonkeyPatch) -> None:
    listed = InMemoryReader.memories

    def paged(self: InMemoryReader, hub_id: str, wanted: Any, **how: Any) -> Any:
        after = how.pop("after")
        found = listed(self, hub_id, wanted, after=None, **{**how, "limit": 10_000})
        start = 0 if after is None else sum(m.number <= after[1] for m in found)
        return found[start : start + how["limit"]]

    patch.setattr(InMemoryReader, "memories", paged)


def _show_later_writes(patch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def read(self: InMemoryStore, *, deadline_s: float | None = None) -> Iterator[InMemoryReader]:
        self._ready()
        reader = InMemoryReader(self._state, deadline_s)
        live = type("Live", (), {"hubs": property(lambda _: self._state.hubs)})()
        reader._state = live
        yield reader

    patch.setattr(InMemoryStore, "read", read)


def _answer_when_closed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InMemoryStore, "close", lambda self: None)


def _ignore_deadlines(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InMemoryReader, "_in_time", lambda self: None)


def _write_side_by_side(patch: pytest.MonkeyPatch) -> None:
    class Open:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...

    made = InMemoryStore.__init__

    def make(self: InMemoryStore) -> None:
        made(self)
        self._lock = Open()  # type: ignore[assignment]

    patch.setattr(InMemoryStore, "__init__", make)


BREAKS: dict[Callable[[pytest.MonkeyPatch], None], str] = {
    _lose_microseconds: "test_a_memory_comes_back_as_it_went_in",
    _leak_between_hubs: "test_what_is_written_to_one_hub_is_not_seen_in_another",
    _keep_half_of_a_failed_write: "test_a_write_that_fails_leaves_nothing",
    _reuse_numbers: "test_numbers_are_given_out_once",
    _keep_the_index_of_what_is_purged: "test_no_reader_method_finds_a_purged_memory",
    _page_by_offset: "test_a_cursor_stays_right_while_others_write",
    _show_later_writes: "test_a_reader_does_not_see_a_later_write",
    _answer_when_closed: "test_a_closed_store_says_that_it_is_closed",
    _ignore_deadlines: "test_a_deadline_stops_a_read_and_says_so",
    _write_side_by_side: "test_a_writer_waits_for_the_one_before_it",
}


@pytest.mark.parametrize(
    ("break_it", "promise"), list(BREAKS.items()), ids=[act.__name__[1:] for act in BREAKS]
)
def test_a_store_that_breaks_a_promise_is_caught(
    break_it: Callable[[pytest.MonkeyPatch], None],
    promise: str,
    monkeypatch: pytest.MonkeyPatch,
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        test_it="""
        from holdfast.store.inmemory import InMemoryStore
        from holdfast.testing import StoreConformance

        class TestIt(StoreConformance):
            def open_store(self, tmp_path):
                return InMemoryStore()
        """
    )
    arguments = ("-q", "-p", "no:cacheprovider", "-k", promise, "--maxfail=1")
    whole = pytester.runpytest_inprocess(*arguments)
    assert whole.parseoutcomes().get("failed", 0) == 0
    break_it(monkeypatch)
    broken = pytester.runpytest_inprocess(*arguments)
    assert broken.parseoutcomes().get("failed", 0) >= 1


def test_the_fixtures_need_no_pytest() -> None:
    code = "import sys, holdfast.testing; print({'pytest', 'hypothesis'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_class_that_does_not_say_how_to_open_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="open_store"):
        StoreConformance().open_store(tmp_path)


def test_a_fixed_clock_moves_only_when_told() -> None:
    clock = FixedClock()
    start = clock.now()
    assert clock.now() == start
    assert clock.tick() == clock.now() == start + timedelta(seconds=1)
    assert clock.tick(days=2, hours=1) == start + timedelta(days=2, hours=1, seconds=1)


def test_counted_ids_can_be_foreseen_and_sort_in_order() -> None:
    ids = CountedIds()
    made = [ids.next("mem") for _ in range(12)]
    assert made[:2] == ["mem_00000001", "mem_00000002"]
    assert made == sorted(made)
    assert ids.next("chg") == "chg_00000001"


def test_the_hash_embedder_brings_texts_with_the_same_words_together() -> None:
    from holdfast.embed import check

    embedder = HashEmbedder()
    texts = ["red apple pie", "an apple", "storage engines", "", "—"]
    matrix = check(embedder.embed_passages(texts), embedder.dimensions, 5)
    assert matrix.shape == (5, 64)
    assert embedder.embed_passages([]).shape == (0, 64)
    question = embedder.embed_query("apples")
    cosines = matrix @ question
    assert cosines[1] > cosines[0] > cosines[2]
    assert (embedder.embed_passages(texts) == matrix).all()


def test_a_memory_opened_for_tests_holds_time_ids_and_model_still(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, clock=clock, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")
        stored = hub.remember("Prefers tabs over spaces")
        assert stored.memory.id == "mem_00000001"
        assert stored.memory.created_at == clock.now()
        assert stored.memory.owner == "tester"
        hits = hub.recall("tabs")
        assert [hit.memory.id for hit in hits] == ["mem_00000001"]
        assert hits.degraded == ()
