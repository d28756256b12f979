"""Lists: every order, every filter, and cursors that stay right while others write."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.clock import to_micros
from holdfast.domain.memory import KINDS, LAYERS, SOURCES, STABILITIES, STATES, TRUSTS, Memory
from holdfast.domain.query import (
    DOWNWARDS,
    EVERYTHING,
    FIELDS,
    ORDERS,
    Comparison,
    Condition,
    Filter,
    Group,
    Order,
)
from holdfast.store.base import Reader, Store
from holdfast.store.values import TermQuery, TextQuery
from holdfast.testing.conformance.base import HUB, StoreCase, at, examples, make_memory, put, revise

_CATEGORIES = ("fact", "preference", "Ünïcode %_")
_TAGS = ("a", "b", "a b", '"q"', "%")
_PATHS = ("/notes/a.md", "/notes", "notes/a.md", "/notes2/a.md", "/not_s/x", "a.md", "/ä/b")
_AGENTS = ("agent", "cli", "/notes")
_SESSIONS = ("s1", "s2")
_KEYS = ("k", "K", "k%")
_MOMENTS = tuple(at(seconds) for seconds in (-10, 0, 3, 3.000001, 7, 1000))


def _among(values: tuple[Any, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


_CONDITIONS: dict[str, st.SearchStrategy[Any]] = {
    "states": _among(STATES),
    "categories": _among(_CATEGORIES),
    "kinds": _among(KINDS),
    "stabilities": _among(STABILITIES),
    "layers": _among(LAYERS),
    "sources": _among(SOURCES),
    "tags": _among(_TAGS),
    "key": st.sampled_from(_KEYS),
    "came_from": st.sampled_from((*_PATHS, *_AGENTS, "", "/", "/notes/", "md", "notes")),
    "session": st.sampled_from(_SESSIONS),
    "pinned": st.booleans(),
    "forgotten": st.sampled_from((None, True, False)),
    "quarantined": st.sampled_from((None, True, False)),
    "since": st.sampled_from(_MOMENTS),
    "until": st.sampled_from(_MOMENTS),
    "alive_at": st.sampled_from(_MOMENTS),
    "known_by": st.sampled_from(_MOMENTS),
    "holds_at": st.sampled_from(_MOMENTS),
    "trusts": _among(TRUSTS),
}


# Keys and values that a store may confuse: signs of its own language, numbers as text, 1 and true.
_METADATA_KEYS = ("n", "word", "a.b", 'q"u\\ote', "it's", "0", "$.x", "ä")
_METADATA_VALUES: tuple[Any, ...] = (
    *(1, 1.0, 2.5, -3, 0, 2**40, 1e22, True, False, None),
    *("1", "true", "", "b", "B", "a%_b", "ä", "z' OR 1=1 --", 'x"y', "with\0nul"),
    *([], ["b", 1], [True, "1"], {}, {"0": "b", "deep": {"n": 2}}, [{"0": 1}]),
)
_ASKED = tuple(v for v in _METADATA_VALUES if isinstance(v, str | int | float) and v != "with\0nul")
_PATHS_ASKED = (*((key,) for key in _METADATA_KEYS), ("n", "0"), ("n", "deep", "n"), ("word", "x"))


def _metadata(number: int) -> dict[str, Any]:
    return {
        key: _cycled(_METADATA_VALUES, number * (place + 1) + place)
        for place, key in enumerate(_METADATA_KEYS)
        if (number + place) % 4
    }


def _compare(field: str, path: tuple[str, ...], operator: Any, *values: Any) -> Condition:
    return Comparison(field, path, operator, *values)


def _comparisons() -> st.SearchStrategy[Condition]:
    here, path = st.just(()), st.sampled_from(_PATHS_ASKED)
    nowhere, value = st.just(""), st.sampled_from(_ASKED)
    text = st.sampled_from([one for one in _ASKED if isinstance(one, str)])
    ordered = value.filter(lambda one: not isinstance(one, bool))
    several = st.lists(value, max_size=3).map(tuple)
    orders = ("gt", "gte", "lt", "lte")
    texts = (*_CATEGORIES, *_KEYS, *_SESSIONS, "NOTES", "number1")

    def among(*words: str) -> st.SearchStrategy[str]:
        return st.sampled_from(words)

    return st.one_of(
        st.builds(_compare, nowhere, path, among("exists")),
        st.builds(_compare, nowhere, path, among("eq", "contains"), value),
        st.builds(_compare, nowhere, path, among(*orders), ordered),
        st.builds(_compare, nowhere, path, among("icontains"), text),
        st.builds(_compare, nowhere, path, among("in"), several),
        st.builds(
            _compare,
            among("category", "key", "session", "source_path", "content"),
            here,
            among("eq", "gt", "lte", "contains", "icontains"),
            among(*texts),
        ),
        st.builds(_compare, among("category", "key"), here, among("in"), _among(texts)),
        st.builds(
            _compare,
            among("occurred_at", "valid_until", "created_at"),
            here,
            among("eq", *orders),
            st.sampled_from(_MOMENTS),
        ),
        st.builds(_compare, among(*FIELDS), here, among("exists")),
        st.builds(_compare, among("tags"), here, among("contains"), st.sampled_from(_TAGS)),
        st.builds(_compare, among("pinned"), here, among("eq"), st.booleans()),
        st.builds(_compare, among("number"), here, among("eq", "gt", "lt"), st.just(30)),
    )


_TREES = st.recursive(
    _comparisons(),
    lambda inner: st.builds(
        Group,
        st.sampled_from(("and", "or", "not")),
        st.lists(inner, min_size=1, max_size=3).map(tuple),
    ),
    max_leaves=6,
)


@st.composite
def filters(draw: st.DrawFn) -> Filter:
    """A few conditions at a time: with many of them nothing would be left to compare."""
    names = st.lists(st.sampled_from(sorted(_CONDITIONS)), max_size=3, unique=True)
    chosen = {name: draw(_CONDITIONS[name]) for name in draw(names)}
    return draw(st.sampled_from((EVERYTHING, Filter())))._replace(**chosen)


def _cycled(values: tuple[Any, ...], number: int) -> Any:
    return values[number % len(values)]


def _varied(number: int) -> Memory:
    """Memories that differ in everything a filter looks at, in coprime rhythms."""
    forgotten = number % 7 == 0
    return make_memory(
        number,
        f"common number{number}",
        state=_cycled(STATES, number),
        category=_cycled(_CATEGORIES, number),
        kind=_cycled(KINDS, number // 2),
        stability=_cycled(STABILITIES, number // 3),
        layer=_cycled(LAYERS, number // 4),
        source=_cycled(SOURCES, number),
        tags=tuple(dict.fromkeys((_cycled(_TAGS, number), _cycled(_TAGS, number // 2)))),
        key=_cycled(_KEYS, number) if number <= len(_KEYS) else None,
        source_path=_cycled(_PATHS, number) if number <= len(_PATHS) else None,
        source_agent=_cycled((None, *_AGENTS), number),
        session=_cycled((None, *_SESSIONS), number),
        pinned=number % 5 == 0,
        forgotten_at=at(500) if forgotten else None,
        quarantine="reason" if number % 11 == 0 else "",
        occurred_at=_cycled((None, *_MOMENTS), number),
        expires_at=_cycled((None, None, *_MOMENTS), number),
        accessed_at=_cycled((None, at(1), at(2)), number),
        valid_until=_cycled((None, *_MOMENTS, None), number),
        superseded_by="mem_60" if number % 13 == 0 else None,
        trust=_cycled(TRUSTS, number // 2),
        metadata=_metadata(number),
        updated_at=at(number // 4),
    )


VARIED = [_varied(number) for number in range(1, 61)]


def _sorted(memories: list[Memory], order: Order) -> list[Memory]:
    return sorted(
        memories,
        key=lambda memory: place(memory, order),
        reverse=order in DOWNWARDS,
    )


def place(memory: Memory, order: Order) -> tuple[int, int]:
    """The sort key of a memory in an order: what it is sorted by, then its number."""
    if order == "updated":
        return to_micros(memory.updated_at), memory.number
    if order == "accessed":
        moment: datetime | None = memory.accessed_at
        return 0 if moment is None else to_micros(moment), memory.number
    if order == "happened":
        return to_micros(memory.occurred_at or memory.created_at), memory.number
    return memory.number, memory.number


def _paged(reader: Reader, order: Order, size: int) -> list[list[Memory]]:
    pages: list[list[Memory]] = []
    after = None
    while True:
        page = reader.memories(HUB, EVERYTHING, order=order, after=after, limit=size)
        if not page:
            return pages
        pages.append(page)
        after = place(page[-1], order)


class Lists(StoreCase):
    """Which memories, in what order."""

    @pytest.fixture
    def varied(self, store: Store) -> Store:
        with store.write() as writer:
            for memory in VARIED:
                put(writer, memory)
        return store

    @examples(150)
    @given(wanted=filters(), order=st.sampled_from(ORDERS))
    def test_a_filter_admits_what_it_says_it_admits(
        self, varied: Store, wanted: Filter, order: Order
    ) -> None:
        admitted = [memory for memory in VARIED if wanted.admits(memory)]
        with varied.read() as reader:
            found = reader.memories(HUB, wanted, order=order, after=None, limit=100)
            by_word = reader.search_terms(HUB, TermQuery(("common",)), wanted, limit=100)
            by_part = reader.search_substring(HUB, "mmon num", wanted, limit=100)
            by_short = reader.search_substring(HUB, "mm", wanted, limit=100)
            texts = [TextQuery(needle, ()) for needle in ("mmon num", "mm")]
            texts.append(TextQuery("common or not", ("common",)))
            by_text = [list(reader.matching(HUB, one, wanted, order=order)) for one in texts]
            every = [one.passage_id for one in reader.passages(HUB, [m.id for m in VARIED])]
            by_id = reader.candidates(HUB, every, wanted)
            by_use = reader.ids_by_use(HUB, wanted)
            first_by_use = reader.ids_by_use(HUB, wanted, limit=2)
        assert found == _sorted(admitted, order)
        admitted.sort(key=lambda one: (one.pinned, one.last_use, one.number), reverse=True)
        assert by_use == [memory.id for memory in admitted]
        assert first_by_use == by_use[:2]
        # What is forgotten is out of the index, so no search finds it.
        indexed = {memory.id for memory in admitted if memory.forgotten_at is None}
        assert {one.memory_id for one in by_word} == indexed
        assert set(by_part) == set(by_short) == indexed
        assert by_text == [[m for m in found if m.id in indexed]] * 3
        assert {one.memory_id for one in by_id} == indexed

    @examples(150)
    @given(condition=_TREES)
    def test_a_condition_admits_what_it_says_it_admits(
        self, varied: Store, condition: Condition
    ) -> None:
        wanted = EVERYTHING._replace(where=condition)
        with varied.read() as reader:
            found = reader.memories(HUB, wanted, order="number", after=None, limit=100)
            by_word = reader.search_terms(HUB, TermQuery(("common",)), wanted, limit=100)
        assert found == [memory for memory in VARIED if wanted.admits(memory)]
        indexed = {memory.id for memory in found if memory.forgotten_at is None}
        assert {one.memory_id for one in by_word} == indexed

    @pytest.mark.parametrize("operator", ["eq", "gte", "contains"])
    def test_every_value_of_metadata_is_compared_by_its_type(
        self, varied: Store, operator: Any
    ) -> None:
        for path in _PATHS_ASKED:
            for value in _ASKED:
                if operator == "gte" and isinstance(value, bool):
                    continue
                wanted = EVERYTHING._replace(where=Comparison("", path, operator, value))
                with varied.read() as reader:
                    found = reader.memories(HUB, wanted, order="number", after=None, limit=100)
                assert found == [memory for memory in VARIED if wanted.admits(memory)], value

    def test_each_condition_alone_leaves_some_out_and_lets_some_through(
        self, varied: Store
    ) -> None:
        values: dict[str, Any] = {
            "states": ("cooling",),
            "categories": ("Ünïcode %_",),
            "kinds": ("semantic",),
            "stabilities": ("stable",),
            "layers": ("journal",),
            "sources": ("web",),
            "tags": ('"q"',),
            "key": "k%",
            "came_from": "/notes",
            "session": "s1",
            "pinned": True,
            "since": at(3),
            "until": at(3),
            "alive_at": at(3),
            "known_by": at(3),
            "holds_at": at(3),
            "trusts": ("agent",),
            "where": Comparison("", ("n",), "gt", 1),
        }
        apart = {"forgotten", "quarantined", "turns"}
        assert {*values} == {*Filter._fields} - apart
        for field, value in values.items():
            wanted = EVERYTHING._replace(**{field: value})
            with varied.read() as reader:
                found = reader.memories(HUB, wanted, order="number", after=None, limit=100)
            assert 0 < len(found) < len(VARIED), field
            assert found == [memory for memory in VARIED if wanted.admits(memory)], field

    def test_pages_put_together_are_the_whole_list(self, varied: Store) -> None:
        for order, size in product(ORDERS, (1, 7, 60, 61)):
            with varied.read() as reader:
                pages = _paged(reader, order, size)
            listed = [memory for page in pages for memory in page]
            assert listed == _sorted(VARIED, order), (order, size)
            assert all(len(page) == size for page in pages[:-1]), (order, size)

    @pytest.mark.parametrize("order", ORDERS)
    def test_a_cursor_stays_right_while_others_write(self, varied: Store, order: Order) -> None:
        """What does not change is shown once, whatever comes and goes around it."""
        seen: list[Memory] = []
        after = None
        step = 0
        while True:
            with varied.read() as reader:
                page = reader.memories(HUB, EVERYTHING, order=order, after=after, limit=7)
            if not page:
                break
            seen += page
            after = place(page[-1], order)
            step += 1
            with varied.write() as writer:
                if step < 9:
                    put(writer, make_memory(100 + step, "newcomer", updated_at=at(step)))
                # The one at the cursor is removed too.
                writer.purge(HUB, page[-1].id)
        known = [memory.number for memory in seen if memory.number <= len(VARIED)]
        assert sorted(known) == list(range(1, len(VARIED) + 1))

    def test_a_memory_by_hash_is_listed_oldest_first_unless_forgotten(self, store: Store) -> None:
        with store.write() as writer:
            for number in (3, 1, 2):
                put(writer, make_memory(number, "the same text"))
            two = writer.memory(HUB, "mem_2")
            assert two is not None
            revise(writer, two, "chg_forget", at(9), forgotten_at=at(9))
        with store.read() as reader:
            found = reader.memories_by_hash(HUB, two.content_hash)
        assert [memory.number for memory in found] == [1, 3]

    def test_many_ids_are_found_at_once(self, store: Store) -> None:
        count = 1_201
        with store.write() as writer:
            for number in range(1, count + 1):
                put(writer, make_memory(number, "one\ntwo" if number % 300 == 0 else "one"))
        ids = [f"mem_{number}" for number in range(count + 5, 0, -1)]
        with store.read() as reader:
            found = reader.memories_by_id(HUB, ids)
            passages = reader.passages(HUB, ids)
            again = reader.candidates(
                HUB, [one.passage_id for one in reversed(passages)], EVERYTHING
            )
        assert set(found) == {f"mem_{number}" for number in range(1, count + 1)}
        assert len(passages) == len(again) == count + 4
        ordinals = [one.ordinal for one in passages if one.memory_id == "mem_600"]
        assert ordinals == [0, 1]
        assert {one.memory_id for one in again} == set(found)

    def test_adjacent_means_that_nothing_visible_of_the_session_is_between(
        self, store: Store
    ) -> None:
        with store.write() as writer:
            for number, session in enumerate(["s", "s", "t", "s", "s", None], 1):
                put(writer, make_memory(number, session=session))
            four = writer.memory(HUB, "mem_4")
            assert four is not None
        with store.read() as reader:
            assert reader.adjacent(HUB, [("s", 1, 2)]) == [True]
            assert reader.adjacent(HUB, [("s", 2, 4)]) == [True]
            assert reader.adjacent(HUB, [("s", 1, 4)]) == [False]
            assert reader.adjacent(HUB, [("s", 2, 5)]) == [False]
        with store.write() as writer:
            revise(writer, four, "chg_forget", at(9), forgotten_at=at(9))
        with store.read() as reader:
            assert reader.adjacent(HUB, [("s", 2, 5)]) == [True]

    def test_speakers_are_named_once_in_alphabetical_order(self, store: Store) -> None:
        names = ["Zoe", "ana", "Ana", "Émile", "Ana", None, "李"]
        with store.write() as writer:
            for number, name in enumerate(names, 1):
                put(writer, make_memory(number, speaker=name))
        with store.read() as reader:
            assert reader.speakers(HUB, limit=9) == ["Ana", "Zoe", "ana", "Émile", "李"]
            assert reader.speakers(HUB, limit=2) == ["Ana", "Zoe"]

    def test_statistics_count_everything(self, varied: Store) -> None:
        with varied.read() as reader:
            statistics = reader.statistics(HUB)
        visible = [memory for memory in VARIED if memory.visible]
        indexed = [memory for memory in VARIED if memory.forgotten_at is None]
        assert (statistics.hub, statistics.memories, statistics.visible) == (
            "a",
            len(VARIED),
            len(visible),
        )
        assert statistics.forgotten == len(VARIED) - len(indexed)
        assert statistics.quarantined == sum(bool(memory.quarantine) for memory in VARIED)
        assert statistics.pinned == sum(memory.pinned for memory in VARIED)
        for field in ("state", "category", "kind", "layer"):
            values = [getattr(memory, field) for memory in visible]
            assert getattr(statistics, f"by_{field}") == {
                one: values.count(one) for one in set(values)
            }
        assert (statistics.revisions, statistics.changes, statistics.receipts) == (
            len(VARIED),
            len(VARIED),
            0,
        )
        assert (statistics.passages, statistics.vectors) == (len(indexed), 0)
        assert statistics.content_bytes == sum(len(memory.content.encode()) for memory in VARIED)
        assert (statistics.oldest, statistics.newest) == (
            VARIED[0].created_at,
            VARIED[-1].created_at,
        )
