"""Reads conditions as people write them, in two forms, into the tree of `domain/query.py`.

As JSON, in the spellings of Mongo, LangGraph and mem0:

    {"team": "core", "priority": {"$gte": 3}, "OR": [{"done": false}, {"due": {"lt": "2026-12"}}]}

As a line of text:

    team = core and priority >= 3 and (done = false or due < 2026-12)

Names of a memory's own fields mean these fields; every other name is a key of the metadata, with
dots for keys inside of keys. Everything is bounded, and a mistake is a sentence.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NoReturn, cast

from holdfast.domain.query import (
    FIELDS,
    FLAG_FIELDS,
    LIST_FIELDS,
    NUMBER_FIELDS,
    TIME_FIELDS,
    Comparison,
    Condition,
    Group,
    Operator,
    Value,
    kind_of,
)
from holdfast.errors import InvalidInput
from holdfast.text.clean import clean_time

# Each level and each test is more SQL; people write a handful.
DEPTH_MAX = 8
TESTS_MAX = 64
VALUES_MAX = 500
CHARS_MAX = 10_000
_PATH_MAX = 8
_INT_MAX = 2**63 - 1

_NAMES = (
    "eq",
    "ne",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "nin",
    "contains",
    "icontains",
    "exists",
    "not",
)
_NEGATED = {"ne": "eq", "nin": "in"}
_GROUPS = {"and": "and", "or": "or", "not": "not"}
_EXAMPLE = 'Write conditions such as {"team": "core", "priority": {"gte": 3}}.'


def read_where(where: Mapping[str, Any] | str | None) -> Condition | None:
    """Parses a condition; None if there is none. Raises InvalidInput with the problem."""
    if isinstance(where, str):
        where = from_text(where)
    if where is None or where == {}:
        return None
    condition = _object(where, 1)
    if (count := _tests(condition)) > TESTS_MAX:
        _refuse(f"It has {count} comparisons; at most {TESTS_MAX} are allowed.")
    return condition


def _tests(condition: Condition) -> int:
    if isinstance(condition, Comparison):
        return 1
    return sum(map(_tests, condition.parts))


def _refuse(sentence: str, hint: str = _EXAMPLE) -> NoReturn:
    raise InvalidInput(f"The condition in `where` is wrong. {sentence}", hint=hint)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────


def _object(where: Any, depth: int) -> Condition:
    if not isinstance(where, Mapping):
        shown = _shown(where)
        _refuse(f"{shown[0].upper()}{shown[1:]} stands where an object is expected.")
    if not where:
        _refuse("There is an empty object in it.")
    if depth > DEPTH_MAX:
        _refuse(f"It is nested more than {DEPTH_MAX} deep.", "Write it flatter.")
    if len(where) > TESTS_MAX:
        _refuse(f"It has more than {TESTS_MAX} comparisons.")
    parts: list[Condition] = []
    for name, value in where.items():
        if not isinstance(name, str):
            _refuse(f"{_shown(name)} is not the name of a field.")
        if kind := _GROUPS.get(name.removeprefix("$").lower()):
            parts.append(_group(kind, value, depth))
        else:
            parts.append(_field(name, value, depth))
    return _joined("and", parts)


def _joined(kind: str, parts: Sequence[Condition]) -> Condition:
    if len(parts) == 1 and kind != "not":
        return parts[0]
    return Group(cast(Any, kind), tuple(parts))


def _group(kind: str, value: Any, depth: int) -> Condition:
    if isinstance(value, Mapping) and kind == "not":
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        _refuse(
            f"{kind.upper()} needs a list of conditions.",
            f'Write {{"{kind.upper()}": [{{"team": "core"}}, {{"team": "web"}}]}}.',
        )
    if len(value) > TESTS_MAX:
        _refuse(f"{kind.upper()} has {len(value)} conditions; at most {TESTS_MAX} are allowed.")
    return _joined(kind, [_object(one, depth + 1) for one in value])


def _field(name: str, value: Any, depth: int) -> Condition:
    field, path = _place(name)
    if not isinstance(value, Mapping):
        if isinstance(value, list | tuple):
            _refuse(
                f"A list stands beside {name!r}.",
                f'Write {{"{name}": {{"in": [...]}}}} for one of several values, or "contains" for'
                " a list that holds one.",
            )
        return _test(name, field, path, "eq", value)
    if not value:
        _refuse(f"There is no operator for {name!r}.")
    parts = [_operation(name, field, path, op, wanted, depth) for op, wanted in value.items()]
    return _joined("and", parts)


def _operation(
    name: str, field: str, path: tuple[str, ...], operator: Any, wanted: Any, depth: int
) -> Condition:
    plain = operator.removeprefix("$").lower() if isinstance(operator, str) else ""
    if plain not in _NAMES:
        _refuse(
            f"{_shown(operator)} is not an operator.",
            f"There are {', '.join(_NAMES)}, each with or without a dollar sign. For a key inside"
            f" of {name!r} write its name with a dot.",
        )
    if plain == "not":
        if not isinstance(wanted, Mapping) or depth >= DEPTH_MAX:
            _refuse(f"`not` beside {name!r} needs an object with operators.")
        return Group("not", (_field(name, wanted, depth + 1),))
    return _test(name, field, path, plain, wanted)


_UNESCAPED_DOT = re.compile(r"(?<!\\)\.")


def _place(name: str) -> tuple[str, tuple[str, ...]]:
    """The field of the memory, or the keys inside of the metadata."""
    if name in FIELDS:
        return name, ()
    _check_text(name, "A name")
    names = [part.replace("\\.", ".") for part in _UNESCAPED_DOT.split(name)]
    if names[0] == "metadata":
        names = names[1:]
    if not names or not all(names):
        _refuse(
            f"{_shown(name)} is not the name of a field.", "Write it like team or address.city."
        )
    if name.startswith("$"):
        _refuse(
            f"{_shown(name)} is not known.",
            "There are $and, $or and $not; a metadata key that begins so is metadata.$name.",
        )
    if len(names) > _PATH_MAX:
        _refuse(f"{_shown(name)} names a key more than {_PATH_MAX} levels deep.")
    return "", tuple(names)


def _test(name: str, field: str, path: tuple[str, ...], operator: str, wanted: Any) -> Condition:
    if operator in _NEGATED:
        return Group("not", (_test(name, field, path, _NEGATED[operator], wanted),))
    exists = Comparison(field, path, "exists")
    if operator == "exists":
        if not isinstance(wanted, bool):
            _refuse(f"`exists` of {name!r} is true or false, not {_shown(wanted)}.")
        return exists if wanted else Group("not", (exists,))
    if operator == "eq" and wanted is None:
        return Group("not", (exists,))
    if operator == "in":
        if not isinstance(wanted, list | tuple | set | frozenset):
            _refuse(f"`in` of {name!r} needs a list, not {_shown(wanted)}.")
        if len(wanted) > VALUES_MAX:
            _refuse(f"`in` of {name!r} has {len(wanted)} values; at most {VALUES_MAX} are allowed.")
        if field in LIST_FIELDS:
            return _holds_one_of(name, field, wanted)
        return Comparison(
            field, path, "in", tuple(_value(name, field, "in", one) for one in wanted)
        )
    value = _value(name, field, operator, wanted)
    if operator == "icontains" and not isinstance(value, str):
        _refuse(f"`icontains` of {name!r} needs text, not {_shown(wanted)}.")
    if operator in ("gt", "gte", "lt", "lte") and kind_of(value) == "flag":
        _refuse(f"{name!r} is compared with {_shown(wanted)}: true and false have no order.")
    return Comparison(field, path, cast(Operator, operator), value)


def _holds_one_of(name: str, field: str, wanted: Iterable[Any]) -> Condition:
    """That a list holds at least one of these items."""
    parts = [_test(name, field, (), "contains", one) for one in wanted]
    if not parts:
        exists = Comparison(field, (), "exists")
        return Group("and", (exists, Group("not", (exists,))))
    return _joined("or", parts)


def _value(name: str, field: str, operator: str, wanted: Any) -> Value:
    # In metadata a time or a day is text, as JSON has it; a day without a time is so everywhere.
    if isinstance(wanted, date) and (not field or not isinstance(wanted, datetime)):
        wanted = wanted.isoformat()
    if field in TIME_FIELDS:
        return _time(name, operator, wanted)
    if field in LIST_FIELDS and operator not in ("contains", "exists"):
        _refuse(
            f"{name!r} is a list.",
            f'Write {{"{name}": {{"contains": "…"}}}}, or {{"{name}": {{"in": ["…", "…"]}}}} for'
            " one of several.",
        )
    kind = kind_of(wanted)
    if not kind or kind == "time":
        _refuse(
            f"{name!r} is compared with {_shown(wanted)}.", "Use text, a number, true or false."
        )
    expected = "number" if field in NUMBER_FIELDS else "flag" if field in FLAG_FIELDS else "text"
    if field and kind != expected:
        words = {"number": "a number", "flag": "true or false", "text": "text"}[expected]
        _refuse(f"{name!r} is {words} and cannot be compared with {_shown(wanted)}.")
    if isinstance(wanted, str):
        _check_text(wanted, f"The value of {name!r}")
        # Tags are stored in lower case.
        return wanted.lower() if field in LIST_FIELDS else wanted
    if isinstance(wanted, float) and not math.isfinite(wanted):
        _refuse(f"{name!r} is compared with {wanted}, which is not a number in JSON.")
    if isinstance(wanted, int) and not -_INT_MAX <= wanted <= _INT_MAX:
        _refuse(f"{name!r} is compared with a number of more than 64 bits.")
    return cast(Value, wanted)


# A day alone begins at midnight UTC; a time needs its zone.
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _time(name: str, operator: str, wanted: Any) -> datetime:
    if operator in ("contains", "icontains") or not isinstance(wanted, str | datetime):
        _refuse(
            f"{name!r} is a time and cannot be compared with {_shown(wanted)} by {operator}.",
            f'Write {{"{name}": {{"gte": "2026-05-01"}}}}.',
        )
    moment = wanted
    if isinstance(wanted, str) and _DAY.fullmatch(wanted.strip()):
        moment = f"{wanted.strip()}T00:00:00Z"
    try:
        found = clean_time(moment)
    except InvalidInput:
        if not isinstance(wanted, str):
            raise
        _refuse(
            f"{name!r} is compared with {_shown(wanted)}, which is no day, or a time without its"
            " zone.",
            "Write it like 2026-05-27 or 2026-05-27T14:30:00+02:00.",
        )
    assert found is not None
    return found


def _check_text(text: str, what: str) -> None:
    if len(text) > CHARS_MAX:
        _refuse(f"{what} has {len(text)} characters; at most {CHARS_MAX} are allowed.")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        _refuse(f"{what} holds characters that are not text.", "Remove them.")


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


# ── text ─────────────────────────────────────────────────────────────────────────────────────

_TEXT_EXAMPLE = "Write it like: team = core and priority >= 3 and not (done = true)."
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<sign>>=|<=|!=|==|=|>|<|\(|\)|,)
      | (?P<word>[^\s()<>=!,"']+)
    )""",
    re.VERBOSE,
)
_SIGNS = {"=": "eq", "==": "eq", "!=": "ne", ">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?")
_JOINERS = ("and", "or")


