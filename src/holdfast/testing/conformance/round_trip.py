"""What goes in comes out, to the letter: every field of every value, whatever text it holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.domain.change import Change, Receipt
from holdfast.domain.memory import REVISED, Memory, Origin
from holdfast.domain.query import EVERYTHING
from holdfast.store.base import Store
from holdfast.store.values import Capability
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

# Every field away from its default, so that one that is not kept shows.
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
    """Values are kept as they are."""

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
            "forgotten_at"  # told apart by its own promises
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

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.differing_executors,
        ],
    )
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
