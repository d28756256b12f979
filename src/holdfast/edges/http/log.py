"""The conversation log and observed turns over REST. Turns have no boundary of their own, so they
are for members of the hub and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.api.hub import HubMemory
from holdfast.domain.results import CapturedDay, Flushed, LogRules, Noted, Observed
from holdfast.edges.http.bodies import body_of
from holdfast.edges.http.call import Calling
from holdfast.edges.http.idempotency import IdempotencyKey, once
from holdfast.edges.http.shapes import (
    ArchivedOut,
    Many,
    MemoryOut,
    One,
    ResponseModel,
    TextOut,
    TurnOut,
)
from holdfast.edges.http.to_json import plain_memory, plain_turn
from holdfast.engine.upkeep.capture_stats import KEPT_DAYS

router = APIRouter(tags=["log"])

_TURNS_MAX = 500


class NewTurn(
    body_of(HubMemory.log_turn)  # type: ignore[misc]
):
    """What was said, and by whom: user, assistant or system."""


class Conversation(
    body_of(HubMemory.archive_conversation)  # type: ignore[misc]
):
    """A conversation to archive: the messages given, else what the log has of the session."""


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
        # Only the owner of the machine learns where its files are.
        path = done.path if call.caller.local else None
        return 201, {"data": {"memory": memory, "path": path, "notes": list(done.notes)}}

    return once(call, key, what, response, work)


class RulesOut(ResponseModel):
    """What is not logged."""

    paused: bool
    until: str | None
    sessions: list[str]
    folders: list[str]


class SizeOut(ResponseModel):
    """How large the log is, about what it takes in the store, and what a year of it would."""

    turns: int
    text_bytes: int
    store_bytes: int
    oldest: str | None
    newest: str | None
    year_bytes: int


class Pause(
    body_of(HubMemory.pause_log)  # type: ignore[misc]
):
    """Until when nothing is logged; none: until it is resumed."""


class Aside(
    body_of(HubMemory.set_log_aside)  # type: ignore[misc]
):
    """Sessions (by name, or a pattern with `*`) and folders that are not logged."""


class Forget(
    body_of(HubMemory.forget_turns, fields={"dry_run": (bool, True)})  # type: ignore[misc]
):
    """Which turns: all conditions have to be met. A dry run, which is the default, changes
    nothing."""


class ForgottenOut(ResponseModel):
    """How many turns, the newest of them, and the memories that were made from them."""

    total: int
    turns: list[TurnOut]
    memories: list[MemoryOut]
    dry_run: bool


@router.get("/log/rules", response_model=One[RulesOut])
def log_rules(call: Calling) -> Any:
    """What is not logged: whether the log is paused, and what is set aside."""
    return {"data": _rules(call.hub_of_members().log_rules())}


@router.get("/log/size", response_model=One[SizeOut])
def log_size(call: Calling) -> Any:
    """How large the log is, and how much room a year of the like would take."""
    size = call.hub_of_members().log_size()
    times = {
        name: None if at is None else at.isoformat()
        for name, at in (("oldest", size.oldest), ("newest", size.newest))
    }
    return {"data": {**size._asdict(), **times}}


@router.post("/log/pause", response_model=One[RulesOut])
def pause_log(call: Calling, what: Pause, response: Response, key: IdempotencyKey = None) -> Any:
    """Logs no turn from now on, or until a time."""

    def work() -> tuple[int, Any]:
        return 200, {"data": _rules(call.hub("write").pause_log(what.until))}

    return once(call, key, what, response, work)


@router.post("/log/resume", response_model=One[RulesOut])
def resume_log(call: Calling, response: Response, key: IdempotencyKey = None) -> Any:
    """Logs turns again."""

    def work() -> tuple[int, Any]:
        return 200, {"data": _rules(call.hub("write").resume_log())}

    return once(call, key, Pause(), response, work)


@router.post("/log/aside", response_model=One[RulesOut])
def set_log_aside(
    call: Calling, what: Aside, response: Response, key: IdempotencyKey = None
) -> Any:
    """Keeps sessions and folders out of the log from now on, or takes that back."""

    def work() -> tuple[int, Any]:
        return 200, {"data": _rules(call.hub("write").set_log_aside(**what.model_dump()))}

    return once(call, key, what, response, work)


@router.post("/log/forget", response_model=One[ForgottenOut])
def forget_turns(
    call: Calling, what: Forget, response: Response, key: IdempotencyKey = None
) -> Any:
    """Forgets turns, and the memories that were made from them."""

    def work() -> tuple[int, Any]:
        done = call.hub("manage", lasting=True).forget_turns(**what.model_dump())
        data = {
            "total": done.total,
            "turns": [plain_turn(turn) for turn in done.turns],
            "memories": [plain_memory(memory) for memory in done.memories],
            "dry_run": done.dry_run,
        }
        return 200, {"data": data}

    return once(call, key, what, response, work)


def _rules(rules: LogRules) -> dict[str, Any]:
    until = None if rules.until is None else rules.until.isoformat()
    return {**rules._asdict(), "until": until}


observing_router = APIRouter(tags=["automatic memory"])


class NewObservation(
    body_of(HubMemory.observe_turn, without=("turn", "noted", "import_run"))  # type: ignore[misc]
):
    """One turn of a conversation: what the user said and what the assistant answered. The mode is
    current, cron, heartbeat or consolidation."""


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


class FlushedConversation(
    body_of(HubMemory.flush)  # type: ignore[misc]
):
    """A conversation to capture from, as messages with role and content or as a transcript; without
    one, the log is looked at."""


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
