"""A text as a model would read it, whatever it was dressed in: invisible characters, letters of
other alphabets, digits for letters, letters apart, lines broken anywhere; and what was encoded in
it. Pure and linear; what is in a view, the rules of `guard` judge.
"""

from __future__ import annotations

import re

from holdfast.text.terms import fold

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
# Signs that stand between words and mean nothing there.
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
# So much of a text that is encoded is looked into; a picture is not.
_DECODED_MAX = 20


def unmasked(folded: str) -> str:
    """A folded text with letters in the place of what stands for them; its lines stay."""
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
    """What was encoded in a text, folded and flat: base64, hex, turned by 13 letters, backwards."""
    out = []
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
