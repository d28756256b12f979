"""What became of a turn that memory was shown, of a flush, and of what a pass proposed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.turn import Turn

# What kind of turn it is: a real conversation, or something that runs by itself.
Mode: TypeAlias = Literal["current", "cron", "heartbeat", "consolidation"]
MODES: tuple[Mode, ...] = get_args(Mode)


class Observed(NamedTuple):
    """The turns that were logged, and whether a pass will look at them; `reason` says why not."""

    turns: tuple[Turn, ...] = ()
    queued: bool = False
    reason: str = ""
    # How many older turns had to leave a full queue for this one.
    dropped: int = 0


class Noted(NamedTuple):
    """One thing a pass came across: what became of it, why, and its first words."""

    outcome: str
    reason: str = ""
    text: str = ""


class CapturedDay(NamedTuple):
    """One UTC day of automatic memory: how often each outcome came, why, and the newest of those
    that were not simply stored, newest last."""

    day: str
    outcomes: Mapping[str, int] = {}
    reasons: Mapping[str, int] = {}
    last: tuple[tuple[datetime, Noted], ...] = ()


class Flushed(NamedTuple):
    """The prompt for the agent, and what was captured without it. `left_out` counts turns that were
    too many to look at; `note` says in words what was not looked at, and what to do about it."""

    prompt: str
    turns: int = 0
    noted: tuple[Noted, ...] = ()
    left_out: int = 0
    note: str = ""
