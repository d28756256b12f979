"""What of a hit stands in a block: its text, or the sentences of it that are nearest to the
question, where it is long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.text.terms import terms

if TYPE_CHECKING:
    from holdfast.domain.query import Hit

# A line has at least this many characters, however small the budget: a sentence or two.
CHARS_LEAST = 160
# And at most this many: about what one vector stands for.
CHARS_MOST = 360
# A block holds about this many lines that answer.
_LINES = 9
_CUT = "…"
_SENTENCE = re.compile(r"[^.!?…。！？\n]*(?:[.!?…。！？]+[\"'”’)\]]*(?=\s|$)|[。！？]|\n|$)")


def line_chars(limit: int) -> int:
    """How long a quotation may be in a block of this many characters."""
    return min(CHARS_MOST, max(CHARS_LEAST, limit // _LINES))


def quoted(hit: Hit, asked: Sequence[str], chars: int) -> str:
    """The passage on one line where it is short; else the window that is nearest to the question,
    and of that the sentences that hold most of the question's words."""
    content = hit.memory.content
    start, end = hit.passage.start, hit.passage.end
    if end - start > chars and hit.window is not None:
        start, end = hit.window
    if end - start > chars:
        start, end = _best_sentences(content, start, end, set(asked), chars)
    text = " ".join(content[start:end].split())
    before = _CUT if content[:start].strip() else ""
    after = _CUT if content[end:].strip() else ""
    return f"{before}{text}{after}"


def _best_sentences(
    text: str, start: int, end: int, asked: set[str], chars: int
) -> tuple[int, int]:
    """The run of whole sentences within so many characters that holds most of the words; the first
    of equals. One sentence that is too long is cut."""
    spans = [
        (start + found.start(), start + found.end())
        for found in _SENTENCE.finditer(text[start:end])
        if found.group().strip()
    ]
    held = [asked & set(terms(text[first:last])) for first, last in spans]
    best, best_merit = (start, min(end, start + chars)), (-1, 0)
    for one in range(len(spans)):
        words: set[str] = set()
        for two in range(one, len(spans)):
            length = spans[two][1] - spans[one][0]
            if length > chars and two > one:
                break
            words |= held[two]
            # Of runs with the same words, the longer one says more.
            merit = (len(words), min(length, chars))
            if merit > best_merit:
                best_merit = merit
                best = (spans[one][0], min(spans[two][1], spans[one][0] + chars))
    return best
