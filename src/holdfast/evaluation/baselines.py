"""What anyone would build first, to be compared with: substrings, FTS5, vectors, and both by rank.

Each works on the documents alone, with the speaker written in front as in a transcript, and knows
nothing of Holdfast's own analysis or ranking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.embed.base import Embedder
from holdfast.evaluation.stores import Doc, Question
from holdfast.text.terms import STOP_WORDS

if TYPE_CHECKING:
    from holdfast.embed.base import Matrix

# The constant of the paper that proposed reciprocal rank fusion, and of most who use it.
RRF_K = 60
# How deep RRF looks into each list.
RRF_DEPTH = 100

_WORD = re.compile(r"\w+")


def _written(doc: Doc) -> str:
    return f"{doc.speaker}: {doc.text}" if doc.speaker else doc.text


class Substring:
    """How many of the question's words stand in the text, as LIKE '%word%' would find them; among
    equals the newest."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str]] = []

    def add(self, docs: Sequence[Doc]) -> None:
        self._texts += [(doc.id, _written(doc).casefold()) for doc in docs]

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
                [(doc.id, _written(doc)) for doc in docs],
            )

    def ask(self, question: Question, limit: int) -> list[str]:
        words = list(dict.fromkeys(_WORD.findall(question.text.lower())))
        if not self._keep_stop_words:
            words = [word for word in words if word not in STOP_WORDS] or words
        if not words:
            return []
        expression = " OR ".join(f'"{word}"' for word in words)
        found = self._database.execute(
            "SELECT id FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?", (expression, limit)
        )
        return [row[0] for row in found]

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
            self._blocks.append(self._embedder.embed_passages([_written(doc) for doc in docs]))

    def ask(self, question: Question, limit: int) -> list[str]:
        import numpy as np

        if not self._ids:
            return []
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        cosines: Any = self._blocks[0] @ self._embedder.embed_query(question.text)
        return [self._ids[at] for at in np.argsort(-cosines, kind="stable")[:limit]]

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
