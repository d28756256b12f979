"""The words of long turns are indexed after the reply: every search finds them all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import HubMemory
from holdfast.domain.records import WITHOUT_WORDS
from holdfast.engine.log.turns import add_turns, made_turn
from holdfast.errors import StoreBusy, StoreReadOnly
from holdfast.testing import HashEmbedder, open_for_tests

pytestmark = pytest.mark.sqlite_only("other stores index a turn when it is added")

LONG = "The tram to Ostrava leaves from platform nine. " * 30


def waiting(hub: HubMemory) -> int:
    with hub.core.store.read() as reader:
        return len(reader.records(hub.id, WITHOUT_WORDS, limit=100))


def test_a_long_turn_waits_for_its_words_and_a_short_one_does_not(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", "At nine")
    assert waiting(hub) == 0
    hub.observe_turn("When does it leave?", LONG)
    assert waiting(hub) == 2


def test_recall_finds_a_turn_that_waited(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG)
    assert hub.recall("tram to Ostrava")[0].turn is not None
    assert waiting(hub) == 0


def test_recall_finds_a_turn_that_waits_since_the_last_recall(hub: HubMemory) -> None:
    hub.observe_turn("What leaves today?", "Nothing")
    hub.recall("tram to Ostrava")
    hub.observe_turn("When does it leave?", LONG)
    assert hub.recall("tram to Ostrava")[0].turn is not None


def test_a_part_of_a_word_finds_a_turn_that_waited(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG)
    assert [turn.content for turn in hub.search_turns("strav")] == [LONG]


def test_the_block_holds_a_turn_that_waited(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG)
    assert "Ostrava" in hub.context("where does the tram to Ostrava leave from?")


def test_a_turn_that_waits_is_forgotten_by_its_words(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG)
    assert hub.forget_turns(about="Ostrava").total == 1
    assert [turn.content for turn in hub.turns()] == ["When does it leave?"]


@pytest.mark.parametrize(
    "forget",
    [
        lambda hub: hub.forget_turns(about="Ostrava"),
        lambda hub: hub.forget(1),
        lambda hub: hub.purge(1),
        lambda hub: hub.undo(),  # of the restore
    ],
)
def test_forgetting_misses_no_turn_that_waits_while_another_process_writes(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch, forget: Callable[[HubMemory], object]
) -> None:
    hub.remember("The tram to Ostrava leaves from platform nine.")
    hub.forget(1)
    hub.restore(1)
    hub.observe_turn("When does it leave?", LONG)
    keep_busy(hub, monkeypatch)
    forget(hub)
    monkeypatch.undo()
    assert "Ostrava" not in hub.context("where does the tram to Ostrava leave from?")


def test_a_purge_everywhere_removes_a_turn_that_waits_while_another_process_writes(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.remember("The tram to Ostrava leaves from platform nine.")
    hub.observe_turn("When does it leave?", LONG)
    keep_busy(hub, monkeypatch)
    hub.purge(1, everywhere=True)
    assert [turn.content for turn in hub.turns()] == ["When does it leave?"]


def keep_busy(hub: HubMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets writes that do not wait find the store busy."""
    write = hub.core.store.write

    def busy_at_once(*, durable: bool = True, **how: Any) -> Any:
        if not durable:
            raise StoreBusy("Another process is writing.")
        return write(durable=durable, **how)

    monkeypatch.setattr(hub.core.store, "write", busy_at_once)


def test_a_turn_that_waits_leaves_nothing_when_its_session_is_forgotten(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG, session="s")
    hub.forget_turns(session="s")
    assert waiting(hub) == 0
    assert hub.turns() == []


def test_the_step_that_makes_vectors_indexes_the_words(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=HashEmbedder()) as memory:
        hub = memory.create_hub("work")
        hub.observe_turn("When does it leave?", LONG)
        memory.embed_missing()
        assert waiting(hub) == 0
        assert memory.unembedded() == 0


def test_a_rebuild_indexes_turns_that_wait(hub: HubMemory) -> None:
    hub.observe_turn("When does it leave?", LONG)
    with hub.core.store.write() as writer:
        writer.drop_derived()
    assert [turn.content for turn in hub.search_turns("Ostrava")] == [LONG]
    assert hub.core.store.check() == []


def test_many_that_wait_are_indexed_where_nothing_else_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.log.turns._LATE_SOME", 2)
    monkeypatch.setattr("holdfast.engine.log.turns._LATE_MAX", 6)
    with open_for_tests(tmp_path, settings={"embed.background": False}) as memory:
        hub = memory.create_hub("work")
        for _ in range(7):
            hub.observe_turn("When does it leave?", LONG)
        assert waiting(hub) == 2


def test_without_a_model_a_thread_indexes_those_that_wait(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.log.turns._LATE_SOME", 4)
    hub.observe_turn("When does it leave?", LONG)
    hub.core.wait()
    assert waiting(hub) == 2, "a process that logs a turn and ends starts no thread"
    hub.observe_turn("When does it leave?", LONG)
    hub.core.wait()
    assert waiting(hub) == 0
    assert hub.recall("tram to Ostrava")[0].turn is not None


def test_turns_that_nobody_waits_for_are_indexed_at_once(hub: HubMemory) -> None:
    turn = made_turn(hub.scope, "user", LONG, source="import", session=None, at=None)
    add_turns(hub.scope, [turn], is_reply=False)
    assert waiting(hub) == 0


def test_a_search_in_a_store_that_can_only_be_read_answers_without_what_waits(
    hub: HubMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.observe_turn("The tram is late", "Is it?")
    hub.observe_turn("When does it leave?", LONG)

    def refuse(*_: object, **__: object) -> None:
        raise StoreReadOnly("The store can only be read.")

    monkeypatch.setattr(hub.core.store, "write", refuse)
    assert [turn.content for turn in hub.search_turns("tram")] == ["The tram is late"]
    monkeypatch.undo()
    assert len(hub.search_turns("tram")) == 2
