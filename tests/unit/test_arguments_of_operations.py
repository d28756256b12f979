"""What an operation says to arguments that a program gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.api.operation import operations_of
from holdfast.testing import open_for_tests


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[holdfast.Holdfast]:
    with open_for_tests(tmp_path) as opened:
        yield opened


@pytest.fixture
def hub(memory: holdfast.Holdfast) -> holdfast.HubMemory:
    hub = memory.create_hub("work")
    hub.remember_many(["Tea", "Coffee", "Water"])
    return hub


# The parameters that take several values, by operation. `archive_conversation` takes anything and
# answers with a note, so that it never blocks a compaction (tests/unit/files/test_archive.py).
SEVERAL = [
    (name, parameter)
    for name in operations_of(holdfast.HubMemory)
    for parameter, hint in getattr(holdfast.HubMemory, name).__annotations__.items()
    if hint.startswith("Iterable[")
    and not hint.startswith("Iterable[Any]")
    and "| str" not in hint.rpartition("]")[2]
]
NEEDED: dict[str, tuple[Any, ...]] = {
    "recall": ("tea",),
}


@pytest.mark.parametrize(("name", "parameter"), SEVERAL)
@pytest.mark.parametrize("one", ["12", "mem_1", 1, b"12"])
def test_one_value_is_not_taken_for_a_list(
    hub: holdfast.HubMemory, name: str, parameter: str, one: Any
) -> None:
    before = [memory.number for memory in hub.list()]
    operation = getattr(hub, name)
    rest: dict[str, Any] = {"to": hub} if name == "move_many" else {}
    with pytest.raises(holdfast.InvalidInput, match=f"{parameter.capitalize()} must be a list"):
        list(operation(*NEEDED.get(name, ()), **{parameter: one}, **rest))
    assert [memory.number for memory in hub.list()] == before


def test_a_list_by_its_place_is_looked_at_too(hub: holdfast.HubMemory) -> None:
    with pytest.raises(holdfast.InvalidInput, match="must be a list, not '12'"):
        hub.purge_many("12")
    assert len(hub.list()) == 3
    hub.forget_many(["1", 2])
    assert [memory.number for memory in hub.list()] == [3]


def test_what_is_no_text_is_named_in_a_list_too(hub: holdfast.HubMemory) -> None:
    for wrong in (1, None, ("a", "b")):
        with pytest.raises(holdfast.InvalidInput, match="Content must be text"):
            hub.remember_many(["Juice", wrong])  # type: ignore[list-item]


def test_an_empty_name_is_not_the_hub_in_use(memory: holdfast.Holdfast) -> None:
    # A user without a name would read and write what everybody shares.
    for create in (False, True):
        with pytest.raises(holdfast.InvalidInput, match="hub name is empty"):
            memory.hub("", create=create)
    assert memory.hub().name == "default"


def test_a_turn_that_was_found_is_called_a_turn(hub: holdfast.HubMemory) -> None:
    hub.log_turn("user", "Our demo is on Friday at ten.")
    hit = hub.recall("when is the demo?")[0]
    asked: list[Callable[[Any], object]] = [hub.get, hub.access, hub.forget, hub.history]
    for operation in asked:
        for reference in (hit.memory.id, hit.memory.number):
            with pytest.raises(holdfast.NotFound, match="is a turn of the conversation log"):
                operation(reference)


def test_what_is_handed_in_must_be_what_it_says(tmp_path: Path) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"store": "sqlite:notes.db"}, "first argument"),
        ({"embedder": "none"}, "embed.model"),
        ({"embedder": object()}, "has no identity"),
        ({"settings": "embed.model=none"}, "dictionary"),
    ]
    for given, hint in wrong:
        with pytest.raises(holdfast.InvalidInput, match=hint):
            holdfast.open(tmp_path, **given)


def test_tools_and_imports_say_what_they_work_on(memory: holdfast.Holdfast) -> None:
    hub = memory.create_hub("work")
    for wrong in (memory, holdfast.AsyncHub(hub), "work"):
        with pytest.raises(holdfast.InvalidInput, match="Tools work on a hub"):
            holdfast.tools("holdfast", wrong)  # type: ignore[arg-type]
    with pytest.raises(holdfast.InvalidInput, match="open file"):
        memory.import_hub("work.jsonl", name="copy")
