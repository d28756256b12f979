"""How many single mistakes lie between two words: a letter more, less, other, or two swapped."""

from __future__ import annotations


def edits(one: str, two: str, most: int) -> int:
    """The number of edits that turn one word into the other; `most + 1` where there are more.

    A hub's vocabulary is compared word by word, so what the two have in common at both ends is
    taken off first: a single edit is then seen without a table.
    """
    if abs(len(one) - len(two)) > most:
        return most + 1
    if one == two:
        return 0
    start = _shared(one, two)
    one, two = one[start:], two[start:]
    end = _shared(one[::-1], two[::-1])
    if end:
        one, two = one[:-end], two[:-end]
    if not one or not two:
        return min(len(one) + len(two), most + 1)
    if len(one) == len(two) == 1 or (len(one) == 2 and one == two[::-1]):
        return min(1, most + 1)
    if most < 2:
        return most + 1
    return _by_table(one, two, most)


def _shared(one: str, two: str) -> int:
    """How many letters the two begin with alike."""
    for at, (a, b) in enumerate(zip(one, two, strict=False)):
        if a != b:
            return at
    return min(len(one), len(two))


def _by_table(one: str, two: str, most: int) -> int:
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(two, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)
