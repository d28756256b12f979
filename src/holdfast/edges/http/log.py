"""The conversation log over REST: turns in, turns out, the prompt after a lost session, and an
archive of a conversation. Turns have no boundary of their own, so they are for members of the hub
and not for those who see only what is shared beyond it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from holdfast.domain.records import Turn
from holdfast.edges.http.bodies import Body
from holdfast.edges.http.call import Calling
from holdfast.edges.http.once import IdempotencyKey, once
from holdfast.edges.http.plain import plain_memory
from holdfast.edges.http.shapes import ArchivedOut, Many, One, TextOut, TurnOut

router = APIRouter(tags=["log"])

_TURNS_MAX = 500


class NewTurn(Body):
    """What was said, and by whom: user, assistant or system."""

    role: str
    content: str
    source: str = "unknown"
    session: str | None = None
    at: str | None = None


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
        return 201, {"data": _plain(call.hub("write").log_turn(**new.model_dump()))}

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
    return {"data": [_plain(turn) for turn in found]}


@router.get("/log/search", response_model=Many[TurnOut])
def search_turns(
    call: Calling, q: str, limit: Annotated[int, Query(ge=1, le=_TURNS_MAX)] = 10
) -> Any:
    """Turns that hold words of the query, best first."""
    return {"data": [_plain(turn) for turn in call.hub_of_members().search_turns(q, limit)]}


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


def _plain(turn: Turn) -> dict[str, Any]:
    return {**turn._asdict(), "at": turn.at.isoformat()}
