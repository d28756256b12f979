"""Cut a run of prose, or of lines, that is longer than a passage may be.

Prose goes through semantic-text-splitter, which prefers paragraphs to lines, lines to sentences
and sentences to words. It is handed one window at a time, because its time grows with the square
of an unbroken line. Spans are of the source; this module knows nothing of headings and fences.
"""

from __future__ import annotations

import re
from itertools import pairwise

from holdfast.text.chunking.chunk import count_quarters, count_tokens

# A line with its end. Only these three ends, so that the lines agree with those of Python's ast
# and a form feed inside a line is a character like any other.
LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")
# The splitter is written in Rust, whose strings cannot hold half a surrogate pair.
_SURROGATE = "[\ud800-\udfff]"

# Passages per window: enough that finishing a window is rare, and few enough that 3 MB without
# a single space stay within seconds.
_WINDOW_PASSAGES = 6

Span = tuple[int, int]


def split_prose(text: str, start: int, end: int, *, tokens_max: int, markdown: bool) -> list[Span]:
    """Spans that cover start..end, each of at most `tokens_max` tokens."""
    from semantic_text_splitter import MarkdownSplitter, TextSplitter

    kind = MarkdownSplitter if markdown else TextSplitter
    splitter = kind.from_callback(count_tokens, tokens_max, trim=False)
    spans: list[Span] = []
    while start < end:
        stop = _window_end(text, start, end, tokens_max)
        window = re.sub(_SURROGATE, "\ufffd", text[start:stop])
        cuts = [start + offset for offset, _ in splitter.chunk_indices(window)]
        if stop < end and len(cuts) > 1:
            # The last passage of a window was cut short by the window: it begins the next one.
            stop = cuts.pop()
        cuts.append(stop)
        spans.extend(pairwise(cuts))
        start = stop
    return spans


def _window_end(text: str, start: int, end: int, tokens_max: int) -> int:
    """A window holds about _WINDOW_PASSAGES passages, whatever the script."""
    length = min(end - start, _WINDOW_PASSAGES * 4 * tokens_max)
    tokens = count_tokens(text[start : start + length])
    if tokens > _WINDOW_PASSAGES * tokens_max:
        length = length * _WINDOW_PASSAGES * tokens_max // tokens
    stop = start + length
    # Never between the two characters of one line end.
    if stop < end and text[stop - 1] == "\r" and text[stop] == "\n":
        stop -= 1
    return stop


def split_lines(text: str, start: int, end: int, *, tokens_max: int) -> list[Span]:
    """Spans of whole lines, filled to `tokens_max`; a line that is longer is split as prose."""
    pieces: list[Span] = []
    for line in LINE.finditer(text, start, end):
        span = line.span()
        if count_tokens(text[span[0] : span[1]]) > tokens_max:
            pieces.extend(split_prose(text, *span, tokens_max=tokens_max, markdown=False))
        else:
            pieces.append(span)
    return pack(text, pieces, tokens_max=tokens_max)


def pack(text: str, pieces: list[Span], *, tokens_max: int) -> list[Span]:
    """Join neighbours, from the first on, as long as they fit together."""
    packed: list[Span] = []
    quarters = 0
    for start, end in pieces:
        more = count_quarters(text[start:end])
        if packed and quarters + more <= tokens_max * 4:
            packed[-1] = (packed[-1][0], end)
            quarters += more
        else:
            packed.append((start, end))
            quarters = more
    return packed
