"""Learns what the confidence of recall is made of, and reports it on text that was set aside.

    python -m bench.confidence [FILE...] [--public FOLDER] [--svg FILE] [--cache FOLDER]
    python -m bench.confidence --general

Each file is a set of stores (`evaluation/__init__.py`). Every store, several as one, and parts down
to a single document are asked their own questions and those of strangers: of the other stores of
the set, and of other kinds of text. For each set the weights are learned on the other kinds of text
and reported on this one. Sets in HELD_OUT are never learned from. Without a FILE, the sets of this
project are asked, and with --public those of PUBLIC_SETS in that folder: the weights that ship were
learned with them. Nothing here is imported by the product: the weights are copied into
`recall/weights.py`.

With --general, the mean vector of general text is made for the bundled model and written into the
package; weights learned before no longer hold then.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from holdfast.embed.providers import find_embedder
from holdfast.evaluation import CachedEmbedder, Collection, Question, read_stores
from holdfast.evaluation.run import ADVERSARIAL, HoldfastSystem
from holdfast.recall import confidence
from holdfast.recall.weights import CONFIDENCE

SETS = Path(__file__).parent / "sets"
OWN_SETS = (
    "bench/sets/small-stores-develop.jsonl",
    "bench/sets/small-stores-unseen.jsonl",
    "bench/sets/small-stores-third.jsonl",
    "../shared/data/recall/locomo.jsonl",
    "../shared/data/recall/beam-100k-b.jsonl",
    "../shared/data/recall/realmem-notes-b.jsonl",
    "../shared/data/recall/longmemeval-b.jsonl",
    # Stores with questions on their own subjects that they cannot answer.
    "bench/sets/same-subject-develop.jsonl",
    "bench/sets/same-subject-unseen.jsonl",
)
# Public sets, converted to test stores as README.md says.
PUBLIC_SETS = (
    *("friends", "molweni", "qmsum", "xquad", "mctest", "medquad", "covid"),
    *("prefeval-learn", "prefeval-other", "clapnq", "dstc9", "realtalk"),
)
# Nothing is learned from these.
HELD_OUT = (
    *("small-stores-third", "longmemeval-b", "same-subject-develop", "same-subject-unseen"),
    *("prefeval-other", "clapnq", "dstc9", "realtalk"),
)
# All stores of such a set are about one subject, so what is asked of another store is near.
ONE_SUBJECT = ("friends", "molweni", "medquad", "covid", "prefeval", "dstc9")
# Questions that share no telling word with the one note that answers each, asked of hubs of so many
# notes. Nothing is learned from them; the limit for such hubs was chosen on the first.
PARAPHRASES = ("paraphrases-develop", "paraphrases-unseen")
FEW = (1, 2, 3, 5, 10)
# On the subject of what the store knows, and not in it.
NEAR = ("unanswerable-near", "same store", "same subject")
# A store as it is, several as one (of one kind of text, or of all), or documents of one: as many as
# PARTS says.
WHOLE, POOL, PART = SHAPES = ("whole", "pool", "part")
MIXED = "mixed"
PARTS = (1, 2, 3, 5, 8, 15, 25, 30, 40, 150)
# Hits of an answer that are looked at one by one.
HITS = 10
# What holds factors back. Of 0.003, 0.01, 0.03, 0.1 and 0.3, 0.03 and 0.1 have the largest area
# under the curve on the mean of the kinds of text, each with weights learned on the others.
RIDGE, RIDGE_HITS, RIDGE_LEAST = 3e-2, 2e-3, 2e-4
# The share of strangers' questions that may get a row.
SHOWN = 0.15

Array = np.ndarray[Any, Any]
Weights = Array | Sequence[float]
T = TypeVar("T")


class Row(NamedTuple):
    """One question asked of one store, or of a part of it, of so many documents. `found` is the
    share of its answers among the ten best, and `hits` has for each of those how far its cosine is
    behind the best, its coverage, and whether it is an answer."""

    set: str
    shape: str
    docs: int
    kind: str
    features: tuple[float, ...]
    found: float
    hits: tuple[tuple[float, float, bool], ...]

    @property
    def text(self) -> str:
        return _text_of(self.set)

    @property
    def least(self) -> float:
        """The confidence from which recall shows an answer."""
        return confidence.least_among(self.docs)

    @property
    def own(self) -> bool:
        return self.kind == "own"

    @property
    def stranger(self) -> bool:
        return not self.own and self.kind not in NEAR


class Asked(NamedTuple):
    """A question, and whose it is."""

    question: Question
    kind: str


class Sets(NamedTuple):
    """The sets by name, and what their texts are embedded with."""

    stores: dict[str, list[Collection]]
    embedder: CachedEmbedder

    def strangers(
        self, name: str, besides: Sequence[Collection], chance: random.Random, count: int
    ) -> list[Asked]:
        """Questions of these stores of a set, and three times as many of other kinds of text."""
        same = [q for store in besides for q in store.questions if q.gold]
        kind = "same subject" if _text_of(name) in ONE_SUBJECT else "same set"
        out = [Asked(q, kind) for q in _some(chance, same, count)]
        others = [other for other in self.stores if _text_of(other) != _text_of(name)]
        for other in others:
            theirs = [q for store in self.stores[other] for q in store.questions if q.gold]
            each = max(1, 3 * count // len(others))
            out += [Asked(q, "other set") for q in _some(chance, theirs, each)]
        return out


def _text_of(name: str) -> str:
    """The kind of text of a set: 'beam' for 'beam-100k-b'."""
    return name.split("-")[0]


def collect(files: Sequence[str], cache: str | None, questions: int) -> list[Row]:
    """Asks every store its own and strangers' questions, and notes the features of each answer."""
    bundled = find_embedder("auto")
    assert bundled is not None, "the bundled model is not installed"
    stores = {
        os.path.basename(file).removesuffix(".jsonl"): list(read_stores(file)) for file in files
    }
    sets = Sets(stores, CachedEmbedder(bundled, cache))
    rows: list[Row] = []
    for name, whole in stores.items():
        for store in whole:
            besides = [other for other in whole if other is not store]
            rows += _ask_whole(sets, name, store, besides, questions, WHOLE)
            rows += _ask_parts(sets, name, store, besides)
            print(f"asked {name} {store.name}", flush=True)
        if len(whole) > 1:
            pooled = whole[:-1] if len(whole) > 2 else whole
            besides = [other for other in whole if other not in pooled]
            rows += _ask_whole(sets, name, _pool(pooled), besides, questions, POOL)
    learned = {n: whole for n, whole in stores.items() if n not in HELD_OUT and len(whole) > 1}
    for place in (0, 1):
        rows += _ask_mixed(sets, place, learned)
    return rows


