"""Measures how similar two texts are, by words only. Also the text without what rendering changes
(white space, quote marks at the start of lines)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence


# Line ends; other white space; references of HTML, however often they were escaped; single
# characters that may close or open something; and words.
_BREAKS = "\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_BLANKS = " \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_TOKEN = re.compile(
    f"(?P<line>[{_BREAKS}]+)"
    r"|(?P<reference>&(?:amp;)*(?:(?:lt|gt|quot|\#(?:9|10|13|32|45));)?)"
    r"|(?P<mark>[<>\"\\…])"
    f'|(?P<word>[^{_BREAKS}{_BLANKS}&<>"\\\\…]+)'
)
# Tabs, line ends and spaces are white space, and gone.
_MEANT = {"lt;": "<", "gt;": ">", "quot;": '"', "#45;": "-"}
_CONTROLS = dict.fromkeys([*range(9), *range(14, 28), 0x1F, *range(127, 160), 0xFFFE, 0xFFFF])
_PLACE = re.compile(r"&(?:amp;)*")


class Bare(NamedTuple):
    """The bare text, and of each piece where it begins there, where it begins and ends in the text
    it was taken from."""

    text: str
    places: list[int]
    starts: list[int]
    ends: list[int]

    def place_of(self, offset: int) -> int:
        """The place in the bare text of an offset of the original."""
        at = bisect_right(self.starts, offset) - 1
        if at < 0:
            return 0
        if offset >= self.ends[at]:
            return self.places[at + 1] if at + 1 < len(self.places) else len(self.text)
        return self.places[at] + offset - self.starts[at]

    def offset_of(self, place: int) -> int:
        """The offset in the original right behind the characters before this place."""
        at = bisect_left(self.places, place) - 1
        if at < 0:
            return 0
        following = self.places[at + 1] if at + 1 < len(self.places) else len(self.text)
        if place >= following:
            return self.ends[at]
        return min(self.ends[at], self.starts[at] + place - self.places[at])


def bare(text: str) -> Bare:
    """The bare form of a text for comparing how alike two are, with places."""
    pieces: list[str] = []
    places: list[int] = []
    starts: list[int] = []
    ends: list[int] = []
    length = 0
    beginning = True  # of a line
    for found in _TOKEN.finditer(text):
        kind, piece = found.lastgroup, found.group()
        if kind == "line":
            beginning = True
            continue
        if kind == "word":
            if not (piece.isascii() and piece.isprintable()):
                # Taken apart, a letter that was cut in its middle is the beginning of the whole.
                piece = unicodedata.normalize("NFD", piece.translate(_CONTROLS))
        elif kind == "reference":
            named = piece[_PLACE.match(piece).end() :]  # type: ignore[union-attr]  # it begins so
            piece = _MEANT.get(named, "" if named else "&")
        if beginning and piece in (">", "\\", ""):
            continue
        beginning = False
        if piece:
            pieces.append(piece)
            places.append(length)
            starts.append(found.start())
            ends.append(found.end())
            length += len(piece)
    return Bare("".join(pieces), places, starts, ends)


def common(one: str, start: int, other: str) -> int:
    """How much two texts begin alike: the number of characters of `one` from `start` that are the
    beginning of `other`."""
    length, step = 0, 64
    while True:
        piece = other[length : length + step]
        here = one[start + length : start + length + step]
        if not piece or piece != here:
            break
        length += step
        step *= 2
    low, high = 0, min(len(piece), len(here))
    while low < high:
        middle = (low + high + 1) // 2
        if piece[:middle] == here[:middle]:
            low = middle
        else:
            high = middle - 1
    return min(length, len(other)) + low


# Steps of 0.2 µs: prose of 2,000 characters is compared by its letters, and so are 500 of one and
# the same letter. What is longer would take minutes, and has words enough to go by: some 30,000
# characters of prose are so many steps by its words.
STEPS_MAX = 250_000


def similarity(one: str, other: str, *, least: float = 0.0, steps_max: int = STEPS_MAX) -> float:
    """The similarity of two texts, from 0 to 1: the mean of what they share in letters, in order,
    and in words that carry sense. Of long ones it is the words alone, or the mean with what they
    share in order, whichever is more. May answer 0 for any value below `least`. A caller that
    compares very many can skip steps for each.

    Letters alone find `Ann likes tea` and `Bob likes ale` alike, as both have the same frame;
    words alone find nothing in common between `Lives in Oslo` and `Live: Oslo, Norway`.
    """
    by_words = _shared(one, other)
    # The order can give at most 1.
    if (by_words + 1) / 2 < least:
        return 0.0
    first, second = one.casefold(), other.casefold()
    if not _is_long(first, second, steps_max):
        return (by_words + _in_order(first, second, least=2 * least - by_words)) / 2
    # A table in which half of the figures are new shares few words, but those in their order.
    some, others = terms(one), terms(other)
    if _is_long(some, others, steps_max):
        return by_words
    return max(by_words, (by_words + _in_order(some, others, least=2 * least - by_words)) / 2)


def _in_order(one: Sequence[str], other: Sequence[str], *, least: float) -> float:
    """How much of both is the same in the same order; may be 0 for any value below `least`."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return 0.0 if matcher.quick_ratio() < least else matcher.ratio()


def _is_long(one: Sequence[str], other: Sequence[str], steps_max: int) -> bool:
    """Whether the parts of one meet the same in the other too often for all to be looked at."""
    from collections import Counter

    if len(one) * len(other) <= steps_max:
        return False
    counts = Counter(other)
    return sum(count * counts[part] for part, count in Counter(one).items()) > steps_max


def _shared(one: str, other: str) -> float:
    first, second = _words(one), _words(other)
    both = len(first) + len(second)
    return 2 * len(first & second) / both if both else 0.0


# A search for the most similar text compares each with many.
@lru_cache(maxsize=1_024)
def _words(text: str) -> frozenset[str]:
    return frozenset(terms(text))
