"""Puts the values of a correction into the statement that it corrects: 'correction: 15k' and 'The
budget is 12k' give 'The budget is 15k'.

Only values that cannot be mistaken: a number with the same unit, a time, a date, a day of the week,
a month or an address, of which each of the two texts has exactly one. Days, months and numbers in
words are also known in other languages than English.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.text.analysis.terms import is_stop, terms
from holdfast.text.analysis.word_forms import is_number_word
from holdfast.text.slots.frames import VALUE_TYPES, WEEKDAY
from holdfast.text.tables import lazy, read_words

_WORDS = read_words("slots/words.txt")

_UNIT = lazy(r"[a-z%$€£]+")
# Where a correction goes on with its reason.
_CLAUSE = lazy(r"[;!?]|, |(?<!\d)\.(?=\s|\Z)|\.\Z| [–-] | because ")
_SPELLED = "spelled"


def first_clause(said: str) -> str:
    """What a correction says before its reason."""
    said = said.strip(" ,;:.!–-…、，：")
    end = _CLAUSE.search(said)
    return said[: end.start()] if end else said


def with_values_of(said: str, old: str, *, only: bool = False) -> str | None:
    """The older statement with the values of a correction; None if it is not certain which value
    takes whose place. With `only`, the correction may name nothing else that the older statement
    does not name: 'wait, the test of 21 May fails' is about another thing."""
    new, old_values = _values(said), _values(old)
    if only and _names_more(said, new, old):
        return None
    if not new or any(len(found) > 1 for found in new.values()):
        return None
    if any(len(old_values.get(name, ())) != 1 for name in new):
        return None
    if "month" in new and "date" in old_values:
        # 'On 14 March' and 'in April'.
        return None
    if ("date" in new) != ("weekday" in new) and "date" in old_values and "weekday" in old_values:
        # The other one would be left behind, and be wrong.
        return None
    if any(_unit(new[name][0][0]) != _unit(old_values[name][0][0]) for name in new):
        return None
    if any(_counts_other_things(said, new[name][0][2], old) for name in _COUNTS if name in new):
        return None
    out = old
    for name in sorted(new, key=lambda name: -old_values[name][0][1]):
        (value, _, _), (was, start, stop) = new[name][0], old_values[name][0]
        if value.casefold() == was.casefold():
            continue
        out = out[:start] + value + out[stop:]
    return None if out == old else out


# Beside a value in a script without spaces: 'it is', or a particle.
_PARTICLES_MAX = 4
_UNSPACED_LETTER = lazy(r"[぀-ヿ㐀-鿿]")


def _names_more(said: str, values: dict[str, list[tuple[str, int, int]]], old: str) -> bool:
    """Whether a text names anything beside its values that the older one does not name."""
    places = sorted((start, end) for found in values.values() for _, start, end in found)
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(said)]
    rest = " ".join(said[start:end] for start, end in zip(starts, ends, strict=True))
    if letters := _UNSPACED_LETTER.findall(rest):
        return len(set(letters) - set(old)) > _PARTICLES_MAX
    named = {term for term in terms(rest) if not is_stop(term)}
    return bool(named - set(terms(old)) - function_terms())


@cache
def function_terms() -> frozenset[str]:
    """Function words of other languages than English, their words for days and months, and what
    may stand beside a value, as terms."""
    words = read_words("analysis/words.txt")
    spoken = ("german", "dutch", "french", "spanish", "italian", "portuguese")
    found = [word for language in spoken for word in words[language]]
    for name in ("weekdays", "months", "changed elsewhere", "behind numbers"):
        found += _WORDS[name]
    return frozenset(term for word in found for term in terms(word))


def is_function_word(word: str) -> bool:
    """Whether a word is a function word in English or another language."""
    return is_stop(word) or set(terms(word)) <= function_terms()


_COUNTS = ("number", _SPELLED)
_NEXT_WORD = lazy(r" ([^\W\d_]{3,})")


def _counts_other_things(said: str, end: int, old: str) -> bool:
    """Whether a number counts what the older statement does not name: 'wait, show me 3 examples'
    says nothing about a port."""
    found = _NEXT_WORD.match(said, end)
    if found is None or found[1].casefold() in _WORDS["behind numbers"] or is_stop(found[1]):
        return False
    return found[1].casefold() not in old.casefold()


def _unit(value: str) -> str:
    return "" if not value[:1].isdigit() else "".join(_UNIT.findall(value.casefold()))


def _values(text: str) -> dict[str, list[tuple[str, int, int]]]:
    """The values in a text by their types, with their places; a part of one is none of its own."""
    out: dict[str, list[tuple[str, int, int]]] = {}
    for found in _any_value().finditer(text):
        name = found.lastgroup or ""
        out.setdefault(name, []).append((found[0], found.start(), found.end()))
    for found in re.finditer(r"[^\W\d_]+", text):
        word = found[0].casefold()
        if (is_number_word(word) and word != "one") or word in _WORDS["numbers elsewhere"]:
            out.setdefault(_SPELLED, []).append((found[0], found.start(), found.end()))
    return out


# In scripts without spaces, words stand beside a value.
_UNSPACED = "぀-ヿ㐀-鿿"
_AFTER_WORD = rf"(?<![.-])(?<![^\W{_UNSPACED}])"
_BEFORE_WORD = rf"(?!-)(?![^\W{_UNSPACED}])"
# 'March' and 'may' are also verbs.
_MONTH = (
    r"january|february|(?-i:March)|april|(?-i:May)(?! I\b)|june|july|august|september|october"
    r"|november|december"
)


@cache
def _any_value() -> re.Pattern[str]:
    days, months = ("|".join(sorted(_WORDS[name])) for name in ("weekdays", "months"))
    day = r"\d{1,2}(?:\.|er|º)?"
    dates = rf"{day} (?:de |d'|di )?(?:{months})(?: (?:de )?\d{{4}})?"
    dates += r"|\d{1,2}月(?:\d{1,2}[日号])?"
    unspaced = "(?:周|星期|礼拜|週)[一二三四五六日天]|[月火水木金土日]曜日?"
    # 'A segunda opção' is the second, and 'na segunda' Monday.
    weekdays = rf"{days}|(?:segunda|terça|quarta|quinta|sexta)-feira|{unspaced}"
    bare = r"(?:(?<=\bna )|(?<=\bà )|(?<=\bda ))(?:segunda|terça|quarta|quinta|sexta)(?! \w)"
    types = {
        **dict(VALUE_TYPES),
        "weekday": rf"{WEEKDAY}|{weekdays}|{bare}",
        "month": rf"{_MONTH}|{months}",
    }
    # An address is not looked for at each character of a text without spaces.
    types["address"] = rf"(?<!\w)(?:{types['address']})"
    types["date"] += f"|{dates}"
    types["clock"] += r"|\d{1,2}h(?:\d\d)?"
    # A number is what is none of the others.
    types["number"] = types.pop("number")
    parts = "|".join(rf"(?P<{name}>{pattern})" for name, pattern in types.items())
    return re.compile(rf"(?i){_AFTER_WORD}(?:{parts}){_BEFORE_WORD}")
