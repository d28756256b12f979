"""A memory that is part of another, and memories that are named twice in one batch."""

from __future__ import annotations

import pytest

from holdfast import Holdfast, NotFound


def test_a_parent_is_a_memory_of_the_same_hub(memory: Holdfast) -> None:
    hub, other = memory.hub("h", create=True), memory.hub("other", create=True)
    whole = hub.remember("The house has three rooms", key="house").memory
    elsewhere = other.remember("The garden has two trees").memory
    gone = hub.remember("The cellar is wet").memory
    hub.forget(gone.id)
    for parent in ("mem_nowhere", elsewhere.id, gone.id):
        with pytest.raises(NotFound, match="The parent is missing"):
            hub.remember("The kitchen is blue", parent=parent)
        with pytest.raises(NotFound, match="The parent is missing"):
            hub.remember_many([{"content": "A"}, {"content": "B", "parent": parent}])
        with pytest.raises(NotFound, match="The parent is missing"):
            list(hub.remember_stream([{"content": "C", "parent": parent}]))
    assert [one.content for one in hub.list()] == ["The house has three rooms"]
    part = hub.remember("The kitchen is blue", parent=whole.id).memory
    assert part.parent == whole.id
    # As with all that names a memory, its key and its number do too.
    assert hub.remember("The bath is green", parent="house").memory.parent == whole.id


def test_with_a_first_that_is_the_parent_no_other_is_asked_for(memory: Holdfast) -> None:
    hub = memory.hub("h", create=True)
    first, second = hub.remember_many(
        [{"content": "The house"}, {"content": "The roof", "parent": "mem_nowhere"}],
        first_is_parent=True,
    )
    assert second.memory.parent == first.memory.id


@pytest.mark.parametrize("again", ["mem", "number", "key"])
def test_a_memory_that_a_batch_names_twice_is_meant_once(memory: Holdfast, again: str) -> None:
    hub = memory.hub("h", create=True)
    one = hub.remember("Tea is at four", key="tea").memory
    two = hub.remember("Lunch is at one").memory
    name = {"mem": one.id, "number": f"#{one.number}", "key": "tea"}[again]
    forgotten = hub.forget_many([one.id, name])
    assert [memory.id for memory in forgotten] == [one.id, one.id]
    assert forgotten[0].forgotten_at is not None
    receipts = hub.purge_many([two.id, one.number, one.id, f"#{two.number}"])
    assert [receipt.memory_id for receipt in receipts] == [two.id, one.id]
    assert hub.list() == []
    with pytest.raises(NotFound, match="no memory"):
        hub.purge(one.id)


def test_a_key_that_one_had_and_another_has_names_the_one_that_has_it(memory: Holdfast) -> None:
    hub = memory.hub("h", create=True)
    old = hub.remember("Tea is at four", key="tea").memory
    hub.forget(old.id)
    new = hub.remember("The cups are blue", key="tea").memory
    receipts = hub.purge_many([old.id, "tea"])
    assert [receipt.memory_id for receipt in receipts] == [old.id, new.id]
