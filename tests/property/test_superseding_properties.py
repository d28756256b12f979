"""Whatever is proposed or remembered in whatever order: no text becomes unreachable, an undo gives
back the exact state before, and of one slot there is at most one value in force."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.domain.memory import COUNTERS, Memory, made_from
from holdfast.domain.query import EVERYTHING
from holdfast.engine.reading.listing import scan_memories
from holdfast.engine.writing.proposals import Proposal, take_proposals
from holdfast.errors import Conflict
from holdfast.store.inmemory import InMemoryStore
from holdfast.testing import FixedClock, open_for_tests
from holdfast.text.slots.compare import compare

# Statements that meet: some say the same, some replace each other, some contradict each other.
STATEMENTS = (
    "Lives in Porto", "Lives in Lisbon", "Moved to Lisbon", "The user lives in Oslo",
    "Moved from Porto to Oslo", "Works at Acme", "Works at Initech", "Quit Acme", "Eats meat",
    "Does not eat meat", "No longer eats meat", "Uses Python 3.11", "Uses Python 3.12",
    "The API runs on port 5432", "The API runs on port 5433", "Likes tea", "Likes coffee",
    "Prefers tabs over spaces", "Prefers spaces over tabs", "Ann lives in Rome",
    "Ann moved to Milan", "Favourite colour is blue", "Favourite colour is green",
)  # fmt: skip
ONE = st.sampled_from(STATEMENTS)
# Each step is one call: a statement that a person makes, or some that a pass proposes.
STEPS = st.lists(st.one_of(ONE, st.lists(ONE, min_size=1, max_size=4).map(tuple)), max_size=12)
Step = str | tuple[str, ...]


@contextmanager
def a_hub() -> Iterator[HubMemory]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_for_tests(folder, store=InMemoryStore(), clock=FixedClock()) as memory,
    ):
        yield memory.hub()


def do(hub: HubMemory, step: Step) -> None:
    if isinstance(step, str):
        hub.remember(step)
    else:
        proposals = [Proposal(text) for text in step]
        take_proposals(hub.scope, proposals)


def rows(hub: HubMemory) -> dict[str, Memory]:
    found = scan_memories(hub.scope, EVERYTHING)
    return {memory.id: memory for memory in found}


def state(hub: HubMemory) -> dict[str, tuple[object, ...]]:
    """All that is not forgotten, without counters and without what counts the changes."""
    left_out = COUNTERS | {"version", "updated_at"}
    return {
        memory.id: tuple(
            v for f, v in zip(Memory._fields, memory, strict=True) if f not in left_out
        )
        for memory in rows(hub).values()
        if memory.forgotten_at is None
    }


@settings(max_examples=60)
@given(steps=STEPS)
def test_no_text_becomes_unreachable(steps: Sequence[Step]) -> None:
    with a_hub() as hub:
        for step in steps:
            do(hub, step)
            said = {step} if isinstance(step, str) else set(step)
            there = list(rows(hub).values())
            for text in said:
                # It is a row, or one in force says the same; of a superseded one the link leads on.
                assert any(
                    memory.content == text or compare(text, memory.content).relation == "same"
                    for memory in there
                )
        everything = rows(hub)
        for memory in everything.values():
            assert hub.find(memory.id).content == memory.content
            assert hub.history(memory.id)
            newest, links = memory, 0
            while newest.superseded_by is not None:
                newest, links = everything[newest.superseded_by], links + 1
                assert links <= len(everything)
            assert newest.forgotten_at is None
            assert memory.superseded_by is None or memory.valid_until is not None


@settings(max_examples=60)
@given(steps=STEPS)
def test_undo_gives_back_the_exact_state_before(steps: Sequence[Step]) -> None:
    with a_hub() as hub:
        states = [(len(hub.changes()), state(hub))]
        for step in steps:
            do(hub, step)
            if len(hub.changes()) > states[-1][0]:
                states.append((len(hub.changes()), state(hub)))
        for _, before in reversed(states[:-1]):
            hub.undo()
            assert state(hub) == before


@settings(max_examples=60)
@given(steps=STEPS)
def test_what_a_person_says_last_is_in_force(steps: Sequence[Step]) -> None:
    with a_hub() as hub:
        for step in steps:
            do(hub, step)
            if isinstance(step, str):
                in_force = [m for m in hub.list() if m.superseded_by is None]
                assert step in {memory.content for memory in in_force}
                assert not [
                    memory.content
                    for memory in in_force
                    if compare(step, memory.content).relation == "replaces"
                ]


@settings(max_examples=60)
@given(steps=STEPS)
def test_what_passes_propose_never_says_one_thing_twice(steps: Sequence[Step]) -> None:
    with a_hub() as hub:
        for step in steps:
            do(hub, (step,) if isinstance(step, str) else step)
        found = [m for m in hub.list() if m.superseded_by is None]
        # A line of the journal stays where it is when it is promoted.
        promoted = {source for m in found for source in made_from(m)}
        in_force = [m.content for m in found if m.id not in promoted]
        assert len(in_force) == len(set(in_force))
        twice = [
            (one, other)
            for at, one in enumerate(in_force)
            for other in in_force[at + 1 :]
            if compare(one, other).relation == "same"
        ]
        assert twice == []


def test_an_undo_of_what_was_superseded_again_is_refused() -> None:
    with a_hub() as hub:
        hub.remember("Lives in Porto")
        second = hub.remember("Lives in Lisbon")
        hub.remember("Lives in Oslo")
        change = hub.history(second.memory.id)[0].change.id
        try:
            hub.undo(change)
        except Conflict:
            return
        raise AssertionError("the undo of an older move went through unasked")
