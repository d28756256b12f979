"""A static embedding: one vector a token, averaged. For machines too small for a model.

Reads a folder with `vectors.npz` (an array `vectors`, a row a token) and `vocab.txt` (its tokens,
in the same order). No runtime but numpy, thousands of texts a second, less recall.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.embed.base import SizedEmbedder, check, fingerprint, model_files, need, unit_rows
from holdfast.embed.wordpiece import WordPiece, read_vocabulary
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

FILES = ("vectors.npz", "vocab.txt")
TOKENS_MAX = 512  # an average over more tokens says less and less; the same as the bundled model


class StaticEmbedder(SizedEmbedder):
    """Token vectors from a folder. Making one reads nothing; the first text loads it."""

    def __init__(self, folder: str, *, tokens_max: int = TOKENS_MAX) -> None:
        self._folder = folder
        self._tokens_max = tokens_max
        self._identity = ""
        self._dimensions = 0
        self._loaded: tuple[WordPiece, Matrix] | None = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        if not self._identity:
            digest = fingerprint(model_files(self._folder, FILES))
            self._identity = f"static:{digest}/{self._tokens_max}"
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        need("numpy")
        import numpy as np

        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        with self._loading:
            if self._loaded is None:
                self._loaded = self._read()
            words, table = self._loaded
        means = [table[self._tokens(words, text)].mean(axis=0) for text in texts]
        self._dimensions = table.shape[1]
        return unit_rows(check(np.stack(means), self._dimensions, len(texts)))

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def _tokens(self, words: WordPiece, text: str) -> list[int]:
        # A text of which no token is known still gets a vector, far from everything else.
        ids = [number for number in words.pieces(text, self._tokens_max) if number != words.unknown]
        return ids or [words.unknown]

    def _read(self) -> tuple[WordPiece, Matrix]:
        from zipfile import BadZipFile

        import numpy as np

        vectors, vocabulary = model_files(self._folder, FILES)
        try:
            words = read_vocabulary(vocabulary)
            with open(vectors, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                table: Matrix = np.asarray(arrays["vectors"], dtype=np.float32)
        except (OSError, ValueError, KeyError, BadZipFile) as error:
            raise EmbedderError(
                f"The static model in {self._folder} cannot be read: {error}",
                hint="vectors.npz holds one array named `vectors`, a row for each line of"
                " vocab.txt.",
            ) from error
        if table.ndim != 2 or len(table) != len(words):
            raise EmbedderError(
                f"The static model in {self._folder} has vectors of shape {table.shape} for"
                f" {len(words)} tokens.",
                hint="vectors.npz needs one row for each line of vocab.txt.",
            )
        return words, table
