"""The conversation log and observed turns over REST. Turns have no boundary of their own, so they
are for members of the hub and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.domain.results import CapturedDay, Flushed, Noted, Observed
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory, plain_turn
from holdfast.edges.http.shapes import ArchivedOut, Many, One, ResponseModel, TextOut, TurnOut
from holdfast.engine.upkeep.capture_stats import KEPT_DAYS

router = APIRouter(tags=["log"])

_TURNS_MAX = 500


class NewTurn(Body):
    """What was said, and by whom: user, assistant or system."""

    role: str
    content: str
    source: str = "unknown"
    session: str | None = None
    at: str | None = None
    speaker: str | None = None
    trust: str | None = None


class Conversation(Body):
    """A conversation to be kept: the messages given, else what the log has of the session."""

    session: str
    messages: list[Any] | None = None
    name: str | None = None
    at: str | None = None


@router.post("/log", status_code=201, response_model=One[TurnOut])
def log_turn(call: Calling, new: NewTurn, response: Response, key: IdempotencyKey = None) -> Any:
    """Logs what a user, an assistant or the system said."""

    def work() -> tuple[int, Any]:
        return 201, {"data": plain_turn(call.hub("write").log_turn(**new.model_dump()))}

    return once(call, key, new, response, work)


@router.get("/log", response_model=Many[TurnOut])
def turns(
    call: Calling,
    limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 20,
    session: str | None = None,
    before: str | None = None,
) -> Any:
    """Turns, newest first; `before` is the id of the last one seen."""
    found = call.hub_of_members().turns(limit, session, before)
    return {"data": [plain_turn(turn) for turn in found]}


@router.get("/log/search", response_model=Many[TurnOut])
def search_turns(
    call: Calling, q: str, limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10
) -> Any:
    """Turns that hold words of the query, best first."""
    return {"data": [plain_turn(turn) for turn in call.hub_of_members().search_turns(q, limit)]}


@router.get("/log/recovery", response_model=One[TextOut])
def recovery(
    call: Calling,
    turns: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10,
    chars: Annotated[int, Query(ge=1, le=1_000_000)] = 500,
    name: str = "Assistant",
    session: str | None = None,
) -> Any:
    """What to tell a new session of the one that was lost; empty where the log is."""
    text = call.hub_of_members().recovery_prompt(turns, chars, name=name, session=session)
    return {"data": {"text": text}}


@router.post("/conversations", status_code=201, response_model=One[ArchivedOut])
def archive_conversation(
    call: Calling, what: Conversation, response: Response, key: IdempotencyKey = None
) -> Any:
    """Keeps a conversation as a memory to find, and as a file beside the hub."""

    def work() -> tuple[int, Any]:
        hub = call.hub("write")
        done = hub.archive_conversation(
            what.session, messages=what.messages, name=what.name, at=what.at
        )
        memory = None if done.memory is None else plain_memory(done.memory)
        # Where files lie on the server is told to who has the machine.
        path = done.path if call.caller.local else None
        return 201, {"data": {"memory": memory, "path": path, "notes": list(done.notes)}}

    return once(call, key, what, response, work)


observing_router = APIRouter(tags=["automatic memory"])


class NewObservation(Body):
    """One turn of a conversation: what the user said and what the assistant answered. The mode is
    current, cron, heartbeat or consolidation."""

    user: str
    assistant: str
    mode: str = "current"
    session: str | None = None
    source: str = "unknown"
    at: str | None = None
    speaker: str | None = None
    trust: str | None = None


class ObservedOut(ResponseModel):
    """The turns that were logged, and whether a pass will look at them; `reason` says why not."""

    turns: list[TurnOut]
    queued: bool
    reason: str
    dropped: int


class NotedOut(ResponseModel):
    """What became of one thing: stored, mentioned, superseded, held, dropped …, and why."""

    outcome: str
    reason: str
    text: str


class FlushedConversation(Body):
    """A conversation to capture from, as messages with role and content or as a transcript; without
    one, the log is looked at."""

    messages: list[Any] | str | None = None
    session: str | None = None


class FlushedOut(ResponseModel):
    """The prompt for the agent, how many turns were looked at, and what was captured. `left_out`
    counts older turns that were too many; `note` says what was not looked at, and what to do."""

    prompt: str
    turns: int
    noted: list[NotedOut]
    left_out: int
    note: str


class LastOut(NotedOut):
    at: str


class CapturedDayOut(ResponseModel):
    """One UTC day: how often each outcome came, why, and the newest of them."""

    day: str
    outcomes: dict[str, int]
    reasons: dict[str, int]
    last: list[LastOut]


@observing_router.post("/observe", status_code=201, response_model=One[ObservedOut])
def observe_turn(
    call: Calling, new: NewObservation, response: Response, key: IdempotencyKey = None
) -> Any:
    """Logs both sides of a turn; with `shadowJournal.enabled`, what is worth keeping is noted in
    the journal later."""

    def work() -> tuple[int, Any]:
        return 201, {"data": _observed(call.hub("write").observe_turn(**new.model_dump()))}

    return once(call, key, new, response, work)


@observing_router.post("/flush", response_model=One[FlushedOut])
def flush(
    call: Calling, what: FlushedConversation, response: Response, key: IdempotencyKey = None
) -> Any:
    """Before a compaction: the prompt for the agent, and what can be captured without it from the
    conversation given. The log is looked at only without keys, in a hub that is shared with nobody:
    it does not say who said what."""

    def work() -> tuple[int, Any]:
        done = call.hub("write", lasting=True).flush(what.messages, session=what.session)
        return 200, {"data": _flushed(done)}

    return once(call, key, what, response, work)


@observing_router.get("/captured", response_model=Many[CapturedDayOut])
def captured(call: Calling, days: Annotated[int, Query(ge=1, le=KEPT_DAYS)] = 7) -> Any:
    """What automatic memory took in, left out, and why, by day, newest first; for members."""
    return {"data": [_day(one) for one in call.hub_of_members().captured(days=days)]}


def _observed(seen: Observed) -> dict[str, Any]:
    return {**seen._asdict(), "turns": [plain_turn(turn) for turn in seen.turns]}


def _flushed(done: Flushed) -> dict[str, Any]:
    return {**done._asdict(), "noted": [_noted(one) for one in done.noted]}


def _noted(one: Noted) -> dict[str, Any]:
    return one._asdict()


def _day(day: CapturedDay) -> dict[str, Any]:
    last = [{"at": at.isoformat(), **_noted(one)} for at, one in day.last]
    return {**day._asdict(), "last": last}
