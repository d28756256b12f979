"""Words and numbers in one form, for comparing what two people say: irregular verbs, spellings,
short forms, pairs that mean the same, and numbers by their value (`3`, `three`, `3rd`, `5k`). Also
function words, stems and plurals of six languages beside English.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from holdfast.system.named_tuple import NamedTuple
from holdfast.text.analysis.terms import terms
from holdfast.text.tables import read_table, read_words

# Lists of words by their names: function words by language, among others.
WORDS = read_words("analysis/words.txt")

_SPELLING = (("our", "or"), ("isation", "ization"), ("ise", "ize"), ("yse", "yze"), ("ogue", "og"))


@cache
def _rows(kind: str) -> list[tuple[str, list[str]]]:
    """Words with their forms, or with words that are like them."""
    rows = read_table("analysis/word_forms.txt")
    return [(first, others.split()) for of, first, others in rows if of == kind]


@cache
def _forms() -> dict[str, str]:
    found: dict[str, str] = {}
    for base, forms in _rows("form"):
        found.update(dict.fromkeys([base, *forms], base))
    for first, others in _rows("alike"):
        first = found.get(first, first)
        found.update(dict.fromkeys([first, *others], first))
    return found


@cache
def _past_forms() -> frozenset[str]:
    plain = {"am", "is", "are", "being", "does", "goes", "has", "children", "kid", "kids", "people"}
    return (
        frozenset(form for _, forms in _rows("form") for form in forms)
        - plain
        - {"mom", "mum", "dad"}
    )


def tense(word: str) -> str:
    """'past', 'ing' or 'present', by the form of a word alone."""
    if word in WORDS["states"]:
        return "present"
    if word in _past_forms() or (word.endswith("ed") and len(word) > 4 and word[-3] != "e"):
        return "past"
    return "ing" if word.endswith("ing") and len(word) > 5 else "present"


# A statement is compared with a turn word by word, by several rules.
@lru_cache(maxsize=8_192)
def base_form(word: str) -> str:
    """A folded word in the form under which it is compared."""
    known = _forms().get(word)
    if known is not None:
        word = known
    elif word.isascii() and word.isalpha() and word not in WORDS["kept spelling"]:
        for british, american in _SPELLING:
            plural = word.endswith(british + "s")
            if (plural or word.endswith(british)) and len(word) > len(british) + 2:
                word = word[: -len(british) - plural] + american + ("s" if plural else "")
                break
    found = terms(word)
    return found[0] if len(found) == 1 else word


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
_NUMBER_WORDS = frozenset(_UNITS) - _SHY | frozenset(_TENS) | frozenset(_SCALES)

# No number has more than twenty parts; of digits without an end, each would be looked at from each.
_TOKEN = (
    r"(?P<digits>(?<![\w.])v?\d++(?:[.,:]\d++){0,20}(?:st|nd|rd|th|k|m|bn)?(?![\w]|[.,:]\d))"
    r"|(?P<glued>(?<![\w.])\d++(?:[.,]\d++){0,20}(?=[a-z%€]))|(?P<word>[a-z]+)"
)


class Number(NamedTuple):
    """A number, its position, and whether it is spelled in digits."""

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
    return word in _NUMBER_WORDS


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
    """The value of a run of number words: 'twenty three', 'two hundred and five'."""
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


# Languages

LANGUAGES = ("german", "dutch", "french", "spanish", "italian", "portuguese")

# How plurals end, and the singulars to them: pairs that have two stems once accents are folded
# ('licoes' and 'licao'), or once the index has taken an English plural off ('huis').
_PLURALS = {
    "dutch": (("sen", "s"), ("zen", "s"), ("ven", "f")),
    "french": (("aux", "ail"),),
    "spanish": (("ces", "z"),),
    "italian": (("avi", "ave"), ("chi", "co"), ("che", "ca"), ("ghi", "go"), ("ghe", "ga")),
    "portuguese": (
        ("oes", "ao"),
        ("aes", "ao"),
        ("ais", "al"),
        ("eis", "el"),
        ("ois", "ol"),
        ("ns", "m"),
    ),
}
_PLURAL_STEM_LEAST = 2


def other_number(word: str, language: str) -> list[str]:
    """The singular of a folded word that may be a plural in one of the LANGUAGES, and the plural of
    one that may be a singular: 'lição' and 'lições'. Not all of them are words."""
    out = []
    for plural, singular in _PLURALS.get(language, ()):
        for ending, other in ((plural, singular), (singular, plural)):
            if word.endswith(ending) and len(word) - len(ending) >= _PLURAL_STEM_LEAST:
                out.append(word.removesuffix(ending) + other)
    return out


class _Stemmers(dict[str, Any]):
    def __missing__(self, language: str) -> Any:
        import Stemmer  # here, because most questions need none

        self[language] = stemmer = Stemmer.Stemmer(language, 0)
        return stemmer


_STEMMERS = _Stemmers()


def stem(word: str, language: str) -> str:
    """The stem of a folded word in one of the LANGUAGES."""
    found: str = _STEMMERS[language].stemWord(word)
    return found


def stems(words: Sequence[str], language: str) -> list[str]:
    """The stems of several words, which takes half the time of one by one."""
    found: list[str] = _STEMMERS[language].stemWords(words)
    return found
