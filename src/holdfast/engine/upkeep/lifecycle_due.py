"""When the lifecycle last ran in a hub, and whether it is due to run automatically. Imports next to
nothing: every command asks, after its answer."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from holdfast.domain.records import Record

if TYPE_CHECKING:
    from holdfast.engine.core import Core
    from holdfast.store.base import Reader

_KIND = "upkeep"
_DONE = "lifecycle"
_CLAIMED = "lifecycle claimed"
# The rules count in days.
EVERY = timedelta(days=1)
# A run takes seconds. One that has not finished after this has died, and another may try.
RETRY_AFTER = timedelta(hours=1)


class LifecycleRun(NamedTuple):
    """A finished run: how many memories it moved, and the change set, if it moved any."""

    at: datetime
    moved: int = 0
    change: str | None = None


def last_run(reader: Reader, hub_id: str) -> LifecycleRun | None:
    """The last finished run of the lifecycle over a whole hub."""
    record = reader.record(hub_id, _KIND, _DONE)
    if record is None:
        return None
    return LifecycleRun(record.at, record.body.get("moved", 0), record.body.get("change"))


def note_run(core: Core, hub_id: str, run: LifecycleRun) -> None:
    """Records a finished run; it is due again a day later."""
    body = {"moved": run.moved, "change": run.change}
    with core.store.write(hub=hub_id) as writer:
        if writer.hub_by_id(hub_id) is not None:
            writer.put_record(Record(hub_id, _KIND, _DONE, run.at, body))


def is_due(core: Core, reader: Reader, hub_id: str) -> bool:
    """Whether an automatic run is due: none has finished for a day, and none is under way. In a
    new hub the first one is due after a day."""
    if not core.settings["lifecycle.automatic"]:
        return False
    hub = reader.hub_by_id(hub_id)
    if hub is None or hub.state != "active":
        return False
    now = core.now()
    last = reader.record(hub_id, _KIND, _DONE)
    if now - (hub.created_at if last is None else last.at) < EVERY:
        return False
    claimed = reader.record(hub_id, _KIND, _CLAIMED)
    return claimed is None or now - claimed.at >= RETRY_AFTER


def claim(core: Core, hub_id: str) -> bool:
    """Claims the automatic run that is due. Of several processes one gets it; where that one dies,
    the run can be claimed again after `RETRY_AFTER`."""
    with core.store.read() as reader:
        # Usually nothing is due, and a read never waits for a writer.
        if not is_due(core, reader, hub_id):
            return False
    with core.store.write(hub=hub_id) as writer:
        if not is_due(core, writer, hub_id):
            return False
        writer.put_record(Record(hub_id, _KIND, _CLAIMED, core.now(), {}))
    return True
