"""Conformance: what is written is read back unchanged, extreme values and derived state
included."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.change import Change, Receipt
from holdfast.domain.memory import REVISED, Memory, Origin
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.errors import StoreClosed
from holdfast.store.base import Store
from holdfast.store.values import Capability, Lexicon, TermQuery, VectorState
from holdfast.testing.conformance.base import (
    HUB,
    MODEL,
    StoreCase,
    at,
    differences,
    examples,
    index,
    make_hub,
    make_memory,
    observe,
    put,
    revise,
)

TEXTS = {
    "plain": "plain words",
    "one letter": "x",
    "quotes": """it's "quoted" `code` ''""",
    "looks like a query": '% _ * - NEAR(a b) AND "OR" NOT ^a :b {c} (d)',
    "looks like SQL": "'; DROP TABLE memories; --",
    "lines": "one\ntwo\r\nthree\tfour\u2028five",
    "white space around": "  padded\n",
    "control characters": "bell\x07 escape\x1b[0m delete\x7f",
    "Chinese": "东京 記憶 한국어",
    "right to left": "זיכרון ארוך טווח \u200fذاكرة\u200e",
    "zero width": "a\u200bb\u200cc\u200dd\ufeff",
    "combining": "e\u0301 versus é",
    "astral": "😀👩‍👩‍👧🏽 𝒳 \U0010ffff",
    "not a character": "\ufffe\uffff",
    "very long": "long words and more of them, " * 20_000,
}

# Every field has a value other than its default, so that a lost field is noticed.
FULL = make_memory(
    1,
    "full of things",
    summary="a summary",
    content_type="markdown",
    key="the.key",
    category="decision",
    tags=("one", "två", "三"),
    kind="procedural",
    stability="volatile",
    boundary="private",
    state="cooling",
    state_reason="unused",
    layer="journal",
    pinned=True,
    trust="tool",
    quarantine="looks like an order",
    source="mcp",
    source_agent="agent one",
    assisted_by_agent="agent two",
    source_path="/notes/a b.md",
    session="session 1",
    speaker="Ana",
    occurred_at=at(-1e9),
    occurred_until=at(-1e8),
    valid_from=datetime(1900, 1, 1, tzinfo=UTC),
    valid_until=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    expires_at=at(1e9) + timedelta(microseconds=1),
    supersedes="mem_older",
    superseded_by="mem_newer",
    parent="mem_parent",
    origin=Origin("turn 3", 0, 12, "abc"),
    metadata={"a": [1, 2.5, None, True, {"ü": "😀"}], "empty": {}, "": ""},
    version=7,
    access_count=3,
    shown_count=4,
    mention_count=5,
    accessed_at=at(50) + timedelta(microseconds=123_456),
)
# And every field that can be nothing, nothing; every text that can be empty, empty.
EMPTY = make_memory(2, "bare")._replace(title="", owner="", category="", mention_count=0)

_ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)


