"""Brings canonical rows from a damaged file into a fresh one: intact rows as they are, damaged ones
repaired where that can be proven, and the rest set aside with a copy of their bytes.

A memory that cannot be proven but whose content is intact is copied and held for review. What is
set aside is written to a file beside the store, a JSON object a line.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import apsw

from holdfast.store.rows import Row, Values, dumps
from holdfast.store.sqlite import salvage
from holdfast.store.sqlite.repair_rows import ACTOR, RowRepair
from holdfast.store.sqlite.salvage import (
    AGREED,
    CHANGES,
    CLASHES,
    HUBS,
    MEMORIES,
    RECEIPTS,
    RECORDS,
    REVISIONS,
    TURNS,
    Table,
)
from holdfast.system.atomic_file import new_file

_HELD = "damaged: a part of it could not be read, and the doctor kept the rest"
_SEQUENCED = ("hubs", "memories", "changes", "revisions", "receipts", "turns", "clashes")
# A number past this was not counted up to.
_SEQUENCE_MAX = 2**40


class Damaged(NamedTuple):
    """A row that was set aside, or replaced by something less."""

    table: str
    key: Row
    why: str
    values: Values


class Report(NamedTuple):
    """What a rescue did: sentences about rows that were repaired, and the rows set aside."""

    repaired: list[str]
    aside: list[Damaged]


def bring_over(damaged: apsw.Connection, fresh: apsw.Connection) -> Report:
    """Fills the tables of a fresh store from a damaged one."""
    return _Rescue(damaged, fresh).run()


class _Rescue(RowRepair):
    def __init__(self, damaged: apsw.Connection, fresh: apsw.Connection) -> None:
        super().__init__(damaged, fresh)
        self._report = Report(self._notes, [])

    def run(self) -> Report:
        self._fresh.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE").fetchall()
        for table in (HUBS, CHANGES, MEMORIES, REVISIONS):
            self._bring(table)
        for table in (RECEIPTS, TURNS, AGREED, CLASHES, RECORDS):
            self._bring(table)
        self._drop_orphans()
        self._complete_histories()
        self._keep_sequences()
        self._fresh.execute("INSERT INTO word_totals (hub) SELECT pk FROM hubs")
        self._fresh.execute("COMMIT; PRAGMA foreign_keys = ON").fetchall()
        return self._report

    # Rows

    def _bring(self, table: Table) -> None:
        """Intact rows go over at once; the others wait until all that might prove them is there."""
        waiting: list[Values] = []
        for values in salvage.raw_rows(self._damaged, table):
            if isinstance(values, salvage.Unreadable):
                if table in (HUBS, CHANGES):
                    # Others depend on it, and an index may say what it was.
                    waiting.append(dict(zip(table.key, values.key, strict=False)))
                else:
                    self._set_aside(table, values.key, values.error, {})
            elif self._is_intact(table, values):
                self._insert(table, values)
            else:
                waiting.append(values)
        for values in waiting:
            key = tuple(values.get(name) for name in table.key)
            found = self._repaired(table, values, key)
            if found is None:
                self._fallback(table, values, key)
            else:
                if self._insert(table, found):
                    self._report.repaired.append(f"restored {_named(table, found)}")

    def _insert(self, table: Table, values: Values) -> bool:
        names = table.columns
        try:
            self._fresh.execute(
                f"INSERT INTO {table.name} ({', '.join(names)})"
                f" VALUES ({', '.join('?' * len(names))})",
                [values.get(name) for name in names],
            )
        except (apsw.Error, TypeError, UnicodeError) as error:
            key = tuple(values.get(name) for name in table.key)
            self._set_aside(table, key, f"it does not fit: {error}", values)
            return False
        if table is HUBS:
            self._hub_ids[values["pk"]] = values["id"]
        elif table is CHANGES:
            self._change_ids[values["pk"]] = values["id"]
        elif table is MEMORIES:
            self._memory_ids[values["pk"]] = values["id"]
        return True

    def _fallback(self, table: Table, values: Values, key: Row) -> None:
        self._set_aside(table, key, "its checksum does not match", values)
        made = None
        if table is HUBS:
            made = self._partial_hub(values, key)
        elif table is CHANGES:
            made = self._partial_change(values, key)
        elif table is MEMORIES:
            made = self._partial_memory(values)
        if made is not None and self._insert(table, made):
            self._report.repaired.append(f"kept {_named(table, made)} as far as it can be read")

    # The whole

    def _set_aside(self, table: Table, key: Row, why: str, values: Values) -> None:
        self._report.aside.append(Damaged(table.name, key, why, values))

    def _drop_orphans(self) -> None:
        """Rows that belong to something that could not be copied are set aside with it."""
        for table in (MEMORIES, CHANGES, RECEIPTS, TURNS, AGREED, CLASHES, REVISIONS):
            checks = ["hub NOT IN (SELECT pk FROM hubs)"]
            if table is REVISIONS:
                checks.append("memory NOT IN (SELECT pk FROM memories)")
            for check in checks:
                names = table.columns
                query = f"SELECT {', '.join(names)} FROM {table.name} WHERE {check}"
                for row in self._fresh.execute(query).fetchall():
                    values = dict(zip(names, row, strict=True))
                    key = tuple(values[name] for name in table.key)
                    self._set_aside(table, key, "what it belongs to could not be kept", values)
                    where = " AND ".join(f"{name} = ?" for name in table.key)
                    self._fresh.execute(f"DELETE FROM {table.name} WHERE {where}", key)

    def _complete_histories(self) -> None:
        """Gives each memory a revision for each of its versions: where one was lost, one that
        says nothing of what it changed."""
        for pk, hub, version, updated_at in self._fresh.execute(
            "SELECT pk, hub, version, updated_at FROM memories m WHERE version <>"
            " (SELECT count(*) FROM revisions r WHERE r.memory = m.pk AND r.version <= m.version)"
            " OR NOT EXISTS (SELECT 1 FROM revisions r WHERE r.memory = m.pk"
            "  AND r.version = m.version AND r.at = m.updated_at)"
            " OR EXISTS (SELECT 1 FROM revisions r LEFT JOIN changes c ON c.pk = r.change"
            "  WHERE r.memory = m.pk AND (c.pk IS NULL OR c.hub <> m.hub))"
        ).fetchall():
            self._complete(_int(pk), _int(hub), _int(version), _int(updated_at))
        for values in self._to_hold:
            self._hold(values)

    def _complete(self, pk: int, hub: int, version: int, updated_at: int) -> None:
        there: dict[int, int] = {}
        query = (
            "SELECT r.version, r.at, r.pk, c.hub FROM revisions r"
            " LEFT JOIN changes c ON c.pk = r.change WHERE r.memory = ?"
        )
        found: Any = self._fresh.execute(query, (pk,)).fetchall()
        for number, at, revision, of_hub in found:
            if of_hub != hub or (number == version and at != updated_at) or number > version:
                self._fresh.execute("DELETE FROM revisions WHERE pk = ?", (revision,))
            else:
                there[number] = at
        at = updated_at
        for number in range(version, 0, -1):
            at = there.get(number, at)
            if number not in there:
                self._add_revision(pk, hub, number, at, "{}", "a revision was damaged and lost")
        named = f"memory #{self._one_fresh('SELECT number FROM memories WHERE pk = ?', pk)}"
        self._report.repaired.append(
            f"the history of {named} is incomplete: {version - len(there)} revisions were lost"
        )

    def _hold(self, values: Values) -> None:
        """Hides a memory until somebody has looked at it, as a revision like any other."""
        pk, hub, version = values["pk"], values["hub"], values["version"] + 1
        at = values["updated_at"]
        fields = dumps({"quarantine": [values["quarantine"], _HELD]})
        held = self._sealed(
            MEMORIES, {**values, "quarantine": _HELD, "version": version, "updated_at": at}
        )
        self._fresh.execute(
            "UPDATE memories SET quarantine = ?, version = ?, updated_at = ?, checksum = ?"
            " WHERE pk = ?",
            (_HELD, version, at, held["checksum"], pk),
        )
        self._add_revision(pk, hub, version, at, fields, "held by doctor: its row was damaged")

    def _add_revision(
        self, memory: int, hub: int, version: int, at: int, fields: str, reason: str
    ) -> None:
        change_id = f"chg_doctor{os.urandom(8).hex()}"
        change = {
            "hub": hub,
            "id": change_id,
            "at": at,
            "actor": ACTOR,
            "action": "update",
            "reason": reason,
            "undoes": None,
            "undone_by": None,
        }
        self._put(CHANGES, self._sealed(CHANGES, change))
        pk = self._fresh.last_insert_rowid()
        self._change_ids[pk] = change_id
        revision = {"hub": hub, "memory": memory, "change": pk, "version": version, "at": at}
        self._put(REVISIONS, self._sealed(REVISIONS, {**revision, "fields": fields}))

    def _put(self, table: Table, values: Values) -> None:
        """A new row, with the next row number."""
        self._fresh.execute(
            f"INSERT INTO {table.name} ({', '.join(values)})"
            f" VALUES ({', '.join('?' * len(values))})",
            list(values.values()),
        )

    def _keep_sequences(self) -> None:
        """What was given out once is not given out again, also where it is gone by now."""
        try:
            rows: Any = self._damaged.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        except salvage.READ_ERRORS:
            rows = []
        found: dict[str, Any] = dict(rows)
        for name in (*_SEQUENCED, "passages"):
            highest = self._one_fresh(f"SELECT coalesce(max(pk), 0) FROM {name}")
            before = found.get(name)
            if isinstance(before, int) and 0 <= before < _SEQUENCE_MAX:
                highest = max(highest, before)
            self._fresh.execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
            self._fresh.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, highest))


def write_aside(path: str, rows: list[Damaged]) -> None:
    """Writes rows that were set aside, a JSON object a line; bytes that are no text in hex."""
    with new_file(path) as file:
        for row in rows:
            line = (
                json.dumps(
                    {
                        "table": row.table,
                        "key": [_plain_value(part) for part in row.key],
                        "why": row.why,
                        "row": {name: _plain_value(one) for name, one in row.values.items()},
                    },
                    ensure_ascii=False,
                )
                + "\n"
            )
            file.write(line.encode())


def _plain_value(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _named(table: Table, values: Values) -> str:
    if table is MEMORIES:
        return f"memory #{values.get('number')}"
    if table is HUBS:
        return f"hub {values.get('name')}"
    key = " ".join(str(values.get(name)) for name in table.key)
    return f"row {key} of {table.name}"


def _int(value: Any) -> int:
    assert isinstance(value, int)
    return value
