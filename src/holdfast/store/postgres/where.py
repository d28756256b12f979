"""Conditions on metadata and fields in SQL: the same test as `domain.where.holds`, on alias `m`.

Names and values are always bound, never written into the statement. Each test is wrapped in IS
TRUE, because a comparison with NULL is neither true nor false, and its negation would not be true.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.where import FIELDS, Comparison, Condition, ascii_lower, kind_of

_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
# jsonb holds no NUL; a value with one in it cannot be asked for.
_METADATA = r"replace(m.metadata, '\u0000', '\ufffd')::jsonb"


class Bindings:
    """Values of a statement under names that no other condition uses."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def add(self, value: Any) -> str:
        name = f"where_{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"


def condition_sql(condition: Condition, bindings: Bindings) -> str:
    """The condition; its values are added to the bindings."""
    if isinstance(condition, Comparison):
        test = _on_field if condition.field else _on_metadata
        return f"(({test(condition, bindings)}) IS TRUE)"
    parts = [condition_sql(part, bindings) for part in condition.parts]
    joined = (" AND " if condition.kind == "and" else " OR ").join(parts)
    return f"{'NOT ' if condition.kind == 'not' else ''}({joined})"


def _on_field(test: Comparison, bindings: Bindings) -> str:
    assert test.field in FIELDS  # it is written into the statement
    column = f"m.{test.field}"
    if test.field == "tags":
        if test.operator == "exists":
            return "cardinality(m.tags) > 0"
        return f"m.tags @> {bindings.add([test.value])}::text[]"
    if test.operator == "exists":
        return f"{column} IS NOT NULL"
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        equal = test._replace(operator="eq")
        return _any_of([_compared(column, equal, one, bindings) for one in test.value])
    return _compared(column, test, test.value, bindings)


def _on_metadata(test: Comparison, bindings: Bindings) -> str:
    found = _METADATA
    for name in test.path:
        found = f"({found} -> {bindings.add(name)}::text)"
    if test.operator == "exists":
        return f"jsonb_typeof({found}) <> 'null'"
    if test.operator == "in":
        assert isinstance(test.value, tuple)
        equal = test._replace(operator="eq")
        return _any_of([_typed(found, equal, one, bindings) for one in test.value])
    if test.operator == "contains":
        item = bindings.add(json.dumps([test.value], ensure_ascii=False))
        parts = [f"(jsonb_typeof({found}) = 'array' AND {found} @> {item}::jsonb)"]
        if isinstance(test.value, str):
            parts.append(_typed(found, test, test.value, bindings))
        return _any_of(parts)
    return _typed(found, test, test.value, bindings)


def _any_of(parts: list[str]) -> str:
    return " OR ".join(parts) or "false"


def _typed(found: str, test: Comparison, value: Any, bindings: Bindings) -> str:
    """CASE, because a cast of a value of another type would be an error."""
    kind, cast = {
        "text": ("string", f"({found} #>> '{{}}') COLLATE \"C\""),
        "number": ("number", f"({found})::numeric"),
        "flag": ("boolean", f"({found})::boolean"),
    }[kind_of(value)]
    compared = _compared(cast, test, value, bindings)
    return f"CASE WHEN jsonb_typeof({found}) = '{kind}' THEN {compared} ELSE false END"


def _compared(column: str, test: Comparison, value: Any, bindings: Bindings) -> str:
    match test.operator:
        case "contains":
            return f"strpos({column}, {bindings.add(value)}::text) > 0"
        case "icontains":
            lower = f'lower({column} COLLATE "C")'
            return f"strpos({lower}, {bindings.add(ascii_lower(str(value)))}::text) > 0"
        case operator:
            return f"{column} {_SIGNS[operator]} {_bound(value, bindings)}"


def _bound(value: Any, bindings: Bindings) -> str:
    if isinstance(value, datetime):
        return f"{bindings.add(to_micros(value))}::bigint"
    if isinstance(value, bool):
        return f"{bindings.add(value)}::boolean"
    if isinstance(value, int | float):
        return f"{bindings.add(repr(value))}::numeric"
    return f"{bindings.add(value)}::text"
