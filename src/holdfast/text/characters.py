"""Characters that steer a terminal, reorder text or hide data, and what is done with them.

New text is cleaned before it is stored: `without_controls` removes escape sequences, control
characters and bidirectional overrides, `without_hidden` removes characters that carry hidden data.
Text that is there already is escaped where it is printed: `printable` and `printable_line`. NUL
and lone surrogates are neither: no store keeps them, so they are refused (`text/normalise.py`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

# Line ends other than LF and CRLF. Some programs break the line there, others do not.
_OTHER_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# Embeddings, overrides and isolates reorder the text around them. The marks U+200E, U+200F and
# U+061C only give a direction to what stands beside them; Arabic and Hebrew need them.
_BIDIRECTIONAL = "\u202a-\u202e\u2066-\u2069"
# C0 without NUL, tab, LF and CR; DEL and C1; deprecated format characters; interlinear marks.
_CONTROLS = "\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u206a-\u206f\ufff9-\ufffb"
_ESCAPE_SEQUENCE = (
    # CSI: colours, cursor movement, erasing. ESC [ or its C1 form.
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,16}[@-~]"
    # OSC, DCS, SOS, PM, APC: titles, links, clipboard; up to BEL or ST, on one line.
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x01-\x1f\x7f-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    # Other sequences of two characters, such as a reset or a change of character set.
    r"|\x1b[ -/]{0,4}[0-~]"
)
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
# A black flag, a subdivision of a country in tag letters, and the tag that ends it.
_SUBDIVISION_FLAG = "\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{3,6}\U000e007f"
# Zero-width characters have uses between letters and in emoji; nobody needs eight in a row.
_ZERO_WIDTH_RUN = "[\u200b-\u200d\u2060-\u2064\ufeff]{8,}"
_KEYCAPS = frozenset("0123456789#*")
_EMOJI_OF_OTHER_KINDS = frozenset("‼⁉ℹ〰")


class _Patterns(NamedTuple):
    """Compiled when first needed. The first three are plain sets, which are searched many times as
    fast as alternatives; most texts have nothing of them."""

    control: re.Pattern[str]
    carrier: re.Pattern[str]
    zero_width: re.Pattern[str]
    sequence: re.Pattern[str]
    hidden: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    return _Patterns(
        re.compile(f"[{_CONTROLS}{_BIDIRECTIONAL}]"),
        re.compile(f"[{_TAGS}{_SELECTORS}]"),
        re.compile(_ZERO_WIDTH_RUN),
        re.compile(f"{_ESCAPE_SEQUENCE}|[{_CONTROLS}{_BIDIRECTIONAL}]|\r(?!\n)"),
        re.compile(f"{_SUBDIVISION_FLAG}|[{_TAGS}]|[{_SELECTORS}]|{_ZERO_WIDTH_RUN}"),
    )


def without_controls(text: str) -> str:
    """Text without escape sequences, control characters and bidirectional overrides; every line
    end is LF or CRLF. The very same object where there is nothing to remove."""
    patterns = _patterns()
    if patterns.control.search(text) is None and text.count("\r") == text.count("\r\n"):
        return text
    return patterns.sequence.sub(_plain_control, text)


def _plain_control(found: re.Match[str]) -> str:
    return "\n" if found[0] in _OTHER_LINE_ENDS or found[0] == "\r" else ""


def without_hidden(text: str) -> str:
    """Text without tag characters, variation selectors and long runs of zero-width characters,
    except where they are part of an emoji or of an ideograph. The very same object where there is
    nothing to remove."""
    if text.isascii():
        return text
    patterns = _patterns()
    if patterns.carrier.search(text) is None and patterns.zero_width.search(text) is None:
        return text
    cleaned = patterns.hidden.sub(_kept, text)
    return text if cleaned == text else cleaned


def _kept(found: re.Match[str]) -> str:
    matched = found[0]
    if matched.startswith("\U0001f3f4"):
        return matched
    before = found.string[found.start() - 1] if found.start() else ""
    return matched if before and _selects(before, matched) else ""


@lru_cache(maxsize=4096)
def _selects(base: str, selector: str) -> bool:
    """Whether a variation selector has a meaning after this character."""
    category = unicodedata.category(base)
    if selector in "\ufe0e\ufe0f":
        return category in ("So", "Sm", "Sk") or base in _KEYCAPS or base in _EMOJI_OF_OTHER_KINDS
    is_ideograph = category == "Lo" and unicodedata.name(base, "").startswith("CJK")
    if selector >= "\U000e0100":
        return is_ideograph and selector <= "\U000e01ef"
    return selector == "\ufe00" and (is_ideograph or category == "Sm")


def with_blank_selectors(text: str) -> str:
    """Text of the same length with a space for each selector of an emoji's style that has a
    meaning where it stands."""
    if text.isascii():
        return text
    return re.sub("[\ufe0e\ufe0f]", lambda found: " " if _kept(found) else found[0], text)


def clean_text(text: str) -> str:
    """Text as it is stored: without controls and without hidden characters."""
    return without_hidden(without_controls(text))


# ── output ───────────────────────────────────────────────────────────────────────────────────

# The codes of all characters that steer a terminal or reorder text, NUL and CR among them.
STEERING = (
    *(code for code in range(0x20) if code not in (0x09, 0x0A)),
    *range(0x7F, 0xA0),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x2070),
)
_ESCAPED = {code: f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" for code in STEERING}
_ESCAPED_LINE = _ESCAPED | {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x5C: "\\\\"}
# JSON escapes C0 itself, and leaves the rest as it is.
JSON_ESCAPES = {code: f"\\u{code:04x}" for code in STEERING if code >= 0x7F}


def printable(text: str) -> str:
    """Text with an escape like `\\x1b` for whatever steers a terminal; lines stay lines."""
    return text.replace("\r\n", "\n").translate(_ESCAPED)


def printable_line(text: str) -> str:
    """Text on one line, every control character and backslash escaped: nothing is lost."""
    return text.translate(_ESCAPED_LINE)
