"""What waits for a person: memories held for review, and questions that an agent asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.memory import Memory
from holdfast.domain.query import SHOWN_STATES

HeldKind: TypeAlias = Literal["quarantined", "conflict", "low_trust"]
KINDS: tuple[HeldKind, ...] = get_args(HeldKind)
# How a reason begins that says more than that a text is shaped like orders.
_CONFLICT, _LOW_TRUST = "contradicts ", "low trust"
# Where the metadata of these two names the other memory, and that of anything held the names that
# it was to be known by: its key, its source path, what it was to supersede.
CONTRADICTS, HELD = "contradicts", "held"
# How the reasons begin of what a person, or time, decided.
APPROVED = "approved in review"
REJECTED = "rejected in review"
EXPIRED = "expired in review"


class Item(NamedTuple):
    """One thing to look at: why it is held, what approving it would change or replace (`about`),
    and when it goes if nobody does."""

    memory: Memory
    kind: HeldKind
    why: str
    about: Memory | None
    expires_at: datetime


def kind_of(memory: Memory) -> HeldKind:
    if memory.quarantine.startswith(_CONFLICT):
        return "conflict"
    return "low_trust" if memory.quarantine.startswith(_LOW_TRUST) else "quarantined"


def low_trust(voice: str, other: Memory, why: str) -> str:
    """The reason for which a lesser voice waits that speaks against what the user said."""
    return f"{_LOW_TRUST}: {voice} says otherwise than #{other.number}: {why}"


def is_pending(memory: Memory) -> bool:
    """Whether it waits in the inbox. A question for a person has a list of its own."""
    return (
        bool(memory.quarantine)
        and memory.quarantine != AWAITS
        and memory.forgotten_at is None
        and memory.state in SHOWN_STATES
    )


def names_of(memory: Memory) -> dict[str, Any]:
    """What a memory was to be known by before it was held."""
    held = memory.metadata.get(HELD)
    # Metadata may come from an import, and then may hold anything.
    if not isinstance(held, dict):
        return {}
    return {name: value for name, value in held.items() if isinstance(value, str)}


DecisionStatus: TypeAlias = Literal["open", "decided", "withdrawn"]

OPEN_MAX = 3
OPTIONS_LEAST, OPTIONS_MOST = 2, 4
CATEGORY = "decision"
# Why an open question is hidden; nothing else is hidden for this reason.
AWAITS = "waits for a person's decision"
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
    """The decision that a memory holds, or None where it holds none."""
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
    """What the memory of the question keeps of it."""
    kept = decision._asdict()
    del kept["memory"]
    return {**decision.memory.metadata, FIELD: {**kept, "options": list(decision.options)}}
