"""The conversation log and observed turns over REST. Turns have no boundary of their own, so they
are for members of the hub and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from holdfast.api.hub import HubMemory
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.operations import Routes, body_of
from holdfast.edges.http.shapes import (
    ArchivedOut,
    Many,
    MemoryOut,
    One,
    ResponseModel,
    TextOut,
    TurnOut,
)

router = Routes(tags=["log"])

_TURNS_MAX = 500


class Conversation(
    body_of(HubMemory.archive_conversation)  # type: ignore[misc]
):
    """A conversation to archive: the messages given, else what the log has of the session."""


router.serves("POST", "/log", HubMemory.log_turn, One[TurnOut], body="NewTurn", status=201)
router.serves("GET", "/log", HubMemory.turns, Many[TurnOut])


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


class ForgottenOut(ResponseModel):
    """How many turns, the newest of them, and the memories that were made from them."""

    total: int
    turns: list[TurnOut]
    memories: list[MemoryOut]
    dry_run: bool


router.serves("GET", "/log/rules", HubMemory.log_rules, One[RulesOut])
router.serves("GET", "/log/size", HubMemory.log_size, One[SizeOut])
router.serves("POST", "/log/pause", HubMemory.pause_log, One[RulesOut], body="Pause")
router.serves("POST", "/log/resume", HubMemory.resume_log, One[RulesOut])
router.serves("POST", "/log/aside", HubMemory.set_log_aside, One[RulesOut], body="Aside")
router.serves(
    "POST",
    "/log/forget",
    HubMemory.forget_turns,
    One[ForgottenOut],
    body="Forget",
    dry_run=(bool, True),
)


observing_router = Routes(tags=["automatic memory"])


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


observing_router.serves(
    "POST", "/observe", HubMemory.observe_turn, One[ObservedOut], body=NewObservation, status=201
)
observing_router.serves(
    "POST", "/flush", HubMemory.flush, One[FlushedOut], body="FlushedConversation"
)
observing_router.serves("GET", "/captured", HubMemory.captured, Many[CapturedDayOut])
