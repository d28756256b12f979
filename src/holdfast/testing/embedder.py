"""An embedding model for tests: a hashed bag of words. No weights, no training, always the same.

Texts that share words are near each other; that is all it knows of meaning.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.embed.base import check, unit_rows
from holdfast.text.terms import terms

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

# Few enough to be fast, many enough that two words of a test rarely share a place.
_DIMENSIONS = 64


class HashEmbedder:
    """Each term of a text adds one to the place that its hash names."""

    identity = "hash-words-64"
    dimensions = _DIMENSIONS
    passage_tokens_max = 512

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        matrix = np.zeros((len(texts), _DIMENSIONS), np.float32)
        for row, text in zip(matrix, texts, strict=True):
            # A text without a term still needs a direction: a vector of zeros has none.
            for term in terms(text) or [""]:
                row[zlib.crc32(term.encode()) % _DIMENSIONS] += 1
        return unit_rows(check(matrix, _DIMENSIONS, len(texts))) if len(texts) else matrix

    def embed_query(self, text: str) -> Vector:
        row: Vector = self.embed_passages([text])[0]
        return row
