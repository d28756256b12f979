"""Answers that a server keeps for requests that are sent again. They hold what was answered, so
they lose it together with the memory or the hub that it came from. Who asked, and what a request
is, this module does not know."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from holdfast.domain.records import NO_HUB
from holdfast.engine.people.records import every

if TYPE_CHECKING:
    from holdfast.store.base import Writer

KIND = "idempotency"


def blank(writer: Writer, ids: Collection[str]) -> None:
    """Empties the answers in which any of these stands: memories that are purged, or a hub that
    goes. That the request was answered stays known, or sending it again would bring them back."""
    for record in every(writer, NO_HUB, KIND):
        answer = record.body["answer"]
        if any(one in answer for one in ids):
            writer.put_record(record._replace(body={**record.body, "answer": ""}))


# An id of ours, or a time.
_PLAIN = re.compile(r"[a-z]+_[0-9A-Za-z]+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)?")
_MEMORY = re.compile(r"\bmem_[0-9A-Za-z]+")
# Fields whose values are of a closed list, and say nothing of what a memory holds.
_CLOSED = frozenset(
    {"action", "boundary", "kind", "layer", "outcome", "result", "source", "stability", "state"}
    | {"status", "trust"}
)


def memories_in(answer: str) -> frozenset[str]:
    """The ids of the memories that a kept answer is about."""
    return frozenset(_MEMORY.findall(answer))


def state_only(answer: Any, field: str = "") -> Any:
    """An answer without what anybody wrote: ids, numbers, times and states stay, and its shape, so
    that a client that sent a request again learns that it was done."""
    if isinstance(answer, dict):
        if field == "metadata":
            return {}
        return {name: state_only(value, name) for name, value in answer.items()}
    if isinstance(answer, list):
        kept = [state_only(one, field) for one in answer]
        return [one for one in kept if one != ""]
    if isinstance(answer, str) and field not in _CLOSED and not _PLAIN.fullmatch(answer):
        return ""
    return answer
