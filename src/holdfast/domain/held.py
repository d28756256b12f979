"""What is held for review: kept, and hidden until a person has looked at it. Pure: what the inbox
shows of a memory, and what its row says about why and since when. Who decides, the engine knows.
"""

from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.decision import AWAITS
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
