"""The index of vectors that the server keeps for large hubs: it finds what an exact scan finds, in
each hub its own, and follows every change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from holdfast.embed import quantise
from holdfast.errors import InvalidInput, StoreError, StoreReadOnly
from holdfast.recall.vector import VectorCache
from holdfast.store.values import Capability, VectorRow
from tests.postgres_server import ROLE, databases

pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore, vector_index
from holdfast.store.postgres.initialise import initialise
from holdfast.testing.conformance.base import (
    MODEL,
    make_hub,
    make_memory,
    put,
)

_LENGTH = 32
# Uneven, as hubs are; the smallest stays below the bound.
_SIZES = {"hub_large": 500, "hub_middle": 250, "hub_small": 40}
_INDEX_FROM = 100

Matrix = npt.NDArray[np.float32]


def _unit(rng: np.random.Generator, count: int) -> Matrix:
    """Directions in a few clusters, as those of texts are."""
    centres = rng.normal(size=(12, _LENGTH))
    made = centres[rng.integers(0, 12, count)] + 0.7 * rng.normal(size=(count, _LENGTH))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def urls() -> Iterator[tuple[str, str]]:
    """Those of the owner and of a role that owns nothing, of one database."""
    databases().make_role()
    name = databases().make_empty()
    owner = databases().url(name)
    prepared = initialise(owner, partitions=2, role=ROLE)
    if not prepared.offered.vector_schema:
        databases().drop(name)
        pytest.skip(f"no pgvector here: {prepared.notes}")
    store = PostgresStore(owner)
    rng = np.random.default_rng(11)
    for hub_id, size in _SIZES.items():
        with store.write() as writer:
            writer.add_hub(make_hub(hub_id))
            for number, vector in enumerate(quantise(_unit(rng, size)), 1):
                put(writer, make_memory(number, hub_id=hub_id), [[vector]])
    found = list(vector_index.build(store, index_from=_INDEX_FROM))
    assert [(one.hub, one.vectors) for one in found] == [("large", 500), ("middle", 250)]
    assert list(vector_index.build(store, index_from=_INDEX_FROM)) == []
    store.close()
    # Roles that were let in before go on writing.
    yield owner, databases().url(name, ROLE)
    databases().drop(name)


@pytest.fixture
def store(urls: tuple[str, str]) -> Iterator[PostgresStore]:
    opened = PostgresStore(urls[1])
    yield opened
    opened.close()


def _asked(store: PostgresStore, hub_id: str, question: Matrix, limit: int = 10) -> list[int]:
    with store.read() as reader:
        hits = VectorCache().search(reader, hub_id, MODEL, question, limit=limit)
    return list(hits)


def _exact(store: PostgresStore, hub_id: str, question: Matrix, limit: int = 10) -> list[int]:
    """The same by comparing all of them."""
    from holdfast.embed import dequantise

    with store.read() as reader:
        rows = list(reader.vectors(hub_id, MODEL, after=0))
    cosines = {row.passage_id: float(dequantise(row.vector) @ question) for row in rows}
    return sorted(cosines, key=lambda passage: (-cosines[passage], passage))[:limit]


def test_the_index_finds_at_least_95_of_100_of_what_an_exact_scan_finds(
    store: PostgresStore,
) -> None:
    rng = np.random.default_rng(5)
    for hub_id in _SIZES:
        found = wanted = 0
        for question in _unit(rng, 20):
            exact = _exact(store, hub_id, question)
            asked = _asked(store, hub_id, question)
            assert len(asked) == 10
            found += len(set(exact) & set(asked))
            wanted += len(exact)
        assert found / wanted >= 0.95, hub_id


def test_only_large_hubs_are_in_the_index(store: PostgresStore) -> None:
    assert Capability.NEAREST in store.capabilities
    with store.read() as reader:
        lengths = {hub_id: reader.vector_index(hub_id, MODEL) for hub_id in _SIZES}
        assert lengths == {"hub_large": _LENGTH, "hub_middle": _LENGTH, "hub_small": 0}
        assert reader.vector_index("hub_large", "another model") == 0


class _Embedder:
    """A model that makes the same vector of any text."""

    identity = MODEL
    dimensions = _LENGTH
    passage_tokens_max = 64

    def __init__(self, vector: np.ndarray) -> None:
        self._vector = vector

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._vector for _ in texts])


def test_a_hub_in_the_index_is_not_read_into_memory(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.store.postgres.reader import PostgresReader

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("all vectors were read")

    monkeypatch.setattr(PostgresReader, "vectors", refuse)
    question = _unit(np.random.default_rng(1), 1)[0]
    cache = VectorCache()
    with store.read() as reader:
        cache.refresh(reader, "hub_large", MODEL)
        asked = cache.question(reader, "hub_large", _Embedder(question), "any question")
        assert np.array_equal(asked, question)
        # What is named comes along, wherever it stands.
        far = _exact_last(store, question)
        hits = cache.search(reader, "hub_large", MODEL, question, limit=3, also=[far])
    assert len(hits) == 4
    assert list(hits)[-1] == far


def test_the_centre_of_a_hub_in_the_index_is_read_once(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.embed import dequantise
    from holdfast.recall import vector

    monkeypatch.setattr(vector, "_SAMPLE_ROWS", 100)
    cache = VectorCache()
    with store.read() as reader:
        centre = cache.centre(reader, "hub_large", MODEL)
        # The rest of the rows was left unread, and the reader goes on.
        rows = list(reader.vectors("hub_large", MODEL, after=0))[:100]
        assert centre is not None
        mean = np.mean([dequantise(row.vector) for row in rows], axis=0)
        assert centre.tolist() == pytest.approx(mean.tolist(), abs=1e-6)
        assert cache.centre(reader, "hub_large", MODEL) is centre


def _exact_last(store: PostgresStore, question: Matrix) -> int:
    with store.read() as reader:
        return reader.passages("hub_large", ["mem_500"])[0].passage_id


def test_the_index_is_the_one_that_the_server_uses(store: PostgresStore) -> None:
    with store.read() as reader:
        session = reader._session
        hub, model, of = session.hub("hub_large"), reader._model(MODEL), session.halfvec
        session.run("SELECT set_config('enable_sort', 'off', true)")
        question = f"[{','.join(['0.1'] * _LENGTH)}]"
        plan = session.all(
            "EXPLAIN SELECT e.passage FROM embeddings e WHERE e.hub_id = %(hub)s"
            f" AND e.model = {model} ORDER BY e.embedding::{of.type}({_LENGTH})"
            f" {of.distance} %(question)s::{of.type}({_LENGTH}) LIMIT 40",
            hub=hub,
            question=question,
        )
    text = "\n".join(row[0] for row in plan)
    assert "Index Scan using embeddings_" in text
    assert "Order By" in text


def test_what_comes_and_goes_is_in_the_index_at_once(store: PostgresStore) -> None:
    rng = np.random.default_rng(3)
    question = _unit(rng, 1)[0]
    (blob,) = quantise(question[None, :])
    with store.write(hub="hub_middle") as writer:
        put(writer, make_memory(1_001, hub_id="hub_middle"), [[blob]])
        put(writer, make_memory(1_002, hub_id="hub_middle"))
        (first,) = writer.passages("hub_middle", ["mem_1001"])
        (second,) = writer.passages("hub_middle", ["mem_1002"])
        assert _names(writer, question)[0] == first.passage_id
        writer.set_vectors("hub_middle", MODEL, [VectorRow(second.passage_id, 0, blob)])
    assert set(_asked(store, "hub_middle", question)[:2]) == {
        first.passage_id,
        second.passage_id,
    }
    with store.write(hub="hub_middle") as writer:
        writer.purge("hub_middle", "mem_1001")
        writer.unindex("hub_middle", "mem_1002")
        writer.purge("hub_middle", "mem_1002")
    assert not {first.passage_id, second.passage_id} & set(_asked(store, "hub_middle", question))
    # A vector of another length does not fit, and harms nothing.
    with store.write(hub="hub_middle") as writer:
        put(writer, make_memory(1_003, hub_id="hub_middle"), [[b"\x00\x00\x80?odd"]])
        writer.purge("hub_middle", "mem_1003")
    assert store.check() == []


def _names(reader: object, question: Matrix) -> list[int]:
    hits = VectorCache().search(reader, "hub_middle", MODEL, question, limit=5)  # type: ignore[arg-type]
    return list(hits)


def test_who_owns_nothing_is_told_who_makes_the_index(store: PostgresStore) -> None:
    with pytest.raises(StoreReadOnly, match="may not") as caught:
        list(vector_index.build(store, index_from=1))
    assert "owner" in caught.value.hint


def test_without_pgvector_the_error_says_how_to_get_it(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "offered", store.offered._replace(vector_schema=""))
    assert Capability.NEAREST not in store.capabilities
    with pytest.raises(StoreError, match="pgvector") as caught:
        list(vector_index.build(store))
    assert "a superuser runs" in caught.value.hint


def test_each_hub_has_an_index_of_its_own(urls: tuple[str, str]) -> None:
    assert len(_indexes(urls[0])) == 2


def test_an_index_that_hubs_share_still_serves(urls: tuple[str, str]) -> None:
    """As older versions made it."""
    import psycopg

    with psycopg.connect(urls[0], autocommit=True) as connection:
        connection.execute("SET search_path = holdfast, public")
        for name in _indexes(urls[0]):
            connection.execute(f"DROP INDEX {name}")
        connection.execute(
            f"CREATE INDEX embeddings_1_{_LENGTH} ON embeddings USING hnsw"
            f" ((embedding::halfvec({_LENGTH})) halfvec_cosine_ops) WHERE model = 1"
        )
    store = PostgresStore(urls[0])
    rng = np.random.default_rng(19)
    for hub_id in ("hub_large", "hub_middle"):
        question = _unit(rng, 1)[0]
        exact, asked = _exact(store, hub_id, question), _asked(store, hub_id, question)
        assert len(set(exact) & set(asked)) >= 9
    store.close()


def test_dropping_what_is_derived_empties_the_index_and_it_is_made_anew(
    urls: tuple[str, str],
) -> None:
    store = PostgresStore(urls[0])
    with store.write() as writer:
        writer.drop_derived()
        assert writer.vector_index("hub_large", MODEL) == 0
    with store.read() as reader:
        reader._session.hub("hub_large")
        assert reader._session.value("SELECT count(*) FROM embeddings") == 0
    rng = np.random.default_rng(13)
    vectors = quantise(_unit(rng, 120))
    with store.write(hub="hub_middle") as writer:
        for number, vector in enumerate(vectors, 2_001):
            put(writer, make_memory(number, hub_id="hub_middle"), [[vector]])
    found = list(vector_index.build(store, index_from=_INDEX_FROM, memory="64MB"))
    assert [(one.hub, one.vectors) for one in found] == [("middle", 120)]
    # That of the other hub, which has no vectors any more, is gone.
    assert len(_indexes(urls[0])) == 1
    question = _unit(rng, 1)[0]
    assert _asked(store, "hub_middle", question)[0] == _exact(store, "hub_middle", question)[0]
    store.close()


def test_the_hub_is_not_kept_waiting_by_a_server_that_knows_nothing_of_the_new_rows(
    urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.store.postgres.session import Session

    store = PostgresStore(urls[0])
    with store.write() as writer:
        writer.drop_derived()
    with store.write(hub="hub_large") as writer:
        for number, vector in enumerate(quantise(_unit(np.random.default_rng(7), 120)), 3_001):
            put(writer, make_memory(number, hub_id="hub_large"), [[vector]])
    plans: list[str] = []
    put_as_it_is = Session.put

    def explained(self: Session, statement: str, values: Sequence[object]) -> int:
        if "NOT EXISTS" in statement:
            found = self.connection.execute(f"EXPLAIN {statement}", values).fetchall()
            plans.append("\n".join(row[0] for row in found))
        return put_as_it_is(self, statement, values)

    monkeypatch.setattr(Session, "put", explained)
    assert [one.hub for one in vector_index.build(store, index_from=_INDEX_FROM)] == ["large"]
    store.close()
    assert len(plans) == 2
    assert not [plan for plan in plans if "Nested Loop" in plan]


def test_an_amount_of_memory_that_is_none_is_refused(store: PostgresStore) -> None:
    with pytest.raises(InvalidInput, match="no amount of memory"):
        list(vector_index.build(store, memory="2GB; DROP TABLE hubs"))


def _indexes(url: str) -> list[str]:
    import psycopg

    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT indexname FROM pg_indexes WHERE indexname LIKE 'embeddings\\_hub\\_%'"
        ).fetchall()
    return [row[0] for row in found]
