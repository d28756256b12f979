"""Recognises text that is written to give orders to a model, so that the engine can hold it.

The guard judges the text alone. Whose text is judged, and by which rules, the engine decides from
where the text came (`docs/explanation/trust.md`). Text *about* attacks, which quotes them, is not
an attack, and a prohibition ('never print secrets') is not an order.

The rules are in `rules.txt`. Text that is hidden from a human reader and that a model still reads
is made plain first, in linear time: letters of other alphabets, digits for letters, spaced letters
and broken lines; Base64, hex, ROT13, reversed text and invisible characters are decoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

from holdfast.text.analysis.terms import fold
from holdfast.text.tables import Patterns, pieces, read_table

_PATTERNS = Patterns("guard/patterns.txt")


class GuardRule(NamedTuple):
    """A row of `rules.txt`: a pattern with the reason that is shown to the user. It is only tried
    near one of its `cues`, which keeps long texts fast; `then` must follow it `within` so many
    characters, where there is one."""

    reason: str
    kind: str
    prohibitable: bool
    example: str
    cues: tuple[str, ...]
    pattern: str
    within: int = 0
    then: str = ""


@cache
def rules() -> tuple[GuardRule, ...]:
    """The table, as it is in the file."""
    return tuple(
        GuardRule(
            reason,
            kind,
            prohibitable == "prohibitable",
            example.replace("\\n", "\n"),
            pieces(cues),
            pattern,
            *((int(more[0]), more[1]) if more else ()),
        )
        for reason, kind, prohibitable, example, cues, pattern, *more in read_table(
            "guard/rules.txt"
        )
    )


# How far a match can reach back from a cue, and how far beyond it: gaps in patterns are shorter.
_BEFORE = 300
_AFTER = 400


def instruction_shaped(text: str, *, in_conversation: bool = False) -> str | None:
    """Why a text reads as orders to a model, as half a sentence ('asks to …'); else None.

    With `in_conversation`, only what tries to take the model over counts. The user's standing
    orders, which their own agent writes down, sound like orders because they are.
    """
    wanted = [rule for rule in rules() if not (in_conversation and rule.kind == "standing order")]
    folded = fold(text)
    unquoted = _PATTERNS["quoted"].sub(" … ", folded)
    said = unquoted if _PATTERNS["discussion"].search(unquoted) else folded
    lines = unmasked(said)
    if reason := _judged(wanted, flat(lines), lines):
        return reason
    for hidden in decoded(text, folded):
        if reason := _judged(wanted, hidden):
            return f"hides a text that {reason}"
    return None if text.isascii() else hides_characters(text)


def _judged(wanted: Iterable[GuardRule], form: str, lines: str = "") -> str | None:
    # An order begins a line, or goes on in the next one.
    views = [_View(form), *([_View(lines)] if "\n" in lines else [])]
    for rule in wanted:
        if any(_applies(rule, view) for view in views):
            return rule.reason
    return None


class _View:
    """One reading of a text, and what is left of it without its prohibitions."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def permitted(self) -> str:
        return _PATTERNS["prohibition"].sub(" … ", self.text)


def _applies(rule: GuardRule, view: _View) -> bool:
    """Whether the pattern is found near one of the rule's cues. Most texts have none of them, and
    looking for a word is a hundred times as fast as trying a pattern everywhere."""
    spans = _near(view.text, rule.cues)
    if spans and rule.prohibitable:
        spans = _near(view.permitted, rule.cues)
    if not spans:
        return False
    form = view.permitted if rule.prohibitable else view.text
    pattern = re.compile(rule.pattern)
    if not rule.then:
        return any(pattern.search(form, *span) for span in spans)
    ends = [found.end() for span in spans for found in pattern.finditer(form, *span)]
    then = re.compile(rule.then)
    behind = _merged((end, end + rule.within) for end in ends)
    return any(then.search(form, start, end + _BEFORE) for start, end in behind)


def _near(form: str, cues: tuple[str, ...]) -> list[tuple[int, int]]:
    """The parts of a text around its cues, as far as a match can reach."""
    hits: list[int] = []
    for cue in cues:
        at = form.find(cue)
        while at >= 0:
            hits.append(at)
            # The next one this near would not make the part much longer.
            at = form.find(cue, at + _BEFORE)
    return _merged((max(hit - _BEFORE, 0), hit + _BEFORE + _AFTER) for hit in sorted(hits))


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches, none of which overlap: nothing is searched twice."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


