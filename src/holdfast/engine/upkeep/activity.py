"""What happened in a hub, counted by UTC day, and how it has grown. For people who look at a hub as
a whole."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from holdfast.engine.cached import cached
from holdfast.errors import InvalidInput

if TYPE_CHECKING:
    from holdfast.engine.scope import Scope
    from holdfast.store.base import Reader

DAYS_MAX = 371
_PAGE = 1_000
# Older changes of a very busy hub are not counted; `complete_from` says so.
_CHANGES_MAX = 100_000
_GROWTH_POINTS = 120


class ActivityDay(NamedTuple):
    """How many change sets of each action there were on a day."""

    day: date
    counts: Mapping[str, int]


class GrowthPoint(NamedTuple):
    """How many memories had been made by a moment, forgotten ones among them."""

    at: datetime
    made: int


class Activity(NamedTuple):
    """Days on which something happened, oldest first, complete from a day on; and the growth."""

    days: list[ActivityDay]
    complete_from: date
    growth: list[GrowthPoint]


def activity(scope: Scope, *, days: int = DAYS_MAX) -> Activity:
    """The last days, from a cache while nothing has changed."""
    if not isinstance(days, int) or not 1 <= days <= DAYS_MAX:
        raise InvalidInput(
            f"You asked for {days!r} days.", hint=f"Give a number from 1 to {DAYS_MAX}."
        )
    with scope.read() as reader:
        scope.require_hub(reader)
        today = scope.now().astimezone(UTC).date()
        first = today - timedelta(days=days - 1)
        state = (reader.newest_revision(scope.hub_id), first)

        def make() -> Activity:
            counted, complete_from = _counted(scope, reader, first)
            return Activity(counted, complete_from, _growth(scope, reader))

        return cached(scope, "activity", state, make)


def _counted(scope: Scope, reader: Reader, first: date) -> tuple[list[ActivityDay], date]:
    counts: dict[date, dict[str, int]] = {}
    before: str | None = None
    for _ in range(0, _CHANGES_MAX, _PAGE):
        page = reader.changes(scope.hub_id, limit=_PAGE, before=before)
        for change in page:
            day = change.at.astimezone(UTC).date()
            if day < first:
                break
            of_day = counts.setdefault(day, {})
            of_day[change.action] = of_day.get(change.action, 0) + 1
        else:
            if len(page) == _PAGE:
                before = page[-1].id
                continue
        return [ActivityDay(day, counts[day]) for day in sorted(counts)], first
    oldest = min(counts) + timedelta(days=1)
    return [ActivityDay(day, counts[day]) for day in sorted(counts) if day >= oldest], oldest


def _growth(scope: Scope, reader: Reader) -> list[GrowthPoint]:
    """Numbers are given out in order, so a few of them tell how many there were by when."""
    hub = reader.hub_by_id(scope.hub_id)
    numbers = 0 if hub is None else hub.numbers
    step = max(1, numbers // _GROWTH_POINTS)
    wanted = sorted({*range(1, numbers + 1, step), numbers} - {0})
    found = (reader.memory_by_number(scope.hub_id, number) for number in wanted)
    return [GrowthPoint(one.created_at, one.number) for one in found if one is not None]
