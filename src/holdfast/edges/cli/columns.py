"""How wide the columns of a table are on a terminal. It knows widths, not what stands in them.

Numbers, times, states and ids stay whole; the text in the last column gives way, then other long
texts. A column is never left out: where even that is not enough, lines are longer than the screen.
"""

from __future__ import annotations

from collections.abc import Sequence

GAP = 2
# The last column keeps this much before another one gives way: three or four words.
_LAST_FIRST = 20
# A column up to this width is never cut: an id (24) is of no use in part, nor is a time (16).
_WHOLE = 24
# What a long column is cut to, at the least.
_LONG_LEAST = 12
# At the very least: a few letters and the ellipsis.
_LAST_LEAST = 6


def fitted(widths: Sequence[int], room: int) -> list[int]:
    """The widths to show columns of these natural widths in, in a room of so many characters."""
    out = list(widths)
    over = sum(out) + GAP * (len(out) - 1) - room
    last = len(out) - 1
    over -= _cut(out, last, _LAST_FIRST, over)
    longest_first = sorted(range(1, last), key=lambda place: -widths[place])
    for place in longest_first:
        if widths[place] > _WHOLE:
            over -= _cut(out, place, _LONG_LEAST, over)
    if last > 0:
        _cut(out, last, _LAST_LEAST, over)
    return out


def _cut(out: list[int], place: int, least: int, over: int) -> int:
    """Takes what is over from one column, as far as it goes; returns how much that was."""
    taken = max(0, min(over, out[place] - least))
    out[place] -= taken
    return taken
