"""Row checksums: 64 bits over the table, the hub and every field of a row.

A checksum is written in the same statement as its row, and compared whenever the row is read. It
finds a row that was changed outside Holdfast, by a failing disk or by hand; a row that was moved to
another table, hub or key; and a value that cannot be decoded. It is no signature: a program that
can write to the store can write a matching checksum too.

The checksum is the first 8 bytes of the BLAKE2b hash of the values as `marshal` writes them in its
version 2, as a signed integer. Recall reads 200 rows for an answer, and JSON takes five times as
long. That version is the same on every Python since 2.5; a test compares a known value.

Counters change on every read, without a revision, so they have a check of their own: a sum that an
UPDATE moves along with them.

A damaged row is repaired from candidates made from copies of its fields (indexes, revisions, other
rows) and judged by its checksum. A candidate whose checksum matches is the row as it was written;
with 64 bits, no other has the same one by chance. Copies come from indexes, revisions and other
rows. Where there is none, a single changed byte is searched for. Knows no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from marshal import dumps
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros
from holdfast.errors import StoreDamaged
from holdfast.store import rows
from holdfast.store.rows import Row

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.records import Agreed, Clash, Turn


try:
    # The interpreter's own: `hashlib` loads OpenSSL, which takes a tenth of a short command.
    from _blake2 import blake2b
except ImportError:  # pragma: no cover - an interpreter with another name for it
    from hashlib import blake2b

# Without references to values that were written before, which later versions have.
_FORMAT = 2

# Distinct primes: a change of one counter is never balanced by a small change of another.
ACCESS_WEIGHT = 1_000_003
SHOWN_WEIGHT = 10_007
MENTION_WEIGHT = 101
ACCESSED_AT_WEIGHT = 7
_COUNTERS_BASE = 0x484C4446


def row_checksum(table: str, hub_id: str, fields: Sequence[Any]) -> int:
    """The checksum of a row: `fields` are its values as the store has them."""
    try:
        data = dumps((table, hub_id, *fields), _FORMAT)
    except ValueError:
        # A subclass of str; what is read back is a plain one.
        plain = [str(one) if isinstance(one, str) else one for one in fields]
        data = dumps((str(table), str(hub_id), *plain), _FORMAT)
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


def passage_checksum(hub_id: str, memory_id: str, fields: Sequence[Any]) -> int:
    """The checksum of a passage, which belongs to a memory."""
    return row_checksum("passages", hub_id, (memory_id, *fields))


def vector_checksum(hub_id: str, model: str, passage: int, window: int, vector: bytes) -> int:
    """The checksum of the vector of a window."""
    return row_checksum("vectors", hub_id, (model, passage, window, vector))


def counters_check(
    access_count: int, shown_count: int, mention_count: int, accessed_at: int | None
) -> int:
    """The check of a memory's counters; SQL adds the weights when it counts."""
    return (
        _COUNTERS_BASE
        + access_count * ACCESS_WEIGHT
        + shown_count * SHOWN_WEIGHT
        + mention_count * MENTION_WEIGHT
        + (accessed_at or 0) * ACCESSED_AT_WEIGHT
    )


def is_intact(table: str, hub_id: str, fields: Sequence[Any], checksum: Any) -> bool:
    """Whether a row is as it was written."""
    try:
        return bool(row_checksum(table, hub_id, fields) == checksum)
    except (TypeError, ValueError):
        return False


def are_counters_intact(counters: Sequence[Any], check: Any) -> bool:
    """Whether a memory's counters are as they were counted."""
    try:
        return bool(counters_check(*counters) == check)
    except TypeError:
        return False


def require_intact(
    table: str, hub_id: str, fields: Sequence[Any], checksum: Any, name: str = ""
) -> None:
    """Raises StoreDamaged for a row that is not as it was written."""
    if not is_intact(table, hub_id, fields, checksum):
        raise damaged_row(table, name or str(fields[0]))


def damaged_row(table: str, name: str) -> StoreDamaged:
    """The error for a read of a row that fails its checksum."""
    return StoreDamaged(
        f"A row of the table {table} is damaged and cannot be read: {name[:80]!r} does not match"
        " its checksum.",
        hint="Run `holdfast doctor` to see what is damaged; `holdfast doctor --fix` repairs what"
        " can be repaired, and `holdfast restore-backup` brings back a backup.",
    )


def sealed(table: str, hub_id: str, fields: Sequence[Any]) -> Row:
    """The fields, and their checksum behind them."""
    return (*fields, row_checksum(table, hub_id, fields))


def change_from_row(row: Row, hub_id: str) -> Change:
    require_intact("changes", hub_id, row[:-1], row[-1])
    return rows.change_from_row(row[:-1], hub_id)


def revision_from_row(row: Row, hub_id: str) -> Revision:
    # All but the sequence, which the store gives when the row is written.
    require_intact("revisions", hub_id, row[1:-1], row[-1], f"version {row[3]} of {row[2]}")
    return rows.revision_from_row(row[:-1])


def receipt_from_row(row: Row, hub_id: str) -> Receipt:
    require_intact("receipts", hub_id, row[:-1], row[-1])
    return rows.receipt_from_row(row[:-1])


def turn_from_row(row: Row, hub_id: str) -> Turn:
    require_intact("turns", hub_id, row[:-1], row[-1])
    return rows.turn_from_row(row[:-1], hub_id)


def agreed_from_row(row: Row, hub_id: str) -> Agreed:
    from holdfast.domain.records import Agreed

    require_intact("agreed", hub_id, row[:-1], row[-1])
    return Agreed(row[0], row[1], from_micros(row[2]))


def clash_from_row(row: Row, hub_id: str) -> Clash:
    require_intact("clashes", hub_id, row[:-1], row[-1])
    return rows.clash_from_row(row[:-1])


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
