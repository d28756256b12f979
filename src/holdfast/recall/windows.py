"""Which part of a hit answers: the window of its passage that is nearest to the question.

Asked for the few hits that are shown, by who quotes them: ranking needs only how near it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.text.analysis.terms import terms

if TYPE_CHECKING:
    from holdfast.recall.evidence import Evidence
    from holdfast.recall.gather import Question
    from holdfast.store.base import Reader


def best_window(
    reader: Reader, hub_id: str, question: Question | None, asked: Sequence[str], item: Evidence
) -> tuple[int, int]:
    """The span in the content: by meaning where the passage has vectors, else by words."""
    from holdfast.text.chunking.chunk import windows_of

    found = item.best.candidate
    spans = windows_of(item.memory.content, found.start, found.end)
    if len(spans) < 2:
        return found.start, found.end
    scores = _by_words(item.memory.content, spans, asked)
    if question is not None:
        rows = reader.vectors_of(hub_id, question.model, item.memory.id)
        vectors = [row.vector for row in rows if row.passage_id == found.passage_id]
        if len(vectors) == len(spans):
            from holdfast.embed.base import dequantise_all

            near = dequantise_all(vectors, len(question.vector)) @ question.vector
            scores = [
                cosine + _WORDS_SHARE * held for cosine, held in zip(near, scores, strict=True)
            ]
    return spans[max(range(len(spans)), key=lambda at: scores[at])]


# What holding all of the question's words is worth, in units of cosine.
_WORDS_SHARE = 0.2


def _by_words(content: str, spans: Sequence[tuple[int, int]], asked: Sequence[str]) -> list[float]:
    """The share of the question's words that each window holds."""
    wanted = set(asked)
    return [
        len(wanted & set(terms(content[start:end]))) / max(1, len(wanted)) for start, end in spans
    ]
