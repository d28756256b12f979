"""The combinations of terms that the word index is asked for: the weightiest, enough of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("psycopg")

from holdfast.domain.query import EVERYTHING, Filter
from holdfast.store.postgres import PostgresStore
from holdfast.store.postgres.search import TERMS_MAX, Weighed, weightiest
from holdfast.store.postgres.session import LISTENERS
from holdfast.store.values import IndexEntry, TermQuery
from holdfast.testing.conformance.base import HUB, make_hub, make_memory
from tests.postgres_server import database

_PASSAGES = 100_000


def _fulfils(query: str, held: set[str]) -> bool:
    """What the server says of a row, in Python's words."""
    said = re.sub(r"'(\w+)'", lambda term: str(term[1] in held), query)
    return bool(eval(said.replace("&", " and ").replace("|", " or ")))


_TERMS = st.lists(
    st.tuples(st.floats(0.1, 12, allow_nan=False), st.integers(1, _PASSAGES)),
    min_size=1,
    max_size=TERMS_MAX,
).map(lambda pairs: [Weighed(f"'t{at}'", *pair) for at, pair in enumerate(pairs)])


@given(_TERMS, st.integers(1, 5_000), st.data())
def test_whatever_fulfils_the_query_outweighs_whatever_does_not(
    terms: list[Weighed], wanted: int, data: st.DataObject
) -> None:
    query = weightiest(terms, _PASSAGES, wanted)
    if not query:
        return
    one, two = (data.draw(st.sets(st.sampled_from(terms))) for _ in range(2))
    weights = [sum(term.weight for term in held) for held in (one, two)]
    held = [{term.query.strip("'") for term in some} for some in (one, two)]
    if _fulfils(query, held[0]) and not _fulfils(query, held[1]):
        assert weights[0] > weights[1] - 1e-6
    everything = {term.query.strip("'") for term in terms}
    assert _fulfils(query, everything)
    assert not _fulfils(query, set())


@pytest.mark.parametrize(
    ("shares", "wanted", "asked"),
    [
        # Few enough: any of them.
        ((100, 200), 1_200, ""),
        # A rare word and a common one: the rare alone is enough.
        ((3_000, 30_000), 1_200, "'t0'"),
        # Two that are equally common: only both together are rare.
        ((20_000, 20_000), 1_200, "'t0' & ('t1')"),
        # Nothing is rarer than the term itself.
        ((50_000,), 1_200, ""),
    ],
)
def test_the_bar_is_as_high_as_enough_passages_allow(
    shares: tuple[int, ...], wanted: int, asked: str
) -> None:
    terms = [
        Weighed(f"'t{at}'", 10.0 - passages / 10_000, passages)
        for at, passages in enumerate(shares)
    ]
    assert weightiest(terms, _PASSAGES, wanted) == asked


def test_of_many_terms_the_rarest_are_combined() -> None:
    terms = [Weighed(f"'t{at}'", 5.0 - at / 10, 20_000) for at in range(30)]
    query = weightiest(terms, _PASSAGES, 1_200)
    assert set(re.findall(r"'t(\d+)'", query)) <= {str(at) for at in range(TERMS_MAX)}
    assert len(query) < 3_000


def test_common_words_are_searched_for_together_and_a_filter_still_finds_all() -> None:
    # 400 passages hold one of two words, 20 hold both, and one of those with one has a tag.
    said = [("tea", "milk")] * 20 + [("tea", "pot"), ("milk", "jug")] * 200
    with database() as url:
        store = PostgresStore(url)
        with store.write() as writer:
            writer.add_hub(make_hub())
        with store.write(hub=HUB) as writer:
            for number, words in enumerate(said, 1):
                memory = make_memory(number)
                if number == len(said):
                    memory = memory._replace(tags=("rare",))
                writer.add_memory(memory)
                entry = IndexEntry(0, 0, 1, (), words, ())
                writer.index(HUB, memory.id, " ".join(words), [entry], "")
        query = TermQuery(("tea", "milk"), (), ())
        statements: list[str] = []
        LISTENERS.append(statements.append)
        try:
            with store.read() as reader:
                best = reader.search_terms(HUB, query, EVERYTHING, limit=10)
                once = sum("w.words @@" in statement for statement in statements)
                tagged = reader.search_terms(HUB, query, Filter(tags=("rare",)), limit=10)
                every = reader.search_terms(HUB, query, EVERYTHING, limit=1_000)
        finally:
            LISTENERS.remove(statements.append)
            store.close()
    assert once == 1
    assert {one.body for one in best} == {"tea milk"}
    assert [one.memory_id for one in tagged] == [f"mem_{len(said)}"]
    assert len(every) == len(said)
    assert all(one.body == "tea milk" for one in every[:20])
