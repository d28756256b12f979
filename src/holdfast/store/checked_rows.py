"""Rows that end with their checksum, to values: compared first, then converted (`rows.py`).

For stores of tables. `sealed` is the way back: the fields of a row, and their checksum behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_micros
from holdfast.store import rows
from holdfast.store.checksums import require_intact, row_checksum
from holdfast.store.rows import Row

if TYPE_CHECKING:
    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.records import Agreed, Clash, Turn


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
