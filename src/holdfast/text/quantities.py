"""Numbers in a text by their value: `3`, `three`, `3rd`, `5k`, `5,000`; versions as they stand."""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS_TABLE = """
    zero | one first | two second twice couple pair | three third thrice | four fourth | five fifth
    | six sixth | seven seventh | eight eighth | nine ninth | ten tenth | eleven eleventh
    | twelve twelfth dozen | thirteen thirteenth | fourteen fourteenth | fifteen fifteenth
    | sixteen sixteenth | seventeen seventeenth | eighteen eighteenth | nineteen nineteenth
"""
_TENS_TABLE = """
    twenty twentieth | thirty thirtieth | forty fortieth | fifty fiftieth | sixty sixtieth
    | seventy seventieth | eighty eightieth | ninety ninetieth
"""


def _numbered(table: str, first: int, step: int) -> dict[str, int]:
    rows = enumerate(table.split("|"), start=first)
    return {word: number * step for number, words in rows for word in words.split()}


_UNITS = _numbered(_UNITS_TABLE, 0, 1)
_TENS = _numbered(_TENS_TABLE, 2, 10)
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
# Words that also mean something else; as a number they count only before another one.
_SHY = frozenset(["one", "first", "second", "pair", "couple", "zero", "third"])

# No number has more than twenty parts; of digits without an end, each would be looked at from each.
_TOKEN = (
    r"(?P<digits>(?<![\w.])v?\d++(?:[.,:]\d++){0,20}(?:st|nd|rd|th|k|m|bn)?(?![\w]|[.,:]\d))"
    r"|(?P<glued>(?<![\w.])\d++(?:[.,]\d++){0,20}(?=[a-z%€]))|(?P<word>[a-z]+)"
)


class Number(NamedTuple):
    """A number, where it stands, and whether it is spelled in digits."""

    value: str
    start: int
    end: int
    digits: bool


def numbers_in(folded: str) -> list[Number]:
    """The numbers of a folded text, in order."""
    out: list[Number] = []
    run: list[tuple[str, int, int]] = []
    for match in re.finditer(_TOKEN, folded):
        if match["word"] is not None:
            word = match["word"]
            joined = run and folded[run[-1][2] : match.start()] in (" ", "-", " and ", " and a ")
            if word in _UNITS or word in _TENS or (word in _SCALES and joined):
                if run and not joined:
                    out += _spelled(run)
                    run = []
                run.append((word, match.start(), match.end()))
            elif word != "and":
                if word in _SCALES and out and out[-1].digits and out[-1].end + 1 == match.start():
                    last = out.pop()
                    value = (
                        _text(float(last.value) * _SCALES[word]) if _is_plain(last.value) else ""
                    )
                    out.append(Number(value or last.value, last.start, match.end(), True))
                out += _spelled(run)
                run = []
            continue
        out += _spelled(run)
        run = []
        out.append(Number(_value(match[0]), match.start(), match.end(), True))
    return out + _spelled(run)


def is_number_word(word: str) -> bool:
    """Whether a word spells a number, and nothing else."""
    return word in _TENS or word in _SCALES or (word in _UNITS and word not in _SHY)


def _is_plain(value: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", value) is not None


def _value(raw: str) -> str:
    raw = raw.removeprefix("v")
    if match := re.fullmatch(r"(\d+)(?:st|nd|rd|th)", raw):
        return str(int(match[1]))
    if match := re.fullmatch(r"(\d+(?:[.,]\d+)?)(k|m|bn)", raw):
        scale = {"k": 1e3, "m": 1e6, "bn": 1e9}[match[2]]
        return _text(float(match[1].replace(",", ".")) * scale)
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", raw):
        return raw.replace(",", "")
    # A version or a time is not a number: 3.10 is not 3.1.
    return raw if re.search(r"[.,:]", raw) else str(int(raw))


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _spelled(run: list[tuple[str, int, int]]) -> list[Number]:
    """What a run of number words says: 'twenty three', 'two hundred and five'."""
    if not run or (len(run) == 1 and run[0][0] in _SHY):
        return []
    total = part = 0
    for word, _, _ in run:
        if word in _SCALES:
            part = max(part, 1) * _SCALES[word]
            if _SCALES[word] >= 1_000:
                total, part = total + part, 0
        else:
            part += _UNITS.get(word, 0) + _TENS.get(word, 0)
    return [Number(str(total + part), run[0][1], run[-1][2], False)]
