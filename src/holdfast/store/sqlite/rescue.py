"""Copies canonical rows from a damaged file into a new one: intact rows unchanged, damaged ones
repaired if that can be proven, and the others set aside with a copy of their bytes.

A memory that cannot be proven but has intact content is copied and held for review. Rows set aside
are written to a file beside the store, one JSON object per line.

A damaged row is repaired by a candidate that matches its checksum. Candidates come from indexes,
from revisions, and from a search for one changed byte. If none matches, hubs, change sets and
memories are rebuilt from their intact parts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import apsw

from holdfast.errors import StoreDamaged
from holdfast.store.rows import (
    COUNTERS_AT,
    MEMORY_FIELDS,
    Judge,
    Row,
    Values,
    are_counters_intact,
    counters_check,
    dumps,
    is_intact,
    restored,
    row_checksum,
)
from holdfast.store.sqlite import salvage
from holdfast.store.sqlite.rows import field_to_column, memory_from_row
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

# The most candidates for one row in the search for a changed byte: about half a second.
TRIES_MAX = 100_000
# The most bytes of a checksum that may differ; the others still prove the fields.
_CHECKSUM_BYTES_WRONG_MAX = 4
_WORD = 2**64

ACTOR = "doctor"
_COUNTERS = MEMORY_FIELDS[COUNTERS_AT:]
_FRESH = (0, 0, 1, None)  # the initial counters
_RECOUNTED = {
    **dict(zip(_COUNTERS, _FRESH, strict=True)),
    "counters_check": counters_check(*_FRESH),
}
_COVERED = {
    table.name: tuple(field.removeprefix("t.") for field in table.fields)
    for table in (HUBS, CHANGES, RECEIPTS, TURNS, AGREED, CLASHES, RECORDS)
} | {"memories": MEMORY_FIELDS[:COUNTERS_AT]}
# The most rows in which a changed byte is searched, which takes up to a second each.
_SEARCHES_MAX = 10
MEMORY_ROW = (*MEMORY_FIELDS, "checksum", "counters_check")


class RowRepair:
    """Verifies and repairs rows of a damaged SQLite file before they are copied into a new one."""

    def __init__(self, damaged: apsw.Connection, fresh: apsw.Connection) -> None:
        self._damaged = damaged
        self._fresh = fresh
        self._hub_ids: dict[int, str] = {0: ""}
        self._memory_ids: dict[int, str] = {}
        self._change_ids: dict[int, str] = {}
        self._searches = 0
        self._to_hold: list[Values] = []
        # Sentences about what was repaired.
        self._notes: list[str] = []

    def _covered(self, table: Table, values: Values) -> tuple[str | None, list[Any]]:
        """The hub's id, and the values that the checksum covers."""
        hub_id = values.get("id") if table is HUBS else self._hub_ids.get(values.get("hub", -1))
        if table is REVISIONS:
            change = self._change_ids.get(values.get("change", -1))
            memory = self._memory_ids.get(values.get("memory", -1))
            rest = [values.get(name) for name in ("version", "at", "fields")]
            return hub_id, [change, memory, *rest]
        return hub_id, [values.get(name) for name in _COVERED[table.name]]

    def _is_intact(self, table: Table, values: Values) -> bool:
        return self._is_proven(table, values) and (
            table is not MEMORIES
            or are_counters_intact(
                [values.get(name) for name in _COUNTERS], values.get("counters_check")
            )
        )

    def _is_proven(self, table: Table, values: Values) -> bool:
        hub_id, covered = self._covered(table, values)
        return isinstance(hub_id, str) and is_intact(
            table.name, hub_id, covered, values.get("checksum")
        )

    def _repaired(self, table: Table, values: Values, key: Row) -> Values | None:
        """The original row, if a candidate matches the checksum."""
        if self._is_proven(table, values):
            return self._recounted(values)
        copies = salvage.copies_in_indexes(self._damaged, table, key)
        if table is not HUBS:
            copies.setdefault("hub", []).extend(self._hub_ids)
        if table is REVISIONS:
            copies["fields"] = ["{}"]
        likely = self._from_revisions(values) if table is MEMORIES else {}
        for name, value in likely.items():
            copies.setdefault(name, []).append(value)
        found = restored(values, likely, copies, lambda one: self._is_proven(table, one))
        if found is None:
            hub_id, covered = self._covered(table, values)
            if isinstance(hub_id, str) and None not in covered[:2]:
                found = self._resealed(table, values, hub_id, covered)
        if found is None and self._searches < _SEARCHES_MAX:
            self._searches += 1
            texts = [*_COVERED.get(table.name, ("fields",))]
            found = _one_byte_off(values, texts, lambda one: self._is_proven(table, one))
        return self._recounted(found) if found is not None and table is MEMORIES else found

    def _resealed(
        self, table: Table, values: Values, hub_id: str, covered: list[Any]
    ) -> Values | None:
        try:
            computed = row_checksum(table.name, hub_id, covered)
        except (TypeError, ValueError):
            return None
        if _is_checksum_damaged(computed, values.get("checksum")):
            return {**values, "checksum": computed}
        return None

    def _from_revisions(self, values: Values) -> Values:
        """The fields of a memory's row according to its revisions."""
        revisions = self._revisions_of(values)
        if not revisions:
            return {}
        first, last = revisions[0], revisions[-1]
        known: Values = {"hub": last["hub"], "version": last["version"]}
        known |= {"created_at": first["at"], "updated_at": last["at"]}
        for revision in revisions:
            for name, pair in _plain(revision).items():
                known[name] = field_to_column(name, pair[1])
        return known

    def _revisions_of(self, values: Values) -> list[Values]:
        """The revisions of a memory that match their checksum, oldest first. They prove its id and
        its hub."""
        names = REVISIONS.columns
        try:
            found: Any = self._damaged.execute(
                f"SELECT {', '.join(names)} FROM revisions WHERE memory = ? ORDER BY version",
                (values.get("pk"),),
            ).fetchall()
        except (*salvage.READ_ERRORS, TypeError):
            return []
        out = []
        for row in (dict(zip(names, row, strict=True)) for row in found):
            hub_id = self._hub_ids.get(row["hub"])
            change = self._change_ids.get(row["change"])
            covered = [change, values.get("id"), row["version"], row["at"], row["fields"]]
            if hub_id and is_intact("revisions", hub_id, covered, row["checksum"]):
                out.append(row)
        return out

    def _recounted(self, values: Values) -> Values:
        """A proven memory, with counters that can be proven; recent counts may be lost."""
        counters = [values.get(name) for name in _COUNTERS]
        if are_counters_intact(counters, values.get("counters_check")):
            return values
        number = f"memory #{values['number']}"
        self._notes.append(f"set the counters of {number} to what they start with")
        return {**values, **_RECOUNTED}

    # Rows that cannot be proven

    def _sealed(self, table: Table, values: Values) -> Values:
        hub_id, covered = self._covered(table, values)
        assert hub_id is not None
        return {**values, "checksum": row_checksum(table.name, hub_id, covered)}

    def _first(self, table: Table, values: Values, key: Row, name: str) -> Any:
        """A column from an index, or from the row."""
        copies = salvage.copies_in_indexes(self._damaged, table, key).get(name, [])
        return next((one for one in [*copies, values.get(name)] if isinstance(one, str)), None)

    def _partial_hub(self, values: Values, key: Row) -> Values | None:
        """Everything else depends on the hub, so it is copied with the fields that can be read."""
        hub_id = self._first(HUBS, values, key, "id")
        name = self._first(HUBS, values, key, "name")
        if hub_id is None or name is None:
            return None
        numbers = self._one("SELECT max(number) FROM memories WHERE hub = ?", key)
        born = self._one("SELECT min(created_at) FROM memories WHERE hub = ?", key)
        owner = self._one(
            "SELECT owner FROM memories WHERE hub = ? GROUP BY owner ORDER BY count(*) DESC", key
        )
        made = {
            "pk": key[0],
            "id": hub_id,
            "name": name,
            "owner": owner if isinstance(owner, str) else _text(values.get("owner")) or ACTOR,
            "created_at": born if isinstance(born, int) else 0,
            "numbers": numbers if isinstance(numbers, int) else 0,
            "state": "active",
        }
        return self._sealed(HUBS, made)

    def _partial_change(self, values: Values, key: Row) -> Values | None:
        """Revisions need their change set, so it is copied, even if its own fields are lost."""
        change_id = self._first(CHANGES, values, key, "id")
        copies = salvage.copies_in_indexes(self._damaged, CHANGES, key).get("hub", [])
        hub = next((one for one in [*copies, values.get("hub")] if one in self._hub_ids), None)
        if change_id is None or not hub:
            return None
        at = self._one("SELECT at FROM revisions WHERE change = ? LIMIT 1", key)
        made = {
            "pk": key[0],
            "hub": hub,
            "id": change_id,
            "at": at if isinstance(at, int) else 0,
            "actor": ACTOR,
            "action": "update",
            "reason": "the record of this change was damaged",
            "undoes": None,
            "undone_by": None,
        }
        return self._sealed(CHANGES, made)

    def _partial_memory(self, values: Values) -> Values | None:
        """A memory with a proven id, hub and content, while other fields are not; it is held for
        review later."""
        from holdfast.text.clean import content_hash

        revisions = self._revisions_of(values)
        content = values.get("content")
        if not revisions or not isinstance(content, str):
            return None
        newest = revisions[-1]
        hub = newest["hub"]
        proven = {"hub": hub, "version": newest["version"], "updated_at": newest["at"]}
        made = {**salvage.repaired(values), **proven}
        if made["created_at"] is None:
            made["created_at"] = revisions[0]["at"]
        given_out = self._one_fresh("SELECT numbers FROM hubs WHERE pk = ?", hub) or 0
        if made["number"] is None or made["number"] > given_out:
            return None
        if content_hash(content) != values.get("content_hash"):
            return None
        try:
            made = self._sealed(MEMORIES, {**made, **_RECOUNTED})
            memory_from_row(tuple(made.get(name) for name in MEMORY_ROW), self._hub_ids[hub])
        except (StoreDamaged, TypeError, ValueError, OverflowError):
            return None
        self._to_hold.append(made)
        return made

    def _one(self, query: str, values: Row) -> Any:
        try:
            row = self._damaged.execute(query, values).fetchone()
        except salvage.READ_ERRORS:
            return None
        return None if row is None else row[0]

    def _one_fresh(self, query: str, *values: Any) -> Any:
        return self._fresh.execute(query, values).get


