"""Learns the confidence of recall for questions in other languages than English.

    python -m bench.confidence_languages [--model NAME] [--cache FOLDER]

Asks stores in eight languages, and one in English, their own questions, those that they cannot
answer, and ordinary prompts in their language (of bench/sets/sentences), for which nothing should
be shown. Prints the weights, what they show of each language when learned on the others, and what
the weights that ship show of the set that was kept aside. Nothing here is imported by the product.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.confidence import RIDGE, RIDGE_LEAST, _logistic
from holdfast.embed.providers import find_embedder
from holdfast.engine.context.relevance import ANSWERED_LEAST, PROMPT_LEAST
from holdfast.evaluation import CachedEmbedder, Collection, read_stores
from holdfast.evaluation.run import HoldfastSystem
from holdfast.recall import confidence, pipeline, weights

SETS = Path(__file__).parent / "sets"
LEARNED = ("languages", "small-stores-languages")
UNSEEN = "small-stores-languages-unseen"
ENGLISH = "small-stores-develop"
# How many ordinary prompts are asked of a store.
PROMPTS = 40
# The share of what has no answer that may be shown beside a prompt.
SHOWN = 0.1
LIMITS = (weights.CUT_CONFIDENCE_FOREIGN, ANSWERED_LEAST, PROMPT_LEAST)


class Row(NamedTuple):
    language: str
    # 'own', 'near', 'far' or 'prompt' (in a hub of the language), 'english' (a prompt in a hub of
    # English).
    kind: str
    values: tuple[float, ...]
    found: bool


def language_of(store: str) -> str:
    """The language of a store: 'notes-de' and 'de-1' are German."""
    return store.removeprefix("notes-").split("-")[0]


def prompts_by_language() -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for path in sorted((SETS / "sentences").glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            message = json.loads(line)
            if language := message.get("lang"):
                text = " ".join(part[0] for part in message["parts"])
                out.setdefault(language, []).append(text)
    return out


class Asker:
    """Asks a store, and notes what the confidence of the answer is made of."""

    def __init__(self, store: Collection, embedder: Any) -> None:
        self._store = store
        self._system = HoldfastSystem(store.docs, embedder, {"recall.deadline_s": 60})
        self._system.add(store.docs)

    def ask(self, text: str, language: str, kind: str, gold: Iterable[str] = ()) -> Row | None:
        seen: list[tuple[tuple[float, ...], list[str]]] = []
        weigh = confidence._weighted
        estimate = pipeline.estimate_foreign

        def noted(ordered: Any, covered: Any, model: str, *, unspaced: bool) -> Any:
            taken: list[Sequence[float]] = []

            def weighed(factors: Sequence[float], values: Sequence[float]) -> float:
                taken.append(values)
                return weigh(factors, values)

            confidence._weighted = weighed
            try:
                answer = estimate(ordered, covered, model, unspaced=unspaced)
            finally:
                confidence._weighted = weigh
            if taken:
                seen.append((tuple(taken[0]), [item.memory.id for item in ordered[:10]]))
            return answer

        pipeline.estimate_foreign = noted
        try:
            self._system._hub.recall(text, limit=10)
        finally:
            pipeline.estimate_foreign = estimate
        if not seen:
            return None
        values, ids = seen[0]
        held = {doc for one in ids for doc in self._system._docs_of.get(one, ())}
        return Row(language, kind, values, bool(held & set(gold)))

    def close(self) -> None:
        self._system.close()


def rows_of(name: str, embedder: Any, *, english: bool) -> list[Row]:
    prompts = prompts_by_language()
    found: list[Row | None] = []
    for store in read_stores(str(SETS / f"{name}.jsonl")):
        language = language_of(store.name)
        asker = Asker(store, embedder)
        for q in store.questions:
            kind = "own" if q.gold else q.category.removeprefix("unanswerable-")
            found.append(asker.ask(q.text, language, kind, q.gold))
        ordinary = _some(prompts.get(language, []), PROMPTS)
        found += [asker.ask(text, language, "prompt") for text in ordinary]
        asker.close()
    if english:
        asker = Asker(next(iter(read_stores(str(SETS / f"{ENGLISH}.jsonl")))), embedder)
        for language, texts in prompts.items():
            found += [asker.ask(text, language, "english") for text in _some(texts, PROMPTS)]
        asker.close()
    return [row for row in found if row is not None]


def _some(texts: list[str], count: int) -> list[str]:
    return texts[:: max(1, len(texts) // count)][:count]


def learn(rows: Sequence[Row]) -> np.ndarray[Any, Any]:
    """Bias and weights, with the bias at which SHOWN of what has no answer is shown at the limit
    beside a prompt."""
    used = [row for row in rows if row.found or row.kind not in ("own", "near")]
    values = np.array([row.values for row in used])
    target = np.array([float(row.found) for row in used])
    weight = np.where(target == 1, 1 / target.sum(), 1 / (1 - target).sum()) * len(used) / 2
    _, *factors = _logistic(values, target, weight, RIDGE)
    _, stretch = _logistic((values @ np.array(factors))[:, None], target, weight, RIDGE_LEAST)
    factors = stretch * np.array(factors)
    least = math.log(PROMPT_LEAST / (1 - PROMPT_LEAST))
    high = np.quantile((values @ factors)[target == 0], 1 - SHOWN)
    return np.array([least - high, *factors])


def report(name: str, rows: Sequence[Row], factors: Sequence[float]) -> None:
    for limit in LIMITS:
        parts = []
        for kind in ("own", "near", "far", "prompt", "english"):
            mine = [row for row in rows if row.kind == kind and (row.found or kind != "own")]
            logits = [factors[0] + np.dot(factors[1:], row.values) for row in mine]
            if mine:
                shown = np.mean([1 / (1 + math.exp(-logit)) >= limit for logit in logits])
                parts.append(f"{kind} {shown:5.1%} of {len(mine)}")
        print(f"{name:32} {limit:5.2f}  {'   '.join(parts)}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.confidence_languages")
    parser.add_argument("--model", default="auto", help="auto (the bundled one) or multilingual")
    parser.add_argument("--cache", metavar="FOLDER", help="keep vectors between runs")
    args = parser.parse_args()
    model = find_embedder(args.model)
    assert model is not None, "the model is not installed"
    embedder = CachedEmbedder(model, args.cache)
    rows = [row for name in LEARNED for row in rows_of(name, embedder, english=name == LEARNED[0])]
    for language in sorted({row.language for row in rows if row.found}):
        others = [row for row in rows if row.language != language]
        mine = [row for row in rows if row.language == language]
        report(f"{language}, learned on the others", mine, learn(others))
    print("weights", learn(rows).round(2).tolist())
    known = weights.CONFIDENCE_FOREIGN
    shipped = known.get(model.identity) or known[""]
    report(f"{UNSEEN[-24:]}, as shipped", rows_of(UNSEEN, embedder, english=True), shipped)


if __name__ == "__main__":
    main()
