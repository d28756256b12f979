"""No regular expression of the package can take time that doubles with each character of a text."""

from __future__ import annotations

import re

import pytest

from tests.ambiguity import doubling
from tests.patterns import all_patterns

# Ours, as they were, and those of the textbooks.
DOUBLES = [
    r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*[\r\n]*$",
    r"\bi (?:really |also |\w+ly )*like\b",
    r"No results found\.(?:[\s>]+Note: [^\n]*)*",
    r"(?: in (?:may|june)(?: \d{1,4})?(?: \d{4})?)+\Z",
    r"(?m)^tags:((?:\r?\n- .*)*)",
    r"(?:[A-Za-z0-9+/=]{40,}\s*)+",
    r"(a+)+b",
    r"(a*)*b",
    r"(?:ab|ab)*c",
    r"(?:a|aa)+$",
    r"(?:a?b?)*c",
    r"((?:a?)*b)*c",
    r"(x+x+)+y",
    r"(?:\w+\s?)*$",
    r"(?:.*,)*x",
    r"(?:a{1,2})*$",
    r"(?:a{1,20}){1,20}b",
    r"(?i:(?:Ab|ab)*)c",
    r"x(?=(?:a+)+$)",
    r"(['\"])(?:\1?x?\1)*y",
    r'"(?:[^"]|\\.)*"',
]
STAYS = [
    r"a*b",
    r"[ \t]*[ \t]*x",
    r"(?:a|b)*c",
    r"(?:ab?)*c",
    r"(?:a{2})*b",
    r"\w+(?:-\w+)*",
    r"(?:\w+\s)*$",
    r'"(?:[^"\\]|\\.)*"',
    r"(?:\d{1,15},)*",
    r"(?:and |but )*if",
    r"(?:a(?!b)|ab)*c",
    # What is never given back can be read in one way.
    r"(?:\|[ \t]*+:?+-*+:?+[ \t]*+)*x",
    r"(?:[A-Za-z0-9+/=]{40,}+\s*+)+",
]


@pytest.mark.parametrize("pattern", DOUBLES)
def test_a_pattern_that_reads_a_repetition_in_two_ways_is_found(pattern: str) -> None:
    assert doubling(re.compile(pattern))


@pytest.mark.parametrize("pattern", STAYS)
def test_a_pattern_that_reads_each_repetition_in_one_way_passes(pattern: str) -> None:
    assert not doubling(re.compile(pattern))


def test_no_pattern_of_the_package_can_double_its_time_with_each_character() -> None:
    patterns = all_patterns()
    assert len(patterns) > 400, "compiled ones, and those in tables and calls"
    found = [(where, text) for (text, flags), where in patterns.items()
             if doubling(re.compile(text, flags))]  # fmt: skip
    assert not found, (
        "a part of these that is repeated can be read in two ways; see tests/ambiguity.py"
    )
