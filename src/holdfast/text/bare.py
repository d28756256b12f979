"""Text without what rendering changes: white space, quotation marks at the start of lines, escapes,
controls. Two renderings of the same words are bare alike, and places can be told back.

It knows what our styles and a mail program do to a text; it does not know whose words they are.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from typing import NamedTuple

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
    """The bare form of a text, with places."""
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
    """How many characters of `one` from `start` are the beginning of `other`."""
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
