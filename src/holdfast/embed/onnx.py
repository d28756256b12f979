"""A BERT-like embedding model in ONNX form, from a folder with `model.onnx` and `vocab.txt`.

Made for the bundled holdfast-embed-s (int8, 384 dimensions) and good for any model of its kind: the
prefixes and the pooling can be set. It does not know where the folder came from.

Every text runs alone through the model, never in a padded batch. The int8 weights come with scales
for the activations that are taken over the whole batch, so in a batch a text's vector would depend
on its neighbours (cosine .995). Alone, the same text gives the same vector byte for byte on one
machine, which costs 20 % of the speed for short texts and gains 20 % for long ones. Several threads
work on several texts at once.

The WordPiece tokenizer of uncased BERT models reads `vocab.txt` (one token a line, its line number
is its id). It gives what the `tokenizers` package gives for such a vocabulary, with one difference
on purpose: `[SEP]` or `[MASK]` written in a text is text, never a control token, since texts come
from strangers. Characters that only one of the two has in its Unicode tables may differ as well.
"""

from __future__ import annotations

import os
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakValueDictionary

from holdfast.embed import (
    REPRESENT,
    PrefixedEmbedder,
    Prefixes,
    check_hashes,
    fingerprint,
    model_files,
    need,
    passage_mark,
)
from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    from holdfast.embed import Matrix, Vector


WORD_CHARACTERS_MAX = 100  # what the models were trained with; a longer word is [UNK]

# A text is cut here, per token that can be used, before any other work: no reasonable text has
# 128 characters a token, and a text of megabytes should not cost seconds.
CHARACTERS_PER_TOKEN_MAX = 128

# The ideographs that are words of their own; in Japanese and Korean the kana and hangul are not
# among them. The ranges, gaps included, are those of the models' training.
_IDEOGRAPH_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
_ASCII_WORD = re.compile(r"[0-9a-z]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROLS = {code: None for code in (*range(32), 127) if chr(code) not in "\t\n\r"}


class WordPiece:
    """A vocabulary, and the ids of texts under it."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._ids = {token: number for number, token in enumerate(tokens)}
        self._count = len(tokens)
        self.unknown = self._control("[UNK]")

    def __len__(self) -> int:
        return self._count

    def encode(self, text: str, tokens_max: int) -> list[int]:
        """The ids of a text between [CLS] and [SEP], at most `tokens_max` in all."""
        ids = self.pieces(text, tokens_max - 2)
        return [self._control("[CLS]"), *ids, self._control("[SEP]")]

    def pieces(self, text: str, tokens_max: int) -> list[int]:
        """The ids of a text alone, at most `tokens_max`."""
        ids: list[int] = []
        for word in split_words(text[: tokens_max * CHARACTERS_PER_TOKEN_MAX]):
            whole = self._ids.get(word)
            if whole is not None:
                ids.append(whole)
            else:
                ids.extend(self._split(word))
            if len(ids) >= tokens_max:
                break
        return ids[:tokens_max]

    def _control(self, token: str) -> int:
        if token not in self._ids:
            raise EmbedderError(
                f"The vocabulary has no token {token}.",
                hint="It must be the vocab.txt of an uncased BERT model, one token a line.",
            )
        return self._ids[token]

    def _split(self, word: str) -> list[int]:
        """The longest known piece from the left, again and again; [UNK] if that fails anywhere."""
        if len(word) > WORD_CHARACTERS_MAX:
            return [self.unknown]
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._ids.get(prefix + word[start:end])
                if piece is not None:
                    pieces.append(piece)
                    start = end
                    break
            else:
                return [self.unknown]
        return pieces


def split_words(text: str) -> Iterator[str]:
    """Lower-cased words without accents; punctuation and ideographs each a word of their own."""
    if text.isascii():
        for match in _ASCII_WORD.finditer(text.translate(_ASCII_CONTROLS).lower()):
            yield match.group()
        return
    spaced = "".join(map(_clean, text))
    # Letter by letter, since the models never saw the Greek rule for a sigma at a word's end.
    plain = "".join(
        letter.lower()
        for letter in unicodedata.normalize("NFD", spaced)
        if unicodedata.category(letter) != "Mn"
    )
    for run in plain.split():
        start = 0
        for end, letter in enumerate(run):
            if _is_punctuation(letter):
                if start < end:
                    yield run[start:end]
                yield letter
                start = end + 1
        if start < len(run):
            yield run[start:]


def _clean(letter: str) -> str:
    """Nothing for a control character, a space for any white space, spaces round an ideograph."""
    if letter in "\t\n\r":
        return " "
    # A character that this Python's Unicode tables do not know yet (Cn) stays, and becomes [UNK].
    if letter == "\ufffd" or unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if letter.isspace():
        return " "
    code = ord(letter)
    if code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPH_RANGES):
        return f" {letter} "
    return letter


def _is_punctuation(letter: str) -> bool:
    # The symbols of ASCII ($, +, < and so on) count too, though Unicode files them elsewhere.
    if letter.isascii():
        return not letter.isalnum()
    return unicodedata.category(letter)[0] == "P"


def read_vocabulary(path: str) -> WordPiece:
    """The tokenizer of an embedding model's `vocab.txt`; line ends of either kind."""
    with open(path, encoding="utf-8") as lines:
        return WordPiece([line.rstrip("\r\n") for line in lines])


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
        if not texts:
            return self._no_rows()
        loaded = self._load()
        if len(texts) == 1 or self._threads == 1:
            rows = [self._run(loaded, text) for text in texts]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                rows = list(pool.map(lambda text: self._run(loaded, text), texts))
        return self._unit_rows(rows, len(texts))

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
    """The errors of loading and running. The runtime's own errors have no base but Exception."""
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
