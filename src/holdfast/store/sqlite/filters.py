"""A Filter in SQL: the same test as Filter.admits, on the table alias `m`."""

from __future__ import annotations

from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.query import Filter, Order

HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The value a list is sorted by, and whether it runs downwards; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
}


def where(filter: Filter) -> tuple[str, list[Any]]:
    """The conditions (beginning with ' AND ', or empty) and their bindings."""
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, allowed: tuple[str, ...]) -> None:
        if allowed:
            parts.append(f"m.{column} IN ({', '.join('?' * len(allowed))})")
            values.extend(allowed)

    among("state", filter.states)
    among("category", filter.categories)
    among("kind", filter.kinds)
    among("stability", filter.stabilities)
    among("layer", filter.layers)
    among("source", filter.sources)
    for tag in filter.tags:
        parts.append("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)")
        values.append(tag)
    if filter.key is not None:
        parts.append("m.key = ?")
        values.append(filter.key)
    if filter.session is not None:
        parts.append("m.session = ?")
        values.append(filter.session)
    if filter.pinned is not None:
        parts.append("m.pinned = ?")
        values.append(int(filter.pinned))
    if filter.forgotten is not None:
        parts.append(f"m.forgotten_at IS {'NOT ' if filter.forgotten else ''}NULL")
    if filter.quarantined is not None:
        parts.append(f"m.quarantine {'<>' if filter.quarantined else '='} ''")
    if filter.since is not None:
        parts.append(f"{HAPPENED} >= ?")
        values.append(to_micros(filter.since))
    if filter.until is not None:
        parts.append(f"{HAPPENED} < ?")
        values.append(to_micros(filter.until))
    return "".join(f" AND {part}" for part in parts), values
