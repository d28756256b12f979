"""Whatever was written since, a reader that has read before answers as one that never did."""

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.hub import PersonName, Viewer
from holdfast.domain.query import Filter
from holdfast.domain.records import WITHOUT_WORDS
from holdfast.errors import HoldfastError
from holdfast.store.base import Store
from holdfast.store.sqlite import SqliteStore
from holdfast.store.sqlite.rows import _VIEWS_MAX
from holdfast.store.values import TermQuery
from holdfast.testing import CountedIds, HashEmbedder, open_for_tests

WORDS = ("guitar", "guitarist", "violin", "Straße", "C++", "東京都", "v1.2", "naïve", "tea")
TERMS = (
    "guitar",
    "guitarist",
    "violin",
    "strasse",
    "c++",
    "東京",
    "v1.2",
    "naive",
    "tea",
    "absent",
)
PREFIXES = ("", "gu", "guitar", "vi", "t", "東")


def everything(store: Store, hub_id: str) -> list[Any]:
    """What a recall reads of a hub."""
    out: list[Any] = []
    with store.read() as reader:
        lexicon = reader.lexicon(hub_id, TERMS)
        out.append(lexicon)
        out += [
            list(reader.vocabulary(hub_id, prefix, limit=limit).items())
            for prefix in PREFIXES
            for limit in (3, 2_000)
        ]
        numbers, ids = set(), set()
        for wanted in (Filter(), Filter(turns=True), Filter(states=("archived",))):
            for term in TERMS:
                found = reader.search_terms(hub_id, TermQuery((term,)), wanted, limit=200)
                out.append(found)
                numbers.update(one.passage_id for one in found)
                ids.update(one.memory_id for one in found)
            out.append(reader.candidates(hub_id, sorted(numbers), wanted))
        memories = reader.memories_by_id(hub_id, sorted(ids))
        out.append(memories)
        pairs = [
            (session, one, two)
            for session in ("s1", "s2")
            for numbered in [sorted(m.number for m in memories.values() if m.session == session)]
            for one, two in pairwise(numbered)
        ]
        out.append(list(zip(pairs, reader.adjacent(hub_id, pairs), strict=True)))
        out.append(reader.speakers(hub_id, limit=10))
        out.append(reader.records(hub_id, WITHOUT_WORDS, limit=1))
        out.append(reader.vector_state(hub_id, HashEmbedder().identity))
    return out


def text(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 6))) + f" no {chance.random():.6f}"


def remember(memory: Holdfast, hub: Any, other: Any, chance: random.Random) -> object:
    speaker = chance.choice(["Ada", "Bo", None])
    return hub.remember(text(chance), session=chance.choice(["s1", "s2"]), speaker=speaker)


def one_of(hub: Any, chance: random.Random) -> int:
    return chance.randint(1, hub.statistics().memories)


ACTS: tuple[Callable[[Holdfast, Any, Any, random.Random], object], ...] = (
    remember,
    remember,
    remember,
    lambda memory, hub, other, chance: other.remember(text(chance)),
    lambda memory, hub, other, chance: hub.remember_many([text(chance) for _ in range(3)]),
    lambda memory, hub, other, chance: hub.log_turn("user", text(chance), session="s1"),
    lambda memory, hub, other, chance: hub.forget(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.restore(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.update(one_of(hub, chance), content=text(chance)),
    lambda memory, hub, other, chance: hub.update(one_of(hub, chance), tags=["a"]),
    lambda memory, hub, other, chance: hub.update(one_of(hub, chance), category="b"),
    lambda memory, hub, other, chance: hub.pin(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.archive(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.access(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.purge(one_of(hub, chance)),
    lambda memory, hub, other, chance: hub.undo(),
    lambda memory, hub, other, chance: hub.forget_turns(session="s1"),
    lambda memory, hub, other, chance: hub.remember(
        text(chance), supersedes=hub.get(one_of(hub, chance)).id
    ),
    lambda memory, hub, other, chance: memory.core.store.settle(),
)


@pytest.mark.parametrize("seed", range(3))
def test_what_was_read_before_makes_no_difference(tmp_path: Path, seed: int) -> None:
    chance, done = random.Random(seed), set()
    with open_for_tests(tmp_path, embedder=HashEmbedder(), ids=CountedIds()) as memory:
        hub, other = memory.hub(), memory.create_hub("other")
        for _ in range(8):
            hub.remember(text(chance), session="s1")
        path = str(tmp_path / "memory.db")
        # As another process has it; and the one that is written with.
        stores: list[Store] = [SqliteStore(path), memory.core.store]
        for _ in range(60):
            act = chance.choice(ACTS)
            try:
                act(memory, hub, other, chance)
                done.add(ACTS.index(act))
            except HoldfastError:
                continue
            memory.core.wait()  # turns get their vectors later
            fresh = SqliteStore(path)
            expected = everything(fresh, hub.id)
            fresh.close()
            for store in stores if chance.random() < 0.7 else stores[:1]:
                assert everything(store, hub.id) == expected
        stores[0].close()
    assert len(done) > 12


def test_a_memory_that_is_written_without_a_revision_is_seen(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        kept = memory.hub().remember("A guitar").memory
        store = SqliteStore(str(tmp_path / "memory.db"))
        everything(store, kept.hub_id)
        with memory.core.store.write() as writer:
            writer.set_memory(kept._replace(state="archived"))
        fresh = SqliteStore(str(tmp_path / "memory.db"))
        assert everything(store, kept.hub_id) == everything(fresh, kept.hub_id)
        for one in (store, fresh):
            one.close()


def test_rows_are_kept_of_the_hubs_and_viewers_that_asked_last(tmp_path: Path) -> None:
    with open_for_tests(tmp_path) as memory:
        hub = memory.hub()
        hub.remember("A guitar")
        store = SqliteStore(str(tmp_path / "memory.db"))
        for number in range(_VIEWS_MAX + 20):
            with store.read(viewer=Viewer(PersonName(f"person{number}"))) as reader:
                assert reader.lexicon(hub.id, TERMS).frequency["guitar"] == 1
                snapshot = reader._snapshot
        assert snapshot is not None
        assert len(snapshot.hubs) == _VIEWS_MAX
        store.close()
