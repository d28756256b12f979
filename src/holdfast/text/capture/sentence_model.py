"""How likely a sentence is worth keeping for good, and as what.

Rules know the usual forms of statements and orders; people use many others ('staging sits on 5433',
'shellcheck clean in every script you write me'). This multinomial logistic regression judges them
by n-grams of the sentence and of the words around it and, if the bundled embedding model is used,
by the sentence's vector. `python -m bench.sentence_model` trains it on messages that were written
and labelled for that purpose, and measures it on authors whose messages it was not trained on.

N-grams are hashed into buckets, so there is no vocabulary. `sentence_model.bin` has a line of JSON
and then a signed byte for each bucket and kind.
"""

from __future__ import annotations

import itertools
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from math import exp, sqrt
from typing import NamedTuple, TypeAlias

from holdfast.text.tables import lazy

# The kinds of sentences. The first one is not kept.
KINDS = ("none", "self", "order", "decision", "project")
BUCKETS = 1 << 15

# The probability from which a sentence is kept for good, with its vector and without.
LIMIT, LIMIT_BY_WORDS = 0.9, 0.99
# The same where nothing else speaks for it.
SURE, SURE_BY_WORDS = 0.98, 0.998

# The share of a group of features in the logit does not depend on how many features it has.
_SENTENCE_SHARE, _AROUND_SHARE = 5.0, 2.0
_SINGLE_SHARE = 0.5
VECTOR_SHARE = 6.0
_WORDS_MAX = 3  # of an n-gram of words
_LETTERS_MIN, _LETTERS_MAX = 2, 5  # of an n-gram of letters, within a word
_OPENING_MAX = 4  # words with which a sentence begins
# The first words of a longer sentence decide.
_CHARS_MAX = 600
_AROUND_CHARS, _AROUND_WORDS = 200, 25
_LENGTH_STEP, _LENGTH_STEPS = 4, 6  # in words
# Of a long message less is to be kept: most of it is about the task at hand.
_MESSAGE_STEP, _MESSAGE_STEPS = 80, 6  # in characters
_MESSAGE_SHARE = 1.0

_WORD = lazy(r"[^\W_]+(?:'[^\W_]+)?|[^\w\s]")
_DIGITS = lazy(r"\d+")

Vector: TypeAlias = Sequence[float]


class Guess(NamedTuple):
    """The model's likeliest kind of a sentence other than 'none', and the probability that it is
    not 'none'."""

    kind: str
    probability: float


class Message(NamedTuple):
    """What a sentence is judged with: the message before and after it, and what the assistant said
    before the message."""

    before: str = ""
    after: str = ""
    question: str = ""


def guess(sentence: str, message: Message, vector: Vector | None = None) -> Guess:
    """Judges a sentence; `vector` is its vector by the model named in `trained_with`."""
    model = _model()
    kinds = range(len(KINDS))
    totals = [0.0] * len(KINDS)
    for bucket, value in features(sentence, message):
        at = bucket * len(KINDS)
        for kind in kinds:
            totals[kind] += model.weights[at + kind] * value
    logits = [model.bias[kind] + totals[kind] * model.scale for kind in kinds]
    if vector is not None:
        values = [VECTOR_SHARE * float(value) for value in vector]
        for kind in kinds:
            logits[kind] += model.vector_bias[kind] + _product(values, model.factors[kind])
    highest = max(logits)
    shares = [exp(logit - highest) for logit in logits]
    likeliest = max(range(1, len(KINDS)), key=shares.__getitem__)
    return Guess(KINDS[likeliest], 1 - shares[0] / sum(shares))


def _product(values: Sequence[float], factors: Sequence[float]) -> float:
    return sum(value * factor for value, factor in zip(values, factors, strict=True))


def trained_with() -> str:
    """The identity of the embedding model whose vectors the weights are for."""
    return _model().identity


# Features


def features(sentence: str, message: Message) -> Iterator[tuple[int, float]]:
    """The buckets of a sentence and their values; a bucket may occur several times."""
    words = _words(sentence[:_CHARS_MAX])
    yield from _group(_n_grams(words), _SENTENCE_SHARE)
    yield _bucket(f"l{min(_LENGTH_STEPS, len(words) // _LENGTH_STEP)}"), _SINGLE_SHARE
    if sentence.rstrip().endswith(("?", "？")):
        yield _bucket("?"), _SINGLE_SHARE
    length = len(message.before) + len(sentence) + len(message.after)
    yield _bucket(f"m{min(_MESSAGE_STEPS, length // _MESSAGE_STEP)}"), _MESSAGE_SHARE
    around = {
        "p": _words(message.before[-_AROUND_CHARS:])[-_AROUND_WORDS:],
        "n": _words(message.after[:_AROUND_CHARS])[:_AROUND_WORDS],
        "q": _words(message.question[-_AROUND_CHARS:])[-_AROUND_WORDS:],
    }
    for side, near in around.items():
        if near:
            pairs = (f"{first} {second}" for first, second in itertools.pairwise(near))
            yield from _group({side + one for one in (*near, *pairs)}, _AROUND_SHARE)


def _words(text: str) -> list[str]:
    folded = _DIGITS.sub("0", text.lower().replace("’", "'"))
    return _WORD.findall(folded)


def _n_grams(words: Sequence[str]) -> set[str]:
    """N-grams of words and of letters, and the words that the sentence begins with."""
    grams = {"s" + " ".join(words[:size]) for size in range(1, _OPENING_MAX + 1)}
    bounded = ["<", *words, ">"]
    for size in range(1, _WORDS_MAX + 1):
        for at in range(len(bounded) - size + 1):
            grams.add("w" + " ".join(bounded[at : at + size]))
    for word in words:
        letters = f" {word} "
        for size in range(_LETTERS_MIN, _LETTERS_MAX + 1):
            for at in range(len(letters) - size + 1):
                grams.add("c" + letters[at : at + size])
    return grams


def _group(names: Iterable[str], share: float) -> Iterator[tuple[int, float]]:
    names = list(names)
    value = share / sqrt(len(names))
    for name in names:
        yield _bucket(name), value


def _bucket(name: str) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) % BUCKETS


# The file


class _Model(NamedTuple):
    """The weights of `sentence_model.bin`. `factors` and `vector_bias` are added if there is a
    vector."""

    identity: str
    bias: list[float]
    vector_bias: list[float]
    factors: list[list[float]]
    scale: float
    weights: memoryview


FILE = os.path.join(os.path.dirname(__file__), "sentence_model.bin")


@cache
def _model() -> _Model:
    with open(FILE, "rb") as file:
        head = json.loads(file.readline())
        weights = memoryview(file.read()).cast("b")
    return _Model(weights=weights, **head)
