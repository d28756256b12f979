"""A question that an agent put to a person, and what became of it.

It is kept as a memory: its metadata says what was asked and answered, and while it is open it is
hidden like anything else that waits for a person. So history, undo and export need nothing new.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from holdfast.domain.memory import Memory

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
