"""Conformance: records (keys, members, jobs) and the conversation log."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.query import Filter
from holdfast.domain.records import NO_HUB, Agreed, Clash, Record, Turn, as_memory
from holdfast.errors import AlreadyExists, HoldfastError
from holdfast.store.base import Store
from holdfast.store.values import Capability, TermQuery, TextQuery, VectorRow
from holdfast.testing.conformance.base import (
    HUB,
    RECORD_KIND,
    TURNS,
    StoreCase,
    at,
    make_hub,
    make_memory,
    put,
    turns_found,
)
from holdfast.text.analysis.terms import trigram_text

OTHER = "hub_other"


def record(name: str, *, hub_id: str = HUB, kind: str = RECORD_KIND, **fields: Any) -> Record:
    return Record(hub_id, kind, name, at(1), {"said": name, "ü": [1, None, 2.5]})._replace(**fields)


class Records(StoreCase):
    """Adding, replacing, finding, being due, going with the hub."""

    def test_a_record_comes_back_as_it_was(self, store: Store) -> None:
        plain = record("a", lookup="find me", due=at(5))
        with store.write() as writer:
            writer.put_record(plain)
            writer.put_record(record("b"))
        with store.read() as reader:
            assert reader.record(HUB, RECORD_KIND, "a") == plain
            assert reader.record_by_lookup(HUB, RECORD_KIND, "find me") == plain
            assert reader.record(HUB, RECORD_KIND, "c") is None
            assert reader.record(HUB, "other kind", "a") is None
            assert reader.record_by_lookup(HUB, RECORD_KIND, "nothing") is None

    def test_putting_it_again_replaces_it_whole(self, store: Store) -> None:
        with store.write() as writer:
            writer.put_record(record("a", lookup="x", due=at(5)))
            writer.put_record(record("a", body={"new": True}, at=at(9)))
        with store.read() as reader:
            assert reader.records(HUB, RECORD_KIND, limit=9) == [
                Record(HUB, RECORD_KIND, "a", at(9), {"new": True})
            ]
            assert reader.record_by_lookup(HUB, RECORD_KIND, "x") is None
            assert reader.due_records(RECORD_KIND, at(99), limit=9) == []

    @pytest.mark.parametrize("hub_id", [HUB, NO_HUB])
    def test_a_record_is_swapped_only_if_it_is_as_it_was(self, store: Store, hub_id: str) -> None:
        first = record("a", hub_id=hub_id, lookup="x", due=at(5))
        second = first._replace(body={"new": True}, at=at(9), due=None)
        third = second._replace(due=at(7))
        with store.write(hub=hub_id) as writer:
            assert not writer.swap_record(first, second), "it is not there yet"
            assert writer.swap_record(None, first)
            assert not writer.swap_record(None, second), "there is one"
            assert not writer.swap_record(first._replace(due=at(6)), second)
            assert not writer.swap_record(first._replace(body={}), second)
            assert not writer.swap_record(first._replace(at=at(2)), None)
            assert writer.swap_record(first, second)
            assert not writer.swap_record(first, third)
        with store.write(hub=hub_id) as writer:
            assert writer.record(hub_id, RECORD_KIND, "a") == second
            assert writer.record_by_lookup(hub_id, RECORD_KIND, "x") == second
            assert writer.swap_record(second, third)
            assert not writer.swap_record(second, None)
            other = record("b", hub_id=hub_id, lookup="x")
            assert not writer.swap_record(None, other), "another has its lookup"
        with store.write(hub=hub_id) as writer:
            assert writer.swap_record(third, None)
            assert not writer.swap_record(third, None)
        with store.read() as reader:
            assert reader.record(hub_id, RECORD_KIND, "a") is None
            assert reader.record(hub_id, RECORD_KIND, "b") is None

    def test_records_are_listed_by_id_and_paged(self, store: Store) -> None:
        with store.write() as writer:
            for name in ("c", "a", "d", "b"):
                writer.put_record(record(name))
        with store.read() as reader:
            listed = [one.id for one in reader.records(HUB, RECORD_KIND, limit=3)]
            assert listed == ["a", "b", "c"]
            after = reader.records(HUB, RECORD_KIND, limit=3, after="b")
            assert [one.id for one in after] == ["c", "d"]
            counts = [reader.count_records(HUB, RECORD_KIND, limit=limit) for limit in (9, 3)]
            assert counts == [4, 3]
            assert reader.count_records(NO_HUB, RECORD_KIND, limit=9) == 0

    def test_all_records_of_a_hub_come_by_kind_and_id(self, store: Store) -> None:
        with store.write() as writer:
            for name, kind in (("b", RECORD_KIND), ("z", "other kind"), ("a", RECORD_KIND)):
                writer.put_record(record(name, kind=kind, lookup=name))
            writer.put_record(record("n", hub_id=NO_HUB))
        with store.read() as reader:
            found = list(reader.scan_records(HUB))
            assert [(one.kind, one.id) for one in found] == sorted(
                [("other kind", "z"), (RECORD_KIND, "a"), (RECORD_KIND, "b")]
            )
            assert record("a", lookup="a") in found
            assert list(reader.scan_records(NO_HUB)) == [record("n", hub_id=NO_HUB)]

    def test_a_lookup_belongs_to_one(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.put_record(record("a", lookup="x"))
            writer.put_record(record("a", lookup="x", at=at(7)))
            writer.put_record(record("b", lookup="x", hub_id=OTHER))
            writer.put_record(record("b", lookup="x", kind="other kind"))
        with pytest.raises(AlreadyExists), store.write() as writer:
            writer.put_record(record("b", lookup="x"))
        with store.read() as reader:
            assert [one.id for one in reader.records(HUB, RECORD_KIND, limit=9)] == ["a"]

    def test_what_belongs_to_no_hub_is_apart(self, store: Store) -> None:
        with store.write() as writer:
            writer.put_record(record("a", hub_id=NO_HUB, lookup="x"))
            writer.put_record(record("a", lookup="x"))
        with store.read() as reader:
            assert reader.record(NO_HUB, RECORD_KIND, "a") == record("a", hub_id=NO_HUB, lookup="x")
            assert len(reader.records(HUB, RECORD_KIND, limit=9)) == 1
            assert len(reader.records(NO_HUB, RECORD_KIND, limit=9)) == 1

    def test_those_due_come_longest_due_first_from_every_hub(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.put_record(record("late", due=at(9)))
            writer.put_record(record("soon", due=at(2), hub_id=OTHER))
            writer.put_record(record("now", due=at(1)))
            writer.put_record(record("anyone", due=at(2), hub_id=NO_HUB))
            writer.put_record(record("never"))
            writer.put_record(record("else", due=at(1), kind="other kind"))
        with store.read() as reader:
            due = reader.due_records(RECORD_KIND, at(2), limit=9)
            assert {one.id for one in due} == {"now", "soon", "anyone"}
            assert due[0].id == "now"
            assert {one.id: one.hub_id for one in due}["soon"] == OTHER
            assert len(reader.due_records(RECORD_KIND, at(99), limit=2)) == 2

    def test_those_due_of_one_hub_come_alone_longest_due_first(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.put_record(record("b", due=at(2)))
            writer.put_record(record("a", due=at(3)))
            writer.put_record(record("late", due=at(9)))
            writer.put_record(record("c", due=at(1), hub_id=OTHER))
            writer.put_record(record("n", due=at(1), hub_id=NO_HUB))
            writer.put_record(record("else", due=at(1), kind="other kind"))
        with store.read() as reader:
            due = reader.due_records(RECORD_KIND, at(3), limit=9, hub_id=HUB)
            assert [one.id for one in due] == ["b", "a"]
            assert due[0] == record("b", due=at(2))
            first = reader.due_records(RECORD_KIND, at(3), limit=1, hub_id=HUB)
            assert [one.id for one in first] == ["b"]
            found = reader.due_records(RECORD_KIND, at(3), limit=9, hub_id=NO_HUB)
            assert [one.id for one in found] == ["n"]
            assert reader.due_records(RECORD_KIND, at(3), limit=9, hub_id="hub_nowhere") == []

    def test_hubs_in_which_something_is_due_come_one_after_the_other(self, store: Store) -> None:
        with store.write() as writer:
            for name in (OTHER, "hub_quiet", "hub_third"):
                writer.add_hub(make_hub(name))
            for hub_id in (HUB, OTHER, "hub_third"):
                for number in range(3):
                    writer.put_record(record(f"r{number}", due=at(2), hub_id=hub_id))
            writer.put_record(record("late", due=at(9), hub_id="hub_quiet"))
            writer.put_record(record("n", due=at(1), hub_id=NO_HUB))
        with store.read() as reader:
            seen: list[str] = []
            while (
                found := reader.due_hub(RECORD_KIND, at(2), after=(seen or [""])[-1])
            ) is not None:
                assert found not in seen
                seen.append(found)
            assert set(seen) == {HUB, OTHER, "hub_third"}
            assert reader.due_hub(RECORD_KIND, at(1)) is None
            assert reader.due_hub("other kind", at(9)) is None
            assert reader.due_hub(RECORD_KIND, at(2), after="hub_nowhere") in seen

    def test_a_record_can_be_dropped_once(self, store: Store) -> None:
        with store.write() as writer:
            writer.put_record(record("a", lookup="x"))
            assert writer.drop_record(HUB, RECORD_KIND, "a")
            assert not writer.drop_record(HUB, RECORD_KIND, "a")
            writer.put_record(record("b", lookup="x"))

    def test_a_hub_takes_its_records_along(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER))
            writer.put_record(record("a", hub_id=OTHER, due=at(1)))
            writer.put_record(record("a", hub_id=NO_HUB))
            writer.drop_hub(OTHER)
        with store.read() as reader:
            assert reader.records(OTHER, RECORD_KIND, limit=9) == []
            assert reader.due_records(RECORD_KIND, at(9), limit=9) == []
            assert reader.record(NO_HUB, RECORD_KIND, "a") is not None

    def test_a_record_of_a_hub_that_is_not_there_is_refused(self, store: Store) -> None:
        with pytest.raises(HoldfastError), store.write() as writer:
            writer.put_record(record("a", hub_id="hub_nowhere"))


OTHER_HUB = "hub_other"
_DEPLOY = TextQuery("deploy", ("deploy",))
_SAID = (
    "the redeployment of src/api/orders_v2.py failed",
    "Redeploy it",
    "東京に住んでいる人",
    "lunch was fine",
)
# What is found, in order: memories before turns, the newest first.
TURN_SUBSTRINGS = {
    "part of a word": ("edeploy", ["mem_1", "trn_002", "trn_001"]),
    "part of an identifier": ("/orders_v", ["trn_001"]),
    "script without spaces": ("京に住", ["trn_003"]),
    "over words": ("h was f", ["trn_004"]),
    "what is not there": ("orders_v3", []),
    "too short to look for in turns": ("un", []),
    "two words, both too short": ("s f", []),
    "a word of three among shorter ones": ("was f", ["trn_004"]),
}


def turn(number: int, content: str, *, hub_id: str = HUB, session: str | None = None) -> Turn:
    """A turn; its number is its place in time."""
    return Turn(f"trn_{number:03}", hub_id, "user", content, at(number), "tui", session)


class Log(StoreCase):
    """Turns, agreed texts, clashes."""

    def test_turns_come_back_newest_first_and_as_they_were(self, store: Store) -> None:
        said = [turn(n, f"line {n} \U0001f40d", session="s" if n % 2 else None) for n in range(5)]
        with store.write() as writer:
            for one in said:
                writer.add_turn(one)
        with store.read() as reader:
            assert reader.turns(HUB, limit=9) == said[::-1]
            assert reader.turns(HUB, limit=2) == [said[4], said[3]]
            assert reader.turns(HUB, limit=9, session="s") == [said[3], said[1]]
            assert reader.turns(HUB, limit=9, before="trn_002") == [said[1], said[0]]
            assert list(reader.scan_turns(HUB)) == said
            assert reader.statistics(HUB).turns == 5

    def test_turns_are_found_by_their_words_in_their_hub_alone(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER_HUB))
            writer.add_turn(turn(1, "the deploy failed again"))
            writer.add_turn(turn(2, "lunch was fine"))
            writer.add_turn(turn(3, "deploy deploy", hub_id=OTHER_HUB))
        with store.read() as reader:
            assert turns_found(reader, ["deploy"]) == ["trn_001"]
            assert turns_found(reader, ["nothing"]) == []
            assert [one.id for one in reader.turns(OTHER_HUB, limit=5)] == ["trn_003"]
            assert reader.lexicon(HUB, ["deploy"]).frequency == {"deploy": 1}
        assert store.check() == []

    def test_a_turn_without_words_is_found_when_they_are_indexed(self, store: Store) -> None:
        if Capability.LATE_WORDS not in store.capabilities:
            pytest.skip("turns are indexed when they are added")
        with store.write() as writer:
            writer.add_turn(turn(1, "the deploy failed again"), words=False)
            writer.add_turn(turn(2, "the deploy works"))
        with store.read() as reader:
            assert turns_found(reader, ["deploy"]) == ["trn_002"]
        with store.write() as writer:
            # Twice, and a turn that has left: each is indexed once.
            writer.index_turns(HUB, ["trn_001", "trn_001", "trn_002", "trn_009"])
        with store.read() as reader:
            assert turns_found(reader, ["deploy"]) == ["trn_001", "trn_002"]
            assert reader.lexicon(HUB, ["deploy"]).passages == 2
        assert store.check() == []

    def test_turns_and_memories_are_found_in_one_search(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "the deploy is on Friday"))
            writer.add_turn(turn(1, "the deploy failed again"))
        both = Filter(turns=True)
        with store.read() as reader:
            assert turns_found(reader, ["deploy"], both) == ["mem_1", "trn_001"]
            assert turns_found(reader, ["deploy"], Filter()) == ["mem_1"]
            found = reader.search_terms(HUB, TermQuery(("deploy",)), both, limit=9)
            passages = [one.passage_id for one in found]
            again = reader.candidates(HUB, passages, both)
            assert sorted(one.memory_id for one in again) == ["mem_1", "trn_001"]
            assert [one.memory_id for one in reader.candidates(HUB, passages, Filter())] == [
                "mem_1"
            ]
            assert reader.statistics(HUB).memories == 1
            assert len(reader.memories(HUB, both, order="newest", after=None, limit=9)) == 1
            assert [one.id for one in reader.matching(HUB, _DEPLOY, both, order="newest")] == [
                "mem_1"
            ]

    @pytest.mark.parametrize(
        ("needle", "expected"), list(TURN_SUBSTRINGS.values()), ids=list(TURN_SUBSTRINGS)
    )
    def test_a_part_of_a_word_is_found_in_turns(
        self, store: Store, needle: str, expected: list[str]
    ) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER_HUB))
            put(writer, make_memory(1, "the redeployment is on Friday"))
            for number, said in enumerate(_SAID, 1):
                writer.add_turn(turn(number, said))
            writer.add_turn(turn(90, "redeploy elsewhere", hub_id=OTHER_HUB))
        with store.read() as reader:
            found = reader.search_substring(HUB, trigram_text(needle), TURNS, limit=9)
            assert found == [one for one in expected if one.startswith("trn")]
            both = Filter(turns=True)
            assert reader.search_substring(HUB, trigram_text(needle), both, limit=9) == expected
            memories = reader.search_substring(HUB, trigram_text(needle), Filter(), limit=9)
            assert [one for one in memories if one.startswith("trn")] == []
        assert store.check() == []

    def test_a_part_of_a_word_goes_with_its_turn(self, store: Store) -> None:
        both = Filter(turns=True)
        with store.write() as writer:
            for number, said in enumerate(_SAID, 1):
                writer.add_turn(turn(number, said))
        with store.write() as writer:
            writer.correct(HUB, turn(1, "the [redacted] failed"))
            writer.drop_turns(HUB, ["trn_002"])
        with store.read() as reader:
            assert reader.search_substring(HUB, "edeploy", both, limit=9) == []
            assert reader.search_substring(HUB, "redacted", both, limit=9) == ["trn_001"]
        with store.write() as writer:
            writer.drop_derived()
        with store.read() as reader:
            assert reader.search_substring(HUB, "redacted", both, limit=9) == ["trn_001"]
        assert store.check() == []

    def test_passages_of_turns_are_read_by_the_ids_of_turns(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "the deploy is on Friday"))
            for number in (1, 2):
                writer.add_turn(turn(number, "the deploy failed again"))
        with store.read() as reader:
            found = reader.passages(HUB, ["trn_002", "mem_1", "trn_001"])
        assert [one.memory_id for one in found] == ["mem_1", "trn_001", "trn_002"]

    def test_a_filter_admits_the_same_turns_as_it_says(self, store: Store) -> None:
        said = [
            turn(n, f"the deploy {n}", session="s" if n % 2 else None)._replace(
                trust="tool" if n % 3 else "user", source="tui" if n % 4 else "telegram"
            )
            for n in range(8)
        ]
        with store.write() as writer:
            for one in said:
                writer.add_turn(one)
        with store.read() as reader:
            for wanted in (
                TURNS,
                TURNS._replace(session="s"),
                TURNS._replace(trusts=("tool", "agent")),
                TURNS._replace(came_from="telegram"),
                TURNS._replace(since=at(3), until=at(6)),
                TURNS._replace(known_by=at(4), alive_at=at(9), holds_at=at(9)),
                TURNS._replace(states=("archived",)),
                TURNS._replace(kinds=("semantic",)),
                TURNS._replace(kinds=("episodic",), categories=("conversation",)),
                TURNS._replace(tags=("x",)),
                TURNS._replace(pinned=True),
                TURNS._replace(key="x"),
                Filter(session="s"),
            ):
                fit = sorted(one.id for one in said if wanted.admits(as_memory(one)))
                assert turns_found(reader, ["deploy"], wanted) == fit, wanted

    def test_vectors_of_turns_are_kept_and_go_with_them(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_turn(turn(1, "the deploy failed again"))
            writer.add_turn(turn(2, "lunch was fine"))
        with store.write() as writer:
            missing = writer.unembedded(HUB, "m", limit=9)
            assert [one.memory_id for one in missing] == ["trn_001", "trn_002"]
            vectors = [VectorRow(one.passage_id, 0, bytes(8)) for one in missing]
            writer.set_vectors(HUB, "m", vectors)
        with store.read() as reader:
            assert reader.unembedded_count(HUB, "m") == 0
            assert reader.vectors_of(HUB, "m", "trn_001") == vectors[:1]
        with store.write() as writer:
            assert writer.drop_turns(HUB, ["trn_001", "trn_404"]) == 1
        with store.read() as reader:
            assert reader.vectors_of(HUB, "m", "trn_001") == []
            assert reader.vector_state(HUB, "m").size == 1
            assert list(reader.vectors(HUB, "m", after=0)) == vectors[1:]
            assert turns_found(reader, ["deploy", "lunch"]) == ["trn_002"]
        assert store.check() == []

    def test_turns_beside_a_turn_are_those_of_its_session(self, store: Store) -> None:
        said = [turn(n, f"line {n}", session="s" if n % 2 else None) for n in range(8)]
        with store.write() as writer:
            for one in said:
                writer.add_turn(one)
        with store.read() as reader:
            around = reader.turns_around(HUB, "trn_003", before=2, after=1)
            assert [one.id for one in around] == ["trn_001", "trn_005"]
            around = reader.turns_around(HUB, "trn_002", before=1, after=1)
            assert [one.id for one in around] == ["trn_000", "trn_004"]
            assert reader.turns_around(HUB, "trn_404", before=1, after=1) == []
            pairs = [("trn_001", "trn_003"), ("trn_001", "trn_005"), ("trn_003", "trn_004")]
            assert reader.adjacent_turns(HUB, pairs) == [True, False, False]
            assert reader.adjacent_turns(HUB, []) == []
            assert list(reader.turns_by_id(HUB, ["trn_003", "trn_404", "trn_001"])) == [
                "trn_003",
                "trn_001",
            ]

    def test_turns_are_named_by_session_and_time(self, store: Store) -> None:
        said = [turn(n, f"line {n}", session="s" if n % 2 else None) for n in range(6)]
        with store.write() as writer:
            for one in said:
                writer.add_turn(one)
        with store.read() as reader:
            assert reader.turn_ids(HUB) == [one.id for one in said]
            assert reader.turn_ids(HUB, session="s", since=at(2)) == ["trn_003", "trn_005"]
            assert reader.turn_ids(HUB, until=at(2)) == ["trn_000", "trn_001"]
            assert reader.turn_ids(HUB, limit=1) == ["trn_000"]
            assert reader.log_size(HUB) == (6, 36, at(0), at(5))
            assert reader.log_size(OTHER_HUB) == (0, 0, None, None)

    def test_speakers_of_turns_are_known(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, "hello", speaker="Nate"))
            writer.add_turn(turn(1, "hello")._replace(speaker="Ana"))
            writer.add_turn(turn(2, "hello"))
        with store.read() as reader:
            assert reader.speakers(HUB, limit=9) == ["Ana", "Nate"]
            assert reader.speakers(HUB, limit=1) == ["Ana"]

    def test_turns_are_counted_by_speaker_most_first(self, store: Store) -> None:
        names = ["Zoe", "ana", "Zoe", None, "Émile", "Ana", "Zoe"]
        with store.write() as writer:
            put(writer, make_memory(1, "hello", speaker="Nate"))
            for number, name in enumerate(names):
                said = turn(number, "hello")
                writer.add_turn(said._replace(speaker=name, at=at(9 - number)))
        with store.read() as reader:
            counted = reader.turns_by_speaker(HUB, limit=9)
            assert counted == [
                ("Zoe", 3, at(9)),
                ("Ana", 1, at(4)),
                ("ana", 1, at(8)),
                ("Émile", 1, at(5)),
            ]
            assert reader.turns_by_speaker(HUB, limit=2) == counted[:2]
            assert reader.turns_by_speaker(OTHER_HUB, limit=9) == []

    def test_an_index_that_was_dropped_is_made_anew_for_turns(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_turn(turn(1, "the deploy failed again"))
        with store.write() as writer:
            writer.drop_derived()
        with store.read() as reader:
            assert turns_found(reader, ["deploy"]) == ["trn_001"]
        assert store.check() == []

    def test_pruning_keeps_the_newest_and_leaves_nothing_of_the_rest(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER_HUB))
            for number in range(10):
                writer.add_turn(turn(number, f"word{number}"))
            writer.add_turn(turn(99, "word0", hub_id=OTHER_HUB))
            assert writer.prune_turns(HUB, keep=4) == 6
            assert writer.prune_turns(HUB, keep=4) == 0
        with store.read() as reader:
            assert [one.id for one in reader.turns(HUB, limit=99)][-1] == "trn_006"
            assert turns_found(reader, ["word0", "word6"]) == ["trn_006"]
            assert len(reader.turns(OTHER_HUB, limit=9)) == 1
        assert store.check() == []

    def test_the_text_that_was_agreed_on_is_kept_by_path(self, store: Store) -> None:
        with store.write() as writer:
            writer.add_hub(make_hub(OTHER_HUB))
            writer.set_agreed(HUB, Agreed("MEMORY.md", "one\r\n", at(1)))
            writer.set_agreed(HUB, Agreed("MEMORY.md", "two\n", at(2)))
            writer.set_agreed(OTHER_HUB, Agreed("MEMORY.md", "other", at(3)))
            writer.set_agreed(HUB, Agreed("2026-01-01.md", "", at(3)))
            writer.drop_agreed(HUB, "2026-01-01.md")
        with store.read() as reader:
            assert reader.agreed(HUB, "MEMORY.md") == Agreed("MEMORY.md", "two\n", at(2))
            assert reader.agreed(HUB, "2026-01-01.md") is None
            assert list(reader.scan_agreed(HUB)) == [Agreed("MEMORY.md", "two\n", at(2))]
            assert reader.agreed(OTHER_HUB, "MEMORY.md") == Agreed("MEMORY.md", "other", at(3))

    def test_clashes_are_listed_until_they_are_settled(self, store: Store) -> None:
        first = Clash("cla_1", "mem_1", "MEMORY.md", "ours", "theirs", at(1))
        second = Clash("cla_2", "mem_2", "MEMORY.md", "a", "b", at(2))
        with store.write() as writer:
            put(writer, make_memory(1, "ours"))
            put(writer, make_memory(2, "a"))
            writer.add_clash(HUB, first)
            writer.add_clash(HUB, second)
            writer.settle_clash(HUB, "cla_1", at(5))
        with store.read() as reader:
            assert reader.clashes(HUB) == [second]
            settled = first._replace(settled_at=at(5))
            assert reader.clashes(HUB, settled=True) == [settled, second]
            assert reader.clashes(OTHER_HUB) == []
            assert reader.statistics(HUB).conflicts == 1
        with store.write() as writer:
            writer.purge(HUB, "mem_2")
            assert writer.clashes(HUB) == []

    def test_a_purge_takes_clashes_along_that_hold_the_text(self, store: Store) -> None:
        with store.write() as writer:
            for number, content in enumerate(("ours", "theirs", "other"), 1):
                put(writer, make_memory(number, content))
            writer.add_clash(HUB, Clash("cla_1", "mem_1", "MEMORY.md", "ours", "theirs", at(1)))
            writer.add_clash(HUB, Clash("cla_2", "mem_3", "MEMORY.md", "other", "else", at(2)))
            writer.purge(HUB, "mem_2")
        with store.read() as reader:
            assert [clash.id for clash in reader.clashes(HUB, settled=True)] == ["cla_2"]
