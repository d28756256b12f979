"""Reading: one snapshot of the database, as values. Each part stands in a module of its own;
what is asked of all of them stands here."""

from __future__ import annotations

from holdfast.domain.clock import from_micros
from holdfast.domain.hub import Statistics
from holdfast.store.single_writer import ReaderDefaults
from holdfast.store.sqlite.finding import FindingReader
from holdfast.store.sqlite.history import HistoryReader
from holdfast.store.sqlite.log import LogReader
from holdfast.store.sqlite.memories import MemoriesReader


class SqliteReader(MemoriesReader, HistoryReader, LogReader, FindingReader, ReaderDefaults):
    """The Reader of the contract, on one connection inside one transaction."""

    def statistics(self, hub_id: str) -> Statistics:
        hub = self._pk(hub_id)

        def counted(column: str) -> dict[str, int]:
            found = self._all(
                f"SELECT {column}, count(*) FROM memories m WHERE hub = ?{self._seen}"
                " AND forgotten_at IS NULL AND quarantine = '' GROUP BY 1 ORDER BY 2 DESC, 1",
                (hub,),
            )
            return dict(found)

        def count(table: str, only: str = "") -> int:
            return int(self._one(f"SELECT count(*) FROM {table} WHERE hub = ?{only}", (hub,)))

        totals = self._one(
            "SELECT count(*), count(forgotten_at), total(quarantine <> ''), total(pinned),"
            " total(octet_length(content)), min(created_at), max(created_at),"
            " total(forgotten_at IS NULL AND quarantine = '')"
            f" FROM memories m WHERE hub = ?{self._seen}",
            (hub,),
        )
        return Statistics(
            hub=self._one("SELECT name FROM hubs WHERE pk = ?", (hub,)) or "",
            memories=totals[0],
            visible=int(totals[7]),
            forgotten=totals[1],
            quarantined=int(totals[2]),
            pinned=int(totals[3]),
            by_state=counted("state"),
            by_category=counted("category"),
            by_kind=counted("kind"),
            by_layer=counted("layer"),
            revisions=count("revisions", self._of_seen("memory")),
            changes=count("changes", self._seen_changes),
            passages=count("passages", self._of_seen("memory")),
            vectors=self._count_vectors(hub),
            content_bytes=int(totals[4]),
            receipts=count("receipts", self._of_hub),
            oldest=None if totals[5] is None else from_micros(totals[5]),
            newest=None if totals[6] is None else from_micros(totals[6]),
            turns=count("turns", self._of_hub),
            conflicts=len(self.clashes(hub_id)),
        )

    def _count_vectors(self, hub: int) -> int:
        if not self._seen:
            return int(self._one("SELECT count(*) FROM vectors WHERE hub = ?", (hub,)))
        return int(
            self._one(
                "SELECT count(*) FROM vectors v JOIN passages p ON p.pk = v.passage"
                f" JOIN memories m ON m.pk = p.memory WHERE v.hub = ?{self._seen}",
                (hub,),
            )
        )
