"""The conditions a question states (`tag:x`, `-kind:y`, `after:May`) as filters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from holdfast.domain.memory import SOURCES, Kind
from holdfast.domain.query import EVERYTHING, Filter
from holdfast.recall.analyse import Filter as Condition

Label = TypeVar("Label", bound=str)


def read_conditions(wanted: Filter, conditions: Sequence[Condition]) -> tuple[Filter, list[Filter]]:
    """The caller's filter narrowed by the question's, and the filters that must not be met."""
    unwanted = []
    for condition in conditions:
        if condition.negated:
            unwanted.append(_narrowed(EVERYTHING, condition))
        else:
            wanted = _narrowed(wanted, condition)
    return wanted, unwanted


def _narrowed(wanted: Filter, condition: Condition) -> Filter:
    value = condition.value
    if isinstance(value, datetime):
        if condition.field == "after":
            return wanted._replace(since=max(value, wanted.since or value))
        return wanted._replace(until=min(value, wanted.until or value))
    match condition.field:
        case "tag":
            return wanted._replace(tags=(*wanted.tags, value.lower()))
        case "category":
            return wanted._replace(categories=_narrower(wanted.categories, value.lower()))
        case "kind":
            return wanted._replace(kinds=_narrower(wanted.kinds, cast(Kind, value)))
        case "key":
            return wanted._replace(key=value if wanted.key in (None, value) else _NOTHING)
        case _ if value in SOURCES:
            return wanted._replace(sources=_narrower(wanted.sources, value))
        case _:
            return wanted._replace(came_from=value if wanted.came_from is None else _NOTHING)


# No memory has this key, category or source: a space is taken off every label.
_NOTHING: Any = " "


def _narrower(allowed: tuple[Label, ...], value: Label) -> tuple[Label, ...]:
    """The question may narrow what the caller asked for, and never widen it."""
    return (value,) if not allowed or value in allowed else (_NOTHING,)
