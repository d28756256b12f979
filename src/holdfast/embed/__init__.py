"""Turning text into vectors: the contract of an embedder, and what every embedder shares: checks
and quantisation of vectors, the identity of model files, and optional dependencies.

Importing it costs little: numpy and the models load when the first text is embedded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import EmbedderError, InvalidInput, install_hint
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np
    import numpy.typing as npt

    Vector: TypeAlias = npt.NDArray[np.float32]  # (d,)
    Matrix: TypeAlias = npt.NDArray[np.float32]  # (n, d)

SCALE_BYTES = 4  # a float32


class Embedder(Protocol):
    """Texts in, unit vectors out. Safe to call from several threads.

    `identity` names everything that shapes a stored vector: the model, its weights, pooling,
    passage prefix. Vectors of two identities are never compared. Reading it is cheap, except that
    a model in a local folder is hashed once.

    `dimensions` is the length of a vector, or 0 as long as only the model itself could tell and it
    has not been asked yet; after the first vector it is always set.

    `passage_tokens_max` is how much of a passage the model reads; what is beyond is not seen.

    Whatever goes wrong is an EmbedderError. What comes back has been through `check`. One that was
    not written here need not promise that: `CheckedEmbedder` does it in its place.
    """

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def passage_tokens_max(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """One unit row a text, in the order given; no texts give a matrix of no rows."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a question, to be compared with those of passages."""
        ...


class OwnEmbedder(Protocol):
    """What a program hands in: its vectors may be lists or arrays of any length, and it may raise
    anything. `CheckedEmbedder` makes an `Embedder` of it."""

    @property
    def identity(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def passage_tokens_max(self) -> int: ...

    def embed_passages(self, texts: list[str], /) -> npt.ArrayLike:
        """A vector for each text, in the order given."""
        ...

    def embed_query(self, text: str, /) -> npt.ArrayLike:
        """The vector of a question, to be compared with those of passages."""
        ...


def check(matrix: Matrix, expected_dimensions: int, count: int) -> Matrix:
    """The matrix as it came, if it can be used: the right shape, finite, no row of zeros.

    `expected_dimensions` of 0 means that any length will do. A wrong vector in a store would
    distort every later search; so this raises rather than repairs.
    """
    import numpy as np

    if matrix.ndim != 2:
        raise EmbedderError(
            f"The embedder returned an array of {matrix.ndim} axes instead of a table with one row"
            " a text.",
        )
    rows, columns = matrix.shape
    if rows != count:
        raise EmbedderError(f"The embedder returned {rows} vectors for {count} texts.")
    if count and expected_dimensions and columns != expected_dimensions:
        raise EmbedderError(
            f"The embedder returned vectors of length {columns}; {expected_dimensions} was"
            " expected.",
            hint="Check that the model named in the settings is the one that is served.",
        )
    if count and not columns:
        raise EmbedderError("The embedder returned empty vectors.")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        what = "NaN" if np.isnan(matrix[bad[0]]).any() else "infinity"
        raise EmbedderError(f"The embedder returned {what} in the vector of text {bad[0] + 1}.")
    zero = np.flatnonzero(~matrix.any(axis=1))
    if zero.size:
        raise EmbedderError(f"The embedder returned only zeros for text {zero[0] + 1}.")
    return matrix


def unit_rows(matrix: Matrix) -> Matrix:
    """Each row divided by its length; rows of zeros must have been refused by `check` before."""
    import numpy as np

    # In float64: the square of a tiny float32 would be zero.
    wide = matrix.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    return wide.astype(np.float32)


def quantise(matrix: Matrix) -> list[bytes]:
    """Each row as the blob described above; the error of a value is at most half the scale."""
    import numpy as np

    check(matrix, 0, len(matrix))
    if not len(matrix):
        return []
    scales = (np.abs(matrix).max(axis=1, keepdims=True) / np.float32(127)).astype("<f4")
    if not scales.all():
        raise EmbedderError("A vector is too short to be stored: its values are nearly zero.")
    values = np.clip(np.rint(matrix / scales), -127, 127).astype(np.int8)
    return [scale.tobytes() + row.tobytes() for scale, row in zip(scales, values, strict=True)]


def dequantise(blob: bytes) -> Vector:
    """The vector of one blob."""
    row: Vector = dequantise_all([blob], len(blob) - SCALE_BYTES)[0]
    return row


def dequantise_all(blobs: Sequence[bytes], dimensions: int) -> Matrix:
    """The matrix of many blobs of one identity, in one pass and without a copy a row."""
    import numpy as np

    width = SCALE_BYTES + dimensions
    for number, blob in enumerate(blobs):
        if len(blob) != width or dimensions < 1:
            raise EmbedderError(
                f"Stored vector {number + 1} has {len(blob)} bytes; {width} was expected.",
                hint="Embed the hub again: vectors can always be made anew from the text.",
            )
    table = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), max(width, 0))
    scales = np.ascontiguousarray(table[:, :SCALE_BYTES]).view("<f4")
    if not np.isfinite(scales).all():
        raise EmbedderError(
            "A stored vector is damaged: its scale is not a number.",
            hint="Embed the hub again: vectors can always be made anew from the text.",
        )
    matrix: Matrix = table[:, SCALE_BYTES:].view(np.int8).astype(np.float32)
    matrix *= scales
    return matrix


