"""Parsing a large file again after a small change: what stands before and after the change keeps
its blocks, and only what is between is parsed.

A block may reach over many lines, but never over a barrier: an item on one line, with its id. So
the part between two barriers says the same on its own as in the file. This module knows where
texts differ; what a block is, the format knows.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from holdfast.files.memory_md import Block, Document

# What was written, what both sides agreed on, what is in the file, and one to spare.
_KEPT = 4
# Smaller files are parsed faster than compared.
_LARGE_CHARS = 10_000
# Where no barrier is this near, the file is not of the usual kind.
_STEPS_MAX = 100


class _Parsed(NamedTuple):
    text: str
    document: Document
    ends: list[int]


class Recent:
    """Parses texts with the help of those it has parsed lately."""

    def __init__(
        self,
        anew: Callable[[str], Document],
        is_barrier: Callable[[Block], bool],
        section: Callable[[tuple[Block, ...], int], str | None],
    ) -> None:
        self._anew = anew
        self._is_barrier = is_barrier
        # The heading's text in whose section the block at a place stands; None where it is unclear.
        self._section = section
        self._kept: tuple[_Parsed, ...] = ()

    def __call__(self, text: str) -> Document:
        if len(text) < _LARGE_CHARS:
            return self._anew(text)
        for known in self._kept:
            if known.text == text:
                return known.document
        found = (self._changed(known, text) for known in self._kept)
        document = next((one for one in found if one is not None), None) or self._anew(text)
        ends = list(accumulate(len(block.raw) for block in document.blocks))
        self._kept = (_Parsed(text, document, ends), *self._kept)[:_KEPT]
        return document

    def _changed(self, known: _Parsed, text: str) -> Document | None:
        """The document for a text that differs little from a known one; None where it does not."""
        front = _common_front(known.text, text)
        back = _common_back(known.text, text, min(len(text), len(known.text)) - front)
        if (front + back) * 2 < len(text):
            return None
        blocks, ends = known.document.blocks, known.ends
        # One character behind it is the same, too: an indented line would belong to it.
        first = self._barrier(blocks, bisect_right(ends, front - 1) - 1, -1)
        last = self._barrier(blocks, bisect_left(ends, len(known.text) - back) + 1, 1)
        if first is None or last is None or first >= last:
            return None
        heading = self._section(blocks, first)
        if heading is None:
            return None
        rest = len(known.text) - ends[last - 1]
        between = text[ends[first] : len(text) - rest]
        piece = self._anew(heading + blocks[first].raw + between + blocks[last].raw).blocks
        begin = 1 + bool(heading)
        # The same barriers in the same section on both sides, or it is parsed as a whole.
        if piece[begin - 1 : begin] != blocks[first : first + 1] or piece[-1] != blocks[last]:
            return None
        made = blocks[: first + 1] + piece[begin:-1] + blocks[last:]
        return known.document._replace(blocks=made)

    def _barrier(self, blocks: tuple[Block, ...], at: int, step: int) -> int | None:
        for place in range(at, at + step * _STEPS_MAX, step):
            if not 0 <= place < len(blocks):
                return None
            if self._is_barrier(blocks[place]):
                return place
        return None


def _common_front(one: str, other: str) -> int:
    """How many characters are the same from the beginning on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        # What is known to be the same is not compared again.
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_back(one: str, other: str, most: int) -> int:
    """How many characters are the same at the end, of so many."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        a, b = len(one), len(other)
        if one[a - middle : a - low] == other[b - middle : b - low]:
            low = middle
        else:
            high = middle - 1
    return low
