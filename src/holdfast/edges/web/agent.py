"""What the agent sees: the block for its prompt, what is in it and what is not, and the
conversations it was part of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

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
_BUDGET_MIN, _BUDGET_MAX = 200, 200_000


class Session(NamedTuple):
    """A conversation: its name, when it was last spoken in, and its newest turns in order."""

    name: str | None
    at: datetime
    turns: Sequence[Turn]


def _block(visit: Visit, hub: HubMemory) -> dict[str, Any]:
    question = visit.query("q")
    style = visit.query("style") if visit.query("style") in STYLES else "plain"
    given = visit.query("budget")
    budget = min(max(int(given), _BUDGET_MIN), _BUDGET_MAX) if given.isdigit() else None
    built = hub.context(question or None, budget=budget, style=style, explain=True)
    return {
        "question": question,
        "style": style,
        "styles": tuple(STYLES),
        "budget": budget,
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
    values = {"tab": "agent", "sessions": _sessions(visit, hub), **_block(visit, hub)}
    return visit.page("agent.html", values)


def _block_alone(visit: Visit) -> Response:
    return visit.fragment("_block.html", _block(visit, visit.hub()))


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
