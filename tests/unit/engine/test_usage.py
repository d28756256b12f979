"""What language models cost is kept by day, pass and model, and a day can have a cap."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest

from holdfast.api.hub import HubMemory
from holdfast.domain.records import NO_HUB
from holdfast.domain.results import UsageRow
from holdfast.engine.upkeep.model_usage import KEPT_DAYS, KIND, limits_of, metered_model, usage
from holdfast.errors import ModelError
from holdfast.llm import Answer, Message, Usage
from holdfast.testing import FixedClock, ScriptedModel, open_for_tests

TODAY = date(2026, 1, 14)


def ask(hub: HubMemory, work: str = "journal") -> Answer:
    model = metered_model(hub.core, hub.id, work)
    assert model is not None
    return model.ask("", [Message("user", "Hi")], tokens_max=10, timeout_s=1.0)


def test_what_was_spent_is_added_up_by_day_pass_and_model(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, model=ScriptedModel(["a"], again=True), clock=clock) as memory:
        hub, other = memory.hub(), memory.create_hub("other")
        ask(hub)
        ask(hub)
        ask(hub, "consolidate")
        ask(other)
        clock.tick(days=1)
        ask(hub)
        assert usage(hub.scope, days=30) == [
            UsageRow(date(2026, 1, 15), "journal", "scripted", 1, 0, 100, 10),
            UsageRow(TODAY, "consolidate", "scripted", 1, 0, 100, 10),
            UsageRow(TODAY, "journal", "scripted", 2, 0, 200, 20),
        ]
        assert [row.day for row in usage(hub.scope, days=1)] == [date(2026, 1, 15)]
        assert len(usage(other.scope, days=30)) == 1


def test_a_request_that_failed_is_counted_too(tmp_path: Path) -> None:
    down = ModelError("Down.", requests=3)
    with open_for_tests(tmp_path, model=ScriptedModel([down])) as memory:
        hub = memory.hub()
        with pytest.raises(ModelError, match="Down"):
            ask(hub)
        assert usage(hub.scope, days=1) == [UsageRow(TODAY, "journal", "scripted", 3, 1)]


def test_without_a_model_there_is_nothing_to_meter(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        assert metered_model(memory.core, memory.hub().id, "journal") is None


def test_the_cap_of_a_day_holds_for_all_hubs_together_and_ends_with_the_day(
    tmp_path: Path,
) -> None:
    clock = FixedClock()
    model = ScriptedModel(["a"], again=True)
    settings = {"llm.tokens_per_day": 220}
    with open_for_tests(tmp_path, model=model, clock=clock, settings=settings) as memory:
        ask(memory.hub())
        ask(memory.create_hub("other"))
        with pytest.raises(ModelError, match=r"The 220 tokens .* are used up") as caught:
            ask(memory.hub())
        assert not caught.value.again
        assert len(model.asked) == 2
        # What was refused was not asked, and costs nothing.
        assert usage(memory.hub().scope, days=1)[0].requests == 1
        clock.tick(days=1)
        ask(memory.hub())


def test_a_deleted_hub_does_not_give_the_day_its_tokens_back(tmp_path: Path) -> None:
    model = ScriptedModel(["a"], again=True)
    with open_for_tests(tmp_path, model=model, settings={"llm.tokens_per_day": 100}) as memory:
        ask(memory.create_hub("gone"))
        memory.delete_hub("gone")
        with pytest.raises(ModelError, match="used up"):
            ask(memory.hub())


def test_what_a_hub_that_is_gone_spent_still_counts_for_the_day(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, settings={"llm.tokens_per_day": 100}) as memory:
        hub = memory.create_hub("gone")

        def gone(asked: object) -> Answer:
            memory.delete_hub("gone")
            return Answer("late", usage=Usage(1, 100, 10))

        memory.core._find_model = lambda name, settings: ScriptedModel([gone, "never"])
        assert ask(hub).text == "late"
        with pytest.raises(ModelError, match="used up"):
            ask(memory.hub())


def test_rows_go_after_their_time(tmp_path: Path) -> None:
    clock = FixedClock()
    with open_for_tests(tmp_path, model=ScriptedModel(["a"], again=True), clock=clock) as memory:
        hub = memory.hub()
        for _ in range(3):
            ask(hub)
            clock.tick(days=KEPT_DAYS)
        ask(hub)
        with memory.core.store.read() as reader:
            assert len(reader.records(hub.id, KIND, limit=10)) == 1
            assert len(reader.records(NO_HUB, KIND, limit=10)) == 1


def test_two_who_ask_at_once_are_both_counted(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, model=ScriptedModel(["a"], again=True)) as memory:
        hub = memory.hub()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: ask(hub), range(20)))
        assert usage(hub.scope, days=1)[0].tokens_in == 2_000


def test_no_text_of_a_talk_is_kept(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, model=ScriptedModel(["the answer"])) as memory:
        hub = memory.hub()
        ask(hub)
        with memory.core.store.read() as reader:
            kept = str(list(reader.scan_records(hub.id))) + str(list(reader.scan_records(NO_HUB)))
        assert "the answer" not in kept
        assert "Hi" not in kept


def test_the_bounds_of_a_talk_are_settings(tmp_path: Path) -> None:
    settings = {"llm.requests_max": 3, "llm.tokens_out_max": 50, "llm.seconds_max": 5.0}
    with open_for_tests(tmp_path, settings=settings) as memory:
        found = limits_of(memory.core, rounds=4)
        assert (found.rounds, found.requests, found.tokens_out, found.seconds) == (4, 3, 50, 5.0)


def test_what_files_take_up_is_counted_apart(hub: HubMemory) -> None:
    hub.remember_file(io.BytesIO(b"Some notes"), name="notes.txt")
    assert usage(hub.scope, days=7) == []
