"""The number of mistakes between two words, against the table that defines it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.analysis.variants import edits

words = st.text("abcd", max_size=7)


def table(one: str, two: str) -> int:
    """The whole table of the restricted Damerau distance, nothing left out."""
    cells = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(two) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(two) + 1):
            cost = cells[i - 1, j - 1] + (one[i - 1] != two[j - 1])
            cells[i, j] = min(cells[i - 1, j] + 1, cells[i, j - 1] + 1, cost)
            if i > 1 and j > 1 and one[i - 1] == two[j - 2] and one[i - 2] == two[j - 1]:
                cells[i, j] = min(cells[i, j], cells[i - 2, j - 2] + 1)
    return cells[len(one), len(two)]


@given(words, words, st.integers(0, 3))
def test_it_is_the_distance_of_the_table_up_to_a_limit(one: str, two: str, most: int) -> None:
    assert edits(one, two, most) == min(table(one, two), most + 1)


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [("deploy", "deploy", 0), ("deploy", "depoly", 1), ("deploy", "deply", 1), ("red", "blue", 3)],
)
def test_some_words(one: str, two: str, found: int) -> None:
    assert edits(one, two, 2) == found
