"""Finds what a damaged row was: candidates made from copies of its fields, judged by its checksum.

A candidate whose checksum matches is the row as it was written; with 64 bits, no other has the same
one by chance. Copies come from indexes, revisions and other rows. Where there is none, a single
changed byte is searched for. Knows no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

Values = dict[str, Any]
# Whether values match the checksum that belongs to them.
Judge = Callable[[Values], bool]

# Candidates tried for one row when a single byte is searched for: about half a second.
TRIES_MAX = 100_000
# Fields that are replaced at once by every combination of their copies.
_FIELDS_AT_ONCE = 2
# Bytes of a checksum that may differ while the fields are still proven by the others.
_CHECKSUM_BYTES_WRONG_MAX = 4
_WORD = 2**64


def restored(
    values: Values, likely: Values, copies: Mapping[str, Sequence[Any]], judge: Judge
) -> Values | None:
    """The row as it was written, or None where no candidate matches. `likely` is what its fields
    most probably were, `copies` is everything that they may have been."""
    for candidate in _candidates(values, likely, copies):
        if judge(candidate):
            return candidate
    return None


def _candidates(
    values: Values, likely: Values, copies: Mapping[str, Sequence[Any]]
) -> Iterator[Values]:
    yield values
    singles = [
        (name, copy)
        for name, found in copies.items()
        for copy in dict.fromkeys(found)
        if name not in values or copy != values[name]
    ]
    for base in (values, {**values, **likely}):
        for count in range(_FIELDS_AT_ONCE + 1):
            for some in combinations(singles, count):
                yield {**base, **dict(some)}


def is_checksum_damaged(computed: int, stored: Any) -> bool:
    """Whether a few bytes of the checksum itself were changed, and not the row."""
    if not isinstance(stored, int):
        return False
    differing = ((computed ^ stored) % _WORD).to_bytes(8, "big")
    return sum(byte != 0 for byte in differing) <= _CHECKSUM_BYTES_WRONG_MAX


def one_byte_off(values: Values, fields: Sequence[str], judge: Judge) -> Values | None:
    """The row with one byte of one text changed so that the checksum matches."""
    tries = 0
    for name in fields:
        value = values.get(name)
        data = value.encode() if isinstance(value, str) else value
        if not isinstance(data, bytes):
            continue
        for position in range(len(data)):
            for byte in range(256):
                if byte == data[position]:
                    continue
                tries += 1
                if tries > TRIES_MAX:
                    return None
                changed = data[:position] + bytes((byte,)) + data[position + 1 :]
                try:
                    text = changed.decode()
                except UnicodeDecodeError:
                    continue
                candidate = {**values, name: text}
                if judge(candidate):
                    return candidate
    return None
