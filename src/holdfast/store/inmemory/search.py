"""Searches words, substrings, passages and vectors, by looking at everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from holdfast.domain.memory import Memory
from holdfast.domain.query import DOWNWARDS, Filter, Order, place_in
from holdfast.store.inmemory.state import IndexedPassage, Part
from holdfast.store.values import (
    Candidate,
    IndexEntry,
    Lexicon,
    TermQuery,
    TextQuery,
    VectorRow,
    VectorState,
)
from holdfast.text.terms import trigram_text


class SearchReader(Part):
    """The part of the Reader that searches."""

    def lexicon(self, hub_id: str, terms: Sequence[str]) -> Lexicon:
        passages = list(self._whole(hub_id).passages.values())
        frequency = {
            term: sum(term in p.entry.body or term in p.entry.head for p in passages)
            for term in terms
        }
        length = sum(len(p.entry.body) + len(p.entry.head) for p in passages)
        return Lexicon(len(passages), length, frequency)

    def search_terms(
        self, hub_id: str, query: TermQuery, wanted: Filter, *, limit: int
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        found: list[tuple[int, int, Candidate]] = []
        for passage in hub.passages.values():
            self._in_time()
            merit = _merit(passage.entry, query)
            if merit and wanted.admits(hub.memories[passage.memory_id]):
                found.append((-merit, passage.pk, _candidate(passage)))
        return [candidate for _, _, candidate in sorted(found)[:limit]]

    def search_substring(
        self, hub_id: str, needle: str, wanted: Filter, *, limit: int
    ) -> list[str]:
        out = []
        texts = self._hub(hub_id).texts
        for memory in reversed(self._ordered(hub_id)):
            self._in_time()
            if memory.id in texts and needle in texts[memory.id] and wanted.admits(memory):
                out.append(memory.id)
                if len(out) == limit:
                    break
        return out

    def matching(
        self, hub_id: str, query: TextQuery, wanted: Filter, *, order: Order
    ) -> Iterable[Memory]:
        hub = self._hub(hub_id)
        held = {
            passage.memory_id
            for passage in hub.passages.values()
            if query.terms and all(term in passage.entry.body for term in query.terms)
        }
        found = [m for m in hub.memories.values() if m.id in hub.texts and wanted.admits(m)]
        found.sort(key=lambda memory: place_in(memory, order), reverse=order in DOWNWARDS)
        for memory in found:
            self._in_time()
            if memory.id in held or query.needle in trigram_text(memory.content):
                yield memory

    def passages(self, hub_id: str, memory_ids: Sequence[str]) -> list[Candidate]:
        hub = self._hub(hub_id)
        found = [p for p in hub.passages.values() if p.memory_id in set(memory_ids)]
        found.sort(key=lambda p: (hub.memories[p.memory_id].number, p.entry.ordinal))
        return [_candidate(passage) for passage in found]

    def candidates(
        self, hub_id: str, passage_ids: Sequence[int], wanted: Filter
    ) -> list[Candidate]:
        hub = self._hub(hub_id)
        found = [hub.passages[pk] for pk in sorted(passage_ids) if pk in hub.passages]
        return [_candidate(p) for p in found if wanted.admits(hub.memories[p.memory_id])]

    def vector_state(self, hub_id: str, model: str) -> VectorState:
        hub = self._whole(hub_id)
        sizes = {p.pk: len(p.vectors[model]) for p in hub.passages.values() if model in p.vectors}
        return VectorState(sum(sizes.values()), len(sizes), max(sizes, default=0), hub.removals)

    def vector_models(self, hub_id: str) -> list[str]:
        return sorted({model for p in self._whole(hub_id).passages.values() for model in p.vectors})

    def vectors(self, hub_id: str, model: str, *, after: int) -> Iterable[VectorRow]:
        for pk, passage in sorted(self._whole(hub_id).passages.items()):
            if pk > after:
                for window, vector in enumerate(passage.vectors.get(model, ())):
                    yield VectorRow(pk, window, vector)

    def vectors_of(self, hub_id: str, model: str, memory_id: str) -> list[VectorRow]:
        seen = self._hub(hub_id).passages
        return [
            row
            for row in self.vectors(hub_id, model, after=0)
            if row.passage_id in seen and seen[row.passage_id].memory_id == memory_id
        ]

    def unembedded(self, hub_id: str, model: str, *, limit: int, after: int = 0) -> list[Candidate]:
        passages = self._whole(hub_id).passages.values()
        return [_candidate(p) for p in passages if p.pk > after and model not in p.vectors][:limit]

    def unembedded_count(self, hub_id: str, model: str) -> int:
        return len(self.unembedded(hub_id, model, limit=len(self._whole(hub_id).passages)))


def _candidate(passage: IndexedPassage) -> Candidate:
    entry = passage.entry
    return Candidate(
        passage.memory_id,
        passage.pk,
        entry.ordinal,
        entry.start,
        entry.end,
        entry.headings,
        " ".join(entry.body),
        " ".join(entry.head),
        entry.windows,
    )


def _merit(entry: IndexEntry, query: TermQuery) -> int:
    """The number of terms that the passage contains; 0 where it does not match the query."""
    both = (entry.body, entry.head)
    if any(_holds(words, phrase) for phrase in query.excluded for words in both):
        return 0
    for phrase in query.phrases:
        if not any(_holds(words, phrase) for words in both):
            return 0
    merit = sum(term in words for term in query.terms for words in both)
    merit += sum(w.startswith(front) for front in query.prefixes for words in both for w in words)
    return merit + len(query.phrases)


def _holds(words: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    if len(phrase) == 2:
        return phrase in set(pairwise(words))
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words)))
