"""How a call names one memory: by id, number or key, one of them."""

from __future__ import annotations

from typing import Any

from holdfast.agents.desk import Desk
from holdfast.agents.tool import Parameter
from holdfast.domain.memory import Memory
from holdfast.domain.review import AWAITS
from holdfast.errors import Conflict, InvalidInput

REFERENCE = (
    Parameter("id", "reference", "Its id (mem_…)."),
    Parameter("number", "reference", "Its number, such as 12."),
    Parameter("key", "text", "Its key."),
)


def one_of(given: dict[str, Any], *others: str) -> str | int:
    """The one reference that was given; `others` are what might have been given instead."""
    named = [given[parameter.name] for parameter in REFERENCE if given[parameter.name] is not None]
    if len(named) == 1:
        reference: str | int = named[0]
        return reference
    ways = ", ".join(["its id", "its number", *(f"a {other}" for other in others)])
    if named:
        raise InvalidInput(f"Name the memory once: {ways} or its key.")
    raise InvalidInput(f"Say which memory: {ways} or its key.")


def refuse_held(desk: Desk, memory: Memory) -> None:
    """What waits for review is not read out to a model: a person decides whether it may be."""
    held = memory.quarantine and memory.quarantine != AWAITS
    if held and not desk.hub.core.settings["review.by_agents"]:
        raise Conflict(
            f"#{memory.number} waits for a person's review: it {memory.quarantine}.",
            hint="They decide with `holdfast review`.",
        )
