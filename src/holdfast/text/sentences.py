"""Splits a text into sentences, with their places.

What ends a sentence depends on what is done with it: whether lines are wrapped or end a sentence,
whether quotation marks belong to it, which abbreviations count. Each such rule is a pattern, and a
caller names the one it needs; those of a single language or topic are in the tables beside the code
that uses them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from holdfast.text.tables import lazy

# A rule matches where a sentence ends. The first group of the match is a part of the sentence; a
# rule without groups matches what lies between two sentences, so it can also `split` a text.

# A stop before a space or a line end, with the quotation marks and brackets that close behind it;
# a stop of a script without spaces; and each line end.
STOPS = lazy(r"((?<![.!?…。！？])[.!?…。！？]++[\"'”’)\]]*+(?=\s|$)|[。！？]|\n)")
# The spaces behind a stop.
SPACES = lazy(r"(?<=[.!?])\s+")
# The same, and line ends.
SPACES_AND_LINES = lazy(r"(?<=[.!?。？])\s+|\n+")

# Whether the sentence that begins at a place goes on behind a match, as after an abbreviation.
GoesOn: TypeAlias = Callable[[int, "re.Match[str]"], bool]


def sentence_spans(
    text: str,
    ends: re.Pattern[str] = STOPS,
    start: int = 0,
    end: int | None = None,
    *,
    goes_on: GoesOn | None = None,
) -> Iterator[tuple[int, int]]:
    """The start and end of each sentence between `start` and `end`, with the space before it.
    Blank ones are left out."""
    end = len(text) if end is None else end
    for found in ends.finditer(text, start, end):
        if _is_in_date(text, found):
            continue
        if goes_on is not None and goes_on(start, found):
            continue
        stop = found.end(1) if found.lastindex else found.start()
        if text[start:stop].strip():
            yield start, stop
        start = found.end()
    if text[start:end].strip():
        yield start, end


# 'Am 14. Mai' is a date in German, and in some other languages.
_IN_DATE = lazy(
    r"(?i)(?<!\d)\d{1,2}\. (?:jan(?:uar)?|jänner|feb(?:ruar)?|märz?|apr(?:il)?|mai|juni?|juli?"
    r"|aug(?:ust)?|sept?(?:ember)?|okt(?:ober)?|nov(?:ember)?|dez(?:ember)?|januari|februari|mars"
    r"|maj|oktober|december)\b"
)


def _is_in_date(text: str, found: re.Match[str]) -> bool:
    """Whether the stop that is matched belongs to the day of a date."""
    stop = text.find(".", found.start() - 1, found.end()) if found.start() else -1
    if stop < 1 or not text[stop - 1].isdigit():
        return False
    return _IN_DATE.search(text, max(stop - 2, 0), stop + 14) is not None


def split_sentences(text: str, ends: re.Pattern[str] = STOPS) -> Iterator[str]:
    """The sentences of a text without the space around them."""
    return (text[start:end].strip() for start, end in sentence_spans(text, ends))
