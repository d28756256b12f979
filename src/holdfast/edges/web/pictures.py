"""Charts of a hub: a map by meaning, a calendar, the lifecycle, growth, and what automatic memory
captured. Each has the same figures as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.edges.web.visit import Visit, route

if TYPE_CHECKING:
    from starlette.responses import Response

    from holdfast.domain.hub import Statistics
    from holdfast.domain.results import CapturedDay
    from holdfast.engine.reading.pictures import Activity

_WEEKS = 53
_CELL, _GAP = 12, 3
_LEVELS = (1, 3, 8, 20)
_CAPTURED_DAYS = 30
_USED_MAX = 8
_PEEK_CHARS = 220
# Coordinates are sent as whole numbers of this.
_GRID = 10_000
_FLOW_HEIGHT, _FLOW_LEAST, _FLOW_LINE, _FLOW_GAP = 150, 2.0, 14.0, 12.0
# Kinds of outcome that are drawn; a turn that waits is not one yet.
_OUTCOMES_MAX = 6
_NO_OUTCOME = "queued"


class Cell(NamedTuple):
    """A day of the calendar of changes on the web page."""

    day: date
    x: int
    y: int
    level: int
    changes: int
    actions: Mapping[str, int]


class Stream(NamedTuple):
    """A band of the lifecycle chart: from all memories, on the left, to a state on the right.
    Heights are proportional to counts; an empty state has no band."""

    name: str
    memories: int
    left: float
    right: float
    height: float


def _calendar(activity: Activity, today: date) -> dict[str, Any]:
    counts = {one.day: one.counts for one in activity.days}
    first = today - timedelta(days=today.weekday(), weeks=_WEEKS - 1)
    cells, months = [], []
    for number in range((today - first).days + 1):
        day = first + timedelta(days=number)
        actions = counts.get(day, {})
        count = sum(actions.values())
        level = sum(count >= least for least in _LEVELS)
        x = number // 7 * (_CELL + _GAP)
        cells.append(Cell(day, x, number % 7 * (_CELL + _GAP), level, count, actions))
        if day.day == 1 and number % 7 <= 6:
            months.append((x, f"{day:%b}"))
    weeks = number // 7 + 1
    return {
        "cells": cells,
        "months": months,
        "calendar_width": weeks * (_CELL + _GAP),
        "calendar_height": 7 * (_CELL + _GAP),
        "cell": _CELL,
        "busiest": sorted((one for one in cells if one.changes), key=lambda one: -one.changes)[:10],
        "active_days": sum(1 for one in cells if one.changes),
    }


def _streams(counted: Statistics) -> dict[str, Any]:
    states = counted.by_state
    steps = [
        ("active", states.get("active", 0) + states.get("processing", 0)),
        ("cooling", states.get("cooling", 0)),
        ("held", counted.waiting),
        ("archived", states.get("archived", 0)),
        ("forgotten", counted.forgotten),
        ("purged", counted.receipts),
    ]
    total = sum(count for _, count in steps) or 1
    streams, left, right = [], 0.0, 0.0
    for name, count in steps:
        height = max(_FLOW_HEIGHT * count / total, _FLOW_LEAST) if count else 0.0
        streams.append(Stream(name, count, round(left, 1), round(right, 1), round(height, 1)))
        left += height
        right += max(height, _FLOW_LINE) + _FLOW_GAP
    offset = round((right - _FLOW_GAP - left) / 2, 1)
    return {"streams": streams, "flow_height": round(right), "flow_left": offset, "made": total}


def _page(visit: Visit) -> Response:
    hub = visit.hub()
    counted = hub.statistics()
    activity = hub.activity()
    today = hub.core.now().astimezone(UTC).date()
    captured = hub.captured(days=_CAPTURED_DAYS) if visit.allows("read_log") else []
    values = {
        "tab": "pictures",
        "counted": counted,
        "waiting": counted.waiting,
        **_streams(counted),
        "activity": activity,
        "growth": activity.growth,
        "captured": captured,
        "outcomes": _outcomes(captured),
        "used": [one for one in hub.list(order="accessed", limit=_USED_MAX) if one.accessed_at],
        **_calendar(activity, today),
    }
    return visit.page("pictures.html", values)


def _outcomes(captured: Sequence[CapturedDay]) -> list[str]:
    """The outcomes of automatic memory, the most frequent first."""
    total: Counter[str] = Counter()
    for one in captured:
        total.update({name: n for name, n in one.outcomes.items() if name != _NO_OUTCOME})
    return [name for name, _ in total.most_common(_OUTCOMES_MAX)]


def _map(visit: Visit) -> Response:
    """The points of the map in a compact form."""
    made = visit.hub(lasting=True).meaning_map()
    return visit.json(
        {
            "numbers": [one.number for one in made.points],
            "x": [round(one.x * _GRID) for one in made.points],
            "y": [round(one.y * _GRID) for one in made.points],
            "groups": [one.group for one in made.points],
            "grid": _GRID,
            "names": [[one.name, round(one.x * _GRID), one.group, one.size] for one in made.groups],
            "total": made.total,
            "by": made.by,
        }
    )


def _map_as_text(visit: Visit) -> Response:
    made = visit.hub(lasting=True).meaning_map()
    return visit.fragment("_map_text.html", {"made": made})


def _charts(visit: Visit) -> Response:
    """The growth of the hub, and what automatic memory captured, for the charts."""
    hub = visit.hub()
    growth = hub.activity().growth
    captured = hub.captured(days=_CAPTURED_DAYS)[::-1] if visit.allows("read_log") else []
    outcomes = _outcomes(captured)
    return visit.json(
        {
            "growth": [
                [round(one.at.timestamp()) for one in growth],
                [one.made for one in growth],
            ],
            "captured": [
                [one.day for one in captured],
                *([day.outcomes.get(name, 0) for day in captured] for name in outcomes),
            ],
        }
    )


def _peek(visit: Visit) -> Response:
    """One line of a memory, for a point under the pointer."""
    memory = visit.hub().get(visit.path("reference"))
    return visit.json({"text": memory.content[:_PEEK_CHARS], "category": memory.category})


ROUTES = [
    route("/h/{hub}/pictures", _page),
    route("/h/{hub}/pictures/map", _map),
    route("/h/{hub}/pictures/map-text", _map_as_text),
    route("/h/{hub}/pictures/charts", _charts),
    route("/h/{hub}/m/{reference}/peek", _peek),
]
