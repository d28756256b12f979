"""A writer that has searched before finds the same as a new one, and asks the index once."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from holdfast.api.memory import Holdfast
from holdfast.domain.query import Filter
from holdfast.errors import NotFound
from holdfast.store.sqlite import SqliteStore, rows
from holdfast.store.sqlite.rows import PostingCache
from holdfast.store.values import Candidate, IndexEntry, TermQuery
from holdfast.testing import CountedIds, open_for_tests

WORDS = ("guitar", "violin", "tea", "harbour", "kiwi", "plum")
QUERIES = tuple(
    TermQuery(terms, by_rarity=True, postings_max=most)
    for terms in (WORDS, WORDS[:2], ("tea", "absent"))
    for most in (None, 1, 1_000)
)


class GivenUp(Exception):
    """Raised to roll a transaction back."""


def found_by_writer(store: SqliteStore, hub_id: str) -> list[list[Candidate]]:
    with store.write() as writer:
        return [writer.search_terms(hub_id, one, Filter(), limit=4) for one in QUERIES]


def remember(memory: Holdfast, chance: random.Random) -> Any:
    words = " ".join(chance.choices(WORDS, k=3))
    return memory.hub().remember(f"{words} no {chance.random():.6f}")


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(str(tmp_path / "memory.db"))


@pytest.mark.parametrize("seed", range(3))
def test_what_was_written_since_is_found(tmp_path: Path, store: SqliteStore, seed: int) -> None:
    chance = random.Random(seed)
    ids = CountedIds()
    with open_for_tests(tmp_path, store=store, ids=ids) as memory:
        hub = memory.hub()
        remember(memory, chance)
        for _ in range(20):
            act = chance.choice(("add", "add", "change", "forget", "purge", "other", "undo"))
            number = chance.randint(1, hub.statistics().memories)
            if act == "change":
                # It may have been forgotten or purged.
                with suppress(NotFound):
                    hub.update(number, content=f"{chance.choice(WORDS)} no {chance.random():.6f}")
            elif act == "purge":
                hub.purge(remember(memory, chance).memory.id)
            elif act == "forget":
                hub.forget(remember(memory, chance).memory.id)
            elif act == "undo":
                remember(memory, chance)
                hub.undo()
            elif act == "other":
                # As another process would.
                again = SqliteStore(store.path)
                with open_for_tests(tmp_path, store=again, ids=ids) as beside:
                    remember(beside, chance)
            else:
                remember(memory, chance)
            fresh = SqliteStore(store.path)
            assert found_by_writer(store, hub.id) == found_by_writer(fresh, hub.id), act
            fresh.close()


def test_what_was_rolled_back_is_not_found(tmp_path: Path, store: SqliteStore) -> None:
    with open_for_tests(tmp_path, store=store) as memory:
        hub = memory.hub()
        kept = hub.remember("guitar one").memory
        before = found_by_writer(store, hub.id)
        entry = IndexEntry(0, 0, 13, (), ("guitar", "violin"), ())
        with pytest.raises(GivenUp), store.write() as writer:
            writer.index(hub.id, kept.id, "guitar violin", [entry], "")
            writer.search_terms(hub.id, QUERIES[0], Filter(), limit=4)
            raise GivenUp
        assert found_by_writer(store, hub.id) == before


def test_the_index_is_asked_once_for_the_passages_of_a_word(
    tmp_path: Path, store: SqliteStore
) -> None:
    with open_for_tests(tmp_path, store=store) as memory:
        hub = memory.hub()
        hub.remember("guitar one")
        found_by_writer(store, hub.id)
        asked: list[str] = []

        def note(event: dict[str, Any]) -> None:
            asked.append(event["sql"])

        hub.remember("violin two")
        store._writer.trace_v2(apsw.SQLITE_TRACE_STMT, note)
        found_by_writer(store, hub.id)
    assert not [sql for sql in asked if "words MATCH" in sql]


def test_the_cache_is_bounded() -> None:
    cache = PostingCache()
    cache.of(1, 1, -1)
    cache.keep(1, -1, {"guitar": list(range(rows._POSTINGS_MAX))})
    assert cache.of(1, 1, -1) == {}
    cache.keep(1, -1, {"guitar": [1]})
    assert cache.of(1, 1, -1) == {"guitar": [1]}
