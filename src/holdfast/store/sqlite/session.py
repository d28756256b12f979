"""One connection inside one transaction, the base of every part of the Reader; and a Filter with
its conditions in SQL: the same tests as `Filter.admits` and `holds` in `domain.query`, on the table
alias `m`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import apsw

from holdfast.domain.access import Viewer
from holdfast.domain.clock import to_micros
from holdfast.domain.query import FIELDS, Comparison, Condition, Filter, Order, kind_of
from holdfast.store.checksums import damaged_row
from holdfast.store.sqlite.records import RecordsReader

if TYPE_CHECKING:
    from holdfast.store.sqlite.caches import Caches, KnownTerms


_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
# The types of json_each that hold a value of each kind.
_TYPES = {"text": "('text')", "number": "('integer', 'real')", "flag": "('true', 'false')"}


def condition_sql(condition: Condition) -> tuple[str, list[Any]]:
    """The condition and its bindings."""
    if isinstance(condition, Comparison):
        sql, values = _on_field(condition) if condition.field else _on_metadata(condition)
        return f"(({sql}) IS TRUE)", values
    parts = [condition_sql(part) for part in condition.parts]
    joined = (" AND " if condition.kind == "and" else " OR ").join(sql for sql, _ in parts)
    negation = "NOT " if condition.kind == "not" else ""
    return f"{negation}({joined})", [value for _, values in parts for value in values]


def _on_field(test: Comparison) -> tuple[str, list[Any]]:
    assert test.field in FIELDS  # it is written into the statement
    column = f"m.{test.field}"
    if test.field == "tags":
        if test.operator == "exists":
            return "m.tags <> '[]'", []
        return "EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)", [test.value]
    if test.operator == "exists":
        return f"{column} IS NOT NULL", []
    return _compared(column, test, test.value)


def _on_metadata(test: Comparison) -> tuple[str, list[Any]]:
    tables, keys = ["json_each(m.metadata) AS j0"], ["j0.key = ?"]
    for number in range(1, len(test.path)):
        # json_each of what is no object would be an error; of an empty one it gives nothing.
        inner = f"CASE j{number - 1}.type WHEN 'object' THEN j{number - 1}.value ELSE '{{}}' END"
        tables.append(f"json_each({inner}) AS j{number}")
        keys.append(f"j{number}.key = ?")
    found = f"j{len(test.path) - 1}"
    sql, values = _on_value(found, test)
    return (
        f"EXISTS (SELECT 1 FROM {', '.join(tables)} WHERE {' AND '.join(keys)} AND {sql})",
        [*test.path, *values],
    )


def _on_value(found: str, test: Comparison) -> tuple[str, list[Any]]:
    if test.operator == "exists":
        return f"{found}.type <> 'null'", []
    if test.operator == "contains":
        items = f"CASE {found}.type WHEN 'array' THEN {found}.value ELSE '[]' END"
        equal, values = _typed("e", test._replace(operator="eq"), test.value)
        sql = f"EXISTS (SELECT 1 FROM json_each({items}) AS e WHERE {equal})"
        if isinstance(test.value, str):
            sql = f"({found}.type = 'text' AND instr({found}.value, ?) > 0 OR {sql})"
            values = [test.value, *values]
        return sql, values
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        parts = [_typed(found, test._replace(operator="eq"), one) for one in test.value]
        joined = " OR ".join(sql for sql, _ in parts) or "0"
        return f"({joined})", [value for _, values in parts for value in values]
    return _typed(found, test, test.value)


def _typed(found: str, test: Comparison, value: Any) -> tuple[str, list[Any]]:
    sql, values = _compared(f"{found}.value", test, value)
    return f"({found}.type IN {_TYPES[kind_of(value)]} AND {sql})", values


def _compared(column: str, test: Comparison, value: Any) -> tuple[str, list[Any]]:
    match test.operator:
        case "in":
            return f"{column} IN ({', '.join('?' * len(value))})", [_bound(one) for one in value]
        case "contains":
            return f"instr({column}, ?) > 0", [value]
        case "icontains":
            # lower() of SQLite knows ASCII only, as ascii_lower does.
            return f"instr(lower({column}), lower(?)) > 0", [value]
        case operator:
            return f"{column} {_SIGNS[operator]} ?", [_bound(value)]


def _bound(value: Any) -> Any:
    if isinstance(value, datetime):
        return to_micros(value)
    return int(value) if isinstance(value, bool) else value


HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The value a list is sorted by, and whether it runs downwards; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
    "happened": (HAPPENED, True),
}


def seen(viewer: Viewer) -> str:
    """The same test as Viewer.sees, with its values written out."""
    allowed = ", ".join(apsw.format_sql_value(boundary) for boundary in viewer.boundaries)
    return f"(m.boundary IN ({allowed}) OR m.owner = {apsw.format_sql_value(viewer.actor)})"


def where(wanted: Filter) -> tuple[str, list[Any]]:
    """The conditions (beginning with ' AND ', or empty) and their bindings."""
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, allowed: tuple[str, ...]) -> None:
        if allowed:
            parts.append(f"m.{column} IN ({', '.join('?' * len(allowed))})")
            values.extend(allowed)

    among("state", wanted.states)
    among("category", wanted.categories)
    among("kind", wanted.kinds)
    among("stability", wanted.stabilities)
    among("layer", wanted.layers)
    among("source", wanted.sources)
    among("trust", wanted.trusts)
    for tag in wanted.tags:
        parts.append("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)")
        values.append(tag)
    if wanted.key is not None:
        parts.append("m.key = ?")
        values.append(wanted.key)
    if wanted.came_from is not None:
        folder, file = wanted.came_from.rstrip("/") + "/", "/" + wanted.came_from
        parts.append(
            "(m.source = ? OR m.source_agent = ? OR m.source_path = ?"
            " OR substr(m.source_path, 1, length(?)) = ? OR substr(m.source_path, -length(?)) = ?)"
        )
        values += [wanted.came_from] * 3 + [folder, folder, file, file]
    if wanted.session is not None:
        parts.append("m.session = ?")
        values.append(wanted.session)
    if wanted.pinned is not None:
        parts.append("m.pinned = ?")
        values.append(int(wanted.pinned))
    if wanted.forgotten is not None:
        parts.append(f"m.forgotten_at IS {'NOT ' if wanted.forgotten else ''}NULL")
    if wanted.quarantined is not None:
        # `>` and not `<>`: only a range lets the index of what is held be used.
        parts.append(f"m.quarantine {'>' if wanted.quarantined else '='} ''")
    if wanted.since is not None:
        parts.append(f"{HAPPENED} >= ?")
        values.append(to_micros(wanted.since))
    if wanted.until is not None:
        parts.append(f"{HAPPENED} < ?")
        values.append(to_micros(wanted.until))
    if wanted.known_by is not None:
        parts.append("m.created_at <= ?")
        values.append(to_micros(wanted.known_by))
    if wanted.alive_at is not None:
        parts.append("(m.expires_at IS NULL OR m.expires_at > ?)")
        values.append(to_micros(wanted.alive_at))
    if wanted.holds_at is not None:
        parts.append("m.superseded_by IS NULL AND (m.valid_until IS NULL OR m.valid_until > ?)")
        values.append(to_micros(wanted.holds_at))
    if wanted.where is not None:
        condition, bound = condition_sql(wanted.where)
        parts.append(condition)
        values += bound
    return "".join(f" AND {part}" for part in parts), values


def where_turns(wanted: Filter) -> tuple[str, list[Any]] | None:
    """The same for turns, on the table alias `t`; None where no turn can count."""
    if not wanted.admits_turns():
        return None
    parts: list[str] = []
    values: list[Any] = []
    for condition, value in (
        ("t.session = ?", wanted.session),
        ("t.source = ?", wanted.came_from),
        ("t.at >= ?", wanted.since and to_micros(wanted.since)),
        ("t.at < ?", wanted.until and to_micros(wanted.until)),
        ("t.at <= ?", wanted.known_by and to_micros(wanted.known_by)),
    ):
        if value is not None:
            parts.append(condition)
            values.append(value)
    if wanted.trusts:
        parts.append(f"t.trust IN ({', '.join('?' * len(wanted.trusts))})")
        values.extend(wanted.trusts)
    return "".join(f" AND {part}" for part in parts), values


class Part(RecordsReader):
    """Finds the hub, runs statements, and knows what the viewer sees.

    Lists of ids go in as one JSON array, so that the statement is the same, and prepared once,
    however long the list is."""

    def __init__(
        self,
        connection: apsw.Connection,
        viewer: Viewer | None = None,
        caches: Caches | None = None,
    ) -> None:
        self._connection = connection
        self._caches = caches
        self._known: KnownTerms | None = None
        self._pks: dict[str, int] = {}
        # What the viewer may see, as a condition on `m`; written out, so that it fits into any
        # statement without its own bindings.
        self._seen = "" if viewer is None else f" AND {seen(viewer)}"
        # What has no boundary of its own is the hub's; nobody else sees any of it.
        self._of_hub = "" if viewer is None or "hub" in viewer.boundaries else " AND FALSE"

    def _settle(self) -> None:
        """Writes what a writer has counted and not written yet; called before it is read."""

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
        conditions, values = where(wanted)
        return conditions + self._seen, values

    def _owners(self, wanted: Filter) -> tuple[str, str, list[Any]]:
        """How a passage `p` is joined with what it belongs to, what that has to meet, and the
        bindings: with a memory `m`, or where turns count also with a turn `t`."""
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
        """What belongs to a memory is seen by those who see the memory."""
        if not self._seen:
            return ""
        return f" AND EXISTS (SELECT 1 FROM memories m WHERE m.pk = {column}{self._seen})"
