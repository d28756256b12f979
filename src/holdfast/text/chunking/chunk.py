"""Cut a text into the passages that search finds, with exact offsets into the source.

What holds for every text: passages are in order and do not overlap, `text[start:end]` is the
passage, and every character that is not white space is in exactly one of them. A text that fits
is one passage. This module only picks the rule for the kind of content; the rules are in
`markdown` (headings, fences, tables, prose), `transcript` (turns) and `code` (definitions), each
loaded when it is needed.

Token counts are estimates that need no tokeniser: an ASCII letter or space counts a quarter of a
token, a digit or an accented Latin letter a half, and a sign or a character of another script a
whole one. For chat and prose that is about a fifth too many, on purpose: a passage whose size is
underestimated would be cut off by the embedder silently. docs/decisions/chunking.md has the
figures.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

from holdfast.errors import InvalidInput

# 512 is what the small embedding models read; more would be cut off before it is embedded.
TOKENS_MAX_DEFAULT = 512
# Below 64 the heading and the sentence it introduces no longer fit together; above 2048 one
# vector stands for so much text that it stands for nothing.
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
    """A passage: its span in the source, what it stands under, and who said it when."""

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
        from holdfast.text.chunking.chunk import count_tokens

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


# In UTF-8 each character has one byte that is not a continuation byte, and that byte tells the
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
