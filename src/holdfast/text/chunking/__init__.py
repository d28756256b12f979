"""Cuts a text into passages, and a passage into the windows that are embedded one by one.

Prose goes through semantic-text-splitter, which prefers paragraphs to lines, lines to sentences and
sentences to words. It is handed one window at a time, because its time grows with the square of an
unbroken line. Spans are of the source; this module knows nothing of headings and fences.
"""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise

from holdfast.errors import InvalidInput
from holdfast.system.named_tuple import NamedTuple

# A line with its end. Only these three ends, so that the lines agree with those of Python's ast
# and a form feed inside a line is a character like any other.
LINE = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")
# The splitter is written in Rust, where a string cannot hold half a surrogate pair.
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


# 512 is what the small embedding models read; more would be cut off before it is embedded.
TOKENS_MAX_DEFAULT = 512
# Below 64 the heading and the sentence it introduces no longer fit together; above 2048 one vector
# covers so much text that it is close to nothing.
TOKENS_MAX_LOW = 64
TOKENS_MAX_HIGH = 2048
# A passage of fewer tokens says too little to be found by its meaning: it joins the next one.
TOKENS_MIN = 20
# A fence or a table stays whole up to this many times the target; beyond, it is cut at lines.
INTACT_TIMES_MAX = 4

# A line that may begin or underline a heading. It may be wrong about a fence or a rule, which
# costs a closer look and no more.
_MAYBE_HEADING = re.compile(r"(?:^|[\r\n])[ ]{0,3}(?:#{1,6}(?=[ \t\r\n]|$)|==|--)")

_TRANSCRIPTS = ("chat", "transcript")


class Chunk(NamedTuple):
    """A passage: its span in the source, the headings above it, and who said it when."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    speaker: str = ""
    at: datetime | None = None


def chunk(
    text: str,
    *,
    content_type: str = "text",
    language: str = "",
    tokens_max: int = TOKENS_MAX_DEFAULT,
) -> list[Chunk]:
    """Return the passages of a text; none when it is only white space.

    `content_type` is one of the content types of a memory: chat and transcript are cut by turn,
    code and structured by definition and line, all others by heading and paragraph. `language`
    names a programming language, and matters to code alone. `tokens_max` is the target size.
    """
    if not TOKENS_MAX_LOW <= tokens_max <= TOKENS_MAX_HIGH:
        raise InvalidInput(
            f"A passage of {tokens_max} tokens is out of range.",
            hint=f"Choose a size between {TOKENS_MAX_LOW} and {TOKENS_MAX_HIGH}.",
        )
    if content_type in _TRANSCRIPTS:
        from holdfast.text.chunking.transcript import chunk_transcript

        return chunk_transcript(text, tokens_max=tokens_max)
    if content_type in ("code", "structured"):
        from holdfast.text.chunking.code import chunk_code

        data = content_type == "structured"
        return chunk_code(text, language=language, tokens_max=tokens_max, data=data)
    return _chunk_prose(text, tokens_max)


def _chunk_prose(text: str, tokens_max: int) -> list[Chunk]:
    if may_be_transcript(text):
        from holdfast.text.chunking.transcript import chunk_transcript, is_transcript

        if is_transcript(text):
            return chunk_transcript(text, tokens_max=tokens_max)
    # A character is never more than a token, and hardly ever less than a quarter of one: so the
    # count is needed only in between, and a short note is done here without any import.
    if len(text) <= tokens_max * 4 and not _may_have_heading(text):
        if len(text) <= tokens_max:
            return whole(text)
        from holdfast.text.chunking import count_tokens

        if count_tokens(text) <= tokens_max:
            return whole(text)
    from holdfast.text.chunking.markdown import chunk_markdown

    return chunk_markdown(text, tokens_max=tokens_max)


def _may_have_heading(text: str) -> bool:
    # Three plain searches spare nearly every note the pattern, which is ten times slower.
    marks = "#" in text or "==" in text or "--" in text
    return marks and _MAYBE_HEADING.search(text) is not None


def may_be_transcript(text: str) -> bool:
    """A cheap look that is never wrong when it says no; see `transcript.is_transcript`."""
    if text.startswith("["):
        return True
    # Four turns need three line ends and four colons.
    return text.count(":") >= 4 and text.count("\n") + text.count("\r") >= 3


def whole(text: str) -> list[Chunk]:
    """The text as one passage."""
    span = trimmed(text, 0, len(text))
    return [Chunk(*span)] if span else []


def trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """The span without white space around it, or None when nothing else is in it.

    The indentation of a first line stays: it carries meaning in code and in nested lists.
    """
    inner = text[start:end]
    if not inner or inner.isspace():
        return None
    kept = inner.rstrip()
    lead = len(kept) - len(kept.lstrip())
    if lead:
        line = max(inner.rfind("\n", 0, lead), inner.rfind("\r", 0, lead)) + 1
        if line or start == 0 or text[start - 1] in "\r\n":
            lead = line
    return start + lead, start + len(kept)


# Token counts


# In UTF-8 each character has one byte that is not a continuation byte, and that byte gives the
# script apart; deleting bytes is done in C, so a count costs about a nanosecond a character.
_LETTERS = bytes([*range(0x41, 0x5B), *range(0x61, 0x7B)]) + b" \t\r\n"
_CONTINUATIONS = bytes(range(0x80, 0xC0))
_QUARTERS = _LETTERS + _CONTINUATIONS
# Digits, and what leads Latin letters and their combining marks; 0xCE already leads Greek.
_HALVES = b"0123456789" + bytes(range(0xC2, 0xCE))


def count_quarters(text: str) -> int:
    """The estimate in quarters of a token: these add up exactly when texts are joined."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _QUARTERS)
    if not rest:
        return len(text)
    wholes = len(rest.translate(None, _HALVES))
    return len(text) + (len(rest) - wholes) + 3 * wholes


def count_tokens(text: str) -> int:
    """The estimate, rounded up; never more than the number of characters."""
    return (count_quarters(text) + 3) // 4


# One vector for a few sentences, not for a page: the best of a page's windows says far more than
# an average of all it says. Measured on three sets: 64 tokens 77.3, 512 tokens 74.0 (R@10). The
# estimate of tokens is about a fifth too high, so this is about 64 of the model's.
WINDOW_TOKENS = 76


def windows_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans that are embedded one by one."""
    if count_tokens(text[start:end]) <= WINDOW_TOKENS:
        return [(start, end)]
    spans = split_lines(text, start, end, tokens_max=WINDOW_TOKENS)
    return [span for span in spans if not text[span[0] : span[1]].isspace()]
