"""What passes propose, unasked: grounded, counted, superseded or held, all in one change set."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.domain.memory import Origin
from holdfast.engine.automatic import Proposal, Taken, captured, take_proposals
from holdfast.errors import Conflict
from holdfast.store.base import Writer
from holdfast.testing import FixedClock
from holdfast.text.normalise import content_hash


def take(hub: HubMemory, *proposals: Proposal | str, **values: object) -> list[Taken]:
    given = [Proposal(one) if isinstance(one, str) else one for one in proposals]
    return take_proposals(hub.core, hub.id, hub.name, given, **values)  # type: ignore[arg-type]


def counts(hub: HubMemory) -> dict[str, int]:
    with hub.core.read() as reader:
        return captured(reader, hub.id)


def test_a_supported_proposal_is_stored_with_where_it_was_said(hub: HubMemory) -> None:
    said = "Hi! I moved to Lisbon last month. Any tips?"
    proposal = Proposal("Moved to Lisbon", origin=Origin("turn_1", 0, 0, ""), said=said)
    [taken] = take(hub, proposal)
    assert taken.outcome == "stored"
    assert taken.memory is not None
    origin = taken.memory.origin
    assert origin is not None
    assert (origin.turn, origin.hash) == ("turn_1", content_hash(said))
    assert said[origin.start : origin.end] == "I moved to Lisbon last month."
    assert (taken.memory.layer, taken.memory.source) == ("journal", "extraction")


def test_what_the_turn_does_not_support_is_dropped_and_counted(hub: HubMemory) -> None:
    said = "I live in Lisbon. Should I move to Porto?"
    taken = take(
        hub,
        Proposal("Lives in Faro", said=said),
        Proposal("Lives in Porto", said=said),
        Proposal("Lives in Lisbon", said=said),
    )
    assert [one.outcome for one in taken] == ["dropped", "dropped", "stored"]
    assert [memory.content for memory in hub.list()] == ["Lives in Lisbon"]
    dropped = {name: count for name, count in counts(hub).items() if name.startswith("dropped")}
    assert sum(dropped.values()) == 2
    assert counts(hub)["stored"] == 1


def test_what_is_known_raises_a_count_and_makes_no_row(hub: HubMemory) -> None:
    first = hub.remember("Lives in Lisbon").memory
    [taken] = take(hub, "The user lives in Lisbon.")
    assert taken.outcome == "mentioned"
    assert taken.memory is not None
    assert taken.memory.id == first.id
    assert hub.get(first.id).mention_count == 2
    assert len(hub.history(first.id)) == 1
    assert len(hub.list()) == 1


def test_a_new_value_takes_the_place_of_the_old_one(hub: HubMemory, clock: FixedClock) -> None:
    old = hub.remember("Lives in Porto", layer="long_term").memory
    clock.tick(days=3)
    [taken] = take(hub, "Moved to Lisbon")
    assert taken.outcome == "superseded"
    assert taken.memory is not None
    assert taken.memory.supersedes == old.id
    assert taken.memory.layer == "long_term"
    ended = hub.get(old.id)
    assert ended.superseded_by == taken.memory.id
    assert ended.valid_until == clock.now()


def test_what_is_not_certain_waits_for_a_person(hub: HubMemory) -> None:
    old = hub.remember("Eats meat").memory
    [taken] = take(hub, "Does not eat meat")
    assert taken.outcome == "held"
    assert taken.memory is not None
    assert taken.memory.quarantine.startswith(f"contradicts #{old.number}: ")
    assert taken.memory.metadata["contradicts"] == old.id
    assert hub.get(old.id).superseded_by is None
    assert [memory.content for memory in hub.list()] == ["Eats meat"]


def test_what_waits_already_is_not_held_twice(hub: HubMemory) -> None:
    hub.remember("Eats meat")
    [first] = take(hub, "Does not eat meat")
    [again] = take(hub, "Does not eat meat.")
    assert again.outcome == "mentioned"
    assert first.memory is not None
    assert again.memory is not None
    assert again.memory.id == first.memory.id
    assert len(hub.list(quarantined=True)) == 1


def test_a_pinned_memory_is_not_replaced_by_rule(hub: HubMemory) -> None:
    old = hub.remember("Lives in Porto", pinned=True).memory
    [taken] = take(hub, "Lives in Lisbon")
    assert taken.outcome == "held"
    assert hub.get(old.id).superseded_by is None


def test_one_undo_takes_back_all_of_a_call(hub: HubMemory) -> None:
    old = hub.remember("Lives in Porto").memory
    take(hub, "Moved to Lisbon", "Prefers tabs", "Has a dog named Rex")
    assert len(hub.list()) == 4
    hub.undo()
    assert [memory.content for memory in hub.list()] == ["Lives in Porto"]
    back = hub.get(old.id)
    assert (back.superseded_by, back.valid_until) == (None, None)


def test_two_proposals_that_say_the_same_are_one(hub: HubMemory) -> None:
    taken = take(hub, "Prefers tabs", "The user prefers tabs", "Lives in Oslo", "Lives in Lisbon")
    assert [one.outcome for one in taken] == ["stored", "mentioned", "stored", "superseded"]


def test_what_ends_the_job_is_part_of_the_transaction(hub: HubMemory) -> None:
    def fails(writer: Writer, taken: list[Taken]) -> None:
        raise Conflict("somebody else took the job over")

    with pytest.raises(Conflict):
        take(hub, "Prefers tabs", finish=fails)
    assert hub.list() == []
    assert counts(hub) == {}


def test_the_finish_runs_where_there_is_nothing_to_take(hub: HubMemory) -> None:
    ran: list[list[Taken]] = []
    assert take(hub, finish=lambda writer, taken: ran.append(taken)) == []
    assert ran == [[]]
    assert hub.changes() == []


def test_a_line_of_the_journal_stands_where_it_was_said(hub: HubMemory, clock: FixedClock) -> None:
    said_at = datetime(2026, 1, 10, 9, 30, tzinfo=UTC)
    event = datetime(2025, 12, 1, tzinfo=UTC)
    [taken] = take(hub, Proposal("Moved to Lisbon", at=said_at, occurred_at=event))
    assert taken.memory is not None
    assert taken.memory.occurred_at == said_at
    assert taken.memory.valid_from == event
    assert taken.memory.metadata["event"]["at"] == event.isoformat()


def test_what_somebody_else_says_of_themselves_is_theirs(memory: Holdfast, hub: HubMemory) -> None:
    hub.remember("Lives in Porto")
    hub.core = hub.core.acting("ann")
    [taken] = take(hub, "Lives in Lisbon")
    assert taken.outcome == "stored"


def test_a_private_memory_and_a_shared_one_do_not_meet(hub: HubMemory) -> None:
    hub.remember("Lives in Porto", boundary="private")
    [taken] = take(hub, "Lives in Lisbon")
    assert taken.outcome == "stored"


def test_an_empty_proposal_is_dropped(hub: HubMemory) -> None:
    [taken] = take(hub, "  ")
    assert taken == Taken("dropped", None, "content")
