"""What is purged is gone: no question that a reader can be asked finds it."""

from __future__ import annotations

from holdfast.domain.change import Change, Receipt
from holdfast.domain.query import EVERYTHING
from holdfast.domain.records import Clash, Turn
from holdfast.store.base import Store
from holdfast.store.values import TermQuery
from holdfast.testing.conformance.base import (
    HUB,
    MODEL,
    StoreCase,
    at,
    make_memory,
    observe,
    put,
    revise,
)

SECRET = "zanzibarquux"


class Purging(StoreCase):
    """Removal for good."""

    def test_no_reader_method_finds_a_purged_memory(self, store: Store) -> None:
        gone = make_memory(
            2,
            f"the {SECRET} is here\nand {SECRET} there",
            key=SECRET,
            source_path=f"/{SECRET}",
            session="s",
            speaker=SECRET,
            tags=(SECRET,),
        )
        kept = make_memory(1, "kept", session="s")
        with store.write() as writer:
            put(writer, kept, [[b"kept"]])
            put(writer, gone, [[SECRET.encode()], [SECRET.encode()]])
            gone = revise(writer, gone, "chg_later", at(9), summary=SECRET)
            assert SECRET in repr(observe(writer, HUB, [kept, gone]))
        with store.write() as writer:
            assert writer.purge(HUB, "mem_2") == 2
        store.settle()
        with store.read() as reader:
            seen = observe(reader, HUB, [kept, gone], changes=["chg_later"])
            assert seen.pop("lexicon").frequency[SECRET] == 0
            assert SECRET not in repr(seen)
            assert "mem_2" not in repr(seen)
            assert reader.search_terms(HUB, TermQuery((SECRET,)), EVERYTHING, limit=5) == []
            assert reader.search_substring(HUB, SECRET[3:], EVERYTHING, limit=5) == []
            assert seen["statistics"].memories == seen["statistics"].passages == 1
            assert seen["statistics"].vectors == 1
            assert reader.memory(HUB, "mem_1") == kept
        assert store.check() == []

    def test_what_is_corrected_is_gone_from_history(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1))
            writer.add_change(Change("chg_later", HUB, at(9), "tester", "update", SECRET))
            revise(writer, one, "chg_later", at(9), summary=SECRET)
            writer.add_turn(Turn("trn_1", HUB, "user", f"the {SECRET}", at(3), session=SECRET))
            writer.add_receipt(HUB, Receipt("mem_9", 9, at(4), "tester", SECRET, 1))
            writer.add_clash(HUB, Clash("cls_1", "mem_1", "x", SECRET, f"{SECRET} too", at(5)))
        with store.write() as writer:
            for revision in writer.revisions(HUB, "mem_1"):
                fields = {name: (pair[0], "plain") for name, pair in revision.fields.items()}
                writer.correct(HUB, revision._replace(fields=fields))
            change = writer.change(HUB, "chg_later")
            assert change is not None
            writer.correct(HUB, change._replace(reason="plain"))
            writer.correct(HUB, Turn("trn_1", HUB, "user", "the plain", at(3), session="s"))
            writer.correct(HUB, Receipt("mem_9", 9, at(4), "tester", "plain", 1))
            writer.correct(HUB, Clash("cls_1", "mem_1", "x", "plain", "plain too", at(5)))
        store.settle()
        with store.read() as reader:
            seen = (
                reader.revisions(HUB, "mem_1"),
                reader.changes(HUB, limit=9),
                reader.turns(HUB, limit=9),
                reader.receipts(HUB),
                reader.clashes(HUB),
            )
            assert SECRET not in repr(seen)
            assert repr(seen).count("plain") == 6
            assert reader.search_turns(HUB, [SECRET], limit=5) == []
            assert [turn.id for turn in reader.turns(HUB, limit=9, session="s")] == ["trn_1"]
        assert store.check() == []

    def test_change_sets_go_only_when_they_are_left_empty(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1))
            two = put(writer, make_memory(2))
            revise(writer, one, "chg_both", at(9), title="x")
            revise(writer, two, "chg_both", at(9), title="x")
        with store.write() as writer:
            assert writer.purge(HUB, "mem_1") == 2
        with store.read() as reader:
            assert [change.id for change in reader.scan_changes(HUB)] == ["chg_2", "chg_both"]
            assert [r.memory_id for r in reader.revisions_of(HUB, "chg_both")] == ["mem_2"]

    def test_purging_a_forgotten_memory_works_too(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1, SECRET))
            revise(writer, one, "chg_forget", at(9), forgotten_at=at(9))
            assert writer.purge(HUB, "mem_1") == 2
        with store.read() as reader:
            assert reader.memory(HUB, "mem_1") is None
            assert list(reader.scan_changes(HUB)) == []
        assert store.check() == []

    def test_purging_what_is_not_there_removes_nothing(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            assert writer.purge(HUB, "mem_none") == 0
        with store.read() as reader:
            assert reader.statistics(HUB).memories == 1

    def test_a_purged_id_can_come_back_clean(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1, f"{SECRET} before"), [[b"v"]])
            writer.purge(HUB, "mem_1")
            put(writer, make_memory(1, "another text"))
        with store.read() as reader:
            assert len(reader.revisions(HUB, "mem_1")) == 1
            assert reader.vectors_of(HUB, MODEL, "mem_1") == []
            assert reader.search_terms(HUB, TermQuery((SECRET,)), EVERYTHING, limit=5) == []
