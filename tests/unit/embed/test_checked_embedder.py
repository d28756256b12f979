"""An embedder that a program brings: whatever it returns or raises, recall says what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast.embed import CheckedEmbedder
from holdfast.errors import EmbedderError
from holdfast.testing import HashEmbedder, open_for_tests


class Lists:
    """Vectors as lists of numbers that are no unit vectors, as an API of a model gives them."""

    identity = "lists-4"
    dimensions = 4
    passage_tokens_max = 100

    def embed_passages(self, texts: Sequence[str]) -> Any:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Any:
        return [3.0 * ("tab" in text.lower()), 4.0 * ("tea" in text.lower()), 0.5, 0]


def test_lists_of_any_length_become_unit_vectors(tmp_path: Path) -> None:
    with open_for_tests(tmp_path, embedder=Lists()) as memory:
        hub = memory.hub()
        hub.remember_many(["Prefers tabs over spaces", "Drinks tea in the morning"])
        found = hub.recall("Tabs?")
        assert found[0].memory.content.startswith("Prefers tabs")
        assert not found.degraded
    rows = CheckedEmbedder(Lists()).embed_passages(["tab", "tea"])
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert CheckedEmbedder(Lists()).embed_passages([]).shape == (0, 4)


def test_unit_vectors_stay_to_the_bit() -> None:
    texts = ["one two three", "four five"]
    as_given = HashEmbedder().embed_passages(texts)
    assert (CheckedEmbedder(HashEmbedder()).embed_passages(texts) == as_given).all()


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (RuntimeError("out of memory"), "lists-4 failed: RuntimeError: out of memory"),
        ([[1.0, 0, 0]], "length 3; 4 was expected"),
        ([[float("nan"), 0, 0, 0]], "NaN"),
        ([1.0, 0, 0, 0], "1 axes"),
        ([], "1 axes"),
        ([[1, 0, 0, 0], [1, 0, 0, 0]], "2 vectors for 1 texts"),
        ("no numbers", "failed: ValueError"),
    ],
)
def test_what_is_wrong_is_said_and_the_memory_is_kept(tmp_path: Path, rows: Any, what: str) -> None:
    class Wrong(Lists):
        def embed_passages(self, texts: Sequence[str]) -> Any:
            if isinstance(rows, Exception):
                raise rows
            return rows

    with pytest.raises(EmbedderError, match=what):
        CheckedEmbedder(Wrong()).embed_passages(["tabs"])
    with open_for_tests(tmp_path, embedder=Wrong()) as memory:
        memory.hub().remember("Prefers tabs over spaces")
        found = memory.hub().recall("tabs")
        assert [hit.memory.number for hit in found] == [1]
        assert found.degraded
