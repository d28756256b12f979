"""What an index of parts of words leaves to be done: it says which texts may hold a needle, and
here each of them is looked at. How a store finds those, and reads them, it knows itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from holdfast.domain.memory import Memory
from holdfast.store.values import TextQuery
from holdfast.text.searchable import searchable
from holdfast.text.terms import trigram_text

# Rows are read so many at a time where it is not known how many are wanted: a page, mostly.
_BATCH = 32


def ids_holding(memories: Iterable[Memory], needle: str, limit: int) -> list[str]:
    """The first of those that hold the needle; no more of them are read than it takes."""
    return list(islice((one.id for one in memories if needle in searchable(one)), limit))


def matching(
    keys: Sequence[tuple[int, object]],
    read: Callable[[list[int]], Mapping[int, Memory]],
    query: TextQuery,
) -> Iterator[Memory]:
    """Those of the rows with these keys that match, in the order of the keys. With each key comes
    whether its words match; if not, its text decides."""
    for start in range(0, len(keys), _BATCH):
        batch = dict(keys[start : start + _BATCH])
        there = read(list(batch))
        for key, by_words in batch.items():
            memory = there[key]
            if by_words or query.needle in trigram_text(memory.content):
                yield memory
