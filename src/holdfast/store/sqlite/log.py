"""Reading the conversation log, and what store and files have agreed on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.store import checked_rows as checked
from holdfast.store import rows as shared
from holdfast.store.sqlite import rows, search
from holdfast.store.sqlite.part import Part
from holdfast.store.values import (
    TermQuery,
)

if TYPE_CHECKING:
    from holdfast.domain.records import Agreed, Clash, Turn


class LogReader(Part):
    """The part of the Reader that is about turns and mirrored files."""

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        hub = self._pk(hub_id)
        conditions = self._of_hub
        values: list[Any] = []
        if session is not None:
            conditions += " AND session = ?"
            values.append(session)
        if before is not None:
            conditions += " AND pk < (SELECT pk FROM turns WHERE hub = ? AND id = ?)"
            values += [hub, before]
        found = self._all(
            f"SELECT {rows.TURN_COLUMNS} FROM turns WHERE hub = ?{conditions}"
            " ORDER BY pk DESC LIMIT ?",
            (hub, *values, limit),
        )
        return [checked.turn_from_row(row, hub_id) for row in found]

    def search_turns(self, hub_id: str, terms: Sequence[str], *, limit: int) -> list[Turn]:
        if not terms:
            return []
        hub = self._pk(hub_id)
        columns = ", ".join(f"t.{name}" for name in rows.TURN_COLUMNS.split(", "))
        each = [search.match_expression(hub, TermQuery((term,))) for term in terms]
        found = self._all(
            f"SELECT {columns} FROM (SELECT w.rowid AS pk, count(*) AS merit FROM json_each(?) q"
            "  CROSS JOIN turn_words w ON w.turn_words MATCH q.value"
            "  GROUP BY w.rowid ORDER BY merit DESC, pk DESC LIMIT ?) AS w"
            f" CROSS JOIN turns t ON t.pk = w.pk WHERE t.hub = ?{self._of_hub}"
            " ORDER BY w.merit DESC, t.pk DESC",
            (shared.dumps(list(dict.fromkeys(each))), limit, hub),
        )
        return [checked.turn_from_row(row, hub_id) for row in found]

    def scan_turns(self, hub_id: str) -> Iterator[Turn]:
        for row in self._connection.execute(
            f"SELECT {rows.TURN_COLUMNS} FROM turns WHERE hub = ?{self._of_hub} ORDER BY pk",
            (self._pk(hub_id),),
        ):
            yield checked.turn_from_row(row, hub_id)

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        row = self._one(
            f"SELECT {rows.AGREED_COLUMNS} FROM agreed WHERE hub = ? AND path = ?",
            (self._pk(hub_id), path),
        )
        return None if row is None else checked.agreed_from_row(row, hub_id)

    def scan_agreed(self, hub_id: str) -> Iterator[Agreed]:
        for row in self._connection.execute(
            f"SELECT {rows.AGREED_COLUMNS} FROM agreed WHERE hub = ? ORDER BY path",
            (self._pk(hub_id),),
        ):
            yield checked.agreed_from_row(row, hub_id)

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        open_only = "" if settled else " AND settled_at IS NULL"
        seen = ""
        if self._seen:
            same = "m.hub = c.hub AND m.id = c.memory_id"
            seen = f" AND EXISTS (SELECT 1 FROM memories m WHERE {same}{self._seen})"
        found = self._all(
            f"SELECT {rows.CLASH_COLUMNS} FROM clashes c WHERE hub = ?{open_only}{seen}"
            " ORDER BY pk",
            (self._pk(hub_id),),
        )
        return [checked.clash_from_row(row, hub_id) for row in found]