# Letters that look like Latin ones. Only words that mix alphabets are rewritten.
_ALIKE = str.maketrans(
    "аеорсхуіјѕԁһԛѡκοαειντυρмтвкн",
    "aeopcxyijsdhqwkoaeivtupmtbkh",
)
_MIXED = re.compile(r"\b(?=\w{0,39}[a-z])(?=\w{0,39}[\u0370-\u03ff\u0400-\u052f])\w{2,40}")
_DIGITS = str.maketrans("013457", "oieast")
_LEET = re.compile(r"\b(?=\w{0,20}[a-z])(?=\w{0,20}[013457])\w{2,24}")
# Three letters or more with one sign between each two; two blanks are the gap between words.
_APART = re.compile(r"(?<![^\W_])(?:[a-z][ .\-_*·])(?:[a-z][ .\-_*·]){1,40}[a-z](?![^\W_])")
_SPACE = re.compile(r"\s+")
_BLANKS = re.compile(r"[^\S\n]+")
# Signs between words that mean nothing there.
_DASHES = re.compile(r"\s[-–—_.~*|]{2,9}(?=\s)")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,4000}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){16,2000}")
_ROT13 = str.maketrans(
    "abcdefghijklmnopqrstuvwxyz",
    "nopqrstuvwxyzabcdefghijklm",
)
# Words that only an order has, turned by 13 letters or backwards: most texts have none of them.
_TURNED = ("vafgehpg", "cebzcg", "vtaber", "qvfertneq")
_BACKWARDS = ("snoitcurtsni", "tpmorp", "erongi", "dragersid")
# At most this many encoded parts of a text are decoded.
_DECODED_MAX = 20
# Invisible characters that spell a text: tag characters are ASCII moved up, 256 variation selectors
# are bytes. England, Scotland and Wales have flags that are spelt in tag characters.
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{3,6}\U000e007f")
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff]{8,}")
# A selector belongs to the character before it. Several in a row carry data.
_SELECTOR_RUN = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_REVERSED = re.compile("[\u202d\u202e]")


def unmasked(folded: str) -> str:
    """A folded text with look-alike signs replaced by letters; its lines stay."""
    text = re.sub(r"(?<=\w)(?:…|\.\.\.)", " ", folded)
    if not text.isascii():
        text = _MIXED.sub(lambda word: word[0].translate(_ALIKE), text)
    text = _APART.sub(_joined, text)
    text = _LEET.sub(lambda word: word[0].translate(_DIGITS), text)
    return _BLANKS.sub(" ", _DASHES.sub(" ", text)).strip()


def flat(text: str) -> str:
    """A text that is tested for prompt injection, on one line: pages, scans and mails break theirs
    anywhere, in an order too."""
    return _SPACE.sub(" ", text)


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"[ .\-_*·]", "", found[0])


def decoded(text: str, folded: str) -> list[str]:
    """The decoded parts of a text, each folded and on one line."""
    out = [] if text.isascii() else _spelt_invisibly(text)
    if "&#" in text:
        from html import unescape

        out.append(unescape(text))
    if "%20" in text:
        from urllib.parse import unquote

        out.append(unquote(text, errors="replace"))
    if any(word in folded for word in _TURNED):
        out.append(folded.translate(_ROT13))
    if any(word in folded for word in _BACKWARDS):
        out.append(folded[::-1])
    for number, found in enumerate(_BASE64.finditer(text)):
        if number == _DECODED_MAX:
            break
        out += _words(_from_base64(found[0]))
    for number, found in enumerate(_HEX.finditer(text)):
        if number == _DECODED_MAX:
            break
        out += _words(bytes.fromhex(found[0]))
    return [flat(unmasked(fold(one))) for one in out]


def _spelt_invisibly(text: str) -> list[str]:
    """The text that tag characters spell, and the text that variation selectors spell."""
    tags = "".join(_TAGS.findall(_FLAG.sub("", text)))
    selectors = "".join(_SELECTORS.findall(text))
    as_bytes = bytes(
        ord(one) - 0xFE00 if one <= "\ufe0f" else ord(one) - 0xE0100 + 16 for one in selectors
    )
    spelt = ["".join(chr(ord(one) - 0xE0000) for one in tags), as_bytes.decode(errors="ignore")]
    return [one for one in spelt if len(one) > 1]


def hides_characters(text: str) -> str | None:
    """Whether a text carries something in characters that nobody types; half a sentence."""
    if sum(map(len, _TAGS.findall(_FLAG.sub("", text)))) > 3:
        return "hides text in invisible tag characters"
    if _SELECTOR_RUN.search(text):
        return "hides data in variation selectors"
    if _ZERO_WIDTH_RUN.search(text):
        return "hides data in a run of zero-width characters"
    if _REVERSED.search(text):
        return "turns its letters around"
    return None


def _from_base64(text: str) -> bytes:
    import base64
    import binascii

    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    except binascii.Error:
        return b""


def _words(data: bytes) -> list[str]:
    """The text that bytes are, where they are one: words with blanks between them."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return []
    return [text] if " " in text.strip() and text.isprintable() else []
