"""Conditions on metadata and fields in SQL: the same test as `domain.where.holds`, on alias `m`.

Names and values are always bound, never written into the statement. Each test is wrapped in IS
TRUE, because a comparison with NULL is neither true nor false, and its negation would not be true.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.where import FIELDS, Comparison, Condition, kind_of

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
