"""Changes of a hub as a stream of events, for pages and agents that want to know at once.

The store is asked twice a second: it is the one place that all processes write to, so a change made
by the command line is an event too. Each listener sees what their eyes may see, and a key that is
revoked ends its stream.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from holdfast.api.hub import HubMemory
from holdfast.domain.change import Receipt
from holdfast.domain.memory import Memory
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.plain import plain_change, plain_receipt
from holdfast.engine.writing import extraction
from holdfast.engine.writing.edit import PURGES
from holdfast.errors import HoldfastError, StoreClosed, StoreError
from holdfast.store.base import Reader

router = APIRouter(tags=["events"])

_EVERY_S = 0.5
# Said when nothing happens, so that proxies keep the stream and a dead client is noticed.
_HEARTBEAT_S = 15.0
_LISTENERS_MAX = 100
# A person has some windows and agents open; more would take the places of others.
_LISTENERS_EACH = 20
# What was read is looked for this far back: a text that is written takes a moment to be there.
_LATE = timedelta(seconds=10)
# Somebody who was away for longer than this many changes is told to look for themselves.
_MISSED_MAX = 200


@router.get("/events", response_class=StreamingResponse)
async def events(
    call: Calling, last_event_id: Annotated[str | None, Header(alias="Last-Event-ID")] = None
) -> StreamingResponse:
    """The changes of a hub from now on, or since the last one that was seen. `change` has a change
    set and the memories it touched; `text` has memories whose files or pages have been read;
    `purge` tells members what is gone for good; `missed` says to look for oneself; `end` that it is
    over."""
    state = call.request.app.state
    hub = await run_in_threadpool(call.hub)
    listeners: Counter[str] = state.listeners
    if listeners.total() >= _LISTENERS_MAX or listeners[call.caller.actor] >= _LISTENERS_EACH:
        raise Refused(503, "overloaded", "Too many listen already.", headers={"Retry-After": "30"})
    last = last_event_id or await run_in_threadpool(_newest, hub)
    told = await run_in_threadpool(_purges_before, hub, last_event_id)
    return StreamingResponse(
        _stream(call, last, told),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


class _Purges(NamedTuple):
    """How far purges were told: by which mark, and how many receipts there were."""

    mark: str = ""
    receipts: int = 0


class _Found(NamedTuple):
    """What is new, up to which change and which purge; `missed`: more than is told."""

    last: str | None
    purges: _Purges
    changes: Sequence[tuple[dict[str, Any], list[dict[str, Any]]]] = ()
    missed: bool = False
    read: Sequence[Memory] = ()
    purged: Sequence[Receipt] = ()


def _newest(hub: HubMemory) -> str | None:
    changes = hub.changes(limit=1)
    return changes[0].id if changes else None


def _purges_before(hub: HubMemory, last_event_id: str | None) -> _Purges:
    """What a listener knows of: all purges up to now, or up to the last change they saw. One that
    is told twice does no harm."""
    with hub.core.read() as reader:
        change = reader.change(hub.id, last_event_id) if last_event_id else None
        if change is None:
            return _Purges(_purge_mark(reader, hub.id), len(reader.receipts(hub.id)))
        return _Purges("", sum(one.at < change.at for one in reader.receipts(hub.id)))


def _purge_mark(reader: Reader, hub_id: str) -> str:
    record = reader.record(hub_id, PURGES, PURGES)
    return "" if record is None else str(record.body["purge"])


async def _stream(call: Call, last: str | None, purges: _Purges) -> AsyncIterator[str]:
    state = call.request.app.state
    who = call.caller.actor
    state.listeners[who] += 1
    quiet = 0.0
    begun = call.memory.core.now()
    told: set[tuple[str, int]] = set()
    try:
        yield ": listening\n\n"
        while not state.stopping.is_set():
            try:
                found = await run_in_threadpool(_since, call, last, begun, purges)
            except HoldfastError as error:
                if isinstance(error, StoreError) and not isinstance(error, StoreClosed):
                    # The store is away for a moment, or busy: it is asked again.
                    found = _Found(last, purges)
                else:
                    # The key was revoked, the role taken away, or the hub is gone.
                    yield _event("end", {})
                    return
            if found.purged:
                # First: the change that was told last may be gone with it, so that more is missed.
                gone = [plain_receipt(receipt) for receipt in found.purged]
                yield _event("purge", {"receipts": gone})
            if found.missed:
                yield _event("missed", {}, found.last or "")
            for change, memories in found.changes:
                what = {"change": change, "memories": memories}
                yield _event("change", what, change["id"])
            new = [one for one in found.read if (one.id, one.version) not in told]
            told = {(one.id, one.version) for one in found.read}
            if new:
                yield _event("text", {"memories": [_plain_read(one) for one in new]})
            same = (found.last, found.purges) == (last, purges)
            quiet = quiet + _EVERY_S if same else 0.0
            last, purges = found.last, found.purges
            if quiet >= _HEARTBEAT_S:
                quiet = 0.0
                yield ": still here\n\n"
            try:
                await asyncio.wait_for(state.stopping.wait(), _EVERY_S)
            except TimeoutError:
                continue
    finally:
        state.listeners[who] -= 1
        if not state.listeners[who]:
            del state.listeners[who]


def _plain_read(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "version": memory.version,
        "state": memory.state,
        "state_reason": memory.state_reason,
    }


def _since(call: Call, last: str | None, begun: datetime, purges: _Purges) -> _Found:
    """What is new since the last change that was seen, as the caller sees it now."""
    again = Call(call.request, call.memory, key_needed=call.key_needed)
    hub = again.hub()
    purged: Sequence[Receipt] = ()
    # Before the purges: one that comes between the two must not be told after what is missed by it.
    found = _changes_since(hub, last, purges)
    with hub.core.read() as reader:
        since = max(begun, hub.core.now() - _LATE)
        read = extraction.just_read(reader, hub.id, since)
        mark = _purge_mark(reader, hub.id)
        if mark != purges.mark and again.caller.stands(again.hub_name)[1].role is not None:
            # Receipts are for members, as where they are listed.
            receipts = hub.core.receipts(reader, hub.id)
            purged = receipts[purges.receipts :]
            purges = _Purges(mark, len(receipts))
    return found._replace(purges=purges, read=read, purged=purged)


def _changes_since(hub: HubMemory, last: str | None, purges: _Purges) -> _Found:
    """The changes after the last one that was seen, oldest first."""
    # Nearly always nothing is new: that costs one row.
    newest = _newest(hub)
    if newest == last:
        return _Found(last, purges)
    new = []
    for change in hub.changes(limit=_MISSED_MAX):
        if change.id == last:
            break
        new.append(change)
    else:
        if last is not None:
            # It is too long ago, was purged, or was never here.
            return _Found(newest, purges, missed=True)
    out = []
    with hub.core.read() as reader:
        for change in reversed(new):
            touched = reader.revisions_of(hub.id, change.id)
            rows = [{"id": one.memory_id, "version": one.version} for one in touched]
            out.append((plain_change(change), rows))
    return _Found(new[0].id if new else last, purges, out)


def _event(name: str, data: dict[str, Any], event_id: str = "") -> str:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
