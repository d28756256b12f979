"""What the readers of this package hand back, and how they fail. It knows no format."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

# Called with how many parts are done, and of how many.
Progress = Callable[[int, int], None]


class Found(NamedTuple):
    """Text, and what a person should know of it."""

    text: str
    note: str = ""
    title: str = ""


class Unreadable(Exception):
    """There is no text to be had, and another attempt would not help. The reason completes the
    sentence 'There is no text of it: …'."""


class Unavailable(Exception):
    """There might be text, but what reads it is not installed here."""


class Gathered:
    """Pieces of text up to a number of characters; more are counted as left out."""

    def __init__(self, chars_max: int) -> None:
        self._left = chars_max
        self._pieces: list[str] = []
        self.full = False

    def add(self, text: str) -> bool:
        """Takes a piece; False where there is no room for another."""
        text = text.strip()
        if text and not self.full:
            self._pieces.append(text[: self._left])
            self.full = len(text) > self._left
            self._left -= len(text) + 2
            self.full = self.full or self._left <= 0
        return not self.full

    def text(self, between: str = "\n\n") -> str:
        return between.join(self._pieces)

    @property
    def note(self) -> str:
        return "only its first part is kept, as it is very long" if self.full else ""
