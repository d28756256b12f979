"""Small cases of what random sequences of operations have found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.api.hub import HubMemory
from holdfast.errors import AlreadyExists, NotFound
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import open_for_tests


@pytest.fixture(params=["sqlite", "memory"])
def hub(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HubMemory]:
    store = InMemoryStore() if request.param == "memory" else None
    with open_for_tests(tmp_path, store=store) as memory:
        yield memory.create_hub("work")


def test_an_undo_of_an_undo_of_an_undo_leaves_the_change_undone(hub: HubMemory) -> None:
    stored = hub.remember("Prefers tabs")
    once = hub.undo(stored.change)
    twice = hub.undo(once.change.id)
    assert len(hub.list()) == 1
    thrice = hub.undo(twice.change.id)
    assert hub.list() == []
    # The change set is undone, so there is nothing that undo() could be stuck on.
    with pytest.raises(NotFound):
        hub.undo()
    marks = {change.id: change.undone_by for change in hub.changes()}
    assert marks == {
        stored.change: once.change.id,
        once.change.id: None,
        twice.change.id: thrice.change.id,
        thrice.change.id: None,
    }
    hub.undo(thrice.change.id)
    assert len(hub.list()) == 1
    assert hub.undo().undone.id == stored.change


def test_a_push_to_a_path_cannot_take_a_key_from_another_memory(hub: HubMemory) -> None:
    hub.remember("one", key="colour")
    two = hub.remember("two", source_path="/notes/a.md")
    with pytest.raises(AlreadyExists, match="colour"):
        hub.remember("three", source_path="/notes/a.md", key="colour")
    assert hub.get(two.memory.id).content == "two"
    assert hub.get("colour").content == "one"


def test_an_export_does_not_depend_on_the_order_in_which_metadata_was_given(
    hub: HubMemory,
) -> None:
    stored = hub.remember("text", metadata={"b": {"d": 1, "c": 2}, "a": [{"z": 1, "y": 2}]})
    hub.update(stored.memory.id, title="T", category="daily", metadata={"z": 1, "a": 2})
    lines = list(hub.export())
    assert '"metadata":{"a":2,"z":1}' in lines[1]
    assert '"category":["' in lines[-2]
    fields = lines[-2].partition('"fields":')[2]
    assert fields.index('"category"') < fields.index('"metadata"') < fields.index('"title"')
    assert '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}' in fields
