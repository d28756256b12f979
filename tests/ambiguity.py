"""Which regular expressions can take time that doubles with each character.

A backtracking matcher tries every way to read a text before it gives up. Where something repeated
can be read in two ways (`(?:a|a)*`, `(?:a*)*`, `(?:a?b?)*`), the ways double with each repetition.
So a pattern becomes an automaton whose states are its characters, and the question is whether some
state is reached again from itself by two ways over the same text: whether a pair of states that
began together comes together again after it was apart.

It knows nothing of time that grows with the square or the cube of a text; tests that measure do.
It errs on the side of finding too much: what follows a repetition is not looked at, nor are `\\b`,
`^` and `$`, and a group that is never given back counts as one that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from re import _compiler, _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

# One of each sort, beside the characters that a pattern names.
_SORTS = "az AZ09_-.,:'\"/\\\t\n\r\v\x00éß漢٣\u2003–’😀"

# A repetition of so many is as bad as one without an end: two to the power of it is for ever.
_ENDLESS = 16
# Where it is less: enough to tell whether two repetitions can be taken for one.
_COPIES_MAX = 3


_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SINGLE = ("LITERAL", "NOT_LITERAL", "IN", "ANY")


def _is_single(items: Any) -> bool:
    return len(items) == 1 and str(items[0][0]) in _SINGLE


class Ways(NamedTuple):
    """Sets of next characters, as bits: with which there is a way, and with which two or more."""

    one: int
    two: int = 0

    def __or__(self, other: Ways) -> Ways:
        return Ways(self.one | other.one, self.two | other.two | self.one & other.one)

    def __and__(self, other: Ways) -> Ways:
        return Ways(self.one & other.one, self.two & other.one | self.one & other.two)


_NO_WAY = Ways(0)


class Part(NamedTuple):
    """A part of a pattern: how it is passed without reading, entered and left.

    A way out says with which next characters it is open: what never gives back can be left only
    where it cannot go on.
    """

    empty: Ways
    first: dict[int, Ways]
    last: dict[int, Ways]


def doubling(pattern: re.Pattern[str]) -> bool:
    """Whether some text may take time that doubles with each character."""
    parsed = _parser.parse(pattern.pattern, pattern.flags)
    groups: dict[int, tuple[Any, int]] = {}
    # All of a loop can be reached from all of it, and nothing outside can from it and back.
    return any(
        _Automaton(parsed.state, groups, loop).reads_twice(flags)
        for loop, flags in _loops(parsed, pattern.flags, groups)
    )


def _loops(items: Any, flags: int, groups: dict[int, tuple[Any, int]]) -> Iterator[tuple[Any, int]]:
    """Every endless repetition of more than one character, and its flags; notes the groups."""
    for item in items:
        name, value = str(item[0]), item[1]
        inner: list[tuple[Any, int]] = []
        match name:
            case "BRANCH":
                inner = [(branch, flags) for branch in value[1]]
            case "SUBPATTERN":
                inner = [(value[3], (flags | value[1]) & ~value[2])]
                groups[value[0]] = inner[0]
            case "ATOMIC_GROUP":
                inner = [(value, flags)]
            case "ASSERT" | "ASSERT_NOT":
                inner = [(value[1], flags)]
            case "GROUPREF_EXISTS":
                inner = [(branch or (), flags) for branch in value[1:]]
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                inner = [(value[2], flags)]
        for part, its_flags in inner:
            yield from _loops(part, its_flags, groups)
        if name in _REPEATS and value[1] >= _ENDLESS and not _is_single(value[2]):
            yield item, flags


class _Automaton:
    """The states of one loop: what each reads, and what can come after it."""

    def __init__(self, state: Any, groups: dict[int, tuple[Any, int]], loop: Any) -> None:
        named = {c for code in _codes(loop) for c in (code - 1, code, code + 1)}
        chars = {chr(code) for code in named if 0 <= code < 0x110000} | set(_SORTS)
        self._chars = sorted(
            chars | {v for c in chars for v in (c.lower(), c.upper()) if len(v) == 1}
        )
        # One more for the end of the text, which no state reads.
        self._any = (1 << len(self._chars) + 1) - 1
        self._state = state
        self._groups = groups
        self._loop = loop
        self._sets: dict[tuple[str, int], int] = {}
        self._after: list[dict[int, Ways]] = []

    def reads_twice(self, flags: int) -> bool:
        """Whether two ways over the same text lead from one state to one state."""
        self.part([self._loop], flags)
        pairs: set[tuple[int, int]] = set()
        waiting = [(state, state) for state in range(len(self._after))]
        while waiting:
            a, b = waiting.pop()
            for to_a, ways_a in self._after[a].items():
                if a == b and ways_a.two:
                    return True
                for to_b, ways_b in self._after[b].items():
                    if not ways_a.one & ways_b.one:
                        continue
                    if to_a == to_b:
                        if a != b:
                            return True
                    elif (pair := (min(to_a, to_b), max(to_a, to_b))) not in pairs:
                        pairs.add(pair)
                        waiting.append(pair)
        return False

    def part(self, items: Any, flags: int) -> Part:
        whole = Part(Ways(self._any), {}, {})
        for item in items:
            whole = self._then(whole, self._item(item, flags))
        return whole

    def _item(self, item: Any, flags: int) -> Part:
        name, value = str(item[0]), item[1]
        if name in _SINGLE:
            return self._reads(item, flags)
        match name:
            case "BRANCH":
                return reduce(self._or, (self.part(branch, flags) for branch in value[1]))
            case "SUBPATTERN":
                return self.part(value[3], (flags | value[1]) & ~value[2])
            case "ATOMIC_GROUP":
                return self.part(value, flags)
            case "GROUPREF":
                return self.part(*self._groups[value])
            case "GROUPREF_EXISTS":
                branches = (self.part(branch or (), flags) for branch in value[1:])
                return reduce(self._or, branches)
            case _ if name in _REPEATS:
                return self._repeated(name, value, flags)
            case "ASSERT" | "ASSERT_NOT":
                return Part(Ways(self._looking(name, value, flags)), {}, {})
            case "AT" | "FAILURE":
                return Part(Ways(self._any), {}, {})
        raise NotImplementedError(name)

    def _reads(self, item: Any, flags: int) -> Part:
        self._after.append({})
        state = len(self._after) - 1
        return Part(_NO_WAY, {state: Ways(self._set(item, flags))}, {state: Ways(self._any)})

    def _set(self, item: Any, flags: int) -> int:
        """The characters that an item of one character reads."""
        key = (repr(item), flags)
        if key not in self._sets:
            alone = _parser.SubPattern(self._state, [item])
            reads = _compiler.compile(alone, flags & ~re.DEBUG).match
            self._sets[key] = sum(1 << n for n, c in enumerate(self._chars) if reads(c))
        return self._sets[key]

    def _looking(self, name: str, value: Any, flags: int) -> int:
        """The next characters that a look at what follows allows."""
        direction, inner = value
        if direction < 0 or len(inner) != 1 or str(inner[0][0]) not in ("LITERAL", "IN"):
            return self._any
        found = self._set(inner[0], flags)
        return found if name == "ASSERT" else self._any & ~found

    def _repeated(self, name: str, value: Any, flags: int) -> Part:
        least, most, inner = value
        endless = most >= _ENDLESS
        is_held = name == "POSSESSIVE_REPEAT" and _is_single(inner)
        held = self._set(inner[0], flags) if is_held else 0
        whole = Part(Ways(self._any), {}, {})
        for _ in range(min(least, _COPIES_MAX) - (1 if endless and least else 0)):
            whole = self._then(whole, self.part(inner, flags))
        if endless:
            return self._then(whole, self._around(self.part(inner, flags), held, least > 0))
        more = Part(Ways(self._any), {}, {})
        for _ in range(min(most - least, _COPIES_MAX)):
            taken = self._then(self.part(inner, flags), more)
            more = Part(taken.empty | Ways(self._any & ~held), taken.first, taken.last)
        return self._then(whole, more)

    def _around(self, body: Part, held: int, at_least_once: bool) -> Part:
        for state in body.last:
            for following, ways in body.first.items():
                self._join(state, following, body.last[state] & ways)
        out = Ways(self._any & ~held)
        # Once around without reading is tried too, and ends the loop.
        leaving = out | body.empty
        last = {state: ways & leaving for state, ways in body.last.items()}
        return Part(body.empty if at_least_once else leaving, body.first, last)

    def _join(self, state: int, following: int, ways: Ways) -> None:
        if ways.one:
            self._after[state][following] = self._after[state].get(following, _NO_WAY) | ways

    def _then(self, a: Part, b: Part) -> Part:
        for state, leaving in a.last.items():
            for following, entering in b.first.items():
                self._join(state, following, leaving & entering)
        passing = {state: a.empty & ways for state, ways in b.first.items()}
        staying = {state: ways & b.empty for state, ways in a.last.items()}
        return Part(a.empty & b.empty, _sum(a.first, passing), _sum(b.last, staying))

    def _or(self, a: Part, b: Part) -> Part:
        return Part(a.empty | b.empty, _sum(a.first, b.first), _sum(a.last, b.last))


def _sum(a: dict[int, Ways], b: dict[int, Ways]) -> dict[int, Ways]:
    return a | {state: a.get(state, _NO_WAY) | ways for state, ways in b.items() if ways.one}


def _codes(items: Any) -> Iterator[int]:
    """Every number in a pattern: its characters, and a few that do no harm."""
    for item in items:
        if isinstance(item, int):
            yield int(item)
        elif isinstance(item, (tuple, list, _parser.SubPattern)):
            yield from _codes(item)
