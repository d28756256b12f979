"""Memories that may be in the block, best first, read from the store only as far as they are looked
at: of ten thousand, a block holds a hundred. How many there are is known from the start.

It does not know what an item looks like or how large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from holdfast.engine.styles import Item

if TYPE_CHECKING:
    from holdfast.domain.memory import Memory

# About as many as a block of the usual size holds, so that one round is mostly enough.
_BATCH = 128

# The memories with these ids.
Read: TypeAlias = Callable[[Sequence[str]], dict[str, "Memory"]]


class Candidates(Sequence[Item]):
    """Items for these ids, in their order; good as long as what reads them is."""

    def __init__(self, ids: Sequence[str], read: Read, item: Callable[[Memory], Item]) -> None:
        self.ids = ids
        self._read = read
        self._item = item
        self._items: list[Item] = []

    @classmethod
    def of_none(cls) -> Candidates:
        """None at all."""

        def read(ids: Sequence[str]) -> dict[str, Memory]:
            return {}

        return cls((), read, lambda memory: Item(memory, memory.content, "long_term"))

    def among(self, ids: Sequence[str]) -> Candidates:
        """Those of them with these ids, in this order."""
        return Candidates(ids, self._read, self._item)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Item]:
        at = 0
        while at < len(self.ids):
            self._reach(at)
            # No index of its own for each item: a block may hold thousands.
            for item in self._items[at:]:
                at += 1
                yield item

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | Sequence[Item]:
        if isinstance(at, slice):
            start, stop, step = at.indices(len(self.ids))
            if step == 1 and stop <= len(self._items):
                return self._items[start:stop]
            return self.among(self.ids[at])
        place = range(len(self.ids))[at]
        self._reach(place)
        return self._items[place]

    def _reach(self, place: int) -> None:
        """Reads on until the item at a place is known."""
        while len(self._items) <= place:
            ids = self.ids[len(self._items) : len(self._items) + _BATCH]
            found = self._read(ids)
            self._items += [self._item(found[one]) for one in ids]
