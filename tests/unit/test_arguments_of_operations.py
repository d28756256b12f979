"""What an operation says to arguments that a program gets wrong."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator
from datetime import datetime
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


# These are told with their bounds or their form, and have tests of their own.
CHECKED_BELOW = {
    "bool": ("return",),
    "int": ("around", "budget", "chars", "limit", "return", "turns"),
    "str": ("before", "return"),
}


def _typed(hint: str) -> list[tuple[str, str]]:
    """The operations and parameters of a type."""
    return [
        (name, parameter)
        for name in operations_of(holdfast.HubMemory)
        for parameter, found in getattr(holdfast.HubMemory, name).__annotations__.items()
        if str(found).removesuffix(" | None") == hint
        and parameter not in CHECKED_BELOW[hint]
        and name != "archive_conversation"
    ]


def _call(hub: holdfast.HubMemory, name: str, parameter: str, value: Any) -> object:
    """Calls an operation with one wrong argument; what else it needs is never looked at."""
    signature = inspect.signature(getattr(hub, name))
    needed = {
        one.name: ["x"] if str(one.annotation).startswith("Iterable[") else "x"
        for one in signature.parameters.values()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    }
    result = getattr(hub, name)(**{**needed, parameter: value})
    return list(result) if hasattr(result, "__next__") else result


def test_a_switch_takes_no_text_for_true(hub: holdfast.HubMemory) -> None:
    # "false" from a form or a model would purge everywhere.
    for name, parameter in _typed("bool"):
        with pytest.raises(holdfast.InvalidInput, match=f"The {parameter} must be True or False"):
            _call(hub, name, parameter, "false")
    assert len(hub.list()) == 3


def test_what_is_no_text_is_refused_where_text_is_needed(hub: holdfast.HubMemory) -> None:
    said = {"content": "Content must be text", "session": "A session is named by text"}
    for name, parameter in _typed("str"):
        what = said.get(parameter, f"The {parameter} must be text")
        for wrong in (5, b"x", ["x"]):
            with pytest.raises(holdfast.InvalidInput, match=f"{what}, not "):
                _call(hub, name, parameter, wrong)


def test_a_number_is_whole(hub: holdfast.HubMemory) -> None:
    for name, parameter in _typed("int"):
        for wrong in ("5", 1.5, True):
            with pytest.raises(holdfast.InvalidInput, match=f"{parameter} must be a whole number"):
                _call(hub, name, parameter, wrong)


def test_a_filter_of_a_wrong_type_is_no_empty_answer(hub: holdfast.HubMemory) -> None:
    for find in (lambda **given: hub.recall("tea", **given), hub.list):
        with pytest.raises(holdfast.InvalidInput, match="A session is named by text, not int"):
            find(session=5)


def test_a_dictionary_is_not_taken_for_the_list_of_its_names(hub: holdfast.HubMemory) -> None:
    for take in (hub.remember_many, lambda items: list(hub.remember_stream(items))):
        with pytest.raises(holdfast.InvalidInput, match="Items must be a list"):
            take({"content": "Juice"})
        with pytest.raises(holdfast.InvalidInput, match="Items must be a list"):
            take(None)
    with pytest.raises(holdfast.InvalidInput, match="Tags must be a list"):
        hub.remember("Juice", tags={"drink": 1})
    assert len(hub.list()) == 3


@pytest.mark.parametrize(
    "origin",
    [
        {"turn": "trn_1"},
        ("trn_1", 0, 3, "x"),
        "trn_1",
        holdfast.Origin("trn_1", "0", 3, "x"),  # type: ignore[arg-type]
        holdfast.Origin("trn_1", 3, 0, "x"),
        holdfast.Origin("trn_1", -1, 0, "x"),
        holdfast.Origin(None, 0, 1, "x"),  # type: ignore[arg-type]
    ],
)
def test_an_origin_that_cannot_be_read_back_is_not_stored(
    hub: holdfast.HubMemory, origin: Any
) -> None:
    with pytest.raises(holdfast.InvalidInput, match="origin"):
        hub.remember("Juice", origin=origin)
    with pytest.raises(holdfast.InvalidInput, match="origin"):
        hub.remember_many([holdfast.Draft("Juice", origin=origin)])
    assert [memory.content for memory in hub.list(order="number")] == ["Tea", "Coffee", "Water"]


def test_an_origin_is_read_back_as_it_was_given(hub: holdfast.HubMemory) -> None:
    origin = holdfast.Origin("trn_1", 0, 5, "hash")
    assert hub.get(hub.remember("Juice", origin=origin).memory.id).origin == origin


# What differs between two memories of the same text.
VARYING = ("id", "number", "created_at", "updated_at")
FIELDS = [name for name in holdfast.Draft._fields if name != "content"]


def test_none_means_that_a_field_is_not_given(hub: holdfast.HubMemory) -> None:
    plain = hub.remember("Juice").memory
    for field in FIELDS:
        hub.purge(hub.list(limit=1)[0].id)
        given = hub.remember("Juice", **{field: None}).memory
        assert given._replace(**{one: getattr(plain, one) for one in VARYING}) == plain, field


def test_every_field_says_what_is_wrong_with_it(hub: holdfast.HubMemory) -> None:
    for field in FIELDS:
        with pytest.raises(holdfast.InvalidInput):
            hub.remember("Juice", **{field: object()})
    assert len(hub.list()) == 3


NAIVE = datetime(2026, 5, 1)  # noqa: DTZ001 (that is what is refused)


def test_what_cannot_be_asked_says_so(hub: holdfast.HubMemory) -> None:
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: hub.recall("what happened yesterday?", zone="Mars"), "time zone"),  # type: ignore[arg-type]
        (lambda: hub.recall("tea", now=5), "time must be a datetime"),  # type: ignore[arg-type]
        (lambda: hub.recall("tea", now=NAIVE), "has no zone"),
        (lambda: hub.context(count_tokens=5), "a function or a name"),  # type: ignore[call-overload]
        (lambda: hub.meaning_map(limit=0), "at least 1"),
        (lambda: hub.jobs(limit=0), "at least 1"),
        (lambda: hub.flush(5), "must be a list"),  # type: ignore[arg-type]
        (lambda: hub.move_many([1], "other"), "moved to a hub"),  # type: ignore[arg-type]
        (lambda: hub.remember_file(5), "path or an open file"),  # type: ignore[arg-type]
        (lambda: hub.remember_file(io.StringIO("x"), name="x.txt"), "open as text"),  # type: ignore[arg-type]
        (lambda: hub.remember("Juice", ttl=60), "timedelta"),  # type: ignore[arg-type]
    ]
    for ask, expected in wrong:
        with pytest.raises(holdfast.InvalidInput, match=expected):
            ask()


def test_a_path_that_is_none_is_refused(memory: holdfast.Holdfast) -> None:
    for wrong in ("", 5, None, b"x"):
        given: Any = wrong
        with pytest.raises(holdfast.InvalidInput, match=r"The path (is empty|must be a path)"):
            memory.backup(given)
        with pytest.raises(holdfast.InvalidInput, match=r"The path (is empty|must be a path)"):
            memory.import_from("mem0", given)
    with pytest.raises(holdfast.InvalidInput, match="open file"):
        memory.import_hub(5)  # type: ignore[arg-type]


def test_an_empty_folder_is_not_a_persons_own_memory() -> None:
    # What `os.environ.get("MEMORY", "")` gives where nothing is set.
    for wrong in ("", 5, b"x"):
        with pytest.raises(holdfast.InvalidInput, match=r"The where (is empty|must be a path)"):
            holdfast.open(wrong)  # type: ignore[arg-type]


def test_a_key_that_is_no_text_is_refused() -> None:
    for wrong in (5, " ", b"hf_x"):
        with pytest.raises(holdfast.InvalidInput, match="This is not a key"):
            holdfast.Client("http://127.0.0.1:9", key=wrong)  # type: ignore[arg-type]


def test_a_memory_that_is_not_kept_leaves_nothing_in_the_persons_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    for _ in range(2):
        # The second one has no part of what the first one wrote.
        with holdfast.open("memory:", settings={"embed.model": "none"}) as memory:
            hub = memory.hub()
            assert not hub.sync().taken_in
            assert not holdfast.tools("maven", hub).call("remember", {"content": "Tea"}).failed
            hub.remember("Ada likes tea")
            assert "Ada likes tea" in Path(hub.memory_md).read_text(encoding="utf-8")
            home = memory.home
        assert not Path(home).exists()
    assert list(tmp_path.iterdir()) == []


def test_memories_can_be_members_of_a_set(hub: holdfast.HubMemory) -> None:
    stored = hub.remember("Juice", metadata={"kind": "orange"})
    assert {stored.memory, hub.get(stored.memory.id)} == {hub.list(limit=1)[0]}
    assert len({stored.memory, hub.update(stored.memory.id, content="Milk")}) == 2
    assert len(set(hub.list())) == 4


def test_a_field_that_update_takes_is_one_that_the_engine_changes() -> None:
    from holdfast.api.arguments import MemoryChanges
    from holdfast.engine.writing.edit import EDITABLE

    assert set(MemoryChanges.__annotations__) == EDITABLE, "add it to DESCRIPTIVE too"


def test_a_field_that_remember_takes_is_one_of_a_draft() -> None:
    from holdfast.api.arguments import MemoryFields
    from holdfast.domain.memory import Draft

    # The content is an argument of its own, and `ttl` becomes `expires_at`.
    assert set(MemoryFields.__annotations__) - {"ttl"} <= set(Draft._fields)