def _plain(revision: Values) -> dict[str, list[Any]]:
    """The fields of a revision, where they can be read."""
    try:
        found = json.loads(revision["fields"])
    except (TypeError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: pair for name, pair in found.items() if isinstance(pair, list) and len(pair) == 2}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_checksum_damaged(computed: int, stored: Any) -> bool:
    """Whether a few bytes of the checksum itself were changed, and not the row."""
    if not isinstance(stored, int):
        return False
    differing = ((computed ^ stored) % _WORD).to_bytes(8, "big")
    return sum(byte != 0 for byte in differing) <= _CHECKSUM_BYTES_WRONG_MAX


def _one_byte_off(values: Values, fields: Sequence[str], judge: Judge) -> Values | None:
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


_HELD = "damaged: a part of it could not be read, and the doctor kept the rest"
_SEQUENCED = ("hubs", "memories", "changes", "revisions", "receipts", "turns", "clashes")
# A higher number cannot have been assigned by counting.
_SEQUENCE_MAX = 2**40


class Damaged(NamedTuple):
    """A row of a damaged SQLite file that was set aside, or replaced by an incomplete one."""

    table: str
    key: Row
    why: str
    values: Values


class Report(NamedTuple):
    """The result of a rescue: sentences about repaired rows, and the rows set aside."""

    repaired: list[str]
    aside: list[Damaged]


