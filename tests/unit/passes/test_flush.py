"""Before a compaction: a prompt for the agent, and what nobody has looked at is captured, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Holdfast, HubMemory, InvalidInput
from holdfast.domain.observed import Flushed
from holdfast.passes import flush
from holdfast.passes.journaler import Proposed
from holdfast.passes.work import work_until_done
from holdfast.testing import FixedClock
from tests.unit.passes.conftest import Opener


def texts(hub: HubMemory) -> list[str]:
    return sorted(one.content for one in hub.list(layer="journal", limit=100))


def test_the_prompt_asks_the_agent_to_remember(hub: HubMemory) -> None:
    flushed = hub.flush()
    assert "`remember`" in flushed.prompt
    assert "compacted" in flushed.prompt
    assert (flushed.turns, flushed.noted) == (0, ())


def test_what_users_said_in_the_log_is_captured_once(hub: HubMemory, clock: FixedClock) -> None:
    said = hub.log_turn("user", "I use vim for everything.", session="s1")
    hub.log_turn("assistant", "I live in Berlin.", session="s1")
    flushed = hub.flush()
    assert flushed.turns == 1
    assert [(one.outcome, one.text) for one in flushed.noted] == [
        ("stored", "Uses vim for everything")
    ]
    (made,) = hub.list(layer="journal")
    assert made.origin is not None
    assert made.origin.turn == said.id
    again = hub.flush()
    assert (again.turns, again.noted) == (0, ())
    assert (len(texts(hub)), hub.get(made.id).mention_count) == (1, 1)
    hub.log_turn("user", "My dog's name is Rex.")
    assert hub.flush().turns == 1


def test_turns_that_the_journaler_has_or_will_have_are_left_to_it(
    memory: Holdfast, hub: HubMemory
) -> None:
    hub.observe_turn("I use vim for everything.", "Noted.")
    assert hub.flush().turns == 0
    work_until_done(memory.core, memory.home)
    assert hub.flush().turns == 0
    assert texts(hub) == ["Uses vim for everything"]


def test_turns_that_were_only_logged_or_left_out_of_the_queue_are_captured(
    opened: Opener,
) -> None:
    memory = opened(shadowJournal__queueMax=1)
    memory.core.set_worked(True)
    hub = memory.create_hub("work")
    hub.observe_turn("I use vim for everything.", "Noted.")
    hub.observe_turn("I live in Berlin.", "Noted.")
    assert hub.flush().turns == 1
    assert texts(hub) == ["Uses vim for everything"]


def test_turns_that_run_by_themselves_are_nobodys_words(hub: HubMemory) -> None:
    hub.observe_turn("I use vim for everything.", "Noted.", mode="cron")
    assert hub.flush().turns == 0


def test_one_session_can_be_flushed_alone(hub: HubMemory) -> None:
    hub.log_turn("user", "I use vim for everything.", session="s1")
    hub.log_turn("user", "I live in Berlin.", session="s2")
    hub.flush(session="s2")
    assert texts(hub) == ["Lives in Berlin"]


@pytest.mark.parametrize(
    "given",
    [
        [
            {"role": "user", "content": "I use vim for everything."},
            {"role": "assistant", "content": "I live in Berlin."},
        ],
        [{"role": "human", "content": [{"type": "text", "text": "I use vim for everything."}]}],
        "User: I use vim for everything.\nAssistant: I live in Berlin.\n",
    ],
)
def test_a_conversation_from_outside_is_captured_once(
    hub: HubMemory, given: list[object] | str
) -> None:
    assert hub.flush(given).turns == 1
    assert texts(hub) == ["Uses vim for everything"]
    assert hub.flush(given).turns == 0
    # The log knows it again, too.
    hub.log_turn("user", "I use vim for everything.")
    assert hub.flush().turns == 0


@pytest.mark.parametrize(
    "message",
    [
        {"role": "function", "content": "I live in Berlin."},
        {"role": "tool_result", "content": "I live in Berlin."},
        {"role": "Bot", "content": "I live in Berlin."},
        {"role": "user", "content": [{"type": "tool_result", "text": "I live in Berlin."}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "I live in Berlin."}]},
    ],
)
def test_what_no_person_said_is_not_captured(hub: HubMemory, message: dict[str, object]) -> None:
    assert hub.flush([message]).noted == ()
    assert texts(hub) == []


@pytest.mark.parametrize("message", ["hello", {"role": " ", "content": "I live in Berlin."}])
def test_a_conversation_that_is_none_is_an_error(hub: HubMemory, message: object) -> None:
    with pytest.raises(InvalidInput, match="role"):
        hub.flush([message])


def test_what_is_captured_stands_in_the_journals_of_its_days_and_one_undo_takes_it_back(
    hub: HubMemory, clock: FixedClock, tmp_path: Path
) -> None:
    hub.journal_add("Up early")
    hub.log_turn("user", "I use vim for everything.", at="2026-01-10T08:00:00Z")
    hub.log_turn("user", "I live in Berlin.", at="2026-01-11T08:00:00Z")
    hub.flush()
    folder = tmp_path / "hubs" / "work"
    assert (folder / "2026-01-10.md").read_text() == "- 08:00 Uses vim for everything\n"
    assert (folder / "2026-01-11.md").read_text() == "- 08:00 Lives in Berlin\n"
    hub.undo()
    assert texts(hub) == ["Up early"]


def test_many_turns_are_bounded(hub: HubMemory) -> None:
    hub.core.logged[hub.id] = 1  # Past the first turn, at which the log is cut.
    for number in range(260):
        hub.log_turn("user", f"My locker number is {number}.")
    assert hub.flush().turns <= 200
    assert hub.flush().turns == 0


def test_two_flushes_at_once_capture_once(hub: HubMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.log_turn("user", "I use vim for everything.")
    inner: list[Flushed] = []
    real = flush.by_rules

    def meanwhile(proposed: Proposed) -> None:
        real(proposed)
        if not inner:
            inner.append(Flushed(""))
            inner.append(hub.flush())

    monkeypatch.setattr(flush, "by_rules", meanwhile)
    outer = hub.flush()
    assert (outer.turns, inner[1].turns) == (0, 1)
    (made,) = hub.list(layer="journal")
    assert made.mention_count == 1
