"""The SQL that both SQL stores share besides filters: the history, the conversation log, the state
of mirrored files, and records (`SqlReader`, `SqlWriter`). Each store defines how values are bound,
and the syntax that differs in its database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.domain.clock import to_micros
from holdfast.domain.records import NO_HUB
from holdfast.errors import AlreadyExists, NotFound
from holdfast.store import rows
from holdfast.store.rows import from_micros
from holdfast.system.named_tuple import NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.change import Change, Receipt, Revision
    from holdfast.domain.records import Agreed, Clash, Record, Turn


class Table(NamedTuple):
    """The columns of a table, without its hub, and the functions that convert its rows to values
    and back."""

    columns: str
    from_row: Callable[[rows.Row, str], Any]
    to_row: Callable[[Any, str], rows.Row]


TABLES: Mapping[str, Table] = {
    "changes": Table(
        "id, at, actor, action, reason, undoes, undone_by, checksum",
        rows.change_from_row,
        lambda change, _: rows.change_to_row(change),
    ),
    "receipts": Table(
        "memory_id, number, at, actor, reason, revisions, checksum",
        rows.receipt_from_row,
        rows.receipt_to_row,
    ),
    "turns": Table(
        "id, role, content, at, source, session, speaker, trust, checksum",
        rows.turn_from_row,
        lambda turn, _: rows.turn_to_row(turn),
    ),
    "agreed": Table("path, text, at, checksum", rows.agreed_from_row, rows.agreed_to_row),
    "clashes": Table(
        "id, memory_id, path, in_store, in_file, at, settled_at, checksum",
        rows.clash_from_row,
        rows.clash_to_row,
    ),
    "records": Table(
        "kind, id, at, body, lookup, due, checksum",
        rows.record_from_row,
        lambda record, _: rows.record_to_row(record),
    ),
}
_DUE_COLUMNS = ", ".join(f"r.{name}" for name in TABLES["records"].columns.split(", "))


class SqlReader(ABC):
    """The part of a Reader for changes, revisions, receipts, turns, mirrored files and records.

    Statements have named parameters (`:hub`). `REVISIONS` selects the columns that
    `revision_from_row` reads, from `revisions r` and `memories m`."""

    HUB: ClassVar[str]  # the column with the number of a row's hub
    HUB_KEY: ClassVar[str]  # the same in the table of hubs
    PLACE: ClassVar[str]  # the column that is higher in rows that were written later
    SEQUENCE: ClassVar[str]  # the same of revisions
    REVISIONS: ClassVar[str]
    OF_MEMORIES: ClassVar[str]  # the test for revisions `r` of the memories :ids of :hub
    OF_CHANGE: ClassVar[str]  # the test for revisions `r` of the change :change of :hub
    AMONG: ClassVar[str]  # the test for a text in :ids
    IN_SESSION: ClassVar[str]  # the test for a turn `t` of :session
    AT_PATH: ClassVar[str]  # the test for the row `t` of :path
    AGREED_KEY: ClassVar[str]  # the primary key of `agreed`
    NO_LIMIT: ClassVar[int | None]

    # The conditions for what the viewer sees: on a memory `m`, and on rows without a boundary.
    _seen: str
    _of_hub: str

    @abstractmethod
    def _hub_number(self, hub_id: str) -> int: ...

    @abstractmethod
    def _records_hub(self, hub_id: str) -> int:
        """The number of a hub for records, which may belong to no hub."""

    @abstractmethod
    def _find(self, sql: str, **values: Any) -> list[Any]: ...

    @abstractmethod
    def _scan(self, sql: str, **values: Any) -> Iterator[Any]:
        """Yields the rows one by one: there may be a million."""

    def _find_due(self, sql: str, **values: Any) -> list[Any]:
        """Records of all hubs."""
        return self._find(sql, **values)

    @abstractmethod
    def _array(self, values: Sequence[str]) -> Any:
        """A list as a parameter: the value of :ids in AMONG."""

    @abstractmethod
    def _seen_changes(self, table: str) -> str:
        """The condition for change sets: a viewer sees those that changed something visible to
        them, and those of which all memories were purged."""

    def _query(self, table: str, hub_id: str, rest: str) -> tuple[str, int]:
        hub = self._records_hub if table == "records" else self._hub_number
        columns = TABLES[table].columns
        return f"SELECT {columns} FROM {table} t WHERE t.{self.HUB} = :hub{rest}", hub(hub_id)

    def _values(self, table: str, hub_id: str, rest: str, **values: Any) -> list[Any]:
        sql, hub = self._query(table, hub_id, rest)
        convert = TABLES[table].from_row
        return [convert(row, hub_id) for row in self._find(sql, hub=hub, **values)]

    def _scan_values(self, table: str, hub_id: str, rest: str) -> Iterator[Any]:
        sql, hub = self._query(table, hub_id, rest)
        convert = TABLES[table].from_row
        return (convert(row, hub_id) for row in self._scan(sql, hub=hub))

    def _value(self, table: str, hub_id: str, rest: str, **values: Any) -> Any:
        found = self._values(table, hub_id, rest, **values)
        return found[0] if found else None

    def _by_id(self, table: str, hub_id: str, ids: Sequence[str], seen: str) -> dict[str, Any]:
        if not ids:
            return {}
        rest = f" AND t.id {self.AMONG}{seen}"
        found = {one.id: one for one in self._values(table, hub_id, rest, ids=self._array(ids))}
        # In the given order; rows come in any order.
        return {one: found[one] for one in ids if one in found}

    def _before(self, table: str) -> str:
        """The condition for rows that were written before the one with the id :before."""
        place, hub = self.PLACE, self.HUB
        return (
            f" AND t.{place} < (SELECT b.{place} FROM {table} b WHERE b.{hub} = :hub"
            " AND b.id = :before)"
        )

    # Changes and revisions

    def changes(self, hub_id: str, *, limit: int, before: str | None = None) -> list[Change]:
        earlier = self._before("changes") if before else ""
        rest = f"{self._seen_changes('t')}{earlier} ORDER BY t.{self.PLACE} DESC LIMIT :limit"
        given = {"before": before} if before else {}
        return self._values("changes", hub_id, rest, limit=limit, **given)

    def change(self, hub_id: str, change_id: str) -> Change | None:
        return self.changes_by_id(hub_id, [change_id]).get(change_id)

    def changes_by_id(self, hub_id: str, change_ids: Sequence[str]) -> dict[str, Change]:
        return self._by_id("changes", hub_id, change_ids, self._seen_changes("t"))

    def last_undoable(self, hub_id: str) -> Change | None:
        undoable = f" AND t.undoes IS NULL AND t.undone_by IS NULL{self._seen_changes('t')}"
        found: Change | None = self._value(
            "changes", hub_id, f"{undoable} ORDER BY t.{self.PLACE} DESC LIMIT 1"
        )
        return found

    def _revisions(self, hub_id: str, where: str, **values: Any) -> list[Revision]:
        sql = f"{self.REVISIONS} WHERE {where}"
        found = self._find(sql, hub=self._hub_number(hub_id), **values)
        return [rows.revision_from_row(row, hub_id) for row in found]

    def revisions(self, hub_id: str, memory_id: str) -> list[Revision]:
        return self.revisions_by_memory(hub_id, [memory_id]).get(memory_id, [])

    def revisions_by_memory(
        self, hub_id: str, memory_ids: Sequence[str]
    ) -> dict[str, list[Revision]]:
        found: dict[str, list[Revision]] = {}
        if memory_ids:
            where = f"{self.OF_MEMORIES}{self._seen} ORDER BY r.version"
            for revision in self._revisions(hub_id, where, ids=self._array(memory_ids)):
                found.setdefault(revision.memory_id, []).append(revision)
        return {one: found[one] for one in memory_ids if one in found}

    def revisions_of(
        self, hub_id: str, change_id: str, *, limit: int | None = None
    ) -> list[Revision]:
        return self._revisions(
            hub_id,
            f"{self.OF_CHANGE}{self._seen} ORDER BY r.{self.SEQUENCE} LIMIT :limit",
            change=change_id,
            limit=self.NO_LIMIT if limit is None else limit,
        )

    def scan_changes(self, hub_id: str) -> Iterator[Change]:
        rest = f"{self._seen_changes('t')} ORDER BY t.{self.PLACE}"
        return self._scan_values("changes", hub_id, rest)

    def scan_revisions(self, hub_id: str) -> Iterator[Revision]:
        sql = f"{self.REVISIONS} WHERE r.{self.HUB} = :hub{self._seen} ORDER BY r.{self.SEQUENCE}"
        found = self._scan(sql, hub=self._hub_number(hub_id))
        return (rows.revision_from_row(row, hub_id) for row in found)

    def receipts(self, hub_id: str) -> list[Receipt]:
        return self._values("receipts", hub_id, f"{self._of_hub} ORDER BY t.{self.PLACE}")

    # The conversation log

    def turns(
        self, hub_id: str, *, limit: int, session: str | None = None, before: str | None = None
    ) -> list[Turn]:
        given = {"session": session, "before": before}
        conditions = self._of_hub
        conditions += "" if session is None else f" AND {self.IN_SESSION}"
        conditions += "" if before is None else self._before("turns")
        return self._values(
            "turns",
            hub_id,
            f"{conditions} ORDER BY t.{self.PLACE} DESC LIMIT :limit",
            limit=limit,
            **{name: value for name, value in given.items() if value is not None},
        )

    def turns_by_id(self, hub_id: str, turn_ids: Sequence[str]) -> dict[str, Turn]:
        return self._by_id("turns", hub_id, turn_ids, self._of_hub)

    def turns_around(self, hub_id: str, turn_id: str, *, before: int, after: int) -> list[Turn]:
        place, hub = self.PLACE, self._hub_number(hub_id)
        found = self._find(
            f"SELECT t.{place}, t.session FROM turns t WHERE t.{self.HUB} = :hub AND t.id = :id"
            f"{self._of_hub}",
            hub=hub,
            id=turn_id,
        )
        if not found:
            return []
        values = {"place": found[0][0]}
        together = " AND t.session IS NULL"
        if found[0][1] is not None:
            together, values["session"] = f" AND {self.IN_SESSION}", found[0][1]
        earlier = f"{together} AND t.{place} < :place ORDER BY t.{place} DESC LIMIT :count"
        later = f"{together} AND t.{place} > :place ORDER BY t.{place} LIMIT :count"
        return [
            *reversed(self._values("turns", hub_id, earlier, count=before, **values)),
            *self._values("turns", hub_id, later, count=after, **values),
        ]

    def turn_ids(
        self,
        hub_id: str,
        *,
        session: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[str]:
        tests = (
            ("session", self.IN_SESSION, session),
            ("since", "t.at >= :since", None if since is None else to_micros(since)),
            ("until", "t.at < :until", None if until is None else to_micros(until)),
        )
        given = [one for one in tests if one[2] is not None]
        conditions = self._of_hub + "".join(f" AND {test}" for _, test, _ in given)
        found = self._find(
            f"SELECT t.id FROM turns t WHERE t.{self.HUB} = :hub{conditions}"
            f" ORDER BY t.{self.PLACE} LIMIT :limit",
            hub=self._hub_number(hub_id),
            limit=self.NO_LIMIT if limit is None else limit,
            **{name: value for name, _, value in given},
        )
        return [row[0] for row in found]

    def log_size(self, hub_id: str) -> tuple[int, int, datetime | None, datetime | None]:
        ((count, size, oldest, newest),) = self._find(
            "SELECT count(*), coalesce(sum(octet_length(t.content)), 0), min(t.at), max(t.at)"
            f" FROM turns t WHERE t.{self.HUB} = :hub{self._of_hub}",
            hub=self._hub_number(hub_id),
        )
        if not count:
            return 0, 0, None, None
        return count, size, from_micros(oldest), from_micros(newest)

    def turns_by_speaker(self, hub_id: str, *, limit: int) -> list[tuple[str, int, datetime]]:
        found = self._find(
            "SELECT t.speaker, count(*), max(t.at) FROM turns t"
            f" WHERE t.{self.HUB} = :hub AND t.speaker IS NOT NULL{self._of_hub}"
            " GROUP BY t.speaker ORDER BY count(*) DESC, t.speaker LIMIT :limit",
            hub=self._hub_number(hub_id),
            limit=limit,
        )
        return [(name, count, from_micros(last)) for name, count, last in found]

    def scan_turns(self, hub_id: str) -> Iterator[Turn]:
        return self._scan_values("turns", hub_id, f"{self._of_hub} ORDER BY t.{self.PLACE}")

    # Mirrored files

    def agreed(self, hub_id: str, path: str) -> Agreed | None:
        found: Agreed | None = self._value("agreed", hub_id, f" AND {self.AT_PATH}", path=path)
        return found

    def scan_agreed(self, hub_id: str) -> Iterator[Agreed]:
        return self._scan_values("agreed", hub_id, " ORDER BY t.path")

    def clashes(self, hub_id: str, *, settled: bool = False) -> list[Clash]:
        conditions = "" if settled else " AND t.settled_at IS NULL"
        if self._seen:
            same = f"m.{self.HUB} = t.{self.HUB} AND m.id = t.memory_id"
            conditions += f" AND EXISTS (SELECT 1 FROM memories m WHERE {same}{self._seen})"
        return self._values("clashes", hub_id, f"{conditions} ORDER BY t.{self.PLACE}")

    # Records

    def record(self, hub_id: str, kind: str, record_id: str) -> Record | None:
        found: Record | None = self._value(
            "records", hub_id, " AND t.kind = :kind AND t.id = :id", kind=kind, id=record_id
        )
        return found

    def record_by_lookup(self, hub_id: str, kind: str, lookup: str) -> Record | None:
        rest = " AND t.kind = :kind AND t.lookup = :lookup"
        found: Record | None = self._value("records", hub_id, rest, kind=kind, lookup=lookup)
        return found

    def records(self, hub_id: str, kind: str, *, limit: int, after: str = "") -> list[Record]:
        rest = " AND t.kind = :kind AND t.id > :after ORDER BY t.id LIMIT :limit"
        return self._values("records", hub_id, rest, kind=kind, after=after, limit=limit)

    def count_records(self, hub_id: str, kind: str, *, limit: int) -> int:
        ((count,),) = self._find(
            "SELECT count(*) FROM (SELECT 1 FROM records t"
            f" WHERE t.{self.HUB} = :hub AND t.kind = :kind LIMIT :limit) found",
            hub=self._records_hub(hub_id),
            kind=kind,
            limit=limit,
        )
        return int(count)

    def scan_records(self, hub_id: str) -> Iterator[Record]:
        return self._scan_values("records", hub_id, " ORDER BY t.kind, t.id")

    def due_records(
        self, kind: str, by: datetime, *, limit: int, hub_id: str | None = None
    ) -> list[Record]:
        values = {"kind": kind, "by": to_micros(by), "limit": limit}
        if hub_id is not None:
            rest = " AND t.kind = :kind AND t.due <= :by ORDER BY t.due, t.id LIMIT :limit"
            return self._values("records", hub_id, rest, **values)
        # For all hubs at once, using the index on due times.
        found = self._find_due(
            f"SELECT {_DUE_COLUMNS}, h.id FROM records r"
            f" LEFT JOIN hubs h ON h.{self.HUB_KEY} = r.{self.HUB}"
            " WHERE r.kind = :kind AND r.due <= :by"
            f" ORDER BY r.due, r.{self.HUB}, r.id LIMIT :limit",
            **values,
        )
        return [rows.record_from_row(row[:-1], row[-1] or NO_HUB) for row in found]

    def due_hub(self, kind: str, by: datetime, *, after: str = "") -> str | None:
        # Records that belong to no hub have the hub 0, and are left out.
        found = self._find_due(
            f"SELECT h.id FROM records r JOIN hubs h ON h.{self.HUB_KEY} = r.{self.HUB}"
            f" WHERE r.kind = :kind AND r.due <= :by AND r.{self.HUB} >"
            f" coalesce((SELECT a.{self.HUB_KEY} FROM hubs a WHERE a.id = :after), 0)"
            f" ORDER BY r.{self.HUB} LIMIT 1",
            kind=kind,
            by=to_micros(by),
            after=after,
        )
        return found[0][0] if found else None


@cache
def _insertion(table: str, hub: str) -> tuple[str, list[str]]:
    """The statement that inserts a row, and the names of its values."""
    columns = TABLES[table].columns
    names = columns.split(", ")
    places = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {table} ({hub}, {columns}) VALUES (:hub, {places})", names


class SqlWriter(SqlReader):
    """The part of a Writer for the same tables, with rows that are written one by one."""

    @abstractmethod
    def _execute(self, sql: str, **values: Any) -> int:
        """Runs a statement; returns the number of rows it changed."""

    @abstractmethod
    def _reindex_turn(self, hub_id: str, place: int, turn: Turn) -> None: ...

    def _own(self, hub_id: str) -> int:
        """The number of a hub for rows to be written."""
        return self._hub_number(hub_id)

    def _add(self, table: str, value: Any, hub_id: str, otherwise: str = "") -> None:
        """Inserts a row; `otherwise` is the ON CONFLICT clause."""
        sql, names = _insertion(table, self.HUB)
        self._execute(
            sql + otherwise,
            hub=self._records_hub(hub_id) if table == "records" else self._own(hub_id),
            **dict(zip(names, TABLES[table].to_row(value, hub_id), strict=True)),
        )

    def _change_rows(
        self, table: str, hub_id: str, new: Mapping[str, Any], **same: Any
    ) -> list[tuple[int, Any]]:
        """Updates the rows of these values, after comparing their checksums; returns the place and
        the new value of each."""
        columns, from_row, to_row = TABLES[table]
        hub, names = self._own(hub_id), columns.split(", ")
        tests = "".join(f" AND t.{name} = :{name}" for name in same)
        changed = []
        for *row, place in self._find(
            f"SELECT {columns}, t.{self.PLACE} FROM {table} t WHERE t.{self.HUB} = :hub{tests}",
            hub=hub,
            **same,
        ):
            after = from_row(tuple(row), hub_id)._replace(**new)
            self._execute(
                f"UPDATE {table} SET {', '.join(f'{name} = :{name}' for name in names)}"
                f" WHERE {self.HUB} = :hub AND {self.PLACE} = :place",
                hub=hub,
                place=place,
                **dict(zip(names, to_row(after, hub_id), strict=True)),
            )
            changed.append((place, after))
        return changed

    def mark_undone(self, hub_id: str, change_id: str, by: str | None) -> None:
        self._change_rows("changes", hub_id, {"undone_by": by}, id=change_id)

    def correct(self, hub_id: str, row: Change | Revision | Turn | Receipt | Clash) -> None:
        from holdfast.domain.change import Change, Receipt, Revision
        from holdfast.domain.records import Turn

        if isinstance(row, Revision):
            self._correct_revision(hub_id, row)
        elif isinstance(row, Change):
            self._change_rows("changes", hub_id, {"reason": row.reason}, id=row.id)
        elif isinstance(row, Turn):
            new = {name: getattr(row, name) for name in ("content", "source", "session", "speaker")}
            for place, turn in self._change_rows("turns", hub_id, new, id=row.id):
                self._reindex_turn(hub_id, place, turn)
        elif isinstance(row, Receipt):
            same = {"memory_id": row.memory_id, "at": to_micros(row.at)}
            self._change_rows("receipts", hub_id, {"reason": row.reason}, **same)
        else:
            texts = {"in_store": row.in_store, "in_file": row.in_file}
            self._change_rows("clashes", hub_id, texts, id=row.id)

    def _correct_revision(self, hub_id: str, revision: Revision) -> None:
        hub = self._own(hub_id)
        for row in self._find(
            f"{self.REVISIONS} WHERE r.{self.HUB} = :hub AND r.{self.SEQUENCE} = :sequence",
            hub=hub,
            sequence=revision.sequence,
        ):
            rows.revision_from_row(row, hub_id)
            *_, fields, checksum = rows.revision_to_row(hub_id, revision.fields, *row[1:5])
            self._execute(
                "UPDATE revisions SET fields = :fields, checksum = :checksum"
                f" WHERE {self.HUB} = :hub AND {self.SEQUENCE} = :sequence",
                fields=fields,
                checksum=checksum,
                hub=hub,
                sequence=revision.sequence,
            )

    def add_receipt(self, hub_id: str, receipt: Receipt) -> None:
        self._add("receipts", receipt, hub_id)

    def set_agreed(self, hub_id: str, agreed: Agreed) -> None:
        self._add(
            "agreed",
            agreed,
            hub_id,
            f" ON CONFLICT ({self.AGREED_KEY}) DO UPDATE"
            " SET text = excluded.text, at = excluded.at, checksum = excluded.checksum",
        )

    def drop_agreed(self, hub_id: str, path: str) -> None:
        self._execute(
            f"DELETE FROM agreed AS t WHERE t.{self.HUB} = :hub AND {self.AT_PATH}",
            hub=self._hub_number(hub_id),
            path=path,
        )

    def add_clash(self, hub_id: str, clash: Clash) -> None:
        self._add("clashes", clash, hub_id)

    def settle_clash(self, hub_id: str, clash_id: str, at: datetime) -> None:
        self._change_rows("clashes", hub_id, {"settled_at": at}, id=clash_id)

    def put_record(self, record: Record) -> None:
        if self._records_hub(record.hub_id) < 0:
            raise NotFound(f"There is no hub {record.hub_id}.")
        # Checked first: a unique violation would abort a whole transaction of PostgreSQL.
        if record.lookup is not None:
            other = self.record_by_lookup(record.hub_id, record.kind, record.lookup)
            if other is not None and other.id != record.id:
                raise AlreadyExists(f"Another {record.kind} has the lookup {record.lookup!r}.")
        self._add(
            "records",
            record,
            record.hub_id,
            f" ON CONFLICT ({self.HUB}, kind, id) DO UPDATE SET"
            " at = excluded.at, body = excluded.body, lookup = excluded.lookup,"
            " due = excluded.due, checksum = excluded.checksum",
        )

    def drop_record(self, hub_id: str, kind: str, record_id: str) -> bool:
        dropped = self._execute(
            f"DELETE FROM records WHERE {self.HUB} = :hub AND kind = :kind AND id = :id",
            hub=self._records_hub(hub_id),
            kind=kind,
            id=record_id,
        )
        return dropped > 0