READ_BYTES = 1 << 20  # a megabyte at a time keeps memory flat and the hash fast


def model_files(folder: str, names: Sequence[str]) -> list[str]:
    """The paths of the files of a model, each of which must exist."""
    paths = [os.path.join(folder, name) for name in names]
    missing = [name for name, path in zip(names, paths, strict=True) if not os.path.isfile(path)]
    if missing:
        raise EmbedderError(
            f"The model folder {folder} has no {' and no '.join(missing)}.",
            hint=f"A model folder holds {' and '.join(names)}.",
        )
    return paths


def fingerprint(paths: Sequence[str]) -> str:
    """Twelve hex digits of the contents: enough to tell a person's models apart."""
    return _sha256(paths)[:12]


def check_hashes(folder: str, expected: Mapping[str, str]) -> None:
    """Refuses a folder in which a file differs from what its publisher made."""
    for name, digest in expected.items():
        if _sha256([os.path.join(folder, name)]) != digest:
            raise EmbedderError(
                f"The model file {name} in {folder} is damaged or was changed: its sha256 is not"
                f" {digest}.",
                hint="Install the package of the model again.",
            )


def _sha256(paths: Sequence[str]) -> str:
    """The hash of the contents of the files, one after the other."""
    import hashlib

    digest = hashlib.sha256()
    for path in paths:
        try:
            with open(path, "rb") as file:
                while block := file.read(READ_BYTES):
                    digest.update(block)
        except OSError as error:
            raise EmbedderError(f"The model file {path} cannot be read: {error}.") from error
    return digest.hexdigest()


def need(module: str, extra: str = "") -> Any:
    """The module, imported now; an EmbedderError with the pip command if that fails."""
    from importlib import import_module

    # onnxruntime, which fastembed and sentence-transformers use as well, makes an id for the
    # machine and sends reports to its maker, unless this is set before it is loaded. Holdfast
    # sends nothing anywhere; a person who has set it otherwise is left alone.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        return import_module(module)
    except ImportError as error:
        raise EmbedderError(
            f"This embedder needs the package {module.partition('.')[0]}, which cannot be"
            f" imported ({error}).",
            hint=install_hint(extra),
        ) from error


REPRESENT = "Represent this sentence for searching relevant passages: "


class Prefixes(NamedTuple):
    """The prefix of a query and that of a passage."""

    query: str
    passage: str


