"""One evaluation run: every store is filled, every question asked, every answer scored. Holdfast
answers through its public API, behind the same two calls as the baselines."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol

import holdfast
from holdfast.embed.base import Embedder
from holdfast.evaluation.baselines import FullText, Hybrid, RankFusion, Substring, Vectors, written
from holdfast.evaluation.metrics import DEPTH_MAX, score
from holdfast.evaluation.stores import Collection, Doc, Question


class System(Protocol):
    """Takes documents in, and answers with document ids, best first."""

    def add(self, docs: Sequence[Doc]) -> None: ...

    def ask(self, question: Question, limit: int) -> list[str]: ...

    def close(self) -> None: ...


class _Still:
    """A clock that stands still, so that two runs rank alike."""

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
            # The same words said twice in one breath are one memory that stands for both.
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
