"""Puts the values of a correction into the statement that it corrects: 'correction: 15k' and 'The
budget is 12k' give 'The budget is 15k'.

Only values that cannot be mistaken: a number with the same unit, a time, a date, a day of the week
or an address, of which each of the two texts has exactly one.
"""

from __future__ import annotations

import re
from functools import cache

from holdfast.text.analysis.word_forms import is_number_word
from holdfast.text.slots.frames import VALUE_TYPES, WEEKDAY
from holdfast.text.tables import lazy

_UNIT = lazy(r"[a-z%$€£]+")
# Where a correction goes on with its reason.
_CLAUSE = lazy(r"[;!?]|, |\.(?=\s|\Z)| [–-] | because ")
_SPELLED = "spelled"


def first_clause(said: str) -> str:
    """What a correction says before its reason."""
    said = said.strip()
    end = _CLAUSE.search(said)
    return said[: end.start()] if end else said


def with_values_of(said: str, old: str) -> str | None:
    """The older statement with the values of a correction; None if it is not certain which value
    takes whose place."""
    new, old_values = _values(said), _values(old)
    if not new or any(len(found) > 1 for found in new.values()):
        return None
    if any(len(old_values.get(name, ())) != 1 for name in new):
        return None
    if ("date" in new) != ("weekday" in new) and "date" in old_values and "weekday" in old_values:
        # The other one would be left behind, and be wrong.
        return None
    if any(_unit(new[name][0][0]) != _unit(old_values[name][0][0]) for name in new):
        return None
    out = old
    for name in sorted(new, key=lambda name: -old_values[name][0][1]):
        (value, _, _), (was, start, stop) = new[name][0], old_values[name][0]
        if value.casefold() == was.casefold():
            continue
        out = out[:start] + value + out[stop:]
    return None if out == old else out


def _unit(value: str) -> str:
    return "" if not value[:1].isdigit() else "".join(_UNIT.findall(value.casefold()))


def _values(text: str) -> dict[str, list[tuple[str, int, int]]]:
    """The values in a text by their types, with their places; a part of one is none of its own."""
    out: dict[str, list[tuple[str, int, int]]] = {}
    for found in _any_value().finditer(text):
        name = found.lastgroup or ""
        out.setdefault(name, []).append((found[0], found.start(), found.end()))
    for found in re.finditer(r"[^\W\d_]+", text):
        if is_number_word(found[0].casefold()) and found[0].casefold() != "one":
            out.setdefault(_SPELLED, []).append((found[0], found.start(), found.end()))
    return out


@cache
def _any_value() -> re.Pattern[str]:
    types = (*VALUE_TYPES[:-1], ("weekday", WEEKDAY), VALUE_TYPES[-1])
    parts = "|".join(rf"(?P<{name}>{pattern})" for name, pattern in types)
    return re.compile(rf"(?i)(?<![\w.-])(?:{parts})(?![\w-])")
