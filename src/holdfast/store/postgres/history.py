"""Reads the history, the conversation log, and the state of mirrored files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.change import Change, Receipt, Revision
from holdfast.domain.clock import from_micros, to_micros
from holdfast.domain.records import Agreed, Clash, Turn
from holdfast.store import rows as shared
from holdfast.store.postgres import rows
from holdfast.store.postgres.memories import MemoriesReader

_IN_SESSION = "t.session_hash = hashtextextended(%(session)s, 0) AND t.session = %(session)s"


class HistoryReader(MemoriesReader):
    """The part of the Reader for changes, revisions, turns and mirrored files."""

    def _changes(self, hub_id: str, rest: str, **values: Any) -> list[Change]:
        found = self._session.all(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes c WHERE c.hub_id = %(hub)s"
            f"{self._seen_changes('c')}{rest}",
            hub=self._session.hub(hub_id),
            **values,
        )
        return [shared.change_from_row(row, hub_id) for row in found]

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        earlier = (
            " AND c.place < (SELECT b.place FROM changes b WHERE b.hub_id = %(hub)s"
            " AND b.id = %(before)s)"
        )
        return self._changes(
            hub_id,
            f"{earlier if before else ''} ORDER BY c.place DESC LIMIT %(limit)s",
            before=before,
            limit=limit,
        )

    def change(self, hub_id: str, change_id: str) -> Change | None:
        found = self._changes(hub_id, " AND c.id = %(id)s", id=change_id)
        return found[0] if found else None

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        if not change_ids:
            return {}
        found = self._changes(hub_id, " AND c.id = ANY(%(ids)s)", ids=list(change_ids))
        there = {change.id: change for change in found}
        return {one: there[one] for one in change_ids if one in there}

    def last_undoable(self, hub_id: str) -> Change | None:
        undoable = " AND c.undoes IS NULL AND c.undone_by IS NULL ORDER BY c.place DESC LIMIT 1"
        found = self._changes(hub_id, undoable)
        return found[0] if found else None

    def _revisions(self, hub_id: str, rest: str, **values: Any) -> list[Revision]:
        found = self._session.all(
            f"{rows.REVISIONS} WHERE r.hub_id = %(hub)s{rest}",
            hub=self._session.hub(hub_id),
            **values,
        )
        return [shared.revision_from_row(row, hub_id) for row in found]

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        return self._revisions(
            hub_id, f" AND m.id = %(id)s{self._seen} ORDER BY r.version", id=memory_id
        )

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        found: dict[str, list[Revision]] = {}
        if memory_ids:
            wanted = f" AND m.id = ANY(%(ids)s){self._seen} ORDER BY r.version"
            for revision in self._revisions(hub_id, wanted, ids=list(memory_ids)):
                found.setdefault(revision.memory_id, []).append(revision)
        return {one: found[one] for one in memory_ids if one in found}

    def revisions_of(
        self, hub_id: str, change_id: str, *, limit: int | None = None
    ) -> list[Revision]:
        return self._revisions(
            hub_id,
            f" AND r.change_id = %(id)s{self._seen} ORDER BY r.sequence LIMIT %(limit)s",
            id=change_id,
            # NULL is no limit.
            limit=limit,
        )

    def changed_after(self, hub_id: str, at: datetime) -> list[str]:
        found = self._session.all(
            "SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s AND m.number IN"
            " (SELECT r.memory FROM revisions r WHERE r.hub_id = %(hub)s AND r.at > %(at)s)"
            f"{self._seen} ORDER BY m.number",
            hub=self._session.hub(hub_id),
            at=to_micros(at),
        )
        return [row[0] for row in found]

    def newest_revision(self, hub_id: str) -> int:
        newest = self._session.value(
            "SELECT max(r.sequence) FROM revisions r WHERE r.hub_id = %(hub)s",
            hub=self._session.hub(hub_id),
        )
        return int(newest or 0)

    def revised_since(self, hub_id: str, sequence: int, *, limit: int) -> list[str]:
        found = self._session.all(
            "SELECT m.id FROM memories m WHERE m.hub_id = %(hub)s AND m.number IN"
            " (SELECT r.memory FROM revisions r WHERE r.hub_id = %(hub)s"
            " AND r.sequence > %(sequence)s)"
            f"{self._seen} ORDER BY m.number LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            sequence=sequence,
            limit=limit,
        )
        return [row[0] for row in found]

    def scan_changes(self, hub_id: str) -> Iterator[Change]:
        for row in self._session.scan(
            f"SELECT {rows.CHANGE_COLUMNS} FROM changes c WHERE c.hub_id = %(hub)s"
            f"{self._seen_changes('c')} ORDER BY c.place",
            hub=self._session.hub(hub_id),
        ):
            yield shared.change_from_row(row, hub_id)

    def scan_revisions(self, hub_id: str) -> Iterator[Revision]:
        for row in self._session.scan(
            f"{rows.REVISIONS} WHERE r.hub_id = %(hub)s{self._seen} ORDER BY r.sequence",
            hub=self._session.hub(hub_id),
        ):
            yield shared.revision_from_row(row, hub_id)

    def receipts(self, hub_id: str) -> list[Receipt]:
        found = self._session.all(
            f"SELECT {rows.RECEIPT_COLUMNS} FROM receipts"
            f" WHERE hub_id = %(hub)s{self._of_hub} ORDER BY place",
            hub=self._session.hub(hub_id),
        )
        return [shared.receipt_from_row(row, hub_id) for row in found]

    # The conversation log

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        conditions = self._of_hub
        if session is not None:
            conditions += f" AND {_IN_SESSION}"
        if before is not None:
            conditions += (
                " AND t.place < (SELECT b.place FROM turns b WHERE b.hub_id = %(hub)s"
                " AND b.id = %(before)s)"
            )
        found = self._session.all(
            f"SELECT {rows.TURN_COLUMNS} FROM turns t WHERE t.hub_id = %(hub)s{conditions}"
            " ORDER BY t.place DESC LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            session=session,
            before=before,
            limit=limit,
        )
        return [shared.turn_from_row(row, hub_id) for row in found]

    def turns_by_id(self, hub_id: str, turn_ids: Sequence[str]) -> dict[str, Turn]:
        if not turn_ids:
            return {}
        found = self._session.all(
            f"SELECT {rows.TURN_COLUMNS} FROM unnest(%(ids)s::text[]) WITH ORDINALITY AS i (id, at)"
            " JOIN turns t ON t.hub_id = %(hub)s AND t.id = i.id"
            f" WHERE t.hub_id = %(hub)s{self._of_hub} ORDER BY i.at",
            hub=self._session.hub(hub_id),
            ids=list(turn_ids),
        )
        return {row[0]: shared.turn_from_row(row, hub_id) for row in found}

    def turns_around(self, hub_id: str, turn_id: str, *, before: int, after: int) -> list[Turn]:
        hub = self._session.hub(hub_id)
        one = self._session.row(
            "SELECT t.place, t.session FROM turns t WHERE t.hub_id = %(hub)s AND t.id = %(id)s"
            f"{self._of_hub}",
            hub=hub,
            id=turn_id,
        )
        if one is None:
            return []
        place, session = one
        in_session = _IN_SESSION if session is not None else "t.session IS NULL"
        around = (
            f"SELECT {rows.TURN_COLUMNS} FROM turns t WHERE t.hub_id = %(hub)s AND {in_session}"
        )
        earlier = self._session.all(
            f"{around} AND t.place < %(place)s ORDER BY t.place DESC LIMIT %(count)s",
            hub=hub,
            session=session,
            place=place,
            count=before,
        )
        later = self._session.all(
            f"{around} AND t.place > %(place)s ORDER BY t.place LIMIT %(count)s",
            hub=hub,
            session=session,
            place=place,
            count=after,
        )
        return [shared.turn_from_row(row, hub_id) for row in (*reversed(earlier), *later)]

    def adjacent_turns(self, hub_id: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        if not pairs:
            return []
        ones, twos = zip(*pairs, strict=True)
        found = self._session.all(
            "SELECT a.session IS NOT DISTINCT FROM b.session AND NOT EXISTS"
            " (SELECT 1 FROM turns t WHERE t.hub_id = %(hub)s"
            " AND (t.session_hash = a.session_hash OR a.session IS NULL)"
            " AND t.session IS NOT DISTINCT FROM a.session"
            " AND t.place > least(a.place, b.place) AND t.place < greatest(a.place, b.place))"
            " FROM unnest(%(ones)s::text[], %(twos)s::text[]) WITH ORDINALITY AS p (one, two, at)"
            " JOIN turns a ON a.hub_id = %(hub)s AND a.id = p.one"
            " JOIN turns b ON b.hub_id = %(hub)s AND b.id = p.two ORDER BY p.at",
            hub=self._session.hub(hub_id),
            ones=list(ones),
            twos=list(twos),
        )
        return [row[0] for row in found]

    def turn_ids(
        self,
        hub_id: str,
        *,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[str]:
        conditions = self._of_hub
        conditions += "" if session is None else f" AND {_IN_SESSION}"
        conditions += "" if since is None else " AND t.at >= %(since)s"
        conditions += "" if until is None else " AND t.at < %(until)s"
        found = self._session.all(
            f"SELECT t.id FROM turns t WHERE t.hub_id = %(hub)s{conditions}"
            " ORDER BY t.place LIMIT %(limit)s",
            hub=self._session.hub(hub_id),
            session=session,
            since=None if since is None else to_micros(since),
            until=None if until is None else to_micros(until),
            limit=limit,
        )
        return [row[0] for row in found]

    def log_size(self, hub_id: str) -> tuple[int, int, datetime | None, datetime | None]:
        count, size, oldest, newest = self._session.row(
            "SELECT count(*), coalesce(sum(octet_length(t.content)), 0)::bigint, min(t.at),"
            f" max(t.at) FROM turns t WHERE t.hub_id = %(hub)s{self._of_hub}",
            hub=self._session.hub(hub_id),
        )
        if not count:
            return 0, 0, None, None
        return count, size, from_micros(oldest), from_micros(newest)

    def scan_turns(self, hub_id: str) -> Iterator[Turn]:
        for row in self._session.scan(
            f"SELECT {rows.TURN_COLUMNS} FROM turns t WHERE t.hub_id = %(hub)s{self._of_hub}"
            " ORDER BY t.place",
            hub=self._session.hub(hub_id),
        ):
            yield shared.turn_from_row(row, hub_id)

    # Mirrored files

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        row = self._session.row(
            f"SELECT {rows.AGREED_COLUMNS} FROM agreed WHERE hub_id = %(hub)s"
            " AND path_hash = hashtextextended(%(path)s, 0) AND path = %(path)s",
            hub=self._session.hub(hub_id),
            path=path,
        )
        return None if row is None else shared.agreed_from_row(row, hub_id)

    def scan_agreed(self, hub_id: str) -> Iterator[Agreed]:
        for row in self._session.scan(
            f"SELECT {rows.AGREED_COLUMNS} FROM agreed WHERE hub_id = %(hub)s ORDER BY path",
            hub=self._session.hub(hub_id),
        ):
            yield shared.agreed_from_row(row, hub_id)

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        open_only = "" if settled else " AND c.settled_at IS NULL"
        found = self._session.all(
            f"SELECT {rows.CLASH_COLUMNS} FROM clashes c WHERE c.hub_id = %(hub)s{open_only}"
            f"{self._seen_clashes} ORDER BY c.place",
            hub=self._session.hub(hub_id),
        )
        return [shared.clash_from_row(row, hub_id) for row in found]
