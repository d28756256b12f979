"""Marks a test with the sentence of a seed document that it checks.

A seed document describes a memory system that Holdfast replaces. Each test of this folder checks
one behaviour of such a document and names the lines it comes from, how to call it here, and what
differs on purpose. `tools/reference/seeds.py` makes a page of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

_ATTRIBUTE = "documented_behaviours"

Test = TypeVar("Test", bound=Callable[..., Any])


class Behaviour(NamedTuple):
    """One documented behaviour: its lines in the document, what they say in short, how to call it
    here, and what differs on purpose ('' where nothing does)."""

    lines: tuple[int, ...]
    says: str
    call: str
    differs: str
    test: str


class Seed(NamedTuple):
    """One seed document: its number, the system it is about, its dialect or '', how many lines it
    has, and which of them state no behaviour, with what they are instead."""

    number: str
    system: str
    dialect: str
    line_count: int
    no_behaviour: Mapping[str, Sequence[int]]


def documented(
    says: str, *, lines: int | Sequence[int], call: str, differs: str = ""
) -> Callable[[Test], Test]:
    """Marks a test as the check of what a seed document says in these lines."""
    numbers = (lines,) if isinstance(lines, int) else tuple(lines)

    def mark(test: Test) -> Test:
        behaviour = Behaviour(numbers, says, call, differs, test.__name__)
        # The decorator nearest to the function runs first, and its sentence is to come last.
        setattr(test, _ATTRIBUTE, [behaviour, *behaviours_of(test)])
        return test

    return mark


def behaviours_of(test: object) -> list[Behaviour]:
    """What a test is marked with, in the order of the marks."""
    found: list[Behaviour] = getattr(test, _ATTRIBUTE, [])
    return found


def behaviours_in(module: object) -> list[Behaviour]:
    """The behaviours that the tests of a module check, by line, and in the order of the tests."""
    found = [one for value in vars(module).values() for one in behaviours_of(value)]
    return sorted(found, key=lambda one: one.lines[0])


def uncovered_lines(seed: Seed, behaviours: Sequence[Behaviour]) -> list[int]:
    """Lines of the document that no test names and that are not listed as stating nothing."""
    named = {line for one in behaviours for line in one.lines}
    named |= {line for lines in seed.no_behaviour.values() for line in lines}
    return [line for line in range(1, seed.line_count + 1) if line not in named]