# Part of the lower-cased model name → its prefixes. The first match wins, so the special comes
# before the general.
_KNOWN: tuple[tuple[str, Prefixes], ...] = (
    ("arctic-embed-l-v2", Prefixes("query: ", "")),
    ("arctic-embed-m-v2", Prefixes("query: ", "")),
    ("arctic-embed2", Prefixes("query: ", "")),
    ("arctic-embed", Prefixes(REPRESENT, "")),
    ("bge-small-en", Prefixes(REPRESENT, "")),
    ("bge-base-en", Prefixes(REPRESENT, "")),
    ("bge-large-en", Prefixes(REPRESENT, "")),
    ("mxbai-embed-large", Prefixes(REPRESENT, "")),
    ("nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    ("multilingual-e5-large-instruct", Prefixes("", "")),
    ("e5-small", Prefixes("query: ", "passage: ")),
    ("e5-base", Prefixes("query: ", "passage: ")),
    ("e5-large", Prefixes("query: ", "passage: ")),
)


def known_prefixes(model: str) -> Prefixes:
    """The prefixes of a model by its name; empty ones for a model not known here."""
    name = model.lower()
    return next((prefixes for part, prefixes in _KNOWN if part in name), Prefixes("", ""))


def choose_prefixes(model: str, query: str | None, passage: str | None) -> Prefixes:
    """The prefixes that were set, and where none was set (None) those known for the model."""
    known = known_prefixes(model)
    return Prefixes(
        known.query if query is None else query,
        known.passage if passage is None else passage,
    )


def passage_mark(prefixes: Prefixes) -> str:
    """The part of a model's identity for the passage prefix; that of queries changes no stored
    vector."""
    return f"+{prefixes.passage!r}" if prefixes.passage else ""


class SizedEmbedder:
    """Shared by the embedders: the length of their vectors (0 until it is known), how much of a
    text they read, and the checks of what a model returns."""

    _dimensions: int = 0
    _tokens_max: int

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def passage_tokens_max(self) -> int:
        return self._tokens_max

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        raise NotImplementedError

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self.embed_passages([text])[0]
        return vector

    def _no_rows(self) -> Matrix:
        import numpy as np

        return np.zeros((0, self._dimensions), dtype=np.float32)

    def _unit_rows(self, rows: Any, count: int) -> Matrix:
        """The vectors of so many texts, checked; their length is known from then on."""
        import numpy as np

        matrix = unit_rows(check(np.asarray(rows, dtype=np.float32), self._dimensions, count))
        self._dimensions = matrix.shape[1]
        return matrix


class PrefixedEmbedder(SizedEmbedder):
    """A model for which a prefix marks a text as a question or a passage."""

    _prefixes: Prefixes

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._embed([self._prefixes.passage + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        vector: Vector = self._embed([self._prefixes.query + text])[0]
        return vector

    def _embed(self, texts: list[str]) -> Matrix:
        raise NotImplementedError


# What an embedder has.
_PARTS = ("identity", "dimensions", "passage_tokens_max", "embed_passages", "embed_query")
# A vector that is shorter or longer than this is no unit vector.
_UNIT_MIN, _UNIT_MAX = 0.999, 1.001


class CheckedEmbedder:
    """An embedder that a program or a package brings. Its vectors may be lists of any length; they
    become checked unit vectors, and whatever it raises is an EmbedderError."""

    def __init__(self, given: OwnEmbedder) -> None:
        from inspect import getattr_static

        missing = [part for part in _PARTS if getattr_static(given, part, None) is None]
        if missing and not hasattr(type(given), "__getattr__"):
            raise InvalidInput(
                f"{given!r} is no embedder: it has no {' and no '.join(missing)}.",
                hint=f"An embedder has {', '.join(_PARTS)}.",
            )
        self._given = given

    @property
    def identity(self) -> str:
        return self._given.identity

    @property
    def dimensions(self) -> int:
        return self._given.dimensions

    @property
    def passage_tokens_max(self) -> int:
        return self._given.passage_tokens_max

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        return self._checked(lambda: self._given.embed_passages(list(texts)), len(texts))

    def embed_query(self, text: str) -> Vector:
        row: Vector = self._checked(lambda: [self._given.embed_query(text)], 1)[0]
        return row

    def _checked(self, embed: Callable[[], Any], count: int) -> Matrix:
        import numpy as np

        try:
            rows = np.asarray(embed(), dtype=np.float32)
        except EmbedderError:
            raise
        except Exception as error:  # Somebody else's code may raise anything.
            raise EmbedderError(
                f"The embedder {self.identity} failed: {type(error).__name__}: {error}"
            ) from error
        if not count:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if rows.shape == (count, self.dimensions) and _are_unit_rows(rows):
            return rows
        matrix = check(rows, self.dimensions, count)
        return matrix if _are_unit_rows(matrix) else unit_rows(matrix)


def _are_unit_rows(matrix: Matrix) -> bool:
    """Whether every row has the length 1; then all are finite too, and none is of zeros."""
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1)
    return bool(lengths.min() >= _UNIT_MIN and lengths.max() <= _UNIT_MAX)
