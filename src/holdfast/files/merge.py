"""The three-way comparison that every file kept in step with the store goes by: what both sides
last agreed on, what the store says now, and what the file says now. It decides which side changed;
what follows from it (a new version, a clash, a removal) is each file's own matter."""

from __future__ import annotations

from enum import Enum, auto


class Changed(Enum):
    """Which side differs from what both agreed on."""

    NEITHER = auto()  # Both say the same, whether or not they did before.
    STORE = auto()  # The file is as it was: it follows the store.
    FILE = auto()  # The store is as it was: it takes in the file.
    BOTH = auto()  # A conflict.


def changed(base: str | None, store: str | None, file: str | None) -> Changed:
    """Which side changed. None is a side that does not have it; a base of None, that there was no
    agreement."""
    if store == file:
        return Changed.NEITHER
    if base is None:
        return Changed.BOTH
    if file == base:
        return Changed.STORE
    return Changed.FILE if store == base else Changed.BOTH
