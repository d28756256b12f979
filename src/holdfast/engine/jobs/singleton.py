"""Work that only one may be at in a hub, over all processes and machines.

Two things say who is at it. The store's own knowledge (`store.alone`) ends with the process that
was let in, at once; not every store has it. A note in a record has a time after which it counts for
nothing: for stores that cannot tell, and for a run that hangs. A run that was replaced because it
took too long finds that out when it writes (`require`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from holdfast.domain.clock import from_text, to_text
from holdfast.domain.records import Record
from holdfast.engine.jobs.queue import shared_now
from holdfast.errors import Conflict
from holdfast.store.values import Capability

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Writer

KIND = "pass"


class Singleton:
    """A run that may go on, or, where it is false, may not."""

    def __init__(self, hub_id: str, name: str, lease: str) -> None:
        self.hub_id, self.name, self._lease = hub_id, name, lease

    def __bool__(self) -> bool:
        return bool(self._lease)

    def require(self, writer: Writer) -> None:
        """Conflict where another has taken its place; asked in the transaction that writes."""
        if not self.holds(writer.record(self.hub_id, KIND, self.name)):
            raise Conflict(
                f"Another run of `{self.name}` took the place of this one, which took too long.",
                hint="Nothing was written.",
            )

    def holds(self, record: Record | None) -> bool:
        """Whether the note in the store is this run's."""
        return record is not None and record.body["lease"] == self._lease


@contextmanager
def taking_turn(
    core: Core, hub_id: str, name: str, *, lasts: timedelta, after: timedelta | None = None
) -> Iterator[Singleton]:
    """A run that is true where it may go on: not while another is at it, nor sooner than `after`
    the last one began. One that died is over at once where the store knows it, and in any case
    when it has lasted too long."""
    knows = Capability.ALONE in core.store.capabilities
    with core.store.alone(name, hub_id) as mine:
        lease = core.ids.next("run")
        now = shared_now(core)
        with core.store.write(hub=hub_id) as writer:
            record = writer.record(hub_id, KIND, name)
            free = _is_free(record, now, lasts, mine=mine, knows=knows)
            if free and record is not None and after is not None:
                free = from_text(record.body["started_at"]) + after <= now
            if free and writer.hub_by_id(hub_id) is None:
                free = False
            if free:
                body = {
                    "started_at": to_text(now),
                    "ended_at": None,
                    "lease": lease,
                    "known": knows and mine,
                }
                writer.put_record(Record(hub_id, KIND, name, now, body))
        run = Singleton(hub_id, name, lease if free else "")
        try:
            yield run
        finally:
            if run:
                _end(core, run)


def _end(core: Core, run: Singleton) -> None:
    """Notes that it is over. The hub may be gone, and the place somebody else's."""
    with core.store.write(hub=run.hub_id) as writer:
        record = writer.record(run.hub_id, KIND, run.name)
        if record is not None and run.holds(record):
            body = {**record.body, "ended_at": to_text(shared_now(core))}
            writer.put_record(record._replace(body=body))


def _is_free(
    record: Record | None, now: datetime, lasts: timedelta, *, mine: bool, knows: bool
) -> bool:
    if record is None or record.body["ended_at"] is not None:
        # Not mine: somebody has just begun, and not noted it yet.
        return mine
    if from_text(record.body["started_at"]) + lasts <= now:
        return True
    # It held the lock that this run holds now, so it is dead. (A run that replaced an overdue one
    # may not have held it.)
    return knows and mine and record.body["known"] is True
