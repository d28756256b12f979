"""The bundled model itself. Skipped where its package is not installed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import holdfast
from holdfast.embed import Embedder, check_hashes, dequantise, quantise
from holdfast.embed.onnx import QUERY_PREFIX, OnnxEmbedder
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed import Matrix, Vector

TEXTS = (
    "Anna spent the whole of May hiking in the Dolomites with her sister.",
    "The deployment failed because the database password had expired.",
    "ok",
    "We decided to use SQLite since one file is easy to back up. " * 30,
    "Grandma's lasagne needs two hours in the oven.",
    "",
    "東京に行きました",
)


def test_it_is_the_model_it_says(bundled: Embedder) -> None:
    assert bundled.identity == "holdfast-embed-s/1"
    assert bundled.dimensions == 384
    assert bundled.passage_tokens_max == 512


def test_vectors_are_unit_rows_in_the_order_of_the_texts(bundled: Embedder) -> None:
    matrix = bundled.embed_passages(TEXTS)
    assert matrix.shape == (len(TEXTS), 384)
    assert matrix.dtype == np.float32
    assert np.allclose(np.linalg.norm(matrix, axis=1), 1, atol=1e-5)
    assert np.array_equal(matrix[::-1], bundled.embed_passages(TEXTS[::-1]))


def test_the_same_text_gives_the_same_bytes_alone_and_among_others(bundled: Embedder) -> None:
    together = bundled.embed_passages(TEXTS)
    for row, text in zip(together, TEXTS, strict=True):
        assert bundled.embed_passages([text])[0].tobytes() == row.tobytes()


def test_the_number_of_threads_changes_no_byte(bundled: Embedder, model_folder: str) -> None:
    one = OnnxEmbedder(model_folder, threads=1).embed_passages(TEXTS)
    four = OnnxEmbedder(model_folder, threads=4).embed_passages(TEXTS)
    assert one.tobytes() == four.tobytes() == bundled.embed_passages(TEXTS).tobytes()


def test_a_question_is_nearest_to_its_answer(bundled: Embedder) -> None:
    passages = bundled.embed_passages(TEXTS)
    for question, answer in (
        ("where did Anna go on holiday?", 0),
        ("why was the release broken?", 1),
        ("how long does the pasta dish bake?", 4),
    ):
        assert int(np.argmax(passages @ bundled.embed_query(question))) == answer


def test_like_texts_are_closer_than_unlike_ones_also_as_stored(bundled: Embedder) -> None:
    cat, kitten, tax = (
        dequantise(blob)
        for blob in quantise(
            bundled.embed_passages(
                ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "Taxes are due."]
            )
        )
    )
    assert cat @ kitten > cat @ tax + 0.1


def test_a_query_is_embedded_with_its_prefix(bundled: Embedder) -> None:
    query = bundled.embed_query("where did Anna go?")
    prefixed, bare = bundled.embed_passages(
        [f"{QUERY_PREFIX}where did Anna go?", "where did Anna go?"]
    )
    assert QUERY_PREFIX == "Represent this sentence for searching relevant passages: "
    assert query.tobytes() == prefixed.tobytes()
    assert query.tobytes() != bare.tobytes()


def test_a_vector_is_that_of_the_first_token(bundled: Embedder, model_folder: str) -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(os.path.join(model_folder, "model.onnx"))
    ids = np.array([[101, 7592, 2088, 102]])
    feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    first = session.run(None, feed)[0][0, 0]
    vector = bundled.embed_passages(["Hello world"])[0]
    assert np.allclose(vector, first / np.linalg.norm(first), atol=1e-3)


def test_a_vocabulary_of_another_model_is_an_error_and_prints_nothing(
    model_folder: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.onnx").symlink_to(os.path.join(model_folder, "model.onnx"))
    tokens = ["[UNK]", "[CLS]", "[SEP]", *(f"t{number}" for number in range(40_000))]
    (tmp_path / "vocab.txt").write_text("\n".join(tokens))
    embedder = OnnxEmbedder(str(tmp_path))
    with pytest.raises(EmbedderError, match="its own vocabulary"):
        embedder.embed_query("t39999")
    assert capfd.readouterr() == ("", "")


def test_what_is_beyond_512_tokens_is_not_seen(bundled: Embedder) -> None:
    long = "word " * 510
    first, second = bundled.embed_passages([f"{long} cats", f"{long} volcano"])
    assert np.array_equal(first, second)


def test_a_huge_text_is_embedded_like_its_beginning(bundled: Embedder) -> None:
    huge = bundled.embed_query("all work and no play " * 50_000)
    assert huge.shape == (384,)


def test_no_texts_give_no_rows(bundled: Embedder) -> None:
    assert bundled.embed_passages([]).shape == (0, 384)


def test_many_threads_may_ask_at_once(model_folder: str) -> None:
    embedder = OnnxEmbedder(model_folder)
    expected = embedder.embed_query("hello").tobytes()
    fresh = OnnxEmbedder(model_folder)
    answers: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: answers.append(fresh.embed_query("hello").tobytes()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8


def test_another_pooling_is_another_identity_and_another_vector(model_folder: str) -> None:
    cls = OnnxEmbedder(model_folder)
    mean = OnnxEmbedder(model_folder, pooling="mean")
    assert cls.identity != mean.identity
    assert cls.dimensions == 0
    assert not np.allclose(cls.embed_query("hello"), mean.embed_query("hello"), atol=0.01)
    assert cls.dimensions == 384


def test_it_reports_to_nobody_and_leaves_no_mark_of_the_machine(
    model_folder: str, tmp_path: Path
) -> None:
    """The runtime would make a device id and a queue of reports in the person's home."""
    code = "import sys; from holdfast.embed.onnx import OnnxEmbedder as E"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; E(sys.argv[1]).embed_query('hello')", model_folder],
        env={"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(tmp_path.iterdir()) == []


PACKAGE = Path(__file__).parents[3] / "packages" / "holdfast-memory-model"


def test_the_weights_in_the_repository_are_those_the_package_names() -> None:
    import holdfast_embed_s

    data = PACKAGE / "src" / "holdfast_embed_s" / "data"
    assert set(holdfast_embed_s.SHA256) == {"model.onnx", "vocab.txt"}
    check_hashes(str(data), holdfast_embed_s.SHA256)
    card = (PACKAGE / "README.md").read_text(encoding="utf-8")
    for value in (holdfast_embed_s.IDENTITY, *holdfast_embed_s.SHA256.values()):
        assert value in card


def test_a_wheel_of_the_package_holds_the_weights() -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel")
    files = {
        one.distribution_path for one in wheel.WheelBuilder(str(PACKAGE)).recurse_project_files()
    }
    assert {"holdfast_embed_s/data/model.onnx", "holdfast_embed_s/data/vocab.txt"} <= files


def test_a_damaged_or_changed_file_is_refused(model_folder: str, tmp_path: Path) -> None:
    import holdfast_embed_s

    (tmp_path / "model.onnx").symlink_to(os.path.join(model_folder, "model.onnx"))
    words = Path(model_folder, "vocab.txt").read_text(encoding="utf-8")
    (tmp_path / "vocab.txt").write_text(words.replace("hello", "hullo"), encoding="utf-8")
    embedder = OnnxEmbedder(str(tmp_path), sha256=holdfast_embed_s.SHA256)
    with pytest.raises(EmbedderError, match=r"vocab\.txt .* damaged or was changed.*again"):
        embedder.embed_query("hello")


class Base:
    """Vectors of the model that was bundled before: its identity, another space."""

    identity = "arctic-embed-s-int8/1"
    dimensions = 384
    passage_tokens_max = 512

    def __init__(self, bundled: Embedder) -> None:
        self._bundled = bundled

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._bundled.embed_passages(texts)[:, ::-1].copy()

    def embed_query(self, text: str) -> Vector:
        return self._bundled.embed_query(text)[::-1].copy()


def test_a_store_of_the_model_bundled_before_gets_new_vectors_in_the_background(
    bundled: Embedder, tmp_path: Path
) -> None:
    home = str(tmp_path)
    with holdfast.open(home, embedder=Base(bundled)) as memory:
        memory.hub().remember_many(list(TEXTS[:5]))
    with holdfast.open(home, embedder=bundled) as memory:
        hub = memory.hub()
        meanwhile = hub.recall("why was the database password refused?")
        assert "5 passages have no vector of this model yet" in meanwhile.degraded[0]
        assert meanwhile
        memory.core.wait()
        assert memory.unembedded() == 0
        found = hub.recall("why did the rollout fail?")
        assert found.degraded == ()
        assert found[0].memory.content == TEXTS[1]
        assert found[0].parts["vector"] > 0
