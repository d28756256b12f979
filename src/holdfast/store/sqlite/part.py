"""One connection inside one transaction: what every part of the Reader stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.domain.query import Filter
from holdfast.store.checksums import damaged_row
from holdfast.store.sqlite import filters
from holdfast.store.sqlite.records import RecordsReader

if TYPE_CHECKING:
    from holdfast.domain.viewer import Viewer


class Part(RecordsReader):
    """Finds the hub, runs statements, and knows what the viewer sees.

    Lists of ids go in as one JSON array, so that the statement is the same, and prepared once,
    however long the list is."""

    def __init__(self, connection: apsw.Connection, viewer: Viewer | None = None) -> None:
        self._connection = connection
        self._pks: dict[str, int] = {}
        # What the viewer may see, as a condition on `m`; written out, so that it can stand in any
        # statement without its own bindings.
        self._seen = "" if viewer is None else f" AND {filters.seen(viewer)}"
        # What has no boundary of its own is the hub's; nobody else sees any of it.
        self._of_hub = "" if viewer is None or "hub" in viewer.boundaries else " AND FALSE"

    def _pk(self, hub_id: str) -> int:
        pk = self._pks.get(hub_id)
        if pk is None:
            pk = self._one("SELECT pk FROM hubs WHERE id = ?", (hub_id,))
            if pk is None:
                self._require_no_hub("id", hub_id)
            pk = self._pks[hub_id] = -1 if pk is None else pk
        return pk

    def _require_no_hub(self, column: str, value: str) -> None:
        """Raises StoreDamaged for a hub that is in the table and not in its index: a whole hub
        that is not found would look as if it were empty."""
        query = f"SELECT 1 FROM hubs NOT INDEXED WHERE {column} = ?"
        if self._one(query, (value,)) is not None:
            raise damaged_row("hubs", value)

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql, values).get

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def _where(self, wanted: Filter) -> tuple[str, list[Any]]:
        conditions, values = filters.where(wanted)
        return conditions + self._seen, values

    def _of_seen(self, column: str) -> str:
        """What belongs to a memory is seen by those who see the memory."""
        if not self._seen:
            return ""
        return f" AND EXISTS (SELECT 1 FROM memories m WHERE m.pk = {column}{self._seen})"
