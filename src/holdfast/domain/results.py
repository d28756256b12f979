"""The results of operations besides memories, and what waits for a person: memories held for
review, and questions that an agent asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, get_args

from holdfast.domain.memory import AWAITS, Memory
from holdfast.domain.query import SHOWN_STATES
from holdfast.domain.records import Turn
from holdfast.system.named_tuple import NamedTuple


class Stored(NamedTuple):
    """The result of remembering where it is new. `close_to` is an older memory that it may be meant
    to replace: `remember(..., supersedes=...)` does that."""

    memory: Memory
    change: str
    close_to: Memory | None = None

    def __str__(self) -> str:
        return f"Stored {self.memory}"


class Updated(NamedTuple):
    """The result of remembering where a memory with this key or source path was there; this is its
    new version."""

    memory: Memory
    change: str
    previous: Memory

    def __str__(self) -> str:
        return f"Updated {self.memory}"


class Duplicate(NamedTuple):
    """The result of remembering where the same content was there already; nothing was written."""

    memory: Memory

    def __str__(self) -> str:
        return f"Known already: {self.memory}"


class Superseded(NamedTuple):
    """The result of remembering where it was stored and an older memory is marked as replaced by
    it."""

    memory: Memory
    change: str
    previous: Memory

    def __str__(self) -> str:
        return f"Stored {self.memory}: takes the place of #{self.previous.number}"


class Quarantined(NamedTuple):
    """The result of remembering where it was stored, but is hidden until a person approves it;
    `reason` says why."""

    memory: Memory
    change: str
    reason: str

    def __str__(self) -> str:
        return f"Held for review: {self.memory} ({self.reason})"


Remembered: TypeAlias = Stored | Updated | Duplicate | Superseded | Quarantined


class LifecycleMove(NamedTuple):
    """One memory, the state that it moved to, and why."""

    memory: Memory
    to: str
    reason: str


class LifecycleMoves(list[LifecycleMove]):
    """The result of a run of the lifecycle: its moves, by number, and the change set that `undo`
    takes back; None if nothing moved, and for a dry run."""

    def __init__(self, moves: Iterable[LifecycleMove] = (), change: str | None = None) -> None:
        super().__init__(moves)
        self.change = change


# What kind of turn it is: a real conversation, or something that runs by itself.
Mode: TypeAlias = Literal["current", "cron", "heartbeat", "consolidation"]
MODES: tuple[Mode, ...] = get_args(Mode)


class Observed(NamedTuple):
    """The result of observing a turn: the turns that were logged, and whether a pass will look at
    them; `reason` says why not."""

    turns: tuple[Turn, ...] = ()
    queued: bool = False
    reason: str = ""
    # How many older turns had to leave a full queue for this one.
    dropped: int = 0


class LogRules(NamedTuple):
    """The rules for what is not logged of a conversation."""

    # Everything: until a time, or until it is resumed.
    paused: bool = False
    until: datetime | None = None
    # By name or pattern.
    sessions: tuple[str, ...] = ()
    # With all that is below them.
    folders: tuple[str, ...] = ()


class LogSize(NamedTuple):
    """The size of the conversation log: its turns, about its size in the store, and the size of a
    year of it."""

    turns: int = 0
    text_bytes: int = 0
    # With index and vectors.
    store_bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    year_bytes: int = 0


class ForgottenTurns(NamedTuple):
    """The result of forgetting turns: their number, the newest of them, and the memories that were
    made from them."""

    total: int
    turns: tuple[Turn, ...] = ()
    # Also those that are about the same word.
    memories: tuple[Memory, ...] = ()
    dry_run: bool = False


class Traces(NamedTuple):
    """The result of looking for traces of memories: the same text in another layer, and turns of
    the log."""

    memories: tuple[Memory, ...] = ()
    turns: tuple[Turn, ...] = ()


class Noted(NamedTuple):
    """The result of one proposal of a pass: stored, mentioned, superseded, held, dropped …, and
    why."""

    outcome: str
    reason: str = ""
    # Its first words.
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
    """The prompt for the agent, how many turns were looked at, and what was captured. `left_out`
    counts older turns that were too many; `note` says what was not looked at, and what to do."""

    prompt: str
    turns: int = 0
    noted: tuple[Noted, ...] = ()
    left_out: int = 0
    note: str = ""


class UsageRow(NamedTuple):
    """The usage of one pass with one model on one day (UTC)."""

    day: date
    work: str
    model: str
    requests: int = 0
    # How often nothing usable came of asking.
    failed: int = 0
    # As the server counted them, or a guess where it counts nothing.
    tokens_in: int = 0
    tokens_out: int = 0


HeldKind: TypeAlias = Literal["quarantined", "conflict", "low_trust"]
HELD_KINDS: tuple[HeldKind, ...] = get_args(HeldKind)
# The metadata field that holds the id of the memory that a conflict is with.
CONTRADICTS = "contradicts"
# The metadata field of everything held: its kind, and the names that it was to be known by. One
# that a caller of `remember` gives is dropped.
HELD = "held"
_KIND = "kind"
_NAMES = ("key", "source_path", "supersedes")
# Rows without a kind: the first words of the reason show it.
_FIRST_WORDS: tuple[tuple[str, HeldKind], ...] = (
    ("contradicts ", "conflict"),
    ("low trust: ", "low_trust"),
)
# Codes of a verdict. A reason has the form `CODE` or `CODE: words` (see `with_code`).
APPROVED = "approved in review"
REJECTED = "rejected in review"
EXPIRED = "expired in review"


class Item(NamedTuple):
    """A memory that waits in the inbox: why, what approving it would replace, and when it goes by
    itself."""

    memory: Memory
    kind: HeldKind
    why: str
    about: Memory | None
    expires_at: datetime


def kind_of(memory: Memory) -> HeldKind:
    """Why a memory is held, as a code."""
    if not memory.quarantine:
        return "quarantined"
    stored: HeldKind | None = _held_of(memory).get(_KIND)
    if stored in HELD_KINDS:
        return stored
    words = (kind for first, kind in _FIRST_WORDS if memory.quarantine.startswith(first))
    return next(words, "quarantined")


def held_as_conflict(memory: Memory, other: Memory, why: str) -> Memory:
    """The memory, held because it contradicts another one and it is not certain which holds."""
    return _held_against(memory, "conflict", other, f"contradicts #{other.number}: {why}")


def held_as_low_trust(memory: Memory, voice: str, other: Memory, why: str) -> Memory:
    """The memory, held because it contradicts what the user said, on a voice of lower trust."""
    reason = f"low trust: {voice} says otherwise than #{other.number}: {why}"
    return _held_against(memory, "low_trust", other, reason)


def _held_against(memory: Memory, kind: HeldKind, other: Memory, reason: str) -> Memory:
    metadata = with_held({**memory.metadata, CONTRADICTS: other.id}, {_KIND: kind})
    return memory._replace(quarantine=reason, metadata=metadata)


def with_reason_of(metadata: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of a memory that is given the reason, and so the kind, of a new version."""
    out = {name: value for name, value in metadata.items() if name != CONTRADICTS}
    held = {name: value for name, value in _mapping(out.pop(HELD, None)).items() if name != _KIND}
    if kind := _mapping(new.get(HELD)).get(_KIND):
        held[_KIND] = kind
    if held:
        out[HELD] = held
    return out | {name: new[name] for name in (CONTRADICTS,) if name in new}


