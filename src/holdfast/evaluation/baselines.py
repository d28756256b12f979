"""What anyone would build first, to be compared with: substrings, FTS5, vectors, and both together,
by rank or by score.

Each works on the documents alone, with the speaker written in front as in a transcript, and knows
nothing of Holdfast's own analysis or ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import Embedder
from holdfast.evaluation.stores import Doc, Question
from holdfast.text.analysis.terms import STOP_WORDS

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix

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
    """How many of the question's words are in the text, as LIKE '%word%' would find them; among
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
