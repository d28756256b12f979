"""Statistics of automatic memory: what was stored and what was left out, and why. Counts for each
UTC day of a hub, with the newest examples. Old days are removed.

Counts are written in the transaction of what they count, and nothing depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.domain.results import CapturedDay, Noted
from holdfast.engine.core import Core, Scope
from holdfast.errors import InvalidInput
from holdfast.store.values import every_record

if TYPE_CHECKING:
    from holdfast.store.base import Writer

KIND = "captured"
# A quarter of a year, long enough to see changes.
KEPT_DAYS = 92
# As many examples of a day as fit on a screen.
_LAST_MAX = 20
# There are few reasons; more come from somebody's text, and are counted together.
_REASONS_MAX = 50
_REASON_CHARS_MAX = 200
_TEXT_CHARS_MAX = 80
_OTHER = "other"
# Outcomes that need no explanation.
_PLAIN = ("queued", "stored")


def note(core: Core, writer: Writer, hub_id: str, noted: Iterable[Noted]) -> None:
    """Adds to today's counts of captured turns."""
    noted = list(noted)
    if not noted:
        return
    now = core.now()
    day = now.date().isoformat()
    record = writer.record(hub_id, KIND, day)
    body: dict[str, Any] = {"outcomes": {}, "reasons": {}, "last": []}
    if record is not None:
        body = {name: type(empty)(record.body[name]) for name, empty in body.items()}
    for one in noted:
        _count(body["outcomes"], one.outcome)
        if one.reason:
            _count(body["reasons"], f"{one.outcome}: {one.reason[:_REASON_CHARS_MAX]}")
        if one.outcome not in _PLAIN:
            line = " ".join(one.text.split())[:_TEXT_CHARS_MAX]
            body["last"].append([to_text(now), *one._replace(text=line)])
    body["last"] = body["last"][-_LAST_MAX:]
    due = now + timedelta(days=KEPT_DAYS)
    writer.put_record(Record(hub_id, KIND, day, now, body, due=due))
    if record is None:
        # A new day: old ones may be over.
        for old in writer.due_records(KIND, now, limit=10, hub_id=hub_id):
            writer.drop_record(old.hub_id, KIND, old.id)


def forget(writer: Writer, hub_id: str, texts: Iterable[str]) -> None:
    """Removes the examples of captured turns with the beginnings of these texts; counts stay."""
    lines = [" ".join(text.split()) for text in texts]
    for record in every_record(writer, hub_id, KIND):
        kept = [one for one in record.body["last"] if not _is_in(one[-1], lines)]
        if len(kept) < len(record.body["last"]):
            writer.put_record(record._replace(body={**record.body, "last": kept}))


def _is_in(text: str, lines: list[str]) -> bool:
    return bool(text) and any(text in line for line in lines)


def _count(counts: dict[str, int], name: str) -> None:
    if name not in counts and len(counts) >= _REASONS_MAX:
        name = _OTHER
    counts[name] = counts.get(name, 0) + 1


def captured(scope: Scope, *, days: int = 7) -> list[CapturedDay]:
    """The last days with any counts of captured turns, newest first."""
    if not isinstance(days, int) or days < 1:
        raise InvalidInput(
            f"You asked for {days!r} days.", hint=f"Give a number from 1 to {KEPT_DAYS}."
        )
    with scope.read_unfiltered() as reader:
        records = reader.records(scope.hub_id, KIND, limit=KEPT_DAYS + 1)
    return [_day(record) for record in reversed(records)][:days]


def _day(record: Record) -> CapturedDay:
    body = record.body
    last = tuple(_last(*one) for one in body["last"])
    return CapturedDay(record.id, dict(body["outcomes"]), dict(body["reasons"]), last)


def _last(at: str, outcome: str, reason: str, text: str) -> tuple[datetime, Noted]:
    return from_text(at), Noted(outcome, reason, text)
