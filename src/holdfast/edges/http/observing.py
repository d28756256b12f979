"""Automatic memory over REST: a turn is shown, a flush is asked for, and what became of it all is
told. What was said has no boundary of its own, so counts are for members of the hub."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.domain.results import CapturedDay, Flushed, Noted, Observed
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.shapes import Many, One, Told, TurnOut
from holdfast.engine.upkeep.capture_stats import KEPT_DAYS

router = APIRouter(tags=["automatic memory"])


class NewObservation(Body):
    """One turn of a conversation: what the user said and what the assistant answered. The mode is
    current, cron, heartbeat or consolidation."""

    user: str
    assistant: str
    mode: str = "current"
    session: str | None = None
    source: str = "unknown"
    at: str | None = None


class ObservedOut(Told):
    """The turns that were logged, and whether a pass will look at them; `reason` says why not."""

    turns: list[TurnOut]
    queued: bool
    reason: str
    dropped: int


class NotedOut(Told):
    """What became of one thing: stored, mentioned, superseded, held, dropped …, and why."""

    outcome: str
    reason: str
    text: str


class Conversation(Body):
    """A conversation to capture from, as messages with role and content or as a transcript; without
    one, the log is looked at."""

    messages: list[Any] | str | None = None
    session: str | None = None


class FlushedOut(Told):
    """The prompt for the agent, how many turns were looked at, and what was captured. `left_out`
    counts older turns that were too many; `note` says what was not looked at, and what to do."""

    prompt: str
    turns: int
    noted: list[NotedOut]
    left_out: int
    note: str


class LastOut(NotedOut):
    at: str


class CapturedDayOut(Told):
    """One UTC day: how often each outcome came, why, and the newest of them."""

    day: str
    outcomes: dict[str, int]
    reasons: dict[str, int]
    last: list[LastOut]


@router.post("/observe", status_code=201, response_model=One[ObservedOut])
def observe_turn(
    call: Calling, new: NewObservation, response: Response, key: IdempotencyKey = None
) -> Any:
    """Logs both sides of a turn; with `shadowJournal.enabled`, what is worth keeping is noted in
    the journal later."""

    def work() -> tuple[int, Any]:
        return 201, {"data": _observed(call.hub("write").observe_turn(**new.model_dump()))}

    return once(call, key, new, response, work)


@router.post("/flush", response_model=One[FlushedOut])
def flush(call: Calling, what: Conversation, response: Response, key: IdempotencyKey = None) -> Any:
    """Before a compaction: the prompt for the agent, and what can be captured without it from the
    conversation given. The log is looked at only without keys, in a hub that is shared with nobody:
    it does not say who said what."""

    def work() -> tuple[int, Any]:
        done = call.hub("write", lasting=True).flush(what.messages, session=what.session)
        return 200, {"data": _flushed(done)}

    return once(call, key, what, response, work)


@router.get("/captured", response_model=Many[CapturedDayOut])
def captured(call: Calling, days: Annotated[int, Query(ge=1, le=KEPT_DAYS)] = 7) -> Any:
    """What automatic memory took in, left out, and why, by day, newest first; for members."""
    return {"data": [_day(one) for one in call.hub_of_members().captured(days=days)]}


def _observed(seen: Observed) -> dict[str, Any]:
    turns = [{**turn._asdict(), "at": turn.at.isoformat()} for turn in seen.turns]
    return {**seen._asdict(), "turns": turns}


def _flushed(done: Flushed) -> dict[str, Any]:
    return {**done._asdict(), "noted": [_noted(one) for one in done.noted]}


def _noted(one: Noted) -> dict[str, Any]:
    return one._asdict()


def _day(day: CapturedDay) -> dict[str, Any]:
    last = [{"at": at.isoformat(), **_noted(one)} for at, one in day.last]
    return {**day._asdict(), "last": last}
