"""Change sets over REST: listing, their memories, and undo; receipts of purges, and the export of a
hub; and the changes as a stream of events. For the stream the store is polled twice a second,
because all processes write to it: a change made by the command line is an event too. Each listener
gets the events that the caller may see, and revoking a key ends its streams."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from holdfast.api.hub import HubMemory
from holdfast.domain.memory import Memory
from holdfast.edges.http.answers import Refused
from holdfast.edges.http.call import Call, Calling
from holdfast.edges.http.client_identity import stream_lines
from holdfast.edges.http.operations import Body, Routes
from holdfast.edges.to_json import to_json
from holdfast.engine import change_feed
from holdfast.engine.change_feed import News, Purges
from holdfast.errors import HoldfastError, StoreClosed, StoreError

router = Routes(tags=["changes"])


router.serves("GET", "/changes", HubMemory.changes)


class Changes(Body):
    """Change sets, by id."""

    changes: list[str] = Field(max_length=200)


router.serves(
    "POST",
    "/changes/touched",
    HubMemory.touched,
    body=Changes,
    about="Lists the memories that each change set touched, as they are now.",
)
router.serves("POST", "/undo", HubMemory.undo, body="Undo")
router.serves("GET", "/receipts", HubMemory.receipts)


@router.get("/export", response_class=StreamingResponse)
def export(call: Calling) -> StreamingResponse:
    """Exports the part of the hub that the caller may see, as lines of JSON; for its members."""
    return stream_lines(call.request, call.hub_of_members(lasting=True).export())


events_router = APIRouter(tags=["events"])

_EVERY_S = 0.5
# Sent when nothing happens, so that proxies keep the stream open and a dead client is detected.
_HEARTBEAT_S = 15.0
_LISTENERS_MAX = 100
# The most listeners of one person, who has some windows and agents open; more would use up the
# places of others.
_LISTENERS_EACH = 20


@events_router.get("/events", response_class=StreamingResponse)
async def events(
    call: Calling, last_event_id: Annotated[str | None, Header(alias="Last-Event-ID")] = None
) -> StreamingResponse:
    """Streams the changes of a hub from now on, or since the last event received. `change` has a
    change set and the memories it touched; `text` has memories that got the text of a file or page;
    `purge` lists for members what was removed permanently; `missed` asks the client to fetch
    everything again; `end` closes the stream."""
    state = call.request.app.state
    hub = await run_in_threadpool(call.hub)
    listeners: Counter[str] = state.listeners
    if listeners.total() >= _LISTENERS_MAX or listeners[call.caller.actor] >= _LISTENERS_EACH:
        raise Refused(503, "overloaded", "Too many listen already.", headers={"Retry-After": "30"})
    last = last_event_id or await run_in_threadpool(change_feed.newest, _changes_of(hub))
    purges = await run_in_threadpool(change_feed.purges_before, hub.scope, last_event_id)
    return StreamingResponse(
        _stream(call, last, purges),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _stream(call: Call, last: str | None, purges: Purges) -> AsyncIterator[str]:
    """The lines of the stream of events, until the server stops or the caller loses access."""
    state = call.request.app.state
    who = call.caller.actor
    state.listeners[who] += 1
    quiet = 0.0
    begun = call.memory.core.now()
    sent: set[tuple[str, int]] = set()
    try:
        yield ": listening\n\n"
        while not state.stopping.is_set():
            try:
                found = await run_in_threadpool(_since, call, last, begun, purges)
            except HoldfastError as error:
                if isinstance(error, StoreError) and not isinstance(error, StoreClosed):
                    # The store is unreachable or busy for a moment: it is polled again.
                    found = News(last, purges)
                else:
                    # The key was revoked, the role removed, or the hub deleted.
                    yield _event("end", {})
                    return
            for event in _events_of(found):
                yield event
            new = [one for one in found.read if (one.id, one.version) not in sent]
            sent = {(one.id, one.version) for one in found.read}
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


def _events_of(found: News) -> Iterator[str]:
    if found.purged:
        # First, because the last sent change may be purged too, and then more is missed.
        yield _event("purge", {"receipts": to_json(found.purged)})
    if found.missed:
        yield _event("missed", {}, found.last or "")
    for change, memories in found.changes:
        touched = [{"id": one, "version": version} for one, version in memories]
        what = {"change": to_json(change), "memories": touched}
        yield _event("change", what, change.id)


def _plain_read(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "version": memory.version,
        "state": memory.state,
        "state_reason": memory.state_reason,
    }


def _since(call: Call, last: str | None, begun: datetime, purges: Purges) -> News:
    """The events since the last change sent, as the caller sees them now."""
    again = Call(call.request, call.memory, key_needed=call.key_needed)
    _, standing = again.caller.hub_standing(again.hub_name)
    hub = again.hub()

    def is_member() -> bool:
        return standing.role is not None

    news = change_feed.news_since(
        hub.scope, _changes_of(hub), last, purges, begun=begun, is_member=is_member
    )
    if news == News(last, purges):
        return news
    # If a role or a key was removed during the read, nothing of it is sent.
    later = Call(call.request, call.memory, key_needed=call.key_needed)
    _, standing_later = later.caller.hub_standing(later.hub_name)
    return news if standing_later == standing else News(last, purges)


def _changes_of(hub: HubMemory) -> change_feed.Newest:
    return lambda limit: hub.changes(limit=limit)


def _event(name: str, data: dict[str, Any], event_id: str = "") -> str:
    head = f"id: {event_id}\n" if event_id else ""
    return f"{head}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
