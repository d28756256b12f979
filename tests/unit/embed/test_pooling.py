"""From a vector a token to a vector a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from holdfast.embed.onnx import OnnxEmbedder, Pooling, WordPiece, _Loaded

if TYPE_CHECKING:
    import numpy.typing as npt

np = pytest.importorskip("numpy")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b"]


class Session:
    """A model whose vector of token n is (n + 1, 1)."""

    def run(self, _: None, feed: dict[str, Any]) -> list[npt.NDArray[Any]]:
        tokens = feed["input_ids"].shape[1]
        rows = [[n + 1, 1] for n in range(tokens)]
        return [np.array([rows], np.float32)]


@pytest.mark.parametrize(("pooling", "expected"), [("cls", [1, 1]), ("mean", [2.5, 1])])
def test_a_text_holds_on_to_its_own_vector_only(pooling: Pooling, expected: list[float]) -> None:
    vocabulary = {word: at for at, word in enumerate(WORDS)}
    loaded = _Loaded(Session(), frozenset({"input_ids"}), WordPiece(vocabulary), (OSError,))
    vector = OnnxEmbedder("nowhere", pooling=pooling)._run(loaded, "a b")
    assert vector.tolist() == expected
    assert vector.base is None
