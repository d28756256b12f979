"""Checks the candidates of a substring index: the index says which texts may contain the needle,
and these functions look at each text. Each store finds and reads its candidates itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from holdfast.domain.memory import Memory
from holdfast.store.values import TextQuery
from holdfast.text.terms import searchable, trigram_text

# Rows read at a time; mostly the first page is enough.
_BATCH = 32


def ids_holding(memories: Iterable[Memory], needle: str, limit: int) -> list[str]:
    """The ids of the first memories that contain the needle; reads no more than it needs."""
    return list(islice((one.id for one in memories if needle in searchable(one)), limit))


def matching(
    keys: Sequence[tuple[int, object]],
    read: Callable[[list[int]], Mapping[int, Memory]],
    query: TextQuery,
) -> Iterator[Memory]:
    """The memories with these keys that match, in order. Each key comes with whether its words
    match; if not, its text decides."""
    for start in range(0, len(keys), _BATCH):
        batch = dict(keys[start : start + _BATCH])
        there = read(list(batch))
        for key, by_words in batch.items():
            memory = there[key]
            if by_words or query.needle in trigram_text(memory.content):
                yield memory
