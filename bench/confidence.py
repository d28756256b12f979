"""Learns what the confidence of recall is made of, and reports it on text that was set aside.

python -m bench.confidence [FILE...] [--svg FILE] [--cache FOLDER] [--questions N]

Each file is a set of stores (`evaluation/stores.py`). Every store is asked its own questions and
those of strangers: of the other stores of its set, and of the other sets. For each set the weights
are learned on the other sets and reported on this one. Nothing here is imported by the product: the
weights are copied into `recall/weights.py`.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from holdfast.embed.find import find_embedder
from holdfast.evaluation.cache import CachedEmbedder
from holdfast.evaluation.run import ADVERSARIAL, HoldfastSystem
from holdfast.evaluation.stores import Collection, Question, read_stores
from holdfast.recall import pipeline
from holdfast.recall.confidence import features
from holdfast.recall.weights import CONFIDENCE, CUT_CONFIDENCE

OWN_SETS = (
    "bench/sets/small-stores-develop.jsonl",
    "../shared/data/recall/locomo.jsonl",
    "../shared/data/recall/longmemeval-b.jsonl",
    "../shared/data/recall/beam-100k-b.jsonl",
    "../shared/data/recall/realmem-notes-b.jsonl",
)
NEAR = "unanswerable-near"


class Row(NamedTuple):
    """One question asked of one store. `found` is the share of its answers among the ten best."""

    set: str
    kind: str
    features: tuple[float, ...]
    found: float


def collect(files: Sequence[str], cache: str | None, questions: int) -> list[Row]:
    """Asks every store its own and strangers' questions, and notes the features of each answer."""
    bundled = find_embedder("auto")
    assert bundled is not None, "the bundled model is not installed"
    embedder = CachedEmbedder(bundled, cache)
    sets = {
        os.path.basename(file).removesuffix(".jsonl"): list(read_stores(file)) for file in files
    }
    chance = random.Random(7)
    rows: list[Row] = []
    for name, stores in sets.items():
        for store in stores:
            own = [q for q in store.questions if q.gold and q.category != ADVERSARIAL]
            asked = [(q, "own") for q in _some(chance, own, questions)]
            asked += [(q, q.category) for q in store.questions if not q.gold]
            same = [q for s in stores if s is not store for q in s.questions if q.gold]
            asked += [(q, "same set") for q in _some(chance, same, questions // 3)]
            for other, elsewhere in sets.items():
                if other != name:
                    theirs = [q for s in elsewhere for q in s.questions if q.gold]
                    asked += [(q, "other set") for q in _some(chance, theirs, questions // 6)]
            rows += _ask(name, store, asked, embedder)
    return rows


def _some(chance: random.Random, among: list[Question], count: int) -> list[Question]:
    return chance.sample(among, min(count, len(among)))


def _ask(
    name: str, store: Collection, asked: list[tuple[Question, str]], embedder: CachedEmbedder
) -> list[Row]:
    seen: list[tuple[Any, tuple[float, ...]]] = []
    estimate = pipeline.estimate

    def noted(ordered: Any, covered: Any, *rest: Any) -> float:
        seen.append((ordered, tuple(features(ordered, covered)) if ordered else ()))
        return estimate(ordered, covered, *rest)

    system = HoldfastSystem(store.docs, embedder)
    system.add(store.docs)
    rows = []
    pipeline.estimate = noted
    try:
        for question, kind in asked:
            seen.clear()
            system._hub.recall(question.text, limit=10, now=question.asked_at)
            if not seen or not seen[0][1]:
                continue
            ordered, found = seen[0]
            ids = {d for item in ordered[:10] for d in system._docs_of.get(item.memory.id, [])}
            share = len(ids & set(question.gold)) / max(1, len(question.gold))
            rows.append(Row(name, kind, found, share))
    finally:
        pipeline.estimate = estimate
        system.close()
    return rows


def learn(rows: Sequence[Row]) -> np.ndarray[Any, Any]:
    """Bias and weights of a logistic function; each set weighs the same, and so do questions with
    and without an answer."""
    values = np.array([row.features for row in rows])
    is_own = np.array([row.kind == "own" for row in rows])
    target = np.array([float(row.kind == "own" and row.found > 0) for row in rows])
    weight = np.zeros(len(rows))
    for name in {row.set for row in rows}:
        for own in (True, False):
            mask = np.array([row.set == name for row in rows]) & (is_own == own)
            if mask.any():
                weight[mask] = 1 / mask.sum()
    mean, spread = values.mean(0), values.std(0) + 1e-9
    matrix = np.c_[(values - mean) / spread, np.ones(len(rows))]
    ridge = 2e-3 * weight.sum() * np.diag([*[1.0] * values.shape[1], 1e-6])
    found = np.zeros(matrix.shape[1])
    for _ in range(80):
        likely = 1 / (1 + np.exp(-matrix @ found))
        slope = matrix.T @ (weight * (target - likely)) - ridge @ found
        curve = (matrix * (weight * likely * (1 - likely))[:, None]).T @ matrix + ridge
        found += np.linalg.solve(curve, slope)
    factors = found[:-1] / spread
    return np.array([found[-1] - factors @ mean, *factors])


def predict(weights: Sequence[float], rows: Sequence[Row]) -> np.ndarray[Any, Any]:
    values = np.array([row.features for row in rows])
    bias, factors = weights[0], np.array(weights[1:])
    return np.asarray(1 / (1 + np.exp(-np.clip(bias + values @ factors, -30, 30))))


class Shown(NamedTuple):
    """What a threshold does: shares of strangers' and near questions that get a row, R@10 lost."""

    strangers: float
    near: float
    lost: float


def measure(rows: Sequence[Row], likely: np.ndarray[Any, Any], least: float) -> Shown:
    def share(kinds: Sequence[bool]) -> float:
        mask = np.array(kinds)
        return float((likely[mask] >= least).mean()) if mask.any() else float("nan")

    own = np.array([row.kind == "own" for row in rows])
    found = np.array([row.found for row in rows])
    return Shown(
        share([row.kind not in ("own", NEAR) for row in rows]),
        share([row.kind == NEAR for row in rows]),
        float((found[own] * (likely[own] < least)).sum() / max(1, own.sum())),
    )


def curve(rows: Sequence[Row], likely: np.ndarray[Any, Any]) -> list[tuple[float, float]]:
    """Coverage (answerable questions that are answered) and precision (answers that hold the gold,
    questions with and without an answer being equally many), from the surest down."""
    own = np.array([row.kind == "own" for row in rows])
    strange = np.array([row.kind not in ("own", NEAR) for row in rows])
    right = np.array([row.found > 0 for row in rows])
    points = []
    for least in np.linspace(0.02, 0.98, 49):
        shown = likely >= least
        answered, wrong = shown[own].mean(), shown[strange].mean()
        good = (shown & right)[own].mean()
        if answered + wrong:
            points.append((float(answered), float(good / (answered + wrong))))
    return points


_COLOURS = ("#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#34495e")


def draw(curves: dict[str, list[tuple[float, float]]]) -> str:
    """The curves as SVG."""
    left, top, width, height = 60, 20, 520, 320

    def place(coverage: float, precision: float) -> str:
        return f"{left + coverage * width:.1f},{top + (1 - precision) * height:.1f}"

    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 400" font-family="sans-serif"'
        ' font-size="12">',
        '<rect width="760" height="400" fill="#ffffff"/>',
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#999"/>',
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + tick * width, top + (1 - tick) * height
        parts.append(f'<text x="{x - 10:.0f}" y="{top + height + 18}">{tick:.0%}</text>')
        parts.append(f'<text x="{left - 42}" y="{y + 4:.0f}">{tick:.0%}</text>')
    parts.append(
        f'<text x="{left + 120}" y="{top + height + 40}">answerable questions that are'
        " answered (held out)</text>"
    )
    parts.append(f'<text x="{left + 8}" y="{top + height - 8}">precision</text>')
    for at, (name, points) in enumerate(curves.items()):
        colour = _COLOURS[at % len(_COLOURS)]
        line = " ".join(place(*point) for point in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<text x="{left + width + 12}" y="{40 + 18 * at}" fill="{colour}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.confidence", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE", help="where to draw precision against coverage")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--questions", type=int, default=90, help="own questions of a store")
    args = parser.parse_args()
    files = args.files or [file for file in OWN_SETS if os.path.exists(file)]
    rows = collect(files, args.cache, args.questions)
    names = list(dict.fromkeys(row.set for row in rows))
    curves = {}
    for name in names:
        mine = [row for row in rows if row.set == name]
        others = [row for row in rows if row.set != name and row.kind != NEAR]
        ((model, shipped),) = CONFIDENCE.items()
        for label, weights in (("held out", learn(others) if others else None), (model, shipped)):
            if weights is None:
                continue
            likely = predict(weights, mine)
            got = measure(mine, likely, CUT_CONFIDENCE)
            print(
                f"{name:24} {label:20} strangers shown {got.strangers:6.1%}   near {got.near:6.1%}"
                f"   R@10 lost {100 * got.lost:.1f}"
            )
            curves.setdefault(name, curve(mine, likely))
    print("weights of all sets", learn([row for row in rows if row.kind != NEAR]).round(2).tolist())
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(draw(curves))


if __name__ == "__main__":
    main()
