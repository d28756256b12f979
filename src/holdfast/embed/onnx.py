"""A BERT-like embedding model in ONNX form, from a folder with `model.onnx` and `vocab.txt`.

Made for the bundled holdfast-embed-s (int8, 384 dimensions) and good for any model of its
kind: the prefixes and the pooling can be set. It does not know where the folder came from.

Every text runs alone through the model, never in a padded batch. The int8 weights come with scales
for the activations that are taken over the whole batch, so in a batch a text's vector would depend
on its neighbours (cosine .995). Alone, the same text gives the same vector byte for byte on one
machine, which costs 20 % of the speed for short texts and gains 20 % for long ones. Several
threads work on several texts at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from holdfast.embed.base import (
    REPRESENT,
    PrefixedEmbedder,
    Prefixes,
    check,
    check_hashes,
    fingerprint,
    model_files,
    need,
    passage_mark,
    unit_rows,
)
from holdfast.embed.wordpiece import WordPiece, read_vocabulary
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix, Vector

Pooling = Literal["cls", "mean"]

FILES = ("model.onnx", "vocab.txt")
QUERY_PREFIX = REPRESENT
TOKENS_MAX = 512  # the positions the model was trained with

# Two texts at a time: twice the speed where there are two cores, no loss where there is one, and a
# laptop stays usable while a large import is embedded.
THREADS = 2

FATAL = 4  # onnxruntime's own log level: what it would print is raised as an error anyway


class _Loaded:
    """A model in memory."""

    def __init__(
        self,
        session: Any,
        inputs: frozenset[str],
        words: WordPiece,
        errors: tuple[type[Exception], ...],
    ) -> None:
        self.session = session
        self.inputs = inputs
        self.words = words
        self.errors = errors


# The models of this process by their files, so that two embedders of one folder load it once. An
# entry lasts as long as an embedder uses it.
_MODELS: WeakValueDictionary[tuple[object, ...], _Loaded] = WeakValueDictionary()


class OnnxEmbedder(PrefixedEmbedder):
    """An ONNX model in a folder. Making one reads nothing; the first text loads it (0.2 s)."""

    def __init__(
        self,
        folder: str,
        *,
        identity: str = "",
        dimensions: int = 0,
        query_prefix: str = QUERY_PREFIX,
        passage_prefix: str = "",
        pooling: Pooling = "cls",
        tokens_max: int = TOKENS_MAX,
        sha256: Mapping[str, str] | None = None,
        threads: int = THREADS,
    ) -> None:
        """`sha256` holds the expected hash of each file; a file that differs is refused."""
        self._folder = folder
        self._identity = identity
        self._dimensions = dimensions
        self._prefixes = Prefixes(query_prefix, passage_prefix)
        self._pooling = pooling
        self._tokens_max = tokens_max
        self._sha256 = sha256 or {}
        self._threads = max(1, threads)
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    @property
    def identity(self) -> str:
        if not self._identity:
            digest = fingerprint(model_files(self._folder, FILES))
            mark = passage_mark(self._prefixes)
            self._identity = f"onnx:{digest}/{self._pooling}/{self._tokens_max}{mark}"
        return self._identity

    def _embed(self, texts: Sequence[str]) -> Matrix:
        need("numpy")
        import numpy as np

        if not texts:
            return np.zeros((0, self._dimensions), dtype=np.float32)
        loaded = self._load()
        if len(texts) == 1 or self._threads == 1:
            rows = [self._run(loaded, text) for text in texts]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                rows = list(pool.map(lambda text: self._run(loaded, text), texts))
        matrix = unit_rows(check(np.stack(rows), self._dimensions, len(texts)))
        self._dimensions = matrix.shape[1]
        return matrix

    def _run(self, loaded: _Loaded, text: str) -> Vector:
        import numpy as np

        ids = np.array([loaded.words.encode(text, self._tokens_max)], dtype=np.int64)
        feed = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        try:
            output = loaded.session.run(
                None, {name: feed[name] for name in feed if name in loaded.inputs}
            )[0]
        except loaded.errors as error:
            raise EmbedderError(
                f"The model in {self._folder} failed on a text of {ids.shape[1]} tokens: {error}",
                hint="Check that the folder holds an embedding model and its own vocabulary.",
            ) from error
        vector: Vector = output[0]  # a batch of one
        if vector.ndim == 2:  # a vector a token, still to be pooled
            # A copy: a view would keep the vectors of all tokens (0.8 MB for 512 of them) as long
            # as this one lives, in a batch of hundreds.
            vector = vector[0].copy() if self._pooling == "cls" else vector.mean(axis=0)
        return vector

    def _load(self) -> _Loaded:
        with self._loading:
            if self._loaded is None:
                files = model_files(self._folder, FILES)
                key = (*map(_mark, files), tuple(sorted(self._sha256.items())))
                self._loaded = _MODELS.get(key) or self._read(*files)
                _MODELS[key] = self._loaded
            return self._loaded

    def _read(self, model: str, vocabulary: str) -> _Loaded:
        check_hashes(self._folder, self._sha256)
        runtime = need("onnxruntime")
        errors = _runtime_errors()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1  # the threads are spent on several texts instead
        options.inter_op_num_threads = 1
        options.log_severity_level = FATAL
        try:
            words = read_vocabulary(vocabulary)
            words.encode("", 2)  # a vocabulary without [CLS] and [SEP] is refused here
            session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except errors as error:
            raise EmbedderError(
                f"The model in {self._folder} cannot be loaded: {error}",
                hint="Check that its files are whole, or fetch them again.",
            ) from error
        inputs = frozenset(part.name for part in session.get_inputs())
        return _Loaded(session, inputs, words, errors)


def _mark(path: str) -> tuple[str, int, int, int]:
    """A file, and what changes when it is replaced or written."""
    about = os.stat(path)
    return os.path.realpath(path), about.st_ino, about.st_mtime_ns, about.st_size


def _runtime_errors() -> tuple[type[Exception], ...]:
    """What loading or running may raise. The runtime's own errors share no base but Exception."""
    state = need("onnxruntime.capi.onnxruntime_pybind11_state")
    return (
        OSError,
        ValueError,
        RuntimeError,
        state.Fail,
        state.InvalidArgument,
        state.InvalidGraph,
        state.InvalidProtobuf,
        state.NoModel,
        state.NoSuchFile,
        state.NotImplemented,
        state.RuntimeException,
    )
