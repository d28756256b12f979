"""Trains the model that judges which sentences of a person are kept for good
(`holdfast.text.capture.sentence_model`), and measures it on authors that it was not trained on.

    python -m bench.sentence_model             # measure: each author by a model without their group
    python -m bench.sentence_model --write     # train on all authors, and write the weights
    python -m bench.sentence_model --unseen FILE...    # measure the weights that ship

A file of `bench/sets/sentences` has the messages of one author, a line of JSON each: `parts` is a
list of sentences with their kinds, `prev` what the assistant said before, `lang` the language if it
is not English. Each author wrote without knowing rules or model, with the same instructions. A part
that ends without a full stop is a line of its own.

The weights are those of a multinomial logistic regression with a ridge. Each sentence is in it
twice, with its vector and without, so that one table of weights serves both.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.text.capture import capture
from holdfast.text.capture.sentence_model import (
    BUCKETS,
    FILE,
    KINDS,
    LIMIT,
    LIMIT_BY_WORDS,
    VECTOR_SHARE,
    Message,
    features,
    guess,
)

SETS = Path(__file__).parent / "sets" / "sentences"
# Chosen among 1, 2, 4, 8 and 16 by the area below precision and recall, authors left out.
LOSS_SHARE = 4.0
STEPS_MAX, MEMORY = 150, 10
GROUPS = 4
DAY = datetime(2026, 11, 16, 12, tzinfo=UTC)

Array = np.ndarray[Any, Any]


class Sample(NamedTuple):
    """A sentence of a message, its kind, and whether rules keep it for good."""

    author: str
    language: str
    sentence: str
    message: Message
    kind: str
    by_rules: bool = False


def read(path: Path) -> Iterator[Sample]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        said, spans = "", []
        for sentence, kind in row["parts"]:
            if said:
                said += " " if said.rstrip()[-1:] in ".?!…。！？" else "\n"
            spans.append((len(said), len(said) + len(sentence), kind))
            said += sentence
        question = row.get("prev", "")
        facts = capture(said, at=DAY, question=question, learned=False)
        facts = [one for one in facts if one.standing]
        for start, end, kind in spans:
            yield Sample(
                path.stem,
                row.get("lang", "en"),
                said[start:end],
                Message(said[:start], said[end:], question),
                kind,
                any(one.start < end and one.end > start for one in facts),
            )


class Rows(NamedTuple):
    """The features of samples as a sparse matrix by rows, and their vectors."""

    starts: Array
    buckets: Array
    values: Array
    vectors: Array

    def part(self, chosen: Array) -> Rows:
        sizes = np.diff(self.starts)[chosen]
        at = np.concatenate([np.arange(*self.starts[n : n + 2]) for n in np.flatnonzero(chosen)])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Rows(starts, self.buckets[at], self.values[at], self.vectors[chosen])

    def times(self, weights: Array) -> Array:
        """The matrix times weights of the form (buckets, kinds)."""
        return np.stack(
            [
                np.add.reduceat(self.values * row[self.buckets], self.starts[:-1])
                for row in weights.T
            ],
            axis=1,
        )

    def transposed_times(self, slopes: Array) -> Array:
        sizes = np.diff(self.starts)
        return np.stack(
            [
                np.bincount(self.buckets, self.values * np.repeat(column, sizes), BUCKETS)
                for column in slopes.T
            ],
            axis=1,
        )


def _embedder() -> Any:
    from holdfast_embed_s import load

    return load()


def rows_of(samples: Sequence[Sample]) -> Rows:
    buckets, values, starts = [], [], [0]
    for one in samples:
        found = list(features(one.sentence, one.message))
        buckets += [bucket for bucket, _ in found]
        values += [value for _, value in found]
        starts.append(len(buckets))
    embedder = _embedder()
    vectors = np.concatenate([embedder.embed_passages([one.sentence]) for one in samples])
    return Rows(np.array(starts), np.array(buckets), np.array(values), vectors.astype(float))


class Weights(NamedTuple):
    """The parameters of the regression, as they are trained: of buckets, of values of a vector, of
    there being a vector, and of every sentence."""

    buckets: Array
    factors: Array
    vector_bias: Array
    bias: Array

    def logits(self, rows: Rows, *, with_vectors: bool) -> Array:
        logits = rows.times(self.buckets) + self.bias
        if with_vectors:
            logits += VECTOR_SHARE * rows.vectors @ self.factors + self.vector_bias
        return logits


def _unpacked(flat: Array, dimensions: int) -> Weights:
    kinds = len(KINDS)
    table = flat.reshape(-1, kinds)
    return Weights(table[:BUCKETS], table[BUCKETS : BUCKETS + dimensions], table[-2], table[-1])


def _shares(logits: Array) -> Array:
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def train(rows: Rows, kinds: Sequence[str]) -> Weights:
    target = np.eye(len(KINDS))[[KINDS.index(kind) for kind in kinds]]
    dimensions = rows.vectors.shape[1]
    shared = VECTOR_SHARE * rows.vectors

    def loss(flat: Array) -> tuple[float, Array]:
        weights = _unpacked(flat, dimensions)
        plain = rows.times(weights.buckets) + weights.bias
        both = (plain, plain + shared @ weights.factors + weights.vector_bias)
        found = [_shares(logits) for logits in both]
        total = -sum(np.log((shares * target).sum(axis=1)).sum() for shares in found)
        without, having = (shares - target for shares in found)
        slopes = np.concatenate(
            [
                rows.transposed_times(without + having),
                shared.T @ having,
                [having.sum(axis=0), (without + having).sum(axis=0)],
            ]
        )
        free = flat.copy()
        free.reshape(-1, len(KINDS))[-2:] = 0  # no ridge on what every sentence has
        return (
            LOSS_SHARE * total + 0.5 * float(free @ free),
            LOSS_SHARE * slopes.ravel() + free,
        )

    size = (BUCKETS + dimensions + 2) * len(KINDS)
    return _unpacked(_minimise(loss, np.zeros(size)), dimensions)


def _minimise(loss: Any, point: Array) -> Array:
    """Limited-memory BFGS with a line search that halves the step."""
    value, slope = loss(point)
    moves: list[tuple[Array, Array]] = []
    for _ in range(STEPS_MAX):
        direction = _direction(slope, moves)
        along = float(direction @ slope)
        step = 1.0 if moves else 1 / np.linalg.norm(slope)
        while True:
            after = point + step * direction
            new_value, new_slope = loss(after)
            if new_value <= value + 1e-4 * step * along or step < 1e-8:
                break
            step /= 2
        moves = [*moves, (after - point, new_slope - slope)][-MEMORY:]
        gained = (value - new_value) / abs(value)
        point, value, slope = after, new_value, new_slope
        if gained < 1e-5:
            break
    return point


def _direction(slope: Array, moves: Sequence[tuple[Array, Array]]) -> Array:
    direction = -slope
    shares = []
    for move, change in reversed(moves):
        share = move @ direction / (move @ change)
        direction = direction - share * change
        shares.append(share)
    if moves:
        move, change = moves[-1]
        direction = direction * (move @ change / (change @ change))
    for (move, change), share in zip(moves, reversed(shares), strict=True):
        direction = direction + (share - change @ direction / (move @ change)) * move
    return direction


def write(weights: Weights, path: str) -> None:
    scale = float(np.abs(weights.buckets).max() / 127)
    head = {
        "identity": _embedder().identity,
        "bias": weights.bias.round(4).tolist(),
        "vector_bias": weights.vector_bias.round(4).tolist(),
        "factors": weights.factors.T.round(3).tolist(),
        "scale": scale,
    }
    table = np.rint(weights.buckets / scale).astype(np.int8)
    Path(path).write_bytes(json.dumps(head).encode() + b"\n" + table.tobytes())


class Measured(NamedTuple):
    """How many sentences that belong into memory are kept, and how many of the kept ones belong
    there."""

    samples: int
    recall: float
    precision: float

    def __str__(self) -> str:
        return f"{self.recall:7.1%} {self.precision:9.1%}"


def measured(samples: Sequence[Sample], kept: Sequence[bool] | Array) -> Measured:
    wanted = np.array([one.kind != KINDS[0] for one in samples])
    kept = np.asarray(kept)
    right = int((kept & wanted).sum())
    return Measured(
        len(samples),
        right / max(1, int(wanted.sum())),
        right / max(1, int(kept.sum())),
    )


def report(samples: Sequence[Sample], likely: Array, likely_by_words: Array) -> None:
    """Prints, by author and language, what rules keep, and what rules and model keep."""
    rules = np.array([one.by_rules for one in samples])
    ways = {
        "rules": rules,
        "+ model": rules | (likely >= LIMIT),
        "+ model by words": rules | (likely_by_words >= LIMIT_BY_WORDS),
    }
    print(f"{'':26}{'n':>6}" + "".join(f"{way:>20}" for way in ways))
    print(f"{'':32}" + "".join(f"{'recall precision':>20}" for _ in ways))
    for name in [*dict.fromkeys(one.author for one in samples), *_languages(samples), "all"]:
        chosen = np.array([name in (one.author, one.language, "all") for one in samples])
        some = [one for one, is_in in zip(samples, chosen, strict=True) if is_in]
        cells = [f"{measured(some, way[chosen])!s:>20}" for way in ways.values()]
        print(f"{name:26}{len(some):6}" + "".join(cells))


# Authors who wrote as people do all day, most of which is not to be kept.
ORDINARY = ("ordinary-days", "near-misses-1", "near-misses-2")
LIMITS = (0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)


def _report_limits(samples: Sequence[Sample], likely: Array, by_words: Array) -> None:
    """Prints what other limits would keep, of all and at ordinary rates."""
    rules = np.array([one.by_rules for one in samples])
    ordinary = np.array([one.author in ORDINARY for one in samples])
    some = [one for one in samples if one.author in ORDINARY]
    for limit in LIMITS:
        cells = [
            f"{measured(part, (rules | (found >= limit))[chosen])!s:>20}"
            for part, chosen in ((samples, slice(None)), (some, ordinary))
            for found in (likely, by_words)
        ]
        print(f"limit {limit:4}: all, by words; ordinary, by words" + "".join(cells))


def _languages(samples: Sequence[Sample]) -> list[str]:
    return sorted({one.language for one in samples})


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the weights that ship")
    parser.add_argument("--unseen", nargs="+", type=Path, help="files that had no part in training")
    given = parser.parse_args(arguments)
    if given.unseen:
        _measure_unseen(given.unseen)
        return
    files = sorted(path for path in SETS.glob("*.jsonl") if not path.stem.startswith("unseen"))
    samples = [one for path in files for one in read(path)]
    rows, kinds = rows_of(samples), [one.kind for one in samples]
    if given.write:
        write(train(rows, kinds), FILE)
        return
    authors = [path.stem for path in files]
    likely, by_words = np.zeros(len(samples)), np.zeros(len(samples))
    right = 0
    for group in range(GROUPS):
        left_out = np.array([authors.index(one.author) % GROUPS == group for one in samples])
        others = [kind for kind, is_out in zip(kinds, left_out, strict=True) if not is_out]
        weights, asked = train(rows.part(~left_out), others), rows.part(left_out)
        shares = _shares(weights.logits(asked, with_vectors=True))
        likely[left_out] = 1 - shares[:, 0]
        by_words[left_out] = 1 - _shares(weights.logits(asked, with_vectors=False))[:, 0]
        likeliest = [KINDS[1 + n] for n in shares[:, 1:].argmax(axis=1)]
        right += sum(
            one.kind == kind
            for one, kind in zip(
                (one for one, is_out in zip(samples, left_out, strict=True) if is_out),
                likeliest,
                strict=True,
            )
        )
        print(f"group {group + 1} of {GROUPS} done", file=sys.stderr)
    report(samples, likely, by_words)
    _report_limits(samples, likely, by_words)
    print(
        f"kind right: {right / sum(kind != KINDS[0] for kind in kinds):.1%} of what belongs there"
    )


def _measure_unseen(files: Sequence[Path]) -> None:
    samples = [one for path in files for one in read(path)]
    embedder = _embedder()
    with_vectors = [
        guess(one.sentence, one.message, embedder.embed_passages([one.sentence])[0])
        for one in samples
    ]
    by_words = [guess(one.sentence, one.message) for one in samples]
    report(
        samples,
        np.array([one.probability for one in with_vectors]),
        np.array([one.probability for one in by_words]),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