def from_text(text: str) -> dict[str, Any]:
    """A condition on fields written as a line of text, or as a JSON object, in its JSON form."""
    if len(text) > CHARS_MAX:
        _refuse(f"It has {len(text)} characters; at most {CHARS_MAX} are allowed.")
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            _refuse(f"It begins like a JSON object and is none: {error}.")
        return cast(dict[str, Any], found)
    if not text.strip():
        return {}
    line = _Line(text)
    found = line.alternatives(1)
    if line.rest:
        _refuse(f"{line.rest[0]!r} is not expected there.", _TEXT_EXAMPLE)
    return found


class _Line:
    """A line of text, read from left to right."""

    def __init__(self, text: str) -> None:
        self.rest: list[str] = []
        at = 0
        while text[at:].strip():
            token = _TOKEN.match(text, at)
            if token is None:
                _refuse(f"It cannot be read from {text[at:].strip()[:20]!r} on.", _TEXT_EXAMPLE)
            self.rest.append(token[0].strip())
            at = token.end()

    def alternatives(self, depth: int) -> dict[str, Any]:
        if depth > DEPTH_MAX:
            _refuse(f"It is nested more than {DEPTH_MAX} deep.", "Write it flatter.")
        found = [self._together(depth)]
        while self._take("or"):
            found.append(self._together(depth))
        return found[0] if len(found) == 1 else {"OR": found}

    def _together(self, depth: int) -> dict[str, Any]:
        found = [self._one(depth)]
        while self._take("and"):
            found.append(self._one(depth))
        return found[0] if len(found) == 1 else {"AND": found}

    def _one(self, depth: int) -> dict[str, Any]:
        if self._take("not"):
            if depth >= DEPTH_MAX:
                _refuse(f"It is nested more than {DEPTH_MAX} deep.", "Write it flatter.")
            return {"NOT": [self._one(depth + 1)]}
        if self._take("("):
            found = self.alternatives(depth + 1)
            self._expect(")")
            return found
        return self._test()

    def _test(self) -> dict[str, Any]:
        name = self._next("a name")
        if name in _SIGNS or name in "(),":
            _refuse(f"{name!r} stands where a name is expected.", _TEXT_EXAMPLE)
        name = str(_plain(name)) if name[0] in "\"'" else name
        word = self._next(f"an operator after {name!r}")
        operator = _SIGNS.get(word, word.lower())
        if operator == "not":
            self._expect("in")
            operator = "nin"
        if operator == "exists":
            return {name: {"exists": True}}
        if operator == "missing":
            return {name: {"exists": False}}
        if operator in ("in", "nin"):
            return {name: {operator: self._values()}}
        if operator not in _NAMES or operator == "not":
            _refuse(
                f"{word!r} is not an operator.",
                "There are = != > >= < <= in, not in, contains, icontains, exists and missing.",
            )
        return {name: {operator: _plain(self._next(f"a value after {word!r}"))}}

    def _values(self) -> list[Any]:
        self._expect("(", "Write several values like: priority in (1, 3).")
        found = [_plain(self._next("a value"))]
        while self._take(","):
            found.append(_plain(self._next("a value")))
        self._expect(")")
        return found

    def _take(self, word: str) -> bool:
        if self.rest and self.rest[0].lower() == word:
            del self.rest[0]
            return True
        return False

    def _expect(self, word: str, hint: str = _TEXT_EXAMPLE) -> None:
        if not self._take(word):
            found = repr(self.rest[0]) if self.rest else "the end"
            _refuse(f"{word!r} is expected, and {found} stands there.", hint)

    def _next(self, what: str) -> str:
        if not self.rest:
            _refuse(f"It ends where {what} is expected.", _TEXT_EXAMPLE)
        return self.rest.pop(0)


def _plain(token: str) -> Any:
    """The value of a literal: quoted text is text; numbers, true, false and null have their own
    types."""
    if token[0] in "\"'":
        return re.sub(r"\\(.)", r"\1", token[1:-1])
    if token in _SIGNS or token in "(),":
        _refuse(f"{token!r} stands where a value is expected.", _TEXT_EXAMPLE)
    if _NUMBER.fullmatch(token):
        return float(token) if any(char in token for char in ".eE") else int(token)
    return {"true": True, "false": False, "null": None}.get(token.lower(), token)