def collect_few(name: str, cache: str | None) -> list[Row]:
    """Asks hubs of a few notes what is in them, and questions about the set's other notes."""
    bundled = find_embedder("auto")
    assert bundled is not None, "the bundled model is not installed"
    embedder = CachedEmbedder(bundled, cache)
    one, two = read_stores(str(SETS / f"{name}.jsonl"))
    chance = random.Random(name)
    rows: list[Row] = []
    for store, other in ((one, two), (two, one)):
        asked_for = {question.gold[0]: question for question in store.questions}
        for size in FEW:
            docs = _some(chance, list(store.docs), len(store.docs))
            for at in range(0, len(docs) - size + 1, size):
                part = store._replace(docs=tuple(docs[at : at + size]))
                asked = [Asked(asked_for[doc.id], "own") for doc in part.docs]
                strange = _some(chance, list(other.questions), 4 * len(asked))
                asked += [Asked(question, "same set") for question in strange]
                rows += _ask(name, part, asked, embedder, PART)
    return rows


def _ask_whole(
    sets: Sets,
    name: str,
    store: Collection,
    besides: Sequence[Collection],
    questions: int,
    shape: str,
) -> list[Row]:
    chance = random.Random(f"{name} {store.name}")
    asked = [Asked(q, "own") for q in _some(chance, _answerable(store), questions)]
    asked += [Asked(q, q.category) for q in store.questions if not q.gold]
    asked += sets.strangers(name, besides, chance, questions // 3)
    return _ask(name, store, asked, sets.embedder, shape)


def _ask_parts(
    sets: Sets, name: str, store: Collection, besides: Sequence[Collection]
) -> list[Row]:
    chance = random.Random(f"{name} {store.name}")
    own = _answerable(store)
    unanswerable = [Asked(q, q.category) for q in store.questions if not q.gold]
    rows: list[Row] = []
    for size in PARTS:
        if 2 * size > len(store.docs):
            continue
        some = _part(store, own, size, chance)
        kept = {doc.id for doc in some.docs}
        there = [q for q in own if kept.issuperset(q.gold)]
        gone = [q for q in own if kept.isdisjoint(q.gold)]
        asked = [Asked(q, "own") for q in _some(chance, there, 20)]
        asked += [Asked(q, "same store") for q in _some(chance, gone, 8)]
        asked += _some(chance, unanswerable, 10) + sets.strangers(name, besides, chance, 8)
        rows += _ask(name, some, asked, sets.embedder, PART)
    return rows


def _ask_mixed(sets: Sets, place: int, learned: dict[str, list[Collection]]) -> list[Row]:
    """A hub of all kinds of text, with one store of each set. Strangers are the other stores, but
    for those about the same subject."""
    inside = [whole[place] for whole in learned.values()]
    chance = random.Random(" ".join(store.name for store in inside))
    pool = _pool(inside)
    asked = [Asked(q, q.category) for q in pool.questions if not q.gold]
    for store in inside:
        own = _answerable(_pool([store]))
        asked += [Asked(q, "own") for q in _some(chance, own, 18)]
    for name, whole in learned.items():
        for store in (store for store in whole if store not in inside):
            theirs = [q for q in store.questions if q.gold]
            kind = "same subject" if _text_of(name) in ONE_SUBJECT else "same set"
            asked += [Asked(q, kind) for q in _some(chance, theirs, 12)]
    return _ask(MIXED, pool, asked, sets.embedder, POOL)


def _answerable(store: Collection) -> list[Question]:
    return [q for q in store.questions if q.gold and q.category != ADVERSARIAL]


def _pool(stores: Sequence[Collection]) -> Collection:
    """Several stores as one: a hub of many subjects."""
    return Collection(
        "pool",
        tuple(doc._replace(id=f"{s.name} {doc.id}") for s in stores for doc in s.docs),
        tuple(
            q._replace(gold=tuple(f"{s.name} {gold}" for gold in q.gold))
            for s in stores
            for q in s.questions
        ),
    )


def _part(store: Collection, own: list[Question], size: int, chance: random.Random) -> Collection:
    """Some documents of a store, among them the answers of a few of its questions."""
    wanted = {gold for q in _some(chance, own, min(12, max(1, size // 3))) for gold in q.gold}
    rest = [doc.id for doc in store.docs if doc.id not in wanted]
    kept = wanted | set(_some(chance, rest, max(0, size - len(wanted))))
    return store._replace(docs=tuple(doc for doc in store.docs if doc.id in kept))


def _some(chance: random.Random, among: list[T], count: int) -> list[T]:
    return chance.sample(among, min(count, len(among)))


def _ask(
    name: str,
    store: Collection,
    asked: list[Asked],
    embedder: CachedEmbedder,
    shape: str,
) -> list[Row]:
    seen: list[tuple[Any, Any, tuple[float, ...]]] = []
    features = confidence.features

    def noted(ordered: Any, covered: Any, *rest: Any, **more: Any) -> Any:
        found = features(ordered, covered, *rest, **more)
        seen.append((ordered[:HITS], covered, tuple(found)))
        return found

    # A busy machine makes no answer fail here.
    system = HoldfastSystem(store.docs, embedder, {"recall.deadline_s": 60})
    system.add(store.docs)
    rows = []
    confidence.features = noted
    try:
        for question, kind in asked:
            seen.clear()
            system._hub.recall(question.text, limit=HITS, now=question.asked_at)
            if not seen:  # in another language, or without a single candidate
                continue
            ordered, covered, found = seen[0]
            gold = set(question.gold) if kind == "own" else set()
            ids_of = [set(system._docs_of.get(item.memory.id, ())) for item in ordered]
            hits = tuple(
                (found[0] - item.parts["vector"], covered(item), bool(ids & gold))
                for item, ids in zip(ordered, ids_of, strict=True)
            )
            share = len(gold & set().union(*ids_of)) / max(1, len(gold))
            rows.append(Row(name, shape, len(store.docs), kind, found, share, hits))
    finally:
        confidence.features = features
        system.close()
    return rows


def learn(rows: Sequence[Row]) -> Array:
    """Bias and weights of the confidence. Each kind of text weighs the same, and in it whole
    stores as much as pools and as parts, and questions with an answer as much as those without.
    The bias is then set by the aim: at most SHOWN of strangers' questions get a row."""
    rows = [row for row in rows if row.kind not in NEAR]
    groups = [(row.text, row.shape, row.own) for row in rows]
    sizes = Counter(groups)
    weight = np.array([1 / sizes[group] for group in groups])
    target = np.array([float(row.own and row.found > 0) for row in rows])
    values = np.array([row.features for row in rows])
    _, *factors = _logistic(values, target, weight, RIDGE)
    # A ridge draws every probability towards the middle; the log odds are stretched back.
    logits = values @ np.array(factors)
    _, stretch = _logistic(logits[:, None], target, weight, RIDGE_LEAST)
    strange = np.array([row.stranger for row in rows])
    least = np.array([row.least for row in rows])
    short = (np.log(least / (1 - least)) - stretch * logits)[strange]
    order = np.argsort(short)
    share = np.cumsum(weight[strange][order]) / weight[strange].sum()
    # Rounded down, so that it is at most so many.
    bias = np.floor(10 * short[order[np.searchsorted(share, SHOWN)]]) / 10
    return np.array([bias, *(stretch * np.array(factors))])


def learn_hits(rows: Sequence[Row], weights: Weights) -> Array:
    """Bias and weights of a hit's probability: the answer's log odds, how far its cosine is behind
    the best, and its coverage."""
    values, target = [], []
    for row in rows:
        if row.kind in NEAR:
            continue
        logit = weights[0] + np.dot(weights[1:], row.features)
        values += [(logit, behind, coverage) for behind, coverage, _ in row.hits]
        target += [float(right) for *_, right in row.hits]
    return _logistic(np.array(values), np.array(target), np.ones(len(target)), RIDGE_HITS)


def _logistic(values: Array, target: Array, weight: Array, ridge_share: float) -> Array:
    """Bias and factors, held back by a ridge of this share of the weights."""
    mean, spread = values.mean(0), values.std(0) + 1e-9
    matrix = np.c_[(values - mean) / spread, np.ones(len(values))]
    ridge = ridge_share * weight.sum() * np.diag([*[1.0] * values.shape[1], 1e-6])
    found = np.zeros(matrix.shape[1])
    for _ in range(60):
        likely = 1 / (1 + np.exp(-np.clip(matrix @ found, -30, 30)))
        slope = matrix.T @ (weight * (target - likely)) - ridge @ found
        curve = (matrix * (weight * likely * (1 - likely))[:, None]).T @ matrix + ridge
        found += np.linalg.solve(curve, slope)
    factors = found[:-1] / spread
    return np.array([found[-1] - factors @ mean, *factors])


def predict(weights: Weights, rows: Sequence[Row]) -> Array:
    values = np.array([row.features for row in rows])
    bias, factors = weights[0], np.array(weights[1:])
    return np.asarray(1 / (1 + np.exp(-np.clip(bias + values @ factors, -30, 30))))


class Shown(NamedTuple):
    """What a threshold does: shares of strangers' and near questions that get a row, and the points
    of R@10 lost. `area` is that under the curve, which no threshold enters."""

    strangers: float
    near: float
    lost: float
    area: float

    def __str__(self) -> str:
        return (
            f"strangers shown {self.strangers:6.1%}   near {self.near:6.1%}"
            f"   R@10 lost {100 * self.lost:4.1f}   area {self.area:.3f}"
        )


def measure(rows: Sequence[Row], likely: Array) -> Shown:
    least = np.array([row.least for row in rows])

    def chosen(wanted: Callable[[Row], bool]) -> Array:
        return np.array([wanted(row) for row in rows])

    def share(mask: Array) -> float:
        return float((likely >= least)[mask].mean()) if mask.any() else float("nan")

    own, strange = chosen(lambda row: row.own), chosen(lambda row: row.stranger)
    found = np.array([row.found for row in rows])
    right, wrong = likely[own & (found > 0)], likely[strange]
    above = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    return Shown(
        share(strange),
        share(chosen(lambda row: row.kind in NEAR)),
        float((found * (likely < least))[own].sum() / max(1, own.sum())),
        float(above),
    )


def curve(rows: Sequence[Row], likely: Array) -> list[tuple[float, float]]:
    """Coverage (answerable questions that are answered) and precision (answers that hold the gold,
    questions with and without an answer being equally many), from the surest down."""
    own = np.array([row.own for row in rows])
    strange = np.array([row.stranger for row in rows])
    right = np.array([row.found > 0 for row in rows])
    points = []
    for least in np.linspace(0.02, 0.98, 49):
        shown = likely >= least
        answered, wrong = shown[own].mean(), shown[strange].mean()
        good = (shown & right)[own].mean()
        if answered + wrong:
            points.append((float(answered), float(good / (answered + wrong))))
    return points


_COLOURS = (
    *("#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e"),
    *("#34495e", "#16a085", "#7f8c8d", "#d35400"),
)


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


def write_general() -> None:
    """The mean vector of general text, for the bundled model."""
    bundled = find_embedder("auto")
    assert bundled is not None, "the bundled model is not installed"
    text = (SETS / "general.txt").read_bytes()
    mean = bundled.embed_passages(text.decode("utf-8").splitlines()).mean(0).astype("<f2")
    means = {bundled.identity: base64.b64encode(mean.tobytes()).decode("ascii")}
    stored = {"sha256": hashlib.sha256(text).hexdigest(), "means": means}
    Path(confidence.MEANS).write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.confidence")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--svg", metavar="FILE", help="where to draw precision against coverage")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--public", metavar="FOLDER", help="where the public sets are")
    parser.add_argument("--questions", type=int, default=60, help="own questions of a store")
    parser.add_argument("--general", action="store_true", help="make the mean of general text")
    args = parser.parse_args()
    if args.general:
        write_general()
        return
    files = args.files or [file for file in OWN_SETS if os.path.exists(file)]
    if args.public:
        files += [os.path.join(args.public, f"{name}.jsonl") for name in PUBLIC_SETS]
    rows = collect(files, args.cache, args.questions)
    learned_from = [row for row in rows if row.set not in HELD_OUT]
    ((model, shipped),) = CONFIDENCE.items()
    curves = {}
    for name in dict.fromkeys(row.set for row in rows):
        text = name.split("-")[0]
        # What is mixed holds text of every kind.
        elsewhere = [row for row in learned_from if row.text not in (text, MIXED)]
        for shape in SHAPES:
            mine = [row for row in rows if row.set == name and row.shape == shape]
            if not mine:
                continue
            for source, weights in (("elsewhere", learn(elsewhere)), (model, shipped)):
                likely = predict(weights, mine)
                print(f"{name:22} {shape:5} {source:19} {measure(mine, likely)}")
                if shape == WHOLE and source == "elsewhere" and name not in PUBLIC_SETS:
                    curves[name] = curve(mine, likely)
    for size in PARTS:
        mine = [row for row in rows if row.shape == PART and row.docs == size]
        if mine:
            print(
                f"{'parts of all':22} {size:5} {model:19} {measure(mine, predict(shipped, mine))}"
            )
    for name in PARAPHRASES:
        few = collect_few(name, args.cache)
        for size in FEW:
            mine = [row for row in few if row.docs == size]
            print(f"{name:22} {size:5} {model:19} {measure(mine, predict(shipped, mine))}")
    weights = learn(learned_from)
    print("confidence", weights.round(2).tolist())
    print("hits", learn_hits(learned_from, weights).round(2).tolist())
    if args.svg:
        with open(args.svg, "w", encoding="utf-8") as file:
            file.write(draw(curves))


if __name__ == "__main__":
    main()
