"""What a statement takes the place of is looked for before the write begins. Whatever others write
between the look and the write, the end is the same as if they had written before the look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import HubMemory
from holdfast.engine.writing import proposals, remember
from holdfast.engine.writing.drafts import Prepared
from holdfast.engine.writing.supersede import _CHANGED_MAX
from holdfast.errors import Conflict, NotFound
from tests.property.test_superseding_properties import ONE, Step, a_hub, do, rows

Looked = Callable[..., list[Prepared]]


@contextmanager
def between(others: Callable[[], object]) -> Iterator[None]:
    """Lets others write once, after the next look and before the write it was for."""
    waiting = [others]

    def after(looked: Looked) -> Looked:
        def wrapped(*arguments: object) -> list[Prepared]:
            found = looked(*arguments)
            if waiting:
                waiting.pop()()
            return found

        return wrapped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remember, "with_candidates", after(remember.with_candidates))
        patch.setattr(proposals, "_with_rivals", after(proposals._with_rivals))
        yield
    assert not waiting, "nothing was looked for"


def state(hub: HubMemory) -> list[tuple[object, ...]]:
    """Every memory in its order, with what took its place."""
    there = rows(hub)
    contents = {memory.id: memory.content for memory in there.values()}
    return sorted(
        (
            memory.number,
            memory.content,
            memory.quarantine,
            memory.mention_count,
            memory.forgotten_at is None,
            contents.get(memory.superseded_by or ""),
            contents.get(memory.supersedes or ""),
        )
        for memory in there.values()
    )


def some_change(hub: HubMemory, kind: str, at: int, text: str) -> None:
    """Something that others do with what is there."""
    there = [one for one in rows(hub).values() if one.forgotten_at is None]
    if kind == "undo":
        # There may be nothing left to undo, or something in the way.
        with suppress(NotFound, Conflict):
            hub.undo()
    if not there or kind == "undo":
        return
    one = there[at % len(there)]
    if kind == "edit":
        hub.update(one.id, content=text)
    elif kind == "forget":
        hub.forget(one.id)
    elif kind == "purge":
        hub.purge(one.id, reason="asked to")
    elif kind == "pin":
        hub.update(one.id, pinned=True)


FEW = st.lists(st.one_of(ONE, st.lists(ONE, min_size=1, max_size=2).map(tuple)), max_size=3)
CHANGES = st.tuples(
    st.sampled_from(["edit", "forget", "purge", "pin", "undo"]), st.integers(0, 9), ONE
)


@settings(max_examples=30)
@given(first=FEW, others=st.lists(st.one_of(FEW, CHANGES), max_size=3), last=ONE)
def test_what_others_write_meanwhile_counts(
    first: Sequence[Step], others: Sequence[object], last: str
) -> None:
    def write(hub: HubMemory) -> None:
        for one in others:
            if isinstance(one, tuple):
                some_change(hub, *one)
            else:
                assert isinstance(one, list)
                for step in one:
                    do(hub, step)

    states = []
    for meanwhile in (False, True):
        with a_hub() as hub:
            for step in first:
                do(hub, step)
            if meanwhile:
                with between(lambda hub=hub: write(hub)):
                    do(hub, (last,))
            else:
                write(hub)
                do(hub, (last,))
            states.append(state(hub))
    assert states[0] == states[1]


@pytest.mark.parametrize("many", [0, _CHANGED_MAX + 5])
@pytest.mark.parametrize("kind", ["edit", "forget", "purge", "pin", "undo", "say"])
def test_a_person_who_speaks_meanwhile_is_heard(kind: str, many: int) -> None:
    states = []
    for meanwhile in (False, True):
        with a_hub() as hub:
            hub.remember("Likes long walks")
            hub.remember("Lives in Porto")

            def others(hub: HubMemory = hub) -> None:
                hub.remember_many([f"Walk number {at} was long" for at in range(many)])
                if kind == "say":
                    hub.remember("Moved to Rome")
                else:
                    some_change(hub, kind, 0 if kind == "edit" else 1, "Lives in Milan")

            if meanwhile:
                with between(others):
                    hub.remember("Lives in Lisbon")
            else:
                others()
                hub.remember("Lives in Lisbon")
            states.append(state(hub))
    assert states[0] == states[1]
