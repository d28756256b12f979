"""Journals over REST: add an entry, read days. Who comes by a key sees the entries they may see;
the file as it stands is for who has the machine."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from fastapi import APIRouter, Response

from holdfast.domain.memory import Memory
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory
from holdfast.edges.http.shapes import OneMemory
from holdfast.files.journal import span
from holdfast.files.journal_text import render
from holdfast.hub_memory import HubMemory

_DAY = timedelta(days=1)

router = APIRouter(prefix="/journal", tags=["journal"])


class NewEntry(Body):
    """What is to be written down; without a time, it is now."""

    text: str
    at: str | None = None
    trust: str = "user"
    source: str = "api"
    source_agent: str | None = None
    once: bool = False


@router.post("", status_code=201, response_model=OneMemory)
def add(call: Calling, new: NewEntry, response: Response, key: IdempotencyKey = None) -> Any:
    """Adds an entry to the journal of its UTC day."""

    def work() -> tuple[int, Any]:
        fields = new.model_dump(exclude={"text"})
        return 201, {"data": plain_memory(call.hub("write").journal_add(new.text, **fields))}

    return once(call, key, new, response, work)


@router.get("", response_model=dict[str, Any])
def read(call: Calling, when: str = "today") -> Any:
    """The journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27; newest
    day first."""
    hub = call.hub()
    if call.guest.local:
        found = hub.journal(when)
        days = [
            {
                "date": day.date.isoformat(),
                "text": day.text,
                "entries": [_entry(e.time, e.text, e.memory) for e in day.entries],
            }
            for day in found
        ]
        return {"data": days, "notes": found.notes}
    return {"data": _days_seen(hub, when), "notes": []}


def _days_seen(hub: HubMemory, when: str) -> list[dict[str, Any]]:
    """The entries that this guest may see, by day, in the form they have in a file."""
    first, last = span(when, hub.core.now().date())
    begins = datetime.combine(first, time.min, UTC)
    ends = None if last == date.max else datetime.combine(last + _DAY, time.min, UTC)
    by_day: dict[date, list[Memory]] = {}
    for memory in hub.list(layer="journal", since=begins, until=ends, order="number"):
        moment = memory.occurred_at or memory.created_at
        by_day.setdefault(moment.date(), []).append(memory)
    return [_day(day, by_day[day]) for day in sorted(by_day, reverse=True)]


def _day(day: date, memories: list[Memory]) -> dict[str, Any]:
    def moment(memory: Memory) -> datetime:
        return memory.occurred_at or memory.created_at

    timed = [(f"{moment(one):%H:%M}", one) for one in sorted(memories, key=moment)]
    text = "".join(render(one.content, at) + "\n" for at, one in timed)
    entries = [_entry(at, one.content, one) for at, one in timed]
    return {"date": day.isoformat(), "text": text, "entries": entries}


def _entry(at: str, text: str, memory: Memory | None) -> dict[str, Any]:
    return {
        "time": at,
        "text": text,
        "memory": None if memory is None else plain_memory(memory),
    }
