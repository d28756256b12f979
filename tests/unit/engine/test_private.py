"""What is private to somebody else is not there: in no reading, no search, no count, no history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast import AlreadyExists, Conflict, HubMemory, InvalidInput, NotFound
from holdfast.testing import FixedClock

MARK = "xyzzy"


@pytest.fixture
def bob(hub: HubMemory) -> HubMemory:
    """The same hub for somebody else."""
    return HubMemory(hub.core.acting("bob"), hub.info, hub.home)


@pytest.fixture
def secret(hub: HubMemory, clock: FixedClock) -> Any:
    hub.remember("The door is green", session="talk")
    clock.tick()
    made = hub.remember(
        f"The {MARK} door is blue",
        boundary="private",
        key=MARK,
        tags=[MARK],
        session="talk",
        speaker=MARK,
    ).memory
    clock.tick()
    changed = hub.update(made.id, content=f"The {MARK} door is red", reason=MARK)
    clock.tick()
    return changed


READINGS: list[tuple[str, Callable[[HubMemory], Any]]] = [
    ("recall", lambda hub: hub.recall(f"{MARK} door")),
    ("recall words", lambda hub: hub.recall(f"{MARK} door", meaning=False)),
    ("recall archived", lambda hub: hub.recall(f"{MARK} door", include_archived=True)),
    ("recall explained", lambda hub: hub.recall("door", explain=True).left_out),
    ("recall filtered", lambda hub: hub.recall("door").filtered),
    ("list", lambda hub: hub.list()),
    ("list by key", lambda hub: hub.list(tags=[MARK])),
    ("list past", lambda hub: hub.list(as_of=hub.core.now())),
    ("scan", lambda hub: list(hub.scan())),
    ("related", lambda hub: hub.related(1)),
    ("statistics", lambda hub: hub.statistics()),
    ("context", lambda hub: hub.context()),
    ("context asked", lambda hub: hub.context(f"{MARK} door")),
    ("context explained", lambda hub: hub.context("door", explain=True)),
    ("changes", lambda hub: hub.changes()),
    ("export", lambda hub: list(hub.export())),
    ("conflicts", lambda hub: hub.conflicts()),
    ("lifecycle", lambda hub: hub.lifecycle(dry_run=True)),
    ("search_text", lambda hub: list(hub.search_text(MARK))),
]


@pytest.mark.parametrize(("name", "reading"), READINGS, ids=[name for name, _ in READINGS])
def test_no_reading_shows_it(
    hub: HubMemory, bob: HubMemory, secret: Any, name: str, reading: Callable[[HubMemory], Any]
) -> None:
    assert MARK not in repr(reading(bob)).replace(f"for “{MARK}", "")


def test_its_owner_sees_it_everywhere(hub: HubMemory, secret: Any) -> None:
    blind = {"recall explained", "recall filtered", "related", "conflicts", "lifecycle"}
    for name, reading in READINGS:
        if name not in blind | {"statistics"}:
            assert MARK in repr(reading(hub)), name
    assert hub.statistics().visible == 2


def test_counts_do_not_tell_of_it(hub: HubMemory, bob: HubMemory, secret: Any) -> None:
    told = bob.statistics()
    assert (told.memories, told.visible, told.revisions, told.changes) == (1, 1, 1, 1)


@pytest.mark.parametrize("reference", ["id", "number", "key"])
def test_no_name_leads_to_it(bob: HubMemory, secret: Any, reference: str) -> None:
    name = getattr(secret, reference)
    missing = {"id": "mem_nothing", "number": 999, "key": "nothing"}[reference]
    acts: list[Callable[[Any], Any]] = [
        bob.get,
        bob.access,
        bob.history,
        bob.forget,
        bob.archive,
        bob.restore,
        bob.purge,
        bob.pin,
        bob.related,
        bob.diff,
        lambda one: bob.update(one, content="mine"),
        lambda one: bob.get(one, as_of=bob.core.now()),
        lambda one: bob.remember("other", supersedes=one),
    ]
    for act in acts:
        with pytest.raises(NotFound) as found:
            act(name)
        with pytest.raises(NotFound) as absent:
            act(missing)
        # The same sentence as for one that is not there at all.
        assert str(found.value).replace(str(name), "X") == str(absent.value).replace(
            str(missing), "X"
        )


def test_a_change_of_it_cannot_be_undone_by_others(
    hub: HubMemory, bob: HubMemory, secret: Any
) -> None:
    change = hub.changes()[0]
    assert change.reason == MARK
    with pytest.raises(NotFound):
        bob.undo(change.id)
    visible = bob.changes()[0]
    assert bob.undo(visible.id).memories[0].content == "The door is green"
    assert hub.get(secret.id).content == secret.content


def test_saying_the_same_does_not_tell_that_it_is_known(
    hub: HubMemory, bob: HubMemory, secret: Any
) -> None:
    result = bob.remember(secret.content)
    assert type(result).__name__ == "Stored"
    assert len(hub.list()) == 3


def test_a_key_of_a_private_memory_is_free_for_others(
    hub: HubMemory, bob: HubMemory, secret: Any
) -> None:
    shared = bob.remember("Shared words", key=MARK).memory
    own = bob.remember("Bob's words", key=MARK, boundary="private").memory
    assert len({secret.id, shared.id, own.id}) == 3
    assert hub.get(MARK).id == secret.id
    assert bob.get(MARK).id == own.id
    # Who says nothing of a boundary means their own where they have one.
    assert hub.remember("New words", key=MARK).memory.id == secret.id
    assert hub.remember("Shared anew", key=MARK, boundary="hub").memory.id == shared.id
    with pytest.raises(AlreadyExists):
        hub.update(secret.id, boundary="hub")


def test_what_it_said_while_it_was_private_stays_private(
    hub: HubMemory, bob: HubMemory, secret: Any, clock: FixedClock
) -> None:
    before = clock.now()
    clock.tick()
    hub.update(secret.id, content="The door is red", key=None, tags=[], title="The door")
    clock.tick()
    hub.update(secret.id, boundary="hub")
    assert MARK not in repr([entry.after.content for entry in bob.history(secret.id)])
    assert len(bob.history(secret.id)) == 1
    assert len(hub.history(secret.id)) == 4
    with pytest.raises(NotFound):
        bob.get(secret.id, as_of=before)
    assert MARK not in repr(bob.list(as_of=before))
    assert MARK not in repr(bob.recall(f"{MARK} door", as_of=before))


def test_only_the_owner_can_make_it_private(hub: HubMemory, bob: HubMemory) -> None:
    memory = hub.remember("The door is green").memory
    with pytest.raises(InvalidInput, match="can make it private"):
        bob.update(memory.id, boundary="private")
    assert type(bob.remember("The door is green", boundary="private")).__name__ == "Stored"
    assert hub.get(memory.id).boundary == "hub"


def test_the_lifecycle_runs_for_all_and_tells_each_their_own(
    hub: HubMemory, bob: HubMemory, clock: FixedClock
) -> None:
    mine = hub.remember("Standup at nine", boundary="private", stability="volatile").memory
    clock.tick(days=20)
    assert bob.lifecycle() == []
    assert hub.get(mine.id).state == "cooling"


def test_a_change_that_also_touched_others_is_not_taken_back_by_halves(
    hub: HubMemory, bob: HubMemory, clock: FixedClock
) -> None:
    hub.remember("Standup at nine", boundary="private", stability="volatile")
    shared = hub.remember("Lunch at noon", stability="volatile").memory
    clock.tick(days=20)
    hub.lifecycle()
    with pytest.raises(Conflict, match="private to others"):
        bob.undo(bob.changes()[0].id)
    assert bob.get(shared.id).state == "cooling"


def test_bare_undo_takes_back_ones_own_last_change(hub: HubMemory, bob: HubMemory) -> None:
    mine = hub.remember("Mine").memory
    theirs = bob.remember("Bob's").memory
    assert [memory.id for memory in hub.undo().memories] == [mine.id]
    assert bob.get(theirs.id).content == "Bob's"
    with pytest.raises(NotFound, match=r"nothing of yours to undo.*bob's"):
        hub.undo()
