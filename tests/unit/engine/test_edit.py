"""Changing what is there, and taking it away."""

from __future__ import annotations

import pytest

from holdfast import AlreadyExists, HubMemory, InvalidInput, NotFound
from holdfast.testing import FixedClock


def test_an_update_is_a_new_version_with_the_derived_parts_renewed(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    after = hub.update(1, content="Prefers spaces")
    assert (after.version, after.title) == (2, "Prefers spaces")
    assert [hit.memory.number for hit in hub.recall("spaces")] == [1]
    assert "tab" not in {why for hit in hub.recall("tabs") for why in hit.why}


def test_an_update_that_changes_nothing_leaves_no_trace(hub: HubMemory) -> None:
    hub.remember("Prefers tabs", category="preference")
    assert hub.update(1, category="preference").version == 1
    assert len(hub.changes()) == 1


def test_an_unknown_field_names_the_nearest(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    with pytest.raises(InvalidInput, match="category"):
        hub.update(1, categroy="x")


def test_nothing_to_change_is_an_error(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    with pytest.raises(InvalidInput, match="what to change"):
        hub.update(1)
    with pytest.raises(InvalidInput, match="cannot be empty"):
        hub.update(1, content=None)


def test_a_key_can_be_taken_away_but_not_stolen(hub: HubMemory) -> None:
    hub.remember("One", key="a")
    hub.remember("Two", key="b")
    with pytest.raises(AlreadyExists, match="#1"):
        hub.update("b", key="a")
    assert hub.update("a", key=None).key is None
    assert hub.update("b", key="a").key == "a"


def test_pin_and_unpin(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    assert hub.pin(1).pinned
    assert [m.number for m in hub.list(pinned=True)] == [1]
    assert not hub.unpin("#1").pinned


def test_archived_is_hidden_until_asked_for(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    assert hub.archive(1, reason="old").state_reason == "old"
    assert hub.recall("tabs") == []
    assert hub.list() == []
    assert len(hub.recall("tabs", include_archived=True)) == 1
    assert len(hub.list(state="archived")) == 1
    assert hub.restore(1).state == "active"
    assert len(hub.recall("tabs")) == 1


def test_forget_hides_and_restore_brings_back(hub: HubMemory) -> None:
    hub.remember("Prefers tabs", key="indent")
    hub.forget("indent", reason="wrong")
    assert hub.recall("tabs") == []
    with pytest.raises(NotFound, match="forgotten"):
        hub.get(1)
    with pytest.raises(NotFound):
        hub.get("indent")
    assert [m.number for m in hub.list(forgotten=True)] == [1]
    assert hub.restore(1).forgotten_at is None
    assert hub.get("indent").number == 1
    assert len(hub.recall("tabs")) == 1


def test_several_are_forgotten_together_or_not_at_all(hub: HubMemory) -> None:
    hub.remember_many(["One", "Two", "Three"])
    with pytest.raises(NotFound):
        hub.forget_many([1, 2, 99])
    assert len(hub.list()) == 3
    hub.forget_many([1, 2])
    assert [m.number for m in hub.list()] == [3]
    hub.undo()
    assert len(hub.list()) == 3


def test_a_forgotten_key_can_be_used_again_and_then_not_be_restored(hub: HubMemory) -> None:
    hub.remember("Blue", key="color")
    hub.forget("color")
    hub.remember("Green", key="color")
    with pytest.raises(AlreadyExists, match="color"):
        hub.restore(1)
    assert hub.get("color").content == "Green"


def test_numbers_are_never_used_twice(hub: HubMemory) -> None:
    hub.remember("One")
    hub.purge(1)
    assert hub.remember("One").memory.number == 2


def test_purge_leaves_a_receipt_without_content(hub: HubMemory) -> None:
    hub.remember("The code is 4711")
    hub.update(1, content="The code is 4712")
    receipt = hub.purge(1, reason="asked")
    assert (receipt.number, receipt.reason, receipt.revisions) == (1, "asked", 2)
    assert hub.receipts() == [receipt]
    assert "4711" not in "\n".join(hub.export())
    assert "4712" not in "\n".join(hub.export())
    with pytest.raises(NotFound):
        hub.history(1)
    assert hub.changes() == []


def test_forgotten_memories_are_purged_only_after_their_time(
    hub: HubMemory, clock: FixedClock
) -> None:
    hub.remember_many(["One", "Two"])
    hub.forget(1)
    clock.tick(days=29)
    assert hub.purge_forgotten() == []
    clock.tick(days=2)
    assert [receipt.number for receipt in hub.purge_forgotten()] == [1]
    assert [m.number for m in hub.list()] == [2]


def test_being_shown_is_not_being_used(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.recall("tabs")
    hub.core.write_counters()
    shown = hub.get(1)
    assert (shown.shown_count, shown.access_count, shown.accessed_at) == (1, 0, None)
    used = hub.access(1)
    assert (used.access_count, used.version) == (1, 1)


@pytest.mark.parametrize("reference", ["", "   ", "#99", 99, "mem_nope", "no such key", "x" * 500])
def test_a_reference_to_nothing_is_an_error_that_says_so(
    hub: HubMemory, reference: str | int
) -> None:
    with pytest.raises((NotFound, InvalidInput)) as caught:
        hub.get(reference)
    assert len(str(caught.value)) < 300
