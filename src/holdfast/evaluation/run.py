"""One evaluation run: every store is filled, every question asked, every answer scored. Holdfast
answers through its public API, behind the same two calls as the baselines. The metrics know
document ids and nothing of where a ranking came from."""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import holdfast
from holdfast.embed.base import Embedder
from holdfast.evaluation.baselines import FullText, Hybrid, RankFusion, Substring, Vectors, written
from holdfast.evaluation.stores import Collection, Doc, Question


class System(Protocol):
    """Takes documents in, and answers with document ids, best first."""

    def add(self, docs: Sequence[Doc]) -> None: ...

    def ask(self, question: Question, limit: int) -> list[str]: ...

    def close(self) -> None: ...


class _Still:
    """A fixed clock, so that two runs rank alike."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


class HoldfastSystem:
    """One hub in a home folder of its own, filled by `remember_stream`, asked by `recall`.

    A question without a time of its own is asked at the time of the store's last document.
    """

    def __init__(
        self,
        docs: Sequence[Doc],
        embedder: Embedder | None,
        settings: Mapping[str, Any] | None = None,
        *,
        hub: str = "bench",
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="holdfast-bench-")
        last = max((doc.time for doc in docs if doc.time), default=datetime(2026, 1, 1, tzinfo=UTC))
        # A file of its own, also where the environment names a store that people use.
        chosen = {"store.url": "", "store.read_url": ""}
        if embedder is None:
            chosen["embed.model"] = "none"
        self._memory = holdfast.open(
            self._folder.name,
            clock=_Still(last),
            embedder=embedder,
            settings={**chosen, **(settings or {})},
        )
        self._hub = self._memory.create_hub(hub)
        self._docs_of: dict[str, list[str]] = {}

    def add(self, docs: Sequence[Doc]) -> None:
        drafts = (
            {
                "content": doc.text,
                "session": doc.session,
                "speaker": doc.speaker,
                "occurred_at": doc.time,
            }
            for doc in docs
        )
        for doc, result in zip(docs, self._hub.remember_stream(drafts), strict=True):
            # The same words said twice at one time are one memory for both.
            self._docs_of.setdefault(result.memory.id, []).append(doc.id)

    def ask(self, question: Question, limit: int) -> list[str]:
        hits = self._hub.recall(question.text, limit=limit, now=question.asked_at)
        return [doc for hit in hits for doc in self._docs_of[hit.memory.id]]

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()


OURS = "holdfast"
PLAIN = "plain recipe"
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
    text_only: bool = False,
    progress: Progress | None = None,
) -> list[Results]:
    """Holdfast's results on the stores, and after them those of the baselines.

    With `text_only` a document has no speaker, session or time; the speaker is part of its text.
    """
    results: dict[str, Results] = {}
    for store in stores:
        if text_only:
            store = without_metadata(store)
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


def without_metadata(store: Collection) -> Collection:
    """The store as a plain list of texts, `speaker: text` where there is a speaker."""
    docs = tuple(Doc(doc.id, written(doc)) for doc in store.docs)
    return store._replace(docs=docs)


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
            systems[PLAIN] = Hybrid(FullText(stop_words=False), Vectors(embedder))
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


DEPTHS = (1, 5, 10, 20)
DEPTH_MAX = DEPTHS[-1]
METRICS = ("R@1", "R@5", "R@10", "R@20", "hit@10", "MRR", "NDCG@10")

# A thousand resamples place the ends of a 95 % interval to about a tenth of its width.
_RESAMPLES = 1_000
_SEED = 20_240_229  # any fixed number: the same run prints the same interval


def score(ranking: Sequence[str], gold: Sequence[str]) -> tuple[float, ...]:
    """The metrics of one ranking, in the order of METRICS. `gold` must not be empty.

    R@k is the share of the gold among the first k; MRR is one over the rank of the first gold
    (0 where it is not among the first 20); NDCG@10 counts every gold as equally relevant.
    """
    wanted = frozenset(gold)
    first = list(dict.fromkeys(ranking))[:DEPTH_MAX]
    right = [doc in wanted for doc in first]
    recalls = [sum(right[:depth]) / len(wanted) for depth in DEPTHS]
    hit = float(any(right[:10]))
    reciprocal = 1 / (right.index(True) + 1) if True in right else 0.0
    gain = sum(1 / math.log2(at + 2) for at, one in enumerate(right[:10]) if one)
    ideal = sum(1 / math.log2(at + 2) for at in range(min(10, len(wanted))))
    return (*recalls, hit, reciprocal, gain / ideal)


class Estimate(NamedTuple):
    """An average with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of the values; the interval comes from drawing them anew a thousand times."""
    count = len(values)
    if not count:
        return Estimate(math.nan, math.nan, math.nan)
    means = sorted(sum(map(values.__getitem__, draw)) / count for draw in _draws(count))
    return Estimate(sum(values) / count, *_interval(means))


def macro(groups: Sequence[Sequence[float]]) -> Estimate:
    """The mean of the groups' means, each group drawn anew on its own."""
    groups = [group for group in groups if group]
    if not groups:
        return Estimate(math.nan, math.nan, math.nan)
    draws = [_draws(len(group), salt) for salt, group in enumerate(groups)]
    means = sorted(
        sum(
            sum(map(group.__getitem__, draws[at][turn])) / len(group)
            for at, group in enumerate(groups)
        )
        / len(groups)
        for turn in range(_RESAMPLES)
    )
    middle = sum(sum(group) / len(group) for group in groups) / len(groups)
    return Estimate(middle, *_interval(means))


def _interval(means: list[float]) -> tuple[float, float]:
    tail = round(_RESAMPLES * 0.025)
    return means[tail], means[-tail - 1]


@lru_cache(maxsize=32)
def _draws(count: int, salt: int = 0) -> list[list[int]]:
    """The same draws for every metric and system, so that they are compared on equal terms."""
    chance = random.Random(_SEED + salt)
    return [chance.choices(range(count), k=count) for _ in range(_RESAMPLES)]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the others are at or below (nearest rank)."""
    ranked = sorted(values)
    if not ranked:
        return math.nan
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]
