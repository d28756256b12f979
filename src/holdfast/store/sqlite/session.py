"""One connection inside one transaction, the base of every part of the Reader; and SQLite's syntax
in the statements that both SQL stores share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.domain.clock import to_micros
from holdfast.domain.hub import Viewer
from holdfast.domain.query import Comparison, Filter, kind_of
from holdfast.domain.records import NO_HUB
from holdfast.store.filters import FilterSql, any_of, each_equal
from holdfast.store.rows import damaged_row
from holdfast.store.sql import SqlReader
from holdfast.store.sqlite.rows import HubState

if TYPE_CHECKING:
    from holdfast.store.sqlite.rows import Caches, HubRows, Snapshot


# Asked by each reader and writer of a program, mostly of the same viewer.
@lru_cache(maxsize=256)
def seen(viewer: Viewer) -> str:
    """Whether a viewer sees a memory (`Viewer.sees`), as SQL for SQLite, with its values
    inlined."""
    allowed = ", ".join(apsw.format_sql_value(boundary) for boundary in viewer.boundaries)
    return f"(m.boundary IN ({allowed}) OR m.owner = {apsw.format_sql_value(viewer.actor)})"


# The types of json_each for a value of each kind.
_TYPES = {"text": "('text')", "number": "('integer', 'real')", "flag": "('true', 'false')"}


class SqliteFilterSql(FilterSql):
    """Values are bound by position."""

    # `>` instead of `<>`, because only a range can use the index on held memories.
    HELD = "m.quarantine > ''"
    HAS_TAGS = "m.tags <> '[]'"
    POSITION = "instr"
    LOWER = "lower({0})"  # knows ASCII only, as ascii_lower does

    def __init__(self) -> None:
        self.values: list[Any] = []

    def bind(self, value: Any, name: str = "") -> str:
        self.values.append(value)
        return "?"

    def constant(self, value: Any) -> str:
        if isinstance(value, datetime):
            return self.bind(to_micros(value))
        return self.bind(int(value) if isinstance(value, bool) else value)

    def among(self, column: str, allowed: Sequence[str], name: str) -> str:
        self.values += allowed
        return f"{column} IN ({', '.join('?' * len(allowed))})"

    def tagged(self, tags: Sequence[Any]) -> str:
        self.values += tags
        return " AND ".join(
            ["EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)"] * len(tags)
        )

    def equals(self, column: str, value: str, name: str) -> str:
        return f"{column} = {self.bind(value)}"

    def came_from(self, source: str) -> str:
        folder, file = source.rstrip("/") + "/", "/" + source
        self.values += [source] * 3 + [folder, folder, file, file]
        return (
            "(m.source = ? OR m.source_agent = ? OR m.source_path = ?"
            " OR substr(m.source_path, 1, length(?)) = ? OR substr(m.source_path, -length(?)) = ?)"
        )

    def pinned(self, wanted: bool) -> str:
        return f"m.pinned = {self.bind(int(wanted))}"

    def on_metadata(self, test: Comparison) -> str:
        tables, keys = ["json_each(m.metadata) AS j0"], ["j0.key = ?"]
        for at in range(1, len(test.path)):
            # json_each of a non-object would be an error; of an empty object it returns nothing.
            inner = f"CASE j{at - 1}.type WHEN 'object' THEN j{at - 1}.value ELSE '{{}}' END"
            tables.append(f"json_each({inner}) AS j{at}")
            keys.append(f"j{at}.key = ?")
        self.values += test.path
        value = self._on_value(f"j{len(test.path) - 1}", test)
        return f"EXISTS (SELECT 1 FROM {', '.join(tables)} WHERE {' AND '.join(keys)} AND {value})"

    def _on_value(self, found: str, test: Comparison) -> str:
        if test.operator == "exists":
            return f"{found}.type <> 'null'"
        if test.operator != "contains":
            parts = [self._typed(found, one, one.value) for one in each_equal(test)]
            return f"({any_of(parts)})"
        parts = []
        if isinstance(test.value, str):
            parts.append(self._typed(found, test, test.value))
        items = f"CASE {found}.type WHEN 'array' THEN {found}.value ELSE '[]' END"
        equal = self._typed("e", test._replace(operator="eq"), test.value)
        parts.append(f"EXISTS (SELECT 1 FROM json_each({items}) AS e WHERE {equal})")
        return f"({any_of(parts)})"

    def _typed(self, found: str, test: Comparison, value: Any) -> str:
        compared = self.compared(f"{found}.value", test, value)
        return f"({found}.type IN {_TYPES[kind_of(value)]} AND {compared})"


# If more memories were changed at once, the cache is cleared instead.
_FOLLOWED_MAX = 200
# To bring what was read before to the state of now takes as long as to read about so many rows.
_FOLLOWED_FROM = 8


@lru_cache(maxsize=64)
def _timeless(wanted: Filter) -> tuple[str, tuple[Any, ...]]:
    """The conditions on memories, without times and field conditions; cached, because a program
    uses few different ones."""
    sql = SqliteFilterSql()
    return sql.where(wanted), tuple(sql.values)


def where_turns(wanted: Filter) -> tuple[str, list[Any]] | None:
    """The conditions on turns for SQLite and their bindings; None if no turn can match."""
    if not wanted.turns:
        return None
    sql = SqliteFilterSql()
    conditions = sql.where_turns(wanted)
    return None if conditions is None else (conditions, sql.values)


class SessionPart(SqlReader):
    """Looks up the hub, runs statements of SQLite, and applies the viewer's permissions.

    Lists of ids are passed as one JSON array, so that the statement is the same, and prepared once,
    however long the list is."""

    HUB, HUB_KEY, PLACE, SEQUENCE = "hub", "pk", "pk", "pk"
    # A revision without its change set or its memory is read too, and fails its checksum.
    REVISIONS = (
        "SELECT r.pk, c.id, m.id, r.version, r.at, r.fields, r.checksum FROM revisions r"
        " LEFT JOIN changes c ON c.pk = r.change LEFT JOIN memories m ON m.pk = r.memory"
    )
    AMONG = "IN (SELECT value FROM json_each(:ids))"
    OF_MEMORIES = f"r.memory IN (SELECT pk FROM memories WHERE hub = :hub AND id {AMONG})"
    OF_CHANGE = "r.change = (SELECT pk FROM changes WHERE hub = :hub AND id = :change)"
    IN_SESSION = "t.session = :session"
    AT_PATH = "t.path = :path"
    AGREED_KEY = "hub, path"
    NO_LIMIT = -1

    def __init__(
        self,
        connection: apsw.Connection,
        viewer: Viewer | None = None,
        caches: Caches | None = None,
    ) -> None:
        self._connection = connection
        self._caches = caches
        self._pks: dict[str, int] = {}
        # Pairs of hub and content hash that no memory has; see `expect`.
        self._absent: set[tuple[str, str]] = set()
        self._snapshot: Snapshot | None = None
        # By hub, what was read of it before, in the one state that a reader sees.
        self._known_rows: dict[str, HubRows] = {}
        # The viewer's condition on `m`, inlined, so that it fits into any statement without
        # bindings.
        self._seen = "" if viewer is None else f" AND {seen(viewer)}"
        # Rows without a boundary belong to the hub; only its members see them.
        self._of_hub = "" if viewer is None or "hub" in viewer.boundaries else " AND FALSE"

    def _hub_number(self, hub_id: str) -> int:
        return self._pk(hub_id)

    def _records_hub(self, hub_id: str) -> int:
        # Dropping a hub drops its records (see `drop_hub`); real hubs begin at 1.
        return 0 if hub_id == NO_HUB else self._pk(hub_id)

    def _find(self, sql: str, **values: Any) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def _scan(self, sql: str, **values: Any) -> Iterator[Any]:
        return self._connection.execute(sql, values)

    def _array(self, values: Iterable[Any]) -> str:
        return json.dumps(list(values))

    def _seen_changes(self, table: str) -> str:
        if not self._seen:
            return ""
        touched = f"FROM revisions r WHERE r.change = {table}.pk"
        return (
            f" AND (EXISTS (SELECT 1 {touched}{self._of_seen('r.memory')})"
            f" OR NOT EXISTS (SELECT 1 {touched}))"
        )

    def _write_totals(self) -> None:
        """Writes the totals that a writer has counted but not written yet; called before they are
        read."""

    def _pk(self, hub_id: str) -> int:
        pk = self._pks.get(hub_id)
        if pk is None:
            pk = self._one("SELECT pk FROM hubs WHERE id = ?", (hub_id,))
            if pk is None:
                self._require_no_hub("id", hub_id)
            pk = self._pks[hub_id] = -1 if pk is None else pk
        return pk

    def _read_before(self, hub_id: str, rows: int = _FOLLOWED_FROM) -> HubRows | None:
        """The cached rows of a hub in the state that this connection sees; None if there are none
        yet and only a few rows are to be read. A writer changes the state, and caches nothing."""
        there = self._known_rows.get(hub_id)
        if there is not None or self._caches is None or rows < _FOLLOWED_FROM:
            return there
        if self._snapshot is None:
            # Once: a reader sees one state.
            version = self._one("PRAGMA data_version")
            self._snapshot = self._caches.snapshots.at(self._connection, version)
            self._snapshot.pks.update(self._pks)
            self._pks = self._snapshot.pks
        there = self._snapshot.of(hub_id, self._seen + self._of_hub)
        if there.version != self._snapshot.version:
            state = self._hub_state(hub_id)
            self._follow(there, state)
            there.version = self._snapshot.version
        self._known_rows[hub_id] = there
        return there

    def _follow(self, there: HubRows, state: HubState | None) -> None:
        """Updates the cached rows of a hub to another state."""
        revised = self._revised(there.state, state)
        if revised is None:
            there.forget()
        elif revised and there.state is not None:
            found = self._all(
                "SELECT m.number, p.pk FROM json_each(?) j CROSS JOIN memories m ON m.pk = j.value"
                " LEFT JOIN passages p ON p.memory = m.pk",
                (self._array(revised),),
            )
            there.forget_passages(passage for _, passage in found if passage is not None)
            if any(number <= there.state.newest_memory for number, _ in found):
                there.following = {}
        there.begin(state)

    def _hub_state(self, hub_id: str) -> HubState | None:
        hub = self._pk(hub_id)
        found = self._one(
            "SELECT passages, terms, coalesce((SELECT max(pk) FROM passages WHERE hub = t.hub), 0),"
            " coalesce((SELECT max(number) FROM memories WHERE hub = t.hub), 0),"
            " coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'revisions'), 0)"
            " FROM word_totals t WHERE hub = ?",
            (hub,),
        )
        return None if found is None else HubState(hub, *found)

    def _revised(self, before: HubState | None, now: HubState | None) -> list[int] | None:
        """The numbers of the memories with new revisions, if besides them only passages were added
        between two states; None otherwise."""
        if before is None or now is None or not now.may_have_grown_from(before):
            return None
        taken = now.revisions - before.revisions
        if taken > _FOLLOWED_MAX or not self._has_only_grown(before, now):
            return None
        if not taken:
            return []
        found = self._all("SELECT hub, memory FROM revisions WHERE pk > ?", (before.revisions,))
        if len(found) < taken:
            return None
        return [memory for hub, memory in found if hub == now.hub]

    def _has_only_grown(self, before: HubState, now: HubState) -> bool:
        """Whether a hub has its former passages, and otherwise only some with higher numbers."""
        if now.newest_passage == before.newest_passage:
            return now.of_words == before.of_words
        added = self._one(
            "SELECT count(*), sum(length) FROM passages WHERE hub = ? AND pk > ?",
            (now.hub, before.newest_passage),
        )
        return bool(added == (now.passages - before.passages, now.terms - before.terms))

    def _require_no_hub(self, column: str, value: str) -> None:
        """Raises StoreDamaged for a hub that is in the table but not in its index: a hub that is
        not found would seem empty."""
        query = f"SELECT 1 FROM hubs NOT INDEXED WHERE {column} = ?"
        if self._one(query, (value,)) is not None:
            raise damaged_row("hubs", value)

    def _one(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql, values).get

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self._connection.execute(sql, values).fetchall()

    def _where(self, wanted: Filter) -> tuple[str, list[Any]]:
        if wanted.where is None and wanted.alive_at is None and wanted.holds_at is None:
            conditions, values = _timeless(wanted)
            return conditions + self._seen, list(values)
        sql = SqliteFilterSql()
        return sql.where(wanted) + self._seen, sql.values

    def _owners(self, wanted: Filter) -> tuple[str, str, list[Any]]:
        """The join of a passage `p` with its owner, the conditions on it, and the bindings: with a
        memory `m`, or if turns match also with a turn `t`."""
        conditions, values = self._where(wanted)
        turns = where_turns(wanted)
        if turns is None:
            joined = " CROSS JOIN memories m ON m.pk = p.memory"
            return joined, f" WHERE m.hub = ?{conditions}", values
        return (
            " LEFT JOIN memories m ON m.pk = p.memory LEFT JOIN turns t ON t.pk = p.turn",
            f" WHERE p.hub = ? AND ((p.memory IS NOT NULL{conditions})"
            f" OR (p.turn IS NOT NULL{turns[0]}{self._of_hub}))",
            values + turns[1],
        )

    def _of_seen(self, column: str) -> str:
        """Rows of a memory are visible to those who see the memory."""
        if not self._seen:
            return ""
        return f" AND EXISTS (SELECT 1 FROM memories m WHERE m.pk = {column}{self._seen})"
