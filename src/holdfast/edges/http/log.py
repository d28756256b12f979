"""The conversation log and observed turns over REST. Turns have no boundary of their own, so they
are for members of the hub and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from holdfast.api.hub import HubMemory
from holdfast.edges.http.bodies import body_of
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.shapes import (
    ArchivedOut,
    Many,
    MemoryOut,
    One,
    ResponseModel,
    TextOut,
    TurnOut,
)
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


@writes(router, "/log", One[TurnOut], status=201)
def log_turn(call: Calling, new: NewTurn) -> Any:
    """Logs what a user, an assistant or the system said."""
    return call.hub("write").log_turn(**new.model_dump())


@router.get("/log", response_model=Many[TurnOut])
def turns(
    call: Calling,
    limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 20,
    session: str | None = None,
    before: str | None = None,
) -> Any:
    """Turns, newest first; `before` is the id of the last one seen."""
    return data(call.hub_of_members().turns(limit, session, before))


@router.get("/log/search", response_model=Many[TurnOut])
def search_turns(
    call: Calling, q: str, limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10
) -> Any:
    """Turns that hold words of the query, best first."""
    return data(call.hub_of_members().search_turns(q, limit))


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


@writes(router, "/conversations", One[ArchivedOut], status=201)
def archive_conversation(call: Calling, what: Conversation) -> Any:
    """Keeps a conversation as a memory to find, and as a file beside the hub."""
    done = call.hub("write").archive_conversation(**what.model_dump())
    # Only the owner of the machine learns where its files are.
    path = done.path if call.caller.local else None
    return {"memory": done.memory, "path": path, "notes": done.notes}


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
    return data(call.hub_of_members().log_rules())


@router.get("/log/size", response_model=One[SizeOut])
def log_size(call: Calling) -> Any:
    """How large the log is, and how much room a year of the like would take."""
    return data(call.hub_of_members().log_size())


@writes(router, "/log/pause", One[RulesOut])
def pause_log(call: Calling, what: Pause) -> Any:
    """Logs no turn from now on, or until a time."""
    return call.hub("write").pause_log(what.until)


@writes(router, "/log/resume", One[RulesOut])
def resume_log(call: Calling) -> Any:
    """Logs turns again."""
    return call.hub("write").resume_log()


@writes(router, "/log/aside", One[RulesOut])
def set_log_aside(call: Calling, what: Aside) -> Any:
    """Keeps sessions and folders out of the log from now on, or takes that back."""
    return call.hub("write").set_log_aside(**what.model_dump())


@writes(router, "/log/forget", One[ForgottenOut])
def forget_turns(call: Calling, what: Forget) -> Any:
    """Forgets turns, and the memories that were made from them."""
    return call.hub("manage", lasting=True).forget_turns(**what.model_dump())


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


@writes(observing_router, "/observe", One[ObservedOut], status=201)
def observe_turn(call: Calling, new: NewObservation) -> Any:
    """Logs both sides of a turn; with `shadowJournal.enabled`, what is worth keeping is noted in
    the journal later."""
    return call.hub("write").observe_turn(**new.model_dump())


@writes(observing_router, "/flush", One[FlushedOut])
def flush(call: Calling, what: FlushedConversation) -> Any:
    """Before a compaction: the prompt for the agent, and what can be captured without it from the
    conversation given. The log is looked at only without keys, in a hub that is shared with nobody:
    it does not say who said what."""
    return call.hub("write", lasting=True).flush(what.messages, session=what.session)


@observing_router.get("/captured", response_model=Many[CapturedDayOut])
def captured(call: Calling, days: Annotated[int, Query(ge=1, le=KEPT_DAYS)] = 7) -> Any:
    """What automatic memory took in, left out, and why, by day, newest first; for members."""
    return data(call.hub_of_members().captured(days=days))
