"""Undoes the ways in which clients rewrite a text before they send it back: as a JSON string, with
numbers or bars before the lines, with `&lt;` instead of `<`. Each original comes with the positions
of its characters in the rewritten text, so that echoes found in it can be removed from that text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_MEANT = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_ESCAPES = re.compile(r'\\(?:u[0-9a-fA-F]{4}|[^u])|"')
# JSON strings are unescaped at most this often.
_TIMES_MAX = 3
_TAG_OF = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'"}
_DECORATIONS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"&(?:lt|gt|quot|#39);"), lambda found: _TAG_OF[found]),
    # The border of a box, the bar of a quotation, the sign of an added line, a comment.
    (re.compile(r"^[ \t]*(?:[|│┃▏▎+]|//|#(?=[ \t]))[ \t]?|<br/?>", re.MULTILINE), lambda _: ""),
    (re.compile(r"\*\*"), lambda _: ""),
    # Spaces that do not break.
    (re.compile(r"[\u00a0\u2007\u202f]"), lambda _: " "),
)
# `cat -n`, `grep -n`, an editor's arrow, a list.
_NUMBERS = re.compile(r"^[ \t>]*[L\[]?(\d{1,6})(?:\t|→|[.)|\]](?:[ \t]|$)|:[ \t]?)", re.MULTILINE)
_LINE = re.compile(r"[^\n]*\n?")


class Rewritten(NamedTuple):
    """An original text; `places` maps each of its characters, and its end, to a position in the
    rewritten text."""

    text: str
    places: list[int]


def originals(text: str) -> Iterator[Rewritten]:
    """The texts of memories that an echo in other words may have been made from."""
    whole = form = Rewritten(text, [*range(len(text) + 1)])
    for _ in range(_TIMES_MAX):
        if "\\n" not in form.text:
            break
        form = _replaced(form, _ESCAPES, _unescaped)
        yield form
    for pattern, meant in _DECORATIONS:
        if pattern.search(text):
            yield _replaced(whole, pattern, meant)
    if _NUMBERS.search(text):
        yield _without_numbers(text)


def _unescaped(found: str) -> str:
    if found == '"':
        # A string begins or ends here, and its content starts a line.
        return "\n"
    if found[1] == "u":
        letter = chr(int(found[2:], 16))
        return letter if not "\ud800" <= letter <= "\udfff" else "\ufffd"
    return _MEANT.get(found[1], found[1])


def _replaced(form: Rewritten, pattern: re.Pattern[str], meant: Callable[[str], str]) -> Rewritten:
    """The text with each match replaced by its meaning, of at most one character."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in pattern.finditer(form.text):
        pieces.append(form.text[done : found.start()])
        places += form.places[done : found.start()]
        if one := meant(found.group()):
            pieces.append(one)
            places.append(form.places[found.start()])
        done = found.end()
    pieces.append(form.text[done:])
    return Rewritten("".join(pieces), places + form.places[done:])


def _without_numbers(text: str) -> Rewritten:
    """The text without the numbers before consecutive numbered lines."""
    pieces: list[str] = []
    places: list[int] = []
    counted = [(line, _NUMBERS.match(line.group())) for line in _LINE.finditer(text)]
    numbers = [None if found is None else int(found[1]) for _, found in counted]
    for at, (line, found) in enumerate(counted):
        start = line.start()
        if found is not None:
            around = (numbers[at - 1] if at else None, *numbers[at + 1 : at + 2])
            number = int(found[1])
            if number - 1 == around[0] or number + 1 in around[1:]:
                start += found.end()
        pieces.append(text[start : line.end()])
        places += range(start, line.end())
    return Rewritten("".join(pieces), [*places, len(text)])
