"""Journals over REST: add an entry, read days. Who comes by a key sees the entries they may see;
the file as it stands is for who has the machine."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from holdfast.domain.memory import Memory
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory
from holdfast.edges.http.shapes import JournalOut, OneMemory

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


@router.get("", response_model=JournalOut)
def read(call: Calling, when: str = "today") -> Any:
    """The journals of today, yesterday, a date or a range such as 2026-05-01..2026-05-27; newest
    day first."""
    found = call.hub().journal(when)
    days = [
        {
            "date": day.date.isoformat(),
            "text": day.text,
            "entries": [_entry(e.time, e.text, e.memory) for e in day.entries],
        }
        for day in found
    ]
    return {"data": days, "notes": found.notes}


def _entry(at: str, text: str, memory: Memory | None) -> dict[str, Any]:
    return {
        "time": at,
        "text": text,
        "memory": None if memory is None else plain_memory(memory),
    }
