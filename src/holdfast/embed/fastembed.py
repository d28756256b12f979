"""Models of the `fastembed` package by name. It fetches a model from its hub at the first use."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import SizedEmbedder, check, choose_prefixes, need, passage_mark, unit_rows
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

TOKENS_MAX = 512  # what nearly all of its models read; it does not tell


class FastEmbedEmbedder(SizedEmbedder):
    """A model that `fastembed` knows. Making one imports nothing."""

    def __init__(
        self,
        model: str,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
        tokens_max: int = TOKENS_MAX,
        threads: int = 2,
    ) -> None:
        self._model = model
        self._prefixes = choose_prefixes(model, query_prefix, passage_prefix)
        self._tokens_max = tokens_max
        self._threads = max(1, threads)
        self._dimensions = 0
        self._loaded: Any = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        return f"fastembed:{self._model}{passage_mark(self._prefixes)}"

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed("passage_embed", [self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed("query_embed", [self._prefixes.query + text])[0]
        return vector

    def _embed(self, method: str, texts: list[str]) -> Matrix:
        package = need("fastembed", "fastembed")
        import numpy as np

        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        try:
            with self._loading:
                if self._loaded is None:
                    self._loaded = package.TextEmbedding(self._model, threads=self._threads)
            # One text at a time, so that a text's vector does not depend on its neighbours.
            rows = list(getattr(self._loaded, method)(texts, batch_size=1))
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderError(
                f"fastembed could not embed with {self._model}: {error}",
                hint="Check the name of the model, and that its hub can be reached to fetch it.",
            ) from error
        matrix = np.array(rows, dtype=np.float32)
        matrix = unit_rows(check(matrix, self._dimensions, len(texts)))
        self._dimensions = matrix.shape[1]
        return matrix
