"""What the agent sees: the block for its prompt, what is in it and what is not, and the
conversations it was part of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.edges.web.rendering import query_string
from holdfast.edges.web.visit import Visit, route
from holdfast.engine.context.styles import STYLES

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.responses import Response
    from starlette.routing import Route

    from holdfast.api.hub import HubMemory
    from holdfast.domain.records import Turn

_LEFT_OUT_MAX = 40
_TURNS_MAX = 500
_SESSIONS_MAX = 12
# In a hub with more memories, the block comes first and its explanation after it.
_EXPLAINED_AT_ONCE = 5_000
_BUDGET_MIN, _BUDGET_MAX = 200, 200_000


class Session(NamedTuple):
    """A conversation: its name, when it was last spoken in, and its newest turns in order."""

    name: str | None
    at: datetime
    turns: Sequence[Turn]


class Block(NamedTuple):
    """What a block is asked for with."""

    q: str
    style: str
    budget: int | None


def _asked(visit: Visit) -> Block:
    style = visit.query("style") if visit.query("style") in STYLES else "plain"
    given = visit.query("budget")
    budget = min(max(int(given[:9]), _BUDGET_MIN), _BUDGET_MAX) if given.isdigit() else None
    return Block(visit.query("q"), style, budget)


def _block(visit: Visit, hub: HubMemory, *, explain: bool) -> dict[str, Any]:
    """The block, and with `explain` what is in it and what is not, which takes long in a large
    hub."""
    asked = _asked(visit)
    question = asked.q or None
    values: dict[str, Any] = {"question": asked.q, "style": asked.style, "budget": asked.budget}
    values |= {"styles": tuple(STYLES), "built": None, "query": query_string(asked._asdict())}
    if not explain:
        text = hub.context(question, budget=asked.budget, style=asked.style)
        return values | {"text": text}
    built = hub.context(question, budget=asked.budget, style=asked.style, explain=True)
    return values | {
        "text": built.text,
        "built": built,
        "share": round(100 * built.used / built.budget, 1) if built.budget else 0,
        "left_out": built.left_out[:_LEFT_OUT_MAX],
        "more_left_out": max(len(built.left_out) - _LEFT_OUT_MAX, 0),
    }


def _sessions(visit: Visit, hub: HubMemory) -> list[Session]:
    if not visit.allows("read_log"):
        return []
    found: dict[str | None, list[Turn]] = {}
    for turn in hub.turns(limit=_TURNS_MAX):
        found.setdefault(turn.session, []).append(turn)
    made = [Session(name, turns[0].at, turns[::-1]) for name, turns in found.items()]
    return made[:_SESSIONS_MAX]


def _agent(visit: Visit) -> Response:
    hub = visit.hub()
    block = _block(visit, hub, explain=hub.info.numbers <= _EXPLAINED_AT_ONCE)
    values = {"tab": "agent", "sessions": _sessions(visit, hub), **block}
    return visit.page("agent.html", values)


def _block_alone(visit: Visit) -> Response:
    hub = visit.hub()
    explain = visit.has_query("explain") or hub.info.numbers <= _EXPLAINED_AT_ONCE
    return visit.fragment("_block.html", _block(visit, hub, explain=explain))


def _log(visit: Visit) -> Response:
    """One conversation, with the turn that was asked for in its place."""
    hub = visit.hub("read_log")
    session = visit.query("session") or None
    turns = hub.turns(limit=_TURNS_MAX, session=session)[::-1]
    if session is None:
        turns = [turn for turn in turns if turn.session is None]
    values = {"tab": "agent", "turns": turns, "chosen": visit.query("turn"), "session": session}
    return visit.page("log.html", values)


def routes() -> list[Route]:
    return [
        route("/h/{hub}/agent", _agent),
        route("/h/{hub}/block", _block_alone),
        route("/h/{hub}/log", _log),
    ]
