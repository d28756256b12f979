"""What passes propose, unasked: grounded, counted, superseded or held, all in one change set."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from holdfast import Holdfast, HubMemory
from holdfast.domain.memory import Origin
from holdfast.engine.writing.proposals import Proposal, Taken, take_proposals
from holdfast.errors import Conflict
from holdfast.store.base import Writer
from holdfast.testing import FixedClock, HashEmbedder, open_for_tests
from holdfast.text.clean import content_hash

if TYPE_CHECKING:
    from holdfast.embed import Matrix


def take(hub: HubMemory, *proposals: Proposal | str, **values: object) -> list[Taken]:
    given = [Proposal(one) if isinstance(one, str) else one for one in proposals]
    return take_proposals(hub.scope, given, **values)  # type: ignore[arg-type]


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


def test_what_the_turn_does_not_support_is_dropped_with_its_reason(hub: HubMemory) -> None:
    said = "I live in Lisbon. Should I move to Porto?"
    taken = take(
        hub,
        Proposal("Lives in Faro", said=said),
        Proposal("Lives in Porto", said=said),
        Proposal("Lives in Lisbon", said=said),
    )
    assert [one.outcome for one in taken] == ["dropped", "dropped", "stored"]
    assert [one.reason for one in taken[:2]] == ["name", "name"]
    assert [memory.content for memory in hub.list()] == ["Lives in Lisbon"]


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


def test_what_adds_nothing_to_what_is_known_makes_no_row(hub: HubMemory) -> None:
    hub.remember("Has a dog named Rex and a cat")
    [less] = take(hub, "Has a dog")
    [more] = take(hub, "Has a dog named Rex and a horse")
    assert (less.outcome, more.outcome) == ("mentioned", "stored")


def test_what_a_person_rejected_is_not_put_before_them_again(hub: HubMemory) -> None:
    hub.remember("Eats meat")
    [held] = take(hub, "Does not eat meat")
    assert held.memory is not None
    hub.archive(held.memory.id, reason="rejected in review")
    [again] = take(hub, "Does not eat meat")
    assert (again.outcome, again.reason) == ("dropped", "rejected")
    assert hub.list(quarantined=True) == [] or hub.find(held.memory.id).state == "archived"


def test_what_was_archived_by_age_comes_back_when_it_is_said_again(hub: HubMemory) -> None:
    old = hub.remember("Prefers tabs").memory
    hub.archive(old.id)
    [taken] = take(hub, "Prefers tabs")
    assert taken.outcome == "mentioned"
    assert hub.get(old.id).state == "active"


def test_what_means_the_same_is_known_by_its_vector(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=AlikeEmbedder()) as memory:
        hub = memory.hub()
        hub.remember("Lives in a small house by the lake")
        outcomes = [
            take(hub, text)[0].outcome
            for text in (
                "Lives in a little house by the lake",
                "Lives in a large house by the lake",
                "Lives in a little house by the sea with many old trees",
            )
        ]
    assert outcomes == ["mentioned", "stored", "stored"]


class AlikeEmbedder(HashEmbedder):
    """An embedder that finds everything alike: what is told apart is told apart by words."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return super().embed_passages(["the same"] * len(texts))


def test_a_line_that_replaces_a_lasting_memory_leaves_the_journal(hub: HubMemory) -> None:
    hub.remember("Lives in Porto", layer="long_term")
    [taken] = take(hub, Proposal("Moved to Lisbon", source_path="2026-01-14.md#abc"))
    assert taken.memory is not None
    assert (taken.memory.layer, taken.memory.source_path) == ("long_term", None)
    [next_one] = take(hub, "Moved to Oslo")
    assert next_one.outcome == "superseded"


def test_memory_md_follows_what_a_pass_supersedes(hub: HubMemory) -> None:
    hub.sync()
    hub.remember("Lives in Porto", layer="long_term")
    take(hub, "Moved to Lisbon")
    hub.sync()
    text = Path(hub.memory_md).read_text()
    assert ("Lisbon" in text, "Porto" in text) == (True, False)
    hub.undo()
    text = Path(hub.memory_md).read_text()
    assert ("Lisbon" in text, "Porto" in text) == (False, True)