class RoundTrip(StoreCase):
    """Values are stored unchanged."""

    @pytest.mark.parametrize("memory", [FULL, EMPTY], ids=["every field", "no field"])
    def test_a_memory_comes_back_as_it_went_in(self, store: Store, memory: Memory) -> None:
        with store.write() as writer:
            put(writer, memory)
        with store.read() as reader:
            found = reader.memory(HUB, memory.id)
        assert found == memory
        assert found is not None
        assert [type(value) for value in found] == [type(value) for value in memory]

    def test_no_field_of_the_full_memory_is_at_its_default(self) -> None:
        defaults = Memory._field_defaults
        assert [name for name in defaults if getattr(FULL, name) == defaults[name]] == [
            "forgotten_at"  # tested by its own promises
        ]

    @pytest.mark.parametrize("text", list(TEXTS.values()), ids=list(TEXTS))
    def test_any_text_is_kept_in_any_field(self, store: Store, text: str) -> None:
        short = text[:500]
        memory = make_memory(
            1,
            text,
            title=short,
            summary=short,
            key=short,
            category=short,
            tags=(short, "other"),
            session=short,
            speaker=short,
            source_path=short,
            state_reason=short,
            metadata={short: [short]},
            origin=Origin(short, 0, 1, short),
        )
        with store.write() as writer:
            put(writer, memory)
            revise(writer, memory, "chg_next", at(9), summary=short + "!")
        with store.read() as reader:
            assert reader.memory(HUB, "mem_1") == memory._replace(
                summary=short + "!", version=2, updated_at=at(9)
            )
            assert reader.memory_by_key(HUB, short) is not None
            assert reader.memory_by_path(HUB, short) is not None
            assert reader.speakers(HUB, limit=5) == [short]
            (revision,) = reader.revisions_of(HUB, "chg_next")
            assert revision.fields == {"summary": (short, short + "!")}
            wanted = EVERYTHING._replace(tags=(short,), categories=(short,), session=short)
            assert len(reader.memories(HUB, wanted, order="newest", after=None, limit=5)) == 1

    @examples(40)
    @given(content=_ANY_TEXT, title=_ANY_TEXT, tag=_ANY_TEXT)
    def test_whatever_text_there_is_is_kept(
        self, store: Store, content: str, title: str, tag: str
    ) -> None:
        with store.write() as writer:
            memory = make_memory(
                writer.take_numbers(HUB, 1), content or " ", title=title, tags=(tag,)
            )
            put(writer, memory)
        with store.read() as reader:
            assert reader.memory(HUB, memory.id) == memory

    def test_times_keep_their_microseconds_and_are_told_in_utc(self, store: Store) -> None:
        moment = datetime(2026, 7, 1, 1, 2, 3, 456_789, tzinfo=UTC)
        with store.write() as writer:
            put(writer, make_memory(1, occurred_at=moment))
        with store.read() as reader:
            found = reader.memory(HUB, "mem_1")
        assert found is not None
        assert found.occurred_at == moment
        assert found.occurred_at is not None
        assert found.occurred_at.utcoffset() == timedelta(0)

    def test_a_hub_is_kept_renamed_and_moved_on(self, store: Store) -> None:
        hub = make_hub("hub_b", "b", owner="Ünal", numbers=3, state="importing")
        with store.write() as writer:
            writer.add_hub(hub)
        with store.read() as reader:
            assert reader.hub("b") == reader.hub_by_id("hub_b") == hub
            assert [one.name for one in reader.hubs()] == ["a", "b"]
        with store.write() as writer:
            writer.rename_hub("hub_b", "0 first")
            writer.set_hub_state("hub_b", "active", 12)
        with store.read() as reader:
            assert reader.hub("b") is None
            assert reader.hub("0 first") == hub._replace(name="0 first", state="active", numbers=12)
            assert [one.name for one in reader.hubs()] == ["0 first", "a"]

    def test_a_change_set_and_a_receipt_are_kept(self, store: Store) -> None:
        change = Change("chg_x", HUB, at(1), "someone", "undo", "a reason", "chg_w", "chg_y")
        receipt = Receipt("mem_gone", 4, at(2), "someone", "because", 3)
        with store.write() as writer:
            put(writer, make_memory(1), change_id="chg_first")
            writer.add_change(change)
            writer.add_receipt(HUB, receipt)
        with store.read() as reader:
            assert reader.change(HUB, "chg_x") == change
            assert reader.receipts(HUB) == [receipt]

    def test_a_revision_keeps_old_and_new_of_every_field(self, store: Store) -> None:
        fields: dict[str, tuple[Any, Any]] = {
            name: (getattr(EMPTY, name), getattr(FULL, name))
            for name in REVISED
            if getattr(EMPTY, name) != getattr(FULL, name)
        }
        fields["forgotten_at"] = (None, at(3))
        assert set(fields) == set(REVISED)
        with store.write() as writer:
            put(writer, make_memory(1))
            writer.add_change(Change("chg_all", HUB, at(3), "tester", "update"))
            writer.add_revision(HUB, "chg_all", "mem_1", 2, at(3), fields)
        with store.read() as reader:
            (revision,) = reader.revisions_of(HUB, "chg_all")
        assert dict(revision.fields) == fields
        assert (revision.memory_id, revision.version, revision.at) == ("mem_1", 2, at(3))

    def test_a_passage_is_kept(self, store: Store) -> None:
        memory = make_memory(1, "first line here\nsecond line there", tags=("mark",))
        with store.write() as writer:
            put(writer, memory)
        with store.read() as reader:
            first, second = reader.passages(HUB, ["mem_1"])
        assert (first.memory_id, first.ordinal, first.start, first.end) == ("mem_1", 0, 0, 15)
        assert memory.content[second.start : second.end] == "second line there"
        assert first.headings == ("Heading",)
        assert "first" in first.body.split(" ")
        assert "mark" in first.head.split(" ")

    def test_everything_is_there_after_opening_again(self, store: Store, tmp_path: Path) -> None:
        if Capability.DURABLE not in store.capabilities:
            pytest.skip("the store does not claim to be durable")
        memories = [FULL._replace(version=1), EMPTY, make_memory(3, "third")]
        with store.write() as writer:
            for memory in memories:
                put(writer, memory, [[b"vector"]])
            writer.add_receipt(HUB, Receipt("mem_gone", 4, at(2), "someone", "because", 3))
        with store.read() as reader:
            before = observe(reader, HUB, memories)
        store.close()
        again = self.open_store(tmp_path)
        with again.read() as reader:
            assert differences(before, observe(reader, HUB, memories)) == {}
        again.close()


class Edges(StoreCase):
    """Nothing is an answer too."""

    @pytest.mark.parametrize("hub_id", [HUB, "hub_none", ""])
    def test_an_empty_or_unknown_hub_answers_with_nothing(self, store: Store, hub_id: str) -> None:
        asked = [make_memory(1, "words", key="k", source_path="/p", session="s")]
        with store.read() as reader:
            seen = observe(reader, hub_id, asked)
        statistics = seen.pop("statistics")
        for name in ("hub", "hubs", "hub_by_id"):
            seen.pop(name)
        assert seen.pop("adjacent") == [True]
        assert seen.pop("vector_state") == VectorState(0, 0, 0, 0)
        lexicon: Lexicon = seen.pop("lexicon")
        assert (lexicon.passages, lexicon.terms, set(lexicon.frequency.values())) == (0, 0, {0})
        for name, answer in seen.items():
            items = answer if isinstance(answer, list) else [answer]
            assert not any(items), name
        assert isinstance(statistics.hub, str)
        assert not any(value for name, value in statistics._asdict().items() if name != "hub")

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


_DERIVED = frozenset(
    {"lexicon", "vocabulary", "search_terms", "search_substring", "matching", "passages"}
    | {"candidates"}
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
