"""What is each weight of recall worth, and would other text choose it?

python -m bench.recall_weights FILE... [--cache FOLDER] [--only NAME...] [--json]

Asks every question of every set once for each variant: a weight switched off, or at another value.
Two tables: R@10 of each variant beside the weights as they are, with the interval of the
difference; and for each weight and set the value that is best on the mean of the *other* sets, with
what it finds on the set that had no say.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from bench.recall import SEEN_BY_MODEL
from holdfast.embed.providers import find_embedder
from holdfast.evaluation import CachedEmbedder, Collection, read_stores
from holdfast.evaluation.report import as_columns
from holdfast.evaluation.run import ADVERSARIAL, METRICS, HoldfastSystem, estimate, score
from holdfast.recall import weights

AS_IS = "as it is"
DEPTH = 10

# The values that were compared; the first switches the part off, or is the least.
VALUES: dict[str, tuple[float, ...]] = {
    "LEXICAL_WEIGHT": (0.0, 0.06, 0.09, 0.15, 0.18),
    "WINDOWS_PENALTY": (0.0, 0.02, 0.03),
    "NEIGHBOUR_WEIGHT": (0.0, 0.15, 0.45),
    "NEIGHBOUR_PEOPLE_WEIGHT": (0.0, 0.1, 0.3),
    "WORDS_AROUND_WEIGHT": (0.0, 0.03, 0.09),
    "SESSION_WEIGHT": (0.0, 0.2, 0.3, 0.5, 0.7),
    "VOICE_WEIGHT": (0.0, 0.05, 0.15),
    "ASKS_WEIGHT": (0.0, -0.1),
    "WINDOW_WEIGHT": (0.0, 0.05, 0.15),
    "RECENT_WEIGHT": (0.0, 0.03, 0.1),
    "KIND_WEIGHT": (0.0,),
    "RANKED": (100, 400),
    "CUT_BELOW_BEST": (9.0,),
}

# R@10 of each question, by set and variant.
Scores = dict[str, dict[str, list[float]]]


class Variant(NamedTuple):
    name: str
    changes: Mapping[str, Any]


@contextmanager
def changed(changes: Mapping[str, Any]) -> Iterator[None]:
    """The weights with these values, for a while."""
    before = {name: getattr(weights, name) for name in changes}
    for name, value in changes.items():
        setattr(weights, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(weights, name, value)


def variants(only: Sequence[str] = ()) -> list[Variant]:
    out = [Variant(AS_IS, {})]
    for name, values in VALUES.items():
        if not only or name in only:
            out += [Variant(f"{name} = {value:g}", {name: value}) for value in values]
    return out


def measure(store: Collection, tried: Sequence[Variant], embedder: Any) -> dict[str, list[float]]:
    """R@10 of every question of one store under every variant; each question in its time."""
    system = HoldfastSystem(store.docs, embedder)
    out: dict[str, list[float]] = {one.name: [] for one in tried}
    at, total, there = METRICS.index("R@10"), len(store.docs), 0
    try:
        questions = [q for q in store.questions if q.gold and q.category != ADVERSARIAL]
        for question in sorted(questions, key=lambda q: total if q.upto is None else q.upto):
            reach = total if question.upto is None else min(question.upto, total)
            if reach > there:
                system.add(store.docs[there:reach])
                there = reach
            for one in tried:
                with changed(one.changes):
                    ranking = system.ask(question, DEPTH)
                out[one.name].append(score(ranking, question.gold)[at])
    finally:
        system.close()
    return out


def differences_table(scores: Scores) -> list[list[str]]:
    """A row a variant: what it gains or loses on each set, and on the mean of all."""
    sets = list(scores)
    rows = [["R@10", *sets, "mean", "95 % of the mean difference"]]
    for name in next(iter(scores.values())):
        row = [name]
        for one in sets:
            found = estimate(scores[one][name]).mean
            base = estimate(scores[one][AS_IS]).mean
            row.append(f"{100 * found:.1f}" if name == AS_IS else f"{100 * (found - base):+.1f}")
        mean = sum(estimate(scores[one][name]).mean for one in sets) / len(sets)
        base = sum(estimate(scores[one][AS_IS]).mean for one in sets) / len(sets)
        row.append(f"{100 * mean:.1f}" if name == AS_IS else f"{100 * (mean - base):+.2f}")
        row.append("" if name == AS_IS else _interval(scores, name))
        rows.append(row)
    return rows


def _interval(scores: Scores, name: str) -> str:
    from holdfast.evaluation.run import macro

    pairs = [[a - b for a, b in zip(one[name], one[AS_IS], strict=True)] for one in scores.values()]
    found = macro(pairs)
    return f"{100 * found.low:+.2f} to {100 * found.high:+.2f}"


def held_out_table(scores: Scores) -> list[list[str]]:
    """For each weight and set: the value the other sets choose, and R@10 with it on this one."""
    sets = list(scores)
    rows = [["chosen by the other sets", *(f"{one} →" for one in sets)]]
    for name in VALUES:
        values = [v for v in next(iter(scores.values())) if v.startswith(f"{name} = ")]
        if not values:
            continue
        row = [name]
        for left in sets:
            others = [one for one in sets if one != left]
            best = max(
                [AS_IS, *values],
                key=lambda v: sum(estimate(scores[one][v]).mean for one in others),
            )
            shown = f"{getattr(weights, name):g}" if best == AS_IS else best.partition(" = ")[2]
            row.append(f"{shown}: {100 * estimate(scores[left][best]).mean:.1f}")
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.recall_weights", description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="test stores, as lines of JSON")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="these weights")
    parser.add_argument("--json", action="store_true", help="R@10 of every question")
    args = parser.parse_args()
    found = find_embedder("auto")
    embedder = None if found is None else CachedEmbedder(found, args.cache)
    scores: Scores = {}
    for path in args.files:
        name = os.path.basename(path).removesuffix(".jsonl")
        if name in SEEN_BY_MODEL:
            continue
        of_set = scores.setdefault(name, {})
        for store in read_stores(path):
            for variant, values in measure(store, variants(args.only), embedder).items():
                of_set.setdefault(variant, []).extend(values)
    if args.json:
        print(json.dumps(scores))
        return
    print(as_columns(differences_table(scores)), "\n")
    print(as_columns(held_out_table(scores)))


if __name__ == "__main__":
    main()
