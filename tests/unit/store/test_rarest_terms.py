"""A search with a bound on postings asks for the rarest terms, and for no others."""

from pathlib import Path

import pytest

from holdfast.domain.query import Filter
from holdfast.store.base import Store
from holdfast.store.inmemory import InMemoryStore
from holdfast.store.sqlite import open_store
from holdfast.store.values import TermQuery
from holdfast.testing import open_for_tests

TERMS = ("common", "kiwi", "plum", "absent")


@pytest.fixture(params=["sqlite", "inmemory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "sqlite":
        return open_store(str(tmp_path / "memory.db"))
    return InMemoryStore()


@pytest.mark.parametrize("by_rarity", [True, False])
@pytest.mark.parametrize(
    ("most", "expected"),
    [(0, set()), (1, {"kiwi"}), (2, {"kiwi", "plum"}), (4, {"kiwi", "plum"}), (5, set(TERMS))],
)
def test_only_the_rarest_terms_are_asked_for(
    store: Store, tmp_path: Path, most: int, expected: set[str], by_rarity: bool
) -> None:
    with open_for_tests(tmp_path, store=store) as memory:
        hub = memory.hub()
        for text in ("common one", "common two", "common three", "kiwi four", "plum five"):
            hub.remember(text)
        query = TermQuery(TERMS, by_rarity=by_rarity, postings_max=most)
        with memory.core.store.read() as reader:
            found = reader.search_terms(hub.id, query, Filter(), limit=10)
    words = {one.body.split()[0] for one in found}
    assert words == expected - {"absent"}
