"""Before a compaction: a prompt for the agent, and what nobody has looked at is captured, once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, HubMemory, InvalidInput
from holdfast.domain.results import Flushed
from holdfast.engine.people import members, teams
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
    memory.core.set_has_worker(True)
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
    hub.core.turns_logged[hub.id] = 1  # Past the first turn, at which the log is cut.
    for number in range(260):
        hub.log_turn("user", f"My locker number is {number}.")
    assert hub.flush().turns <= 200
    assert hub.flush().turns == 0


def test_what_was_too_much_to_look_at_is_said(hub: HubMemory) -> None:
    messages = [{"role": "user", "content": f"My locker is {n}."} for n in range(1000)]
    messages.append({"role": "assistant", "content": "Which of them?"})
    flushed = hub.flush(messages)
    assert (flushed.turns, flushed.left_out) == (200, 800)
    assert "800 older turns were not looked at" in flushed.note
    assert "at most 200 at a time" in flushed.note
    older = hub.flush(messages[600:800])
    assert (older.turns, older.left_out, older.note) == (200, 0, "")
    # Those that were looked at before are not among those left out.
    assert hub.flush(messages[600:]).left_out == 0


# Who said it


def test_the_log_of_a_hub_that_others_use_is_not_taken_for_ones_own(hub: HubMemory) -> None:
    hub.remember("Lives in Oslo")
    share(hub, "bob")
    of(hub, "bob").log_turn("user", "I moved to Berlin.")
    flushed = hub.flush()
    assert (flushed.turns, flushed.noted) == (0, ())
    assert "compacted" in flushed.prompt
    assert "not yours alone" in flushed.note
    assert "holdfast flush --from -" in flushed.note
    assert [one.content for one in hub.list()] == ["Lives in Oslo"]
    given = hub.flush("User: I use vim for everything.\n")
    assert (given.turns, given.note) == (1, "")
    assert texts(hub) == ["Uses vim for everything"]


def test_the_log_of_a_hub_that_is_shared_with_a_group_is_left_alone(hub: HubMemory) -> None:
    hub.log_turn("user", "I use vim for everything.")
    org = teams.create_org(hub.core, "org")
    team = teams.create_team(hub.core, org.id, "team")
    for shared in ({"team_id": team.id}, {"org_id": org.id}):
        members.set_card(hub.core, hub.id, **shared)
        assert "not yours alone" in hub.flush().note
    members.set_card(hub.core, hub.id, org_id="")
    assert hub.flush().turns == 1


def test_the_log_of_somebody_elses_hub_is_left_alone(hub: HubMemory) -> None:
    assert "not yours alone" in of(hub, "bob").flush().note


def test_the_log_of_a_hub_with_members_is_left_alone_whoever_is_known_to_have_logged(
    hub: HubMemory,
) -> None:
    hub.log_turn("user", "I use vim for everything.")
    share(hub, "bob")
    assert "not yours alone" in hub.flush().note


def test_words_of_somebody_who_has_left_are_not_taken_for_ones_own(hub: HubMemory) -> None:
    share(hub, "bob")
    of(hub, "bob").log_turn("user", "I moved to Berlin.")
    members.remove_member(hub.core, "hub", hub.id, "bob")
    assert "not yours alone" in hub.flush().note
    assert texts(hub) == []


def test_a_caller_flushes_only_what_they_give(hub: HubMemory) -> None:
    hub.log_turn("user", "I use vim for everything.")
    core = hub.core.acting(hub.core.actor, permit=lambda _act, _memory: None)
    caller = HubMemory(core, hub.info, hub.home)
    assert "not yours alone" in caller.flush().note
    assert caller.flush("User: I live in Berlin.\n").turns == 1


def share(hub: HubMemory, actor: str) -> None:
    members.set_member(hub.core, "hub", hub.id, actor, "contributor")


def of(hub: HubMemory, actor: str) -> HubMemory:
    """The hub as somebody else uses it."""
    return HubMemory(hub.core.acting(actor), hub.info, hub.home)


def test_two_flushes_at_once_capture_once(hub: HubMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.log_turn("user", "I use vim for everything.")
    inner: list[Flushed] = []
    real = flush.by_rules

    def meanwhile(proposed: Proposed, **options: Any) -> None:
        real(proposed, **options)
        if not inner:
            inner.append(Flushed(""))
            inner.append(hub.flush())

    monkeypatch.setattr(flush, "by_rules", meanwhile)
    outer = hub.flush()
    assert (outer.turns, inner[1].turns) == (0, 1)
    (made,) = hub.list(layer="journal")
    assert made.mention_count == 1


def test_the_last_texts_that_were_processed_are_known(hub: HubMemory) -> None:
    from holdfast.engine.log.observe import SEEN_MAX, mark_of, mark_seen, seen

    texts = [f"It is number {n}." for n in range(SEEN_MAX + 120)]
    with hub.core.store.write() as writer:
        for n in range(0, len(texts), 2):
            mark_seen(hub.core, writer, hub.id, texts[n : n + 2])
        mark_seen(hub.core, writer, hub.id, [], not_seen=[texts[200], texts[-1]])
        known = seen(writer, hub.id)
    assert {mark_of(text) for text in texts[-SEEN_MAX:]} - set(known) == {
        mark_of(texts[200]),
        mark_of(texts[-1]),
    }
    assert mark_of(texts[0]) not in known
