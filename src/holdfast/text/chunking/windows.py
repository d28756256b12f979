"""The spans of a passage that are embedded one by one."""

from __future__ import annotations

from holdfast.text.chunking.chunk import count_tokens, split_lines

# One vector for a few sentences, not for a page: the best of a page's windows tells far more than
# an average of all it says. Measured on three sets: 64 tokens 77.3, 512 tokens 74.0 (R@10). The
# estimate of tokens is about a fifth too high, so this is about 64 of the model's.
WINDOW_TOKENS = 76


def windows_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans that are embedded one by one."""
    if count_tokens(text[start:end]) <= WINDOW_TOKENS:
        return [(start, end)]
    spans = split_lines(text, start, end, tokens_max=WINDOW_TOKENS)
    return [span for span in spans if not text[span[0] : span[1]].isspace()]
