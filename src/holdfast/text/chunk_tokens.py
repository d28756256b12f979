"""Estimate how many tokens a model sees in a text, without the model's tokeniser.

A letter or a space of ASCII counts a quarter of a token, a digit or an accented Latin letter a
half, and a sign or a character of any other script a whole one. For chat and prose that is about
a fifth too many, on purpose: a passage that is estimated too short would be cut off by the
embedder without a word. docs/decisions/chunking.md has the figures. It knows no model.
"""

from __future__ import annotations

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
