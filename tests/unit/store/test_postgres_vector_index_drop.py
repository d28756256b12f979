"""The server's index of vectors is taken away, beside readers and writers, whatever breaks it off;
and built again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from holdfast.embed import dequantise, quantise
from holdfast.errors import NotFound, StoreBusy, StoreReadOnly
from holdfast.recall.vector import VectorCache
from holdfast.store.base import Reader
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

_LENGTH = 16
_HUBS = ("hub_one", "hub_two")
_SIZE = 40

Matrix = npt.NDArray[np.float32]


def _unit(count: int, seed: int) -> Matrix:
    made = np.random.default_rng(seed).normal(size=(count, _LENGTH))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def name() -> Iterator[str]:
    databases().make_role()
    name = databases().make_empty()
    prepared = initialise(databases().url(name), partitions=2, role=ROLE)
    if not prepared.offered.vector_schema:
        databases().drop(name)
        pytest.skip(f"no pgvector here: {prepared.notes}")
    store = PostgresStore(databases().url(name))
    for seed, hub_id in enumerate(_HUBS):
        with store.write() as writer:
            writer.add_hub(make_hub(hub_id))
            for number, vector in enumerate(quantise(_unit(_SIZE, seed)), 1):
                put(writer, make_memory(number, hub_id=hub_id), [[vector]])
    assert list(vector_index.drop(store)) == [], "there was never one"
    store.close()
    yield name
    databases().drop(name)


@pytest.fixture
def store(name: str) -> Iterator[PostgresStore]:
    """With an index for both hubs."""
    opened = PostgresStore(databases().url(name))
    list(vector_index.build(opened, index_from=1))
    assert _indexed(opened) == {"one": _LENGTH, "two": _LENGTH}
    yield opened
    opened.close()


def _indexed(store: PostgresStore) -> dict[str, int]:
    with store.read() as reader:
        return {hub_id[4:]: reader.vector_index(hub_id, MODEL) for hub_id in _HUBS}


def _left(store: PostgresStore) -> tuple[int, int]:
    """Rows of the first hub, and all indexes of hubs."""
    with store.read() as reader:
        hub = reader._session.hub("hub_one")
        rows = reader._session.value(
            "SELECT count(*) FROM embeddings WHERE hub_id = %(hub)s", hub=hub
        )
        indexes = reader._session.value(
            "SELECT count(*) FROM pg_class WHERE relname LIKE 'embeddings\\_hub\\_%%'"
        )
    return rows, indexes


def _finds_all(reader: Reader, question: Matrix) -> bool:
    """Whether a search finds in the first hub what comparing all of them finds."""
    rows = list(reader.vectors("hub_one", MODEL, after=0))
    cosines = {row.passage_id: float(dequantise(row.vector) @ question) for row in rows}
    nearest_ten = sorted(cosines, key=lambda passage: (-cosines[passage], passage))[:10]
    hits = VectorCache().search(reader, "hub_one", MODEL, question, limit=10)
    return list(hits) == nearest_ten


def test_one_hub_loses_its_index_and_is_searched_exactly(store: PostgresStore) -> None:
    said = list(vector_index.drop(store, hub="one"))
    assert [(one.hub, one.model, one.vectors) for one in said] == [("one", MODEL, _SIZE)]
    assert _indexed(store) == {"one": 0, "two": _LENGTH}
    assert _left(store) == (0, 1)
    with store.read() as reader:
        assert _finds_all(reader, _unit(1, 9)[0])
    assert list(vector_index.drop(store, hub="one")) == []


def test_all_hubs_lose_theirs_and_those_that_are_gone(store: PostgresStore, name: str) -> None:
    databases().execute(
        "CREATE INDEX embeddings_hub_999_1_16 ON holdfast.embeddings_0 (hub_id)", name
    )
    assert [one.hub for one in vector_index.drop(store)] == ["one", "two"]
    assert _left(store) == (0, 0)
    assert store.check() == []


def test_what_is_written_meanwhile_is_in_the_index_that_is_built_again(
    store: PostgresStore,
) -> None:
    question = _unit(1, 21)[0]
    (blob,) = quantise(question[None, :])
    list(vector_index.drop(store, hub="one"))
    with store.write(hub="hub_one") as writer:
        put(writer, make_memory(700, hub_id="hub_one"), [[blob]])
        (added,) = writer.passages("hub_one", ["mem_700"])
    assert _left(store)[0] == 0, "writers keep no index that is not there"
    list(vector_index.build(store, index_from=1, hub="one"))
    with store.read() as reader:
        hits = VectorCache().search(reader, "hub_one", MODEL, question, limit=1)
        assert list(hits) == [added.passage_id]
    with store.write(hub="hub_one") as writer:
        writer.purge("hub_one", "mem_700")
    assert _left(store)[0] == _SIZE


def test_a_read_that_began_before_sees_all_of_its_moment(store: PostgresStore) -> None:
    with store.read() as reader:
        assert reader.vector_index("hub_one", MODEL) == _LENGTH
        assert len(list(vector_index.drop(store))) == 2
        assert _finds_all(reader, _unit(1, 5)[0])


@pytest.mark.parametrize("step", ["drop_indexes", "_delete_rows"])
def test_what_was_broken_off_is_finished_by_the_next_run(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class Killed(BaseException): ...

    def killed(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(vector_index, step, killed)
        list(vector_index.drop(store, hub="one"))
    rows, indexes = _left(store)
    assert (rows, indexes) == (_SIZE, 2 if step == "drop_indexes" else 1)
    # Whoever comes now is served, and leaves no row behind that nobody knows of.
    assert _indexed(store)["one"] == 0
    with store.read() as reader:
        assert _finds_all(reader, _unit(1, 7)[0])
    with store.write(hub="hub_one") as writer:
        put(writer, make_memory(800, hub_id="hub_one"), [list(quantise(_unit(1, 8)))])
        writer.purge("hub_one", "mem_800")
    list(vector_index.drop(store, hub="one"))
    assert _left(store) == (0, 1)


def test_rows_go_a_step_at_a_time(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "_DROP_STEP", 7)
    list(vector_index.drop(store, hub="one"))
    assert _left(store)[0] == 0


def test_a_hub_that_is_not_there_is_reported(store: PostgresStore) -> None:
    for work in (vector_index.drop(store, hub="three"), vector_index.build(store, hub="three")):
        with pytest.raises(NotFound, match="three"):
            list(work)


def test_one_process_at_a_time_and_the_owner_alone(store: PostgresStore, name: str) -> None:
    with vector_index.building(store), pytest.raises(StoreBusy):
        list(vector_index.drop(store))
    role = PostgresStore(databases().url(name, ROLE))
    with pytest.raises(StoreReadOnly, match="may not"):
        list(vector_index.drop(role))
    role.close()
    assert _indexed(store) == {"one": _LENGTH, "two": _LENGTH}
