"""What operations return: the outcomes of `remember`, of an observed turn, a flush, a proposal, and
the cost of language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.memory import Memory
from holdfast.domain.records import Turn


class Stored(NamedTuple):
    """It is new, and it is in. `close_to` is an older memory that it may be meant to replace:
    `remember(..., supersedes=...)` does that."""

    memory: Memory
    change: str
    close_to: Memory | None = None

    def __str__(self) -> str:
        return f"Stored {self.memory}"


class Updated(NamedTuple):
    """A memory with this key or source path was there; this is its new version."""

    memory: Memory
    change: str
    previous: Memory

    def __str__(self) -> str:
        return f"Updated {self.memory}"


class Duplicate(NamedTuple):
    """The same content was there already; nothing was written."""

    memory: Memory

    def __str__(self) -> str:
        return f"Known already: {self.memory}"


class Superseded(NamedTuple):
    """It is in, and an older memory now says that this one took its place."""

    memory: Memory
    change: str
    previous: Memory

    def __str__(self) -> str:
        return f"Stored {self.memory}: takes the place of #{self.previous.number}"


class Quarantined(NamedTuple):
    """It is stored, but hidden until a person approves it; `reason` says why."""

    memory: Memory
    change: str
    reason: str

    def __str__(self) -> str:
        return f"Held for review: {self.memory} ({self.reason})"


Remembered: TypeAlias = Stored | Updated | Duplicate | Superseded | Quarantined


class LifecycleMove(NamedTuple):
    """One step the lifecycle rules take, or would take."""

    memory: Memory
    to: str
    reason: str


class LifecycleMoves(list[LifecycleMove]):
    """The moves of a run, by number, and the change set that `undo` takes back; None where nothing
    moved, and for a dry run."""

    def __init__(self, moves: Iterable[LifecycleMove] = (), change: str | None = None) -> None:
        super().__init__(moves)
        self.change = change


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


class LogRules(NamedTuple):
    """What of a hub is not logged: everything while it is `paused` (`until` a time, or until it is
    resumed), `sessions` by name or pattern, and `folders` with all that is below them."""

    paused: bool = False
    until: datetime | None = None
    sessions: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class LogSize(NamedTuple):
    """How large the conversation log of a hub is: its turns, the bytes of their text, about how
    many bytes that takes in the store with index and vectors, when the first and the last were
    said, and how many bytes a year of the like would take in the store."""

    turns: int = 0
    text_bytes: int = 0
    store_bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    year_bytes: int = 0


class ForgottenTurns(NamedTuple):
    """What was forgotten, or would be in a dry run: how many turns, the newest of them, and the
    memories that were made from them or are about the same word."""

    total: int
    turns: tuple[Turn, ...] = ()
    memories: tuple[Memory, ...] = ()
    dry_run: bool = False


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

    def reasons_of(self, outcome: str) -> dict[str, int]:
        """How often an outcome came for each reason. Keys of `reasons` are `outcome: reason`."""
        keys = ((key.partition(": "), count) for key, count in self.reasons.items())
        return {reason: count for (name, _, reason), count in keys if name == outcome}


class Flushed(NamedTuple):
    """The prompt for the agent, and what was captured without it. `left_out` counts turns that were
    too many to look at; `note` says in words what was not looked at, and what to do about it."""

    prompt: str
    turns: int = 0
    noted: tuple[Noted, ...] = ()
    left_out: int = 0
    note: str = ""


class UsageRow(NamedTuple):
    """What one pass spent with one model on one UTC day. Tokens are as the server counted them, or
    a guess where it counts nothing; `failed` is how often nothing usable came of asking."""

    day: date
    work: str
    model: str
    requests: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
