"""What the agent sees: the context block for its prompt, what is in it and what is not, and its
conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.domain.clock import from_text
from holdfast.domain.records import is_own_word
from holdfast.edges.hooks.event import CLIENTS
from holdfast.edges.hooks.state_files import states_of
from holdfast.edges.web.rendering import query_string
from holdfast.edges.web.visit import Visit, route
from holdfast.engine.context.styles import STYLES
from holdfast.engine.log.turns import turns_without_session
from holdfast.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from starlette.responses import Response

    from holdfast.api.hub import HubMemory
    from holdfast.domain.records import Turn

_LEFT_OUT_MAX = 40
_TURNS_MAX = 500
_SESSIONS_MAX = 12
_GIVEN_MAX = 500
_TITLE_CHARS_MAX = 120
# In a hub with more memories, the block comes first and its explanation after it.
_EXPLAINED_AT_ONCE = 5_000
_BUDGET_MIN, _BUDGET_MAX = 200, 200_000


class Session(NamedTuple):
    """A conversation on the agent's web page: its name, the time of its last turn, and its newest
    turns in order."""

    name: str | None
    at: datetime
    turns: Sequence[Turn]

    @property
    def title(self) -> str:
        """The person's first message on one line; empty if only others spoke."""
        said = next((turn.content for turn in self.turns if is_own_word(turn)), "")
        line = " ".join(said[: 4 * _TITLE_CHARS_MAX].split())
        return line if len(line) <= _TITLE_CHARS_MAX else line[:_TITLE_CHARS_MAX] + "…"


class Given(NamedTuple):
    """A memory that was added to a conversation: its name there, its present title, why it was
    given, and its hub and number for a link; the number is 0 if it no longer exists."""

    named: str
    title: str
    why: str
    hub: str
    number: int


class Prompt(NamedTuple):
    """A turn of a conversation on the agent's web page, and what was given to the agent with it."""

    turn: Turn
    given: Sequence[Given]


class BlockForm(NamedTuple):
    """The form of a block on the agent's web page: question, style and budget."""

    q: str
    style: str
    budget: int | None


def _asked(visit: Visit) -> BlockForm:
    style = visit.query("style") if visit.query("style") in STYLES else "plain"
    given = visit.query("budget")
    budget = min(max(int(given[:9]), _BUDGET_MIN), _BUDGET_MAX) if given.isdigit() else None
    return BlockForm(visit.query("q"), style, budget)


def _block(visit: Visit, hub: HubMemory, *, explain: bool) -> dict[str, Any]:
    """The block, and with `explain` what is in it and what is not, which is slow in a large
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
    """One conversation; the page scrolls to the chosen turn."""
    hub = visit.hub("read_log")
    session = visit.query("session") or None
    if session is None:
        turns = turns_without_session(hub.scope, limit=_TURNS_MAX)[::-1]
    else:
        turns = hub.turns(limit=_TURNS_MAX, session=session)[::-1]
    prompts = _with_given(turns, _given(visit, hub, session) if session else [])
    values = {"tab": "agent", "prompts": prompts, "chosen": visit.query("turn")}
    return visit.page("log.html", values | {"session": session})


# What was given to a session


def _given(visit: Visit, hub: HubMemory, session: str) -> list[tuple[datetime, Given]]:
    """What hooks or the proxy added to a session, oldest first. The files of a session belong to
    the machine, so they are shown to the owner of the machine only."""
    if not visit.caller.local:
        return []
    found = []
    for state in states_of(visit.memory.home, session, (*CLIENTS, "proxy")):
        if state.body["hub"] == hub.name:
            rows = state.body["injected"][-_GIVEN_MAX:]
            found += [(from_text(row["at"]), _as_given(visit, row)) for row in rows]
    return sorted(found, key=lambda one: one[0])


def _as_given(visit: Visit, row: dict[str, Any]) -> Given:
    try:
        memory = visit.memory.hub(row["hub"]).get(row["id"])
    except NotFound:
        # A turn of the log, or a memory that was forgotten.
        return Given(row["named"], "", row["why"], row["hub"], 0)
    title = " ".join(memory.title.split())[:_TITLE_CHARS_MAX]
    return Given(row["named"], title, row["why"], row["hub"], memory.number)


def _with_given(turns: Sequence[Turn], given: list[tuple[datetime, Given]]) -> list[Prompt]:
    """Each turn with what was given since the user's turn before it: a prompt is logged after it
    was given something."""
    prompts, left = [], list(given)
    for turn in turns:
        now: list[Given] = []
        if turn.role == "user" and turn.trust == "user":
            now = [one for at, one in left if at <= turn.at]
            left = [(at, one) for at, one in left if at > turn.at]
        prompts.append(Prompt(turn, now))
    return prompts


ROUTES = [
    route("/h/{hub}/agent", _agent),
    route("/h/{hub}/block", _block_alone),
    route("/h/{hub}/log", _log),
]
