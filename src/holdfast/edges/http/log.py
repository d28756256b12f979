"""The conversation log and observed turns over REST. Turns have no boundary of their own, so they
are for members of the hub and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from holdfast.api.hub import HubMemory
from holdfast.domain.records import Turn
from holdfast.edges.http.call import Calling, data, writes
from holdfast.edges.http.operations import Routes, body_of
from holdfast.edges.http.shapes import One, TextOut, answer
from holdfast.files.conversation_archive import Archived

router = Routes(tags=["log"])

_TURNS_MAX = 500


class Conversation(
    body_of(HubMemory.archive_conversation)  # type: ignore[misc]
):
    """A conversation to archive: the given messages, or else the session's turns in the log."""


router.serves("POST", "/log", HubMemory.log_turn, body="NewTurn", status=201)
router.serves("GET", "/log", HubMemory.turns)


@router.get("/log/search", response_model=answer(list[Turn]))
def search_turns(
    call: Calling, q: str, limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10
) -> Any:
    """Finds turns that contain words of the query, best first."""
    return data(call.hub_of_members().search_turns(q, limit))


@router.get("/log/recovery", response_model=One[TextOut])
def recovery(
    call: Calling,
    turns: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10,
    chars: Annotated[int, Query(ge=1, le=1_000_000)] = 500,
    name: str = "Assistant",
    session: str | None = None,
) -> Any:
    """Returns a prompt that gives a new session the last turns of a lost one; empty if nothing is
    logged."""
    text = call.hub_of_members().recovery_prompt(turns, chars, name=name, session=session)
    return {"data": {"text": text}}


@writes(router, "/conversations", answer(Archived), status=201)
def archive_conversation(call: Calling, what: Conversation) -> Any:
    """Archives a conversation as a searchable memory and as a file of the hub."""
    return call.hub("write").archive_conversation(**what.model_dump())


router.serves("GET", "/log/speakers", HubMemory.speakers)
router.serves("GET", "/log/rules", HubMemory.log_rules)
router.serves("GET", "/log/size", HubMemory.log_size)
router.serves("POST", "/log/pause", HubMemory.pause_log, body="Pause")
router.serves("POST", "/log/resume", HubMemory.resume_log)
router.serves("POST", "/log/aside", HubMemory.set_log_aside, body="Aside")
router.serves(
    "POST",
    "/log/forget",
    HubMemory.forget_turns,
    body="Forget",
    dry_run=(bool, True),
)


observing_router = Routes(tags=["automatic memory"])


class NewObservation(
    body_of(HubMemory.observe_turn, without=("turn", "noted", "import_run"))  # type: ignore[misc]
):
    """One turn of a conversation: the user's message and the assistant's answer. The mode is
    current, cron, heartbeat or consolidation."""


observing_router.serves("POST", "/observe", HubMemory.observe_turn, body=NewObservation, status=201)
observing_router.serves("POST", "/flush", HubMemory.flush, body="FlushedConversation")
observing_router.serves("GET", "/captured", HubMemory.captured)
