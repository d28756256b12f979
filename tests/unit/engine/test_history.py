"""Looking back, and taking back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast import Conflict, HubMemory, NotFound
from holdfast.testing import FixedClock

DAY = timedelta(days=1)


def test_history_shows_each_state_in_turn(hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("Prefers tabs")
    clock.tick(days=1)
    hub.update(1, content="Prefers spaces", reason="changed my mind")
    clock.tick(days=1)
    hub.forget(1)
    entries = hub.history(1)
    assert [entry.change.action for entry in entries] == ["remember", "update", "forget"]
    assert [entry.after.content for entry in entries] == ["Prefers tabs"] + ["Prefers spaces"] * 2
    assert entries[0].before is None
    assert entries[1].before == entries[0].after
    assert entries[1].change.reason == "changed my mind"
    assert entries[1].after.updated_at - entries[0].after.updated_at == DAY


def test_diff_shows_what_changed(hub: HubMemory) -> None:
    hub.remember("One\nTwo\nThree")
    hub.update(1, content="One\n2\nThree", category="project")
    found = {part.field: part for part in hub.diff(1)}
    assert {"content", "category"} <= set(found)
    assert "-Two" in found["content"].lines
    assert "+2" in found["content"].lines
    assert hub.diff(1, old=2, new=2) == []
    with pytest.raises(NotFound, match="no version 9"):
        hub.diff(1, new=9)


def test_undo_takes_back_the_last_change_and_then_the_one_before(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.update(1, content="Prefers spaces")
    hub.forget(1)
    hub.undo()
    assert hub.get(1).content == "Prefers spaces"
    hub.undo()
    assert hub.get(1).content == "Prefers tabs"
    hub.undo()
    assert hub.list() == []
    with pytest.raises(NotFound, match="nothing to undo"):
        hub.undo()


def test_undoing_an_undo_brings_the_change_back(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.update(1, content="Prefers spaces")
    undone = hub.undo()
    assert hub.get(1).content == "Prefers tabs"
    hub.undo(undone.change.id)
    assert hub.get(1).content == "Prefers spaces"
    hub.undo()
    assert hub.get(1).content == "Prefers tabs"


def test_a_change_is_undone_once(hub: HubMemory) -> None:
    stored = hub.remember("Prefers tabs")
    hub.undo()
    with pytest.raises(Conflict, match="undone already"):
        hub.undo(stored.change)  # type: ignore[union-attr]


def test_an_older_change_is_undone_where_nothing_later_touched_it(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.update(1, content="Prefers spaces")
    change = hub.changes()[0].id
    hub.pin(1)
    hub.undo(change)
    assert hub.get(1).content == "Prefers tabs"
    assert hub.get(1).pinned


def test_a_later_change_of_the_same_field_is_not_overwritten_unless_forced(hub: HubMemory) -> None:
    hub.remember("One")
    hub.update(1, content="Two")
    change = hub.changes()[0].id
    hub.update(1, content="Three")
    with pytest.raises(Conflict, match="changed again"):
        hub.undo(change)
    assert hub.get(1).content == "Three"
    hub.undo(change, force=True)
    assert hub.get(1).content == "One"


def test_making_something_is_not_undone_under_a_later_change(hub: HubMemory) -> None:
    stored = hub.remember("One")
    hub.update(1, content="Two")
    with pytest.raises(Conflict, match="after it was made"):
        hub.undo(stored.change)  # type: ignore[union-attr]
    assert hub.get(1).content == "Two"


def test_undoing_a_supersession_brings_the_old_fact_back(hub: HubMemory) -> None:
    hub.remember("Lives in Berlin")
    hub.remember("Lives in Lisbon", supersedes=1)
    hub.undo()
    back = hub.get(1)
    assert (back.superseded_by, back.valid_until) == (None, None)
    assert [m.number for m in hub.list()] == [1]


def test_undo_brings_the_search_index_along(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.forget(1)
    hub.undo()
    assert [hit.memory.number for hit in hub.recall("tabs")] == [1]


def test_undo_does_not_take_a_key_that_belongs_to_another_by_now(hub: HubMemory) -> None:
    hub.remember("Blue", key="color")
    hub.forget("color")
    change = hub.changes()[0].id
    hub.remember("Green", key="color")
    with pytest.raises(Exception, match="color"):
        hub.undo(change)
    assert hub.get("color").content == "Green"


def test_the_past_can_be_read(hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("Prefers tabs", category="preference")
    hub.remember("Allergic to peanuts")
    then = clock.now()
    clock.tick(days=1)
    hub.update(1, content="Prefers spaces", category="habit")
    hub.forget(2)
    hub.remember("Lives in Lisbon")
    assert hub.get(1, as_of=then).content == "Prefers tabs"
    assert hub.get(1, as_of=then).version == 1
    assert [m.content for m in hub.list(as_of=then)] == ["Allergic to peanuts", "Prefers tabs"]
    assert [m.number for m in hub.list(category="preference", as_of=then)] == [1]
    assert [hit.memory.content for hit in hub.recall("tabs", as_of=then)] == ["Prefers tabs"]
    assert [hit.memory.number for hit in hub.recall("peanuts", as_of=then)] == [2]
    assert [hit.memory.number for hit in hub.recall("peanuts")] != [2]
    assert hub.recall("Lisbon", as_of=then) == [] or all(
        hit.memory.number != 3 for hit in hub.recall("Lisbon", as_of=then)
    )
    with pytest.raises(NotFound, match="not there at that time"):
        hub.get(3, as_of=then)


def test_what_was_there_before_the_beginning_is_nothing(hub: HubMemory, clock: FixedClock) -> None:
    hub.remember("Prefers tabs")
    assert hub.list(as_of=clock.now() - DAY) == []
    assert hub.recall("tabs", as_of=clock.now() - DAY) == []


def test_making_is_not_undone_under_a_forgetting_that_could_be_taken_back(hub: HubMemory) -> None:
    made = hub.remember_many(["One", "Two"])
    hub.forget(2)
    with pytest.raises(Conflict, match="forgotten_at"):
        hub.undo(made[0].change)  # type: ignore[union-attr]
    hub.undo()
    hub.undo()
    assert hub.list() == []


def test_changes_go_on_before_one_that_is_known(hub: HubMemory) -> None:
    hub.remember("Prefers tabs")
    hub.forget(1)
    newest = hub.changes(limit=1)[0]
    assert [change.action for change in hub.changes(before=newest.id)] == ["remember"]
    with pytest.raises(NotFound, match="no change set chg_nope"):
        hub.changes(before="chg_nope")