def with_held(metadata: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """Metadata with more values in its field of what is held."""
    return {**metadata, HELD: {**_mapping(metadata.get(HELD)), **values}}


def reason_without_words(memory: Memory) -> str:
    """The reason for which a memory is held, without words of the memory that it contradicts."""
    parts = memory.quarantine.split(": ")
    kept = {"conflict": 1, "low_trust": 2, "quarantined": len(parts)}[kind_of(memory)]
    return ": ".join(parts[:kept])


def with_code(code: str, words: str) -> str:
    """A reason for holding a memory, with its code at the beginning."""
    return f"{code}: {words}" if words else code


def was_rejected(memory: Memory) -> bool:
    """Whether a person rejected it in review."""
    return memory.state == "archived" and memory.state_reason.partition(": ")[0] == REJECTED


def is_pending(memory: Memory) -> bool:
    """Whether a memory waits in the inbox. A question for a person has a list of its own."""
    return (
        bool(memory.quarantine)
        and memory.quarantine != AWAITS
        and memory.forgotten_at is None
        and memory.state in SHOWN_STATES
    )


def names_of(memory: Memory) -> dict[str, Any]:
    """The names that a memory was to have before it was held."""
    held = _held_of(memory)
    return {name: held[name] for name in _NAMES if isinstance(held.get(name), str)}


def _held_of(memory: Memory) -> dict[str, Any]:
    return _mapping(memory.metadata.get(HELD))


def _mapping(value: Any) -> dict[str, Any]:
    # Metadata may come from an import, and then may hold anything.
    return value if isinstance(value, dict) else {}


DecisionStatus: TypeAlias = Literal["open", "decided", "withdrawn"]

OPEN_MAX = 3
OPTIONS_LEAST, OPTIONS_MOST = 2, 4
CATEGORY = "decision"
# Where the metadata of the question's memory has it, and that of the answer's.
FIELD, DECIDES = "decision", "decides"


class Decision(NamedTuple):
    """One question. `option` is what was chosen, `answer` the id of the memory that says so."""

    memory: Memory
    question: str
    options: tuple[str, ...]
    context: str
    status: DecisionStatus
    option: str = ""
    note: str = ""
    answer: str = ""


def decision_of(memory: Memory) -> Decision | None:
    """The decision that a memory holds, or None if it holds none."""
    held = memory.metadata.get(FIELD)
    if not isinstance(held, Mapping):
        return None
    options = held.get("options")
    if not isinstance(options, list | tuple) or not options:
        return None
    status: DecisionStatus = "withdrawn"
    if memory.quarantine == AWAITS:
        status = "open"
    elif held.get("status") == "decided":
        status = "decided"
    return Decision(
        memory,
        _text(held, "question"),
        tuple(str(option) for option in options),
        _text(held, "context"),
        status,
        _text(held, "option"),
        _text(held, "note"),
        _text(held, "answer"),
    )


def _text(held: Mapping[str, Any], name: str) -> str:
    # Metadata may come from an import, and then may hold anything.
    value = held.get(name)
    return value if isinstance(value, str) else ""


def to_metadata(decision: Decision) -> dict[str, Any]:
    """The metadata of a question's memory."""
    kept = decision._asdict()
    del kept["memory"]
    return {**decision.memory.metadata, FIELD: {**kept, "options": list(decision.options)}}