def bring_over(damaged: apsw.Connection, fresh: apsw.Connection) -> Report:
    """Fills the tables of a new SQLite file from a damaged one."""
    return _Rescue(damaged, fresh).run()


class _Rescue(RowRepair):
    def __init__(self, damaged: apsw.Connection, fresh: apsw.Connection) -> None:
        super().__init__(damaged, fresh)
        self._report = Report(self._notes, [])

    def run(self) -> Report:
        self._fresh.execute("PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE").fetchall()
        for table in (HUBS, CHANGES, MEMORIES, REVISIONS):
            self._copy_rows(table)
        for table in (RECEIPTS, TURNS, AGREED, CLASHES, RECORDS):
            self._copy_rows(table)
        self._drop_orphans()
        self._complete_histories()
        self._keep_sequences()
        self._fresh.execute("INSERT INTO word_totals (hub) SELECT pk FROM hubs")
        self._fresh.execute("COMMIT; PRAGMA foreign_keys = ON").fetchall()
        return self._report

    # Rows

    def _copy_rows(self, table: Table) -> None:
        """Copies the intact rows first; the others wait until everything that may prove them was
        copied."""
        waiting: list[Values] = []
        for values in salvage.raw_rows(self._damaged, table):
            if isinstance(values, salvage.Unreadable):
                if table in (HUBS, CHANGES):
                    # Other rows depend on it, and an index may have its values.
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

    # Consistency

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
        """Adds a revision for each version of a memory that has none, without fields if the
        original was lost."""
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
            self._hold_for_review(values)

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

    def _hold_for_review(self, values: Values) -> None:
        """Holds a memory for review, with a revision."""
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
        """Ensures that numbers that were assigned once are not assigned again, even if their rows
        are lost."""
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
