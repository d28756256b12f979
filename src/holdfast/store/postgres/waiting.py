"""Rows of one transaction that were handed over and not sent yet.

They wait so that many can go at once. How long is bounded: nothing waits past a statement that
could see it (session.py), past the end of the transaction, or beyond the bounds here. Knows no SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from holdfast.store.values import IndexEntry

# Enough that a COPY is worth its statements many times over; about a second of the server's work.
ROWS_MAX = 10_000
# What is waiting may take about three times this much memory.
BYTES_MAX = 16_000_000
# A row without its long texts.
_ROW_BYTES = 500
# A passage's terms and trigrams, for each character of its text.
_INDEX_BYTES_PER_CHAR = 4

Key = tuple[int, str]  # a hub's number and a memory's id


class Index(NamedTuple):
    """What search shall know of one memory."""

    text: str
    entries: Sequence[IndexEntry]
    model: str


class Waiting:
    """The rows, by what they are, as their tables have them but for numbers that the server or
    another row gives."""

    def __init__(self) -> None:
        self.memories: list[Sequence[Any]] = []
        self.changes: list[Sequence[Any]] = []
        # Hub, memory's id, and the rest: which number the memory has is looked up when it is sent.
        self.revisions: list[tuple[int, str, Sequence[Any]]] = []
        self.turns: list[Sequence[Any]] = []
        self.indexes: dict[Key, Index] = {}
        # How many numbers a hub has given out.
        self.given_out: dict[int, int] = {}
        self.rows = self.bytes = 0

    def count(self, size_bytes: int = 0) -> None:
        """One row more, with texts of this size."""
        self.rows += 1
        self.bytes += _ROW_BYTES + size_bytes

    @property
    def is_full(self) -> bool:
        return self.rows >= ROWS_MAX or self.bytes >= BYTES_MAX


def size_bytes(index: Index) -> int:
    """About how much an index takes while it waits."""
    vectors = sum(len(one) for entry in index.entries for one in entry.vectors)
    return len(index.text) * _INDEX_BYTES_PER_CHAR + vectors
