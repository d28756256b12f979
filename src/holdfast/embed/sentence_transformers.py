"""Models of the `sentence-transformers` package, by name; fetched from a hub at first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import SizedEmbedder, check, choose_prefixes, need, passage_mark, unit_rows
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

TOKENS_MAX = 512  # until the model is loaded and says otherwise

# A batch costs no repeatability worth speaking of in float32, and one text at a time is slow here.
BATCH_TEXTS = 16


class SentenceTransformersEmbedder(SizedEmbedder):
    """A model that `sentence-transformers` can load. Making one imports nothing."""

    def __init__(
        self,
        model: str,
        *,
        query_prefix: str | None = None,
        passage_prefix: str | None = None,
    ) -> None:
        self._model = model
        self._set_query_prefix = query_prefix
        self._prefixes = choose_prefixes(model, query_prefix, passage_prefix)
        self._tokens_max = TOKENS_MAX
        self._dimensions = 0
        self._loaded: Any = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        return f"sentence-transformers:{self._model}{passage_mark(self._prefixes)}"

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed(texts, self._prefixes.passage)

    def embed_query(self, text: str) -> Vector:
        self._load()
        prefix = self._prefixes.query
        if self._set_query_prefix is None:  # many models bring their own
            prefix = (getattr(self._loaded, "prompts", None) or {}).get("query") or prefix
        vector: Vector = self._embed([text], prefix)[0]
        return vector

    def _load(self) -> None:
        package = need("sentence_transformers", "sentence-transformers")
        with self._loading:
            if self._loaded is not None:
                return
            try:
                self._loaded = package.SentenceTransformer(self._model)
            except (OSError, ValueError, RuntimeError) as error:
                raise EmbedderError(
                    f"sentence-transformers could not load {self._model}: {error}",
                    hint="Check the name of the model, and that its hub can be reached.",
                ) from error
            self._tokens_max = int(self._loaded.max_seq_length or TOKENS_MAX)

    def _embed(self, texts: Sequence[str], prefix: str) -> Matrix:
        self._load()
        import numpy as np

        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        try:
            rows = self._loaded.encode(
                list(texts),
                prompt=prefix,
                batch_size=BATCH_TEXTS,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderError(
                f"sentence-transformers could not embed with {self._model}: {error}"
            ) from error
        matrix = np.asarray(rows, dtype=np.float32)
        matrix = unit_rows(check(matrix, self._dimensions, len(texts)))
        self._dimensions = matrix.shape[1]
        return matrix
