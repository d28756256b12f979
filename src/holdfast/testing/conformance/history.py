"""Conformance: change sets, revisions, receipts and purges."""

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
    turns_found,
)


class HistoryKept(StoreCase):
    """What happened, and in what order."""

    def _fill_history(self, store: Store) -> None:
        with store.write() as writer:
            one = put(writer, make_memory(1))
            two = put(writer, make_memory(2))
            # A clock may stop, or go back: the order of writing is what counts.
            one = revise(writer, one, "chg_both", at(10), title="b")
            two = revise(writer, two, "chg_both", at(10), title="b")
            one = revise(writer, one, "chg_back", at(3), title="c")
            revise(writer, two, "chg_same", at(3), title="c")

    def test_the_revisions_of_a_memory_come_oldest_first(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            found = reader.revisions(HUB, "mem_1")
        assert [(r.version, r.change_id) for r in found] == [
            (1, "chg_1"),
            (2, "chg_both"),
            (3, "chg_back"),
        ]
        assert [r.sequence for r in found] == sorted({r.sequence for r in found})
        assert [r.creates for r in found] == [True, False, False]

    def test_revisions_and_change_sets_of_many_are_those_of_each(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            found = reader.revisions_by_memory(HUB, ["mem_2", "mem_1", "mem_none"])
            assert found == {one: reader.revisions(HUB, one) for one in ("mem_1", "mem_2")}
            assert list(found) == ["mem_2", "mem_1"]
            changes = reader.changes_by_id(HUB, ["chg_both", "chg_none", "chg_1"])
            assert changes == {one: reader.change(HUB, one) for one in ("chg_1", "chg_both")}
            assert list(changes) == ["chg_both", "chg_1"]
            memories = reader.memories_by_id(HUB, ["mem_2", "mem_none", "mem_1"])
            assert list(memories) == ["mem_2", "mem_1"]
            assert reader.revisions_by_memory(HUB, []) == {}
            assert reader.changes_by_id(HUB, []) == {}

    def test_the_revisions_of_a_change_set_come_in_the_order_of_writing(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            found = reader.revisions_of(HUB, "chg_both")
            assert reader.revisions_of(HUB, "chg_none") == []
            assert reader.revisions_of(HUB, "chg_both", limit=1) == found[:1]
            assert reader.revisions_of(HUB, "chg_both", limit=9) == found
        assert [r.memory_id for r in found] == ["mem_1", "mem_2"]

    def test_a_scan_comes_oldest_first(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            changes = [change.id for change in reader.scan_changes(HUB)]
            revisions = list(reader.scan_revisions(HUB))
        assert changes == ["chg_1", "chg_2", "chg_both", "chg_back", "chg_same"]
        assert [(r.change_id, r.memory_id) for r in revisions] == [
            ("chg_1", "mem_1"),
            ("chg_2", "mem_2"),
            ("chg_both", "mem_1"),
            ("chg_both", "mem_2"),
            ("chg_back", "mem_1"),
            ("chg_same", "mem_2"),
        ]
        assert [r.sequence for r in revisions] == sorted({r.sequence for r in revisions})

    def test_change_sets_are_paged_newest_first(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            first = reader.changes(HUB, limit=2)
            rest = reader.changes(HUB, limit=9, before="chg_back")
            assert reader.changes(HUB, limit=9, before="chg_none") == []
        assert [change.id for change in first] == ["chg_same", "chg_back"]
        assert [change.id for change in rest] == ["chg_both", "chg_2", "chg_1"]

    def test_changed_after_is_strictly_after_and_by_number(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            assert reader.changed_after(HUB, at(0)) == ["mem_1", "mem_2"]
            assert reader.changed_after(HUB, at(9)) == ["mem_1", "mem_2"]
            assert reader.changed_after(HUB, at(10)) == []

    def test_what_was_revised_since_a_mark_is_known_whatever_the_clock_said(
        self, store: Store
    ) -> None:
        with store.read() as reader:
            beginning = reader.newest_revision(HUB)
            assert reader.revised_since(HUB, beginning, limit=9) == []
        self._fill_history(store)
        with store.write() as writer:
            assert writer.revised_since(HUB, beginning, limit=9) == ["mem_1", "mem_2"]
            assert writer.revised_since(HUB, beginning, limit=1) == ["mem_1"]
            mark = writer.newest_revision(HUB)
            assert writer.revised_since(HUB, mark, limit=9) == []
            one = writer.memory(HUB, "mem_1")
            assert one is not None
            revise(writer, one, "chg_back", at(0), title="d")
            # A writer sees what it wrote itself.
            assert writer.revised_since(HUB, mark, limit=9) == ["mem_1"]
        with store.read() as reader:
            assert reader.revised_since(HUB, mark, limit=9) == ["mem_1"]
            assert reader.revised_since(HUB, reader.newest_revision(HUB), limit=9) == []
            assert reader.revised_since("hub_none", 0, limit=9) == []

    def test_a_mark_holds_when_what_was_newest_is_purged(self, store: Store) -> None:
        self._fill_history(store)
        with store.read() as reader:
            mark = reader.newest_revision(HUB)
        with store.write() as writer:
            writer.purge(HUB, "mem_2")
            one = writer.memory(HUB, "mem_1")
            assert one is not None
            revise(writer, one, "chg_late", at(11), title="d")
            assert writer.revised_since(HUB, mark, limit=9) == ["mem_1"]

    def test_the_last_undoable_is_no_undo_and_not_undone(self, store: Store) -> None:
        with store.write() as writer:
            put(writer, make_memory(1))
            put(writer, make_memory(2))
            writer.add_change(Change("chg_u", HUB, at(5), "tester", "undo", undoes="chg_2"))
            writer.mark_undone(HUB, "chg_2", "chg_u")
            last = writer.last_undoable(HUB)
            assert last is not None
            assert last.id == "chg_1"
            undone = writer.change(HUB, "chg_2")
            assert undone is not None
            assert undone.undone_by == "chg_u"
            writer.mark_undone(HUB, "chg_2", None)
            last = writer.last_undoable(HUB)
            assert last is not None
            assert last.id == "chg_2"


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
            assert turns_found(reader, [SECRET.lower()]) == []
            assert turns_found(reader, ["plain"]) == ["trn_1"]
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
