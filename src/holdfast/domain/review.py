"""What waits for a person: memories held for review, and questions that an agent asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from holdfast.domain.memory import Memory
from holdfast.domain.query import SHOWN_STATES

HeldKind: TypeAlias = Literal["quarantined", "conflict", "low_trust"]
KINDS: tuple[HeldKind, ...] = get_args(HeldKind)
# The metadata field that holds the id of the memory that a conflict is with.
CONTRADICTS = "contradicts"
# The metadata field of everything held: its kind, and the names that it was to be known by. One
# that a caller of `remember` gives is dropped.
HELD = "held"
_KIND = "kind"
_NAMES = ("key", "source_path", "supersedes")
# Rows without a kind tell it by the first words of their reason.
_FIRST_WORDS: tuple[tuple[str, HeldKind], ...] = (
    ("contradicts ", "conflict"),
    ("low trust: ", "low_trust"),
)
# Codes of a verdict. A reason has the form `CODE` or `CODE: words` (see `with_code`).
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
    """Why a memory is held, as a code."""
    if not memory.quarantine:
        return "quarantined"
    stored: HeldKind | None = _held_of(memory).get(_KIND)
    if stored in KINDS:
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
    """A reason that begins with a code."""
    return f"{code}: {words}" if words else code


def was_rejected(memory: Memory) -> bool:
    """Whether a person rejected it in review."""
    return memory.state == "archived" and memory.state_reason.partition(": ")[0] == REJECTED


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
    """What the memory of the question stores of it."""
    kept = decision._asdict()
    del kept["memory"]
    return {**decision.memory.metadata, FIELD: {**kept, "options": list(decision.options)}}
