"""One run: every store filled, every question asked, every answer scored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from holdfast.embed.base import Embedder
from holdfast.evaluation.baselines import FullText, RankFusion, Substring, Vectors
from holdfast.evaluation.metrics import DEPTH_MAX, score
from holdfast.evaluation.stores import Collection, Question
from holdfast.evaluation.systems import HoldfastSystem, System

OURS = "holdfast"
# Asked about what was never said, and so averaged apart.
ADVERSARIAL = "adversarial"


class Answer(NamedTuple):
    """One question's result. `scores` is None where the question has no answer in the store."""

    store: str
    question: Question
    ranking: tuple[str, ...]
    scores: tuple[float, ...] | None
    seconds: float


class Results(NamedTuple):
    """All that one system did with one file."""

    system: str
    answers: list[Answer]
    docs: int
    indexing_s: float

    def counted(self) -> list[Answer]:
        """The answers that the averages are taken over."""
        return [
            answer
            for answer in self.answers
            if answer.scores is not None and answer.question.category != ADVERSARIAL
        ]


Progress = Callable[[str, int, int], None]


def run(
    stores: Iterable[Collection],
    embedder: Embedder | None,
    *,
    baselines: bool = False,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> list[Results]:
    """Holdfast's results on the stores, and after them those of the baselines."""
    results: dict[str, Results] = {}
    for store in stores:
        systems = _systems(store, embedder, baselines=baselines, settings=settings)
        try:
            for name, system in systems.items():
                one = results.setdefault(name, Results(name, [], 0, 0.0))
                answers, indexing_s = examine(system, store, _reporter(progress, store, name))
                results[name] = one._replace(
                    answers=one.answers + answers,
                    docs=one.docs + len(store.docs),
                    indexing_s=one.indexing_s + indexing_s,
                )
        finally:
            for system in systems.values():
                system.close()
    return list(results.values())


def _systems(
    store: Collection,
    embedder: Embedder | None,
    *,
    baselines: bool,
    settings: Mapping[str, Any] | None,
) -> dict[str, System]:
    systems: dict[str, System] = {OURS: HoldfastSystem(store.docs, embedder, settings)}
    if baselines:
        systems["substring"] = Substring()
        systems["FTS5"] = FullText(stop_words=True)
        systems["FTS5, no stop words"] = FullText(stop_words=False)
        if embedder is not None:
            systems["vectors"] = Vectors(embedder)
            systems["RRF"] = RankFusion(FullText(stop_words=True), Vectors(embedder))
    return systems


def _reporter(
    progress: Progress | None, store: Collection, name: str
) -> Callable[[int], None] | None:
    if progress is None:
        return None
    return lambda asked: progress(f"{store.name}: {name}", asked, len(store.questions))


def examine(
    system: System, store: Collection, report: Callable[[int], None] | None
) -> tuple[list[Answer], float]:
    """Fills the system as far as each question may see, and asks."""
    total = len(store.docs)
    in_order = sorted(store.questions, key=lambda q: total if q.upto is None else q.upto)
    answers = []
    there, indexing_s = 0, 0.0
    for number, question in enumerate(in_order):
        reach = total if question.upto is None else min(question.upto, total)
        if reach > there:
            started = time.perf_counter()
            system.add(store.docs[there:reach])
            indexing_s += time.perf_counter() - started
            there = reach
        if report is not None:
            report(number)
        started = time.perf_counter()
        ranking = system.ask(question, DEPTH_MAX)
        seconds = time.perf_counter() - started
        scores = score(ranking, question.gold) if question.gold else None
        answers.append(Answer(store.name, question, tuple(ranking), scores, seconds))
    return answers, indexing_s
