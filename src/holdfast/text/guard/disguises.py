"""Ways to hide text from a human reader that a model still reads, and how to undo them.

Letters of other alphabets, digits for letters, spaced letters and broken lines are made plain.
Base64, hex, ROT13, reversed text and text spelt in invisible characters is decoded. All of it in
linear time; whether the result is an attack, the rules decide.
"""

from __future__ import annotations

import re

from holdfast.text.analysis.terms import fold

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
    """The same on one line: pages, scans and mails break theirs anywhere, in an order too."""
    return _SPACE.sub(" ", text)


def _joined(found: re.Match[str]) -> str:
    return re.sub(r"[ .\-_*·]", "", found[0])


def decoded(text: str, folded: str) -> list[str]:
    """What was encoded in a text, each part folded and on one line."""
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
