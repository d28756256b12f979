"""Finds a memory by its id, number or key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from holdfast.domain.clock import to_text
from holdfast.domain.memory import Memory
from holdfast.engine.core import Scope
from holdfast.errors import InvalidInput, NotFound
from holdfast.text.names import composed

if TYPE_CHECKING:
    from holdfast.store.base import Reader

Reference: TypeAlias = str | int

_NUMBER = re.compile(r"#?(\d{1,15})")


def find_memory(
    reader: Reader, scope: Scope, reference: Reference, *, forgotten: bool = False
) -> Memory:
    """Finds a memory; raises NotFound with a hint. With `forgotten`, forgotten memories are found
    too."""
    memory = _look_up(reader, scope.hub_id, reference)
    if memory is None:
        if str(reference).startswith("trn_") or reference == 0:
            # A turn that recall found has this id, and the number 0.
            raise NotFound(
                f"{_shown(reference)} is a turn of the conversation log and no memory.",
                hint="Only a memory can be read, changed or noted as used by its number or id.",
                command="`holdfast log` shows the turns.",
            )
        if _PLAIN_WORDS.fullmatch(str(reference)):
            raise NotFound(
                f"There is no memory {_shown(reference)} in hub `{scope.hub}`.",
                hint="A memory is named by its number, its id or its key. Search for its words.",
                command=f"`holdfast recall {reference}` finds it by its words, with its number.",
            )
        raise NotFound(
            f"There is no memory {_shown(reference)} in hub `{scope.hub}`.",
            hint="List the memories to see what is there.",
            command="`holdfast list` shows what is there.",
        )
    if memory.forgotten_at is not None and not forgotten:
        raise NotFound(
            f"Memory #{memory.number} was forgotten at {to_text(memory.forgotten_at)}.",
            hint="Restoring it brings it back.",
            command=f"`holdfast restore {memory.number}` brings it back.",
        )
    return memory


# No number, no id, and nothing that a shell would change.
_PLAIN_WORDS = re.compile(r"(?!#?\d+$|mem_)[\w -]{2,60}")


def _look_up(reader: Reader, hub_id: str, reference: Reference) -> Memory | None:
    if isinstance(reference, bool) or not isinstance(reference, str | int):
        raise InvalidInput(
            f"{reference!r} does not name a memory.", hint="Use its id, its number or its key."
        )
    if isinstance(reference, int):
        # Numbers beyond this do not fit into a store's columns.
        within = 0 < reference < 2**63
        return reader.memory_by_number(hub_id, reference) if within else None
    text = composed(reference)
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidInput(
            f"{reference!r} does not name a memory: it holds characters that are not text.",
            hint="Use its id, its number or its key.",
        )
    if not text:
        raise InvalidInput("Say which memory: its id, its number (#12) or its key.")
    if text.startswith("mem_"):
        found = reader.memory(hub_id, text)
        if found is not None:
            return found
    if number := _NUMBER.fullmatch(text):
        found = reader.memory_by_number(hub_id, int(number[1]))
        if found is not None:
            return found
    return reader.memory_by_key(hub_id, text)


def _shown(reference: Reference) -> str:
    if isinstance(reference, int):
        return f"#{reference}"
    return reference if len(reference) <= 80 else reference[:80] + "…"
