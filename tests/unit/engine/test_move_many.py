"""Memories move from one hub to another by one operation of the library."""

from __future__ import annotations

import pytest

from holdfast.api.memory import Holdfast
from holdfast.errors import InvalidInput, NotFound


def test_moved_memories_are_in_the_other_hub_and_forgotten_here(memory: Holdfast) -> None:
    here, there = memory.hub(), memory.create_hub("other")
    old = here.remember("Ada prefers tabs", key="indent", tags=["style"]).memory
    (moved,) = here.move_many(["indent"], there)
    assert [one.id for one in there.list()] == [moved.id]
    assert (moved.key, moved.tags, moved.metadata["moved_from"]) == ("indent", ("style",), old.id)
    assert list(here.list()) == []
    assert here.changes(limit=1)[0].reason == "moved to another hub"
    assert here.restore(old.id).content == "Ada prefers tabs"


def test_a_purge_everywhere_removes_what_a_memory_was_moved_from(memory: Holdfast) -> None:
    here, there = memory.hub(), memory.create_hub("other")
    third = memory.create_hub("third")
    here.log_turn("user", "Ada prefers tabs.", session="s")
    old = here.remember("Ada prefers tabs", session="s").memory
    (second,) = here.move_many([old.id], there)
    (moved,) = there.move_many([second.id], third)
    third.purge(moved.id, everywhere=True)
    for hub, one in ((here, old), (there, second)):
        with pytest.raises(NotFound):
            hub.restore(one.id)
        assert [receipt.memory_id for receipt in hub.receipts()] == [one.id]
    assert here.turns() == []


def test_a_purge_everywhere_follows_no_name_that_somebody_wrote(memory: Holdfast) -> None:
    here, there = memory.hub(), memory.create_hub("other")
    kept, gone = (here.remember(f"Ada prefers {what}").memory for what in ("tabs", "tea"))
    here.forget(gone.id)
    for one in (kept, gone):
        copy = there.remember(f"About {one.content}", metadata={"moved_from": one.id}).memory
        there.purge(copy.id, everywhere=True)
    assert here.get(kept.id) and here.restore(gone.id)
    odd = there.remember("Odd", metadata={"moved_from": [kept.id]}).memory
    there.purge(odd.id, everywhere=True)
    assert here.get(kept.id)


def test_a_memory_that_is_named_twice_is_moved_once(memory: Holdfast) -> None:
    here, there = memory.hub(), memory.create_hub("other")
    old = here.remember("Ada prefers tabs", key="indent").memory
    assert len(here.move_many([old.id, "indent", old.number], there)) == 1
    assert len(there.list()) == 1


def test_nothing_is_moved_where_one_of_them_is_missing(memory: Holdfast) -> None:
    here, there = memory.hub(), memory.create_hub("other")
    old = here.remember("Ada prefers tabs").memory
    with pytest.raises(NotFound):
        here.move_many([old.id, 99], there)
    assert len(here.list()) == 1
    assert len(there.list()) == 0


def test_a_move_into_the_same_hub_is_refused(memory: Holdfast) -> None:
    hub = memory.hub()
    hub.remember("Ada prefers tabs")
    with pytest.raises(InvalidInput, match="in this hub already"):
        hub.move_many([1], memory.hub())


def test_a_scan_goes_on_after_a_number(memory: Holdfast) -> None:
    hub = memory.hub()
    for word in ("one", "two", "three"):
        hub.remember(f"The word is {word}")
    assert [one.number for one in hub.scan(after=1)] == [2, 3]
