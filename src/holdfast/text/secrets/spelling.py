"""Other spellings of characters: the escapes of Markdown, HTML, JSON and URLs, and letters of full
width or of mathematics. Secrets are found in the plain text and redacted in the text as it came.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cache
from itertools import accumulate

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.tables import lazy

# What each escape that is read begins with: a text without them is plain, and soon known to be.
MARKS = ("\\", "&", "%3")
# An editor of Markdown may put a mark before each _; Go writes & as \\u0026 in JSON; JSON that is
# within JSON twice has many backslashes before a quote. Of a URL only = and : are read: the rules
# for URLs match other signs as they are written there.
_ESCAPE = lazy(
    r"\\_|&(?:lt|gt|quot|amp|apos|#0?39|#x27|#0?34|#x22);|%3[DdAa]|\\u00(?:3[cdeCDE]|2[267])"
    r"|\\{2,12}[\"']"
)
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "amp": "&", "apos": "'"}
# Letters, digits and signs of names in full width; those of mathematics; hyphens that do not break.
_WIDE = lazy(
    r"[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff0d\uff1d\uff3f\u2010\u2011\U0001d400-\U0001d7ff]"
)


class Plain(NamedTuple):
    """A text without escapes, in which secrets are looked for, and where its places are in the text
    with them."""

    text: str
    places: tuple[int, ...]
    # How many characters longer the other text is behind each place.
    longer: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self._at(start), self._at(end)

    def _at(self, place: int) -> int:
        before = bisect_left(self.places, place)
        return place + (self.longer[before - 1] if before else 0)


def written_plainly(text: str) -> Plain | None:
    """The text in plain characters; None if it has no others."""
    if not text.isascii() and _WIDE.search(text):
        narrow = text.translate(_narrow())
        if narrow != text:
            return Plain(narrow, (), ())
    if not any(mark in text for mark in MARKS):
        return None
    out: list[str] = []
    places, longer = [], []
    at = length = 0
    for match in _ESCAPE.finditer(text):
        out += [text[at : match.start()], _meant(match[0])]
        length += match.start() - at
        places.append(length)
        longer.append(len(match[0]) - 1)
        length += 1
        at = match.end()
    if not places:
        return None
    return Plain("".join([*out, text[at:]]), tuple(places), tuple(accumulate(longer)))


def _meant(escape: str) -> str:
    """The one character that an escape encodes."""
    if escape.startswith("&"):
        name = escape[1:-1]
        return _ENTITIES.get(name) or ("'" if name in ("#39", "#039", "#x27") else '"')
    if escape.startswith("%"):
        return chr(int(escape[1:], 16))
    return chr(int(escape[2:], 16)) if escape.startswith("\\u") else escape[-1]


@cache
def _narrow() -> dict[int, int]:
    import unicodedata

    wide = (*range(0xFF01, 0xFF5F), 0x2010, 0x2011, *range(0x1D400, 0x1D800))
    plain = {code: unicodedata.normalize("NFKC", chr(code)) for code in wide}
    plain |= {0x2010: "-", 0x2011: "-"}
    return {
        code: ord(sign)
        for code, sign in plain.items()
        if _WIDE.match(chr(code)) and len(sign) == 1 and sign.isascii()
    }
