"""One evaluation run: every store is filled, every question asked, every answer scored. Holdfast
answers through its public API, behind the same two calls as the baselines: what anyone would build
first (substrings, FTS5, vectors, and both together, by rank or by score). A baseline works on the
documents alone, with the speaker written in front as in a transcript, and knows nothing of
Holdfast's own analysis or ranking. The metrics know document ids and nothing of where a ranking
came from."""

from __future__ import annotations

import math
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import holdfast
from holdfast.embed import Embedder
from holdfast.evaluation import Collection, Doc, Question
from holdfast.text.analysis.terms import STOP_WORDS

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory
    from holdfast.embed import Matrix


# The constant of the paper that proposed reciprocal rank fusion, and of most who use it.
RRF_K = 60
# How deep RRF looks into each list.
RRF_DEPTH = 100
# The usual weights of a hybrid search: scores stretched to 0…1, mostly the cosine.
HYBRID_COSINE = 0.7
HYBRID_WORDS = 0.3

_WORD = re.compile(r"\w+")


def written(doc: Doc) -> str:
    """A document as a line of a transcript."""
    return f"{doc.speaker}: {doc.text}" if doc.speaker else doc.text


class Substring:
    """The number of the question's words in the text, as LIKE '%word%' would find them; among
    equals the newest."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []

    def add(self, docs: Sequence[Doc]) -> None:
        self._texts += [(doc.id, written(doc).casefold()) for doc in docs]

    def ask(self, question: Question, limit: int) -> list[str]:
        words = set(_WORD.findall(question.text.casefold()))
        scored = [
            (-sum(word in text for word in words), -at, doc)
            for at, (doc, text) in enumerate(self._texts)
        ]
        scored.sort()
        return [doc for merit, _, doc in scored[:limit] if merit]

    def close(self) -> None:
        self._texts.clear()


class FullText:
    """FTS5 as most set it up: the porter stemmer, the question's words joined by OR, ordered by its
    own rank."""

    def __init__(self, *, stop_words: bool) -> None:
        import apsw

        self._keep_stop_words = stop_words
        self._database = apsw.Connection(":memory:")
        self._database.execute(
            "CREATE VIRTUAL TABLE docs USING fts5 (id UNINDEXED, text, tokenize = 'porter')"
        )

    def add(self, docs: Sequence[Doc]) -> None:
        with self._database:
            self._database.executemany(
                "INSERT INTO docs (id, text) VALUES (?, ?)",
                [(doc.id, written(doc)) for doc in docs],
            )

    def ask(self, question: Question, limit: int) -> list[str]:
        return [doc for doc, _ in self.scored(question, limit)]

    def scored(self, question: Question, limit: int) -> list[tuple[str, float]]:
        """The best documents and their BM25 scores, higher is better."""
        words = list(dict.fromkeys(_WORD.findall(question.text.lower())))
        if not self._keep_stop_words:
            words = [word for word in words if word not in STOP_WORDS] or words
        if not words:
            return []
        expression = " OR ".join(f'"{word}"' for word in words)
        found = self._database.execute(
            "SELECT id, -rank FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?",
            (expression, limit),
        )
        return list(found)

    def close(self) -> None:
        self._database.close()


class Vectors:
    """The embedding model alone: every text as one vector, nearest first."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._ids: list[str] = []
        self._blocks: list[Matrix] = []

    def add(self, docs: Sequence[Doc]) -> None:
        if docs:
            self._ids += [doc.id for doc in docs]
            self._blocks.append(self._embedder.embed_passages([written(doc) for doc in docs]))

    def ask(self, question: Question, limit: int) -> list[str]:
        import numpy as np

        ids, cosines = self.cosines(question)
        return [ids[at] for at in np.argsort(-cosines, kind="stable")[:limit]]

    def cosines(self, question: Question) -> tuple[list[str], Any]:
        """Every document, and the cosine of each."""
        import numpy as np

        if not self._ids:
            return [], np.zeros(0, np.float32)
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._ids, self._blocks[0] @ self._embedder.embed_query(question.text)

    def close(self) -> None:
        self._blocks.clear()


class RankFusion:
    """Reciprocal rank fusion of the lists of others, which it fills and closes with itself."""

    def __init__(self, *systems: FullText | Vectors) -> None:
        self._systems = systems

    def add(self, docs: Sequence[Doc]) -> None:
        for system in self._systems:
            system.add(docs)

    def ask(self, question: Question, limit: int) -> list[str]:
        merits: dict[str, float] = {}
        for system in self._systems:
            for rank, doc in enumerate(system.ask(question, RRF_DEPTH), 1):
                merits[doc] = merits.get(doc, 0.0) + 1 / (RRF_K + rank)
        return sorted(merits, key=lambda doc: -merits[doc])[:limit]

    def close(self) -> None:
        for system in self._systems:
            system.close()


class Hybrid:
    """The plain recipe of hybrid search: 0.7 · cosine of the whole text + 0.3 · BM25.

    Both are stretched to 0…1 over all documents.
    """

    def __init__(self, words: FullText, vectors: Vectors) -> None:
        self._words = words
        self._vectors = vectors

    def add(self, docs: Sequence[Doc]) -> None:
        self._words.add(docs)
        self._vectors.add(docs)

    def ask(self, question: Question, limit: int) -> list[str]:
        import numpy as np

        ids, cosines = self._vectors.cosines(question)
        if not ids:
            return []
        found = dict(self._words.scored(question, len(ids)))
        words = np.array([found.get(doc, 0.0) for doc in ids])
        merits = HYBRID_COSINE * _stretched(cosines) + HYBRID_WORDS * _stretched(words)
        return [ids[at] for at in np.argsort(-merits, kind="stable")[:limit]]

    def close(self) -> None:
        self._words.close()
        self._vectors.close()


def _stretched(scores: Any) -> Any:
    """Scores moved and scaled so that they reach from 0 to 1."""
    least, span = scores.min(), float(scores.max() - scores.min())
    return (scores - least) / (span or 1.0)


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
        return [doc for hit in hits for doc in self._documents(hit.memory)]

    def _documents(self, memory: Memory) -> Sequence[str]:
        # A fact that was taken out of a transcript counts as the transcript.
        return self._docs_of.get(memory.id) or self._docs_of[memory.parent or ""]

    def close(self) -> None:
        self._memory.close()
        self._folder.cleanup()


OURS = "holdfast"
PLAIN = "plain recipe"
# Asked about what was never said, and so averaged apart.
ADVERSARIAL = "adversarial"


class QuestionResult(NamedTuple):
    """The result of one question of a test set. `scores` is None if the question has no answer in
    the store."""

    store: str
    question: Question
    ranking: tuple[str, ...]
    scores: tuple[float, ...] | None
    seconds: float


class Results(NamedTuple):
    """All that one system did with one file."""

    system: str
    answers: list[QuestionResult]
    docs: int
    indexing_s: float

    def counted(self) -> list[QuestionResult]:
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
) -> tuple[list[QuestionResult], float]:
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
        answers.append(QuestionResult(store.name, question, tuple(ranking), scores, seconds))
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
    (0 if it is not among the first 20); NDCG@10 counts every gold as equally relevant.
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
    return math.nan if not ranked else ranked[max(0, math.ceil(share * len(ranked)) - 1)]
