"""A Filter in SQL: the same test as Filter.admits, on the table alias `m`."""

from __future__ import annotations

from typing import Any

import apsw

from holdfast.domain.clock import to_micros
from holdfast.domain.query import Filter, Order
from holdfast.domain.viewer import Viewer

HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The value a list is sorted by, and whether it runs downwards; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
    "happened": (HAPPENED, True),
}


def seen(viewer: Viewer) -> str:
    """The same test as Viewer.sees, with its values written out."""
    allowed = ", ".join(apsw.format_sql_value(boundary) for boundary in viewer.boundaries)
    return f"(m.boundary IN ({allowed}) OR m.owner = {apsw.format_sql_value(viewer.actor)})"


def where(wanted: Filter) -> tuple[str, list[Any]]:
    """The conditions (beginning with ' AND ', or empty) and their bindings."""
    parts: list[str] = []
    values: list[Any] = []

    def among(column: str, allowed: tuple[str, ...]) -> None:
        if allowed:
            parts.append(f"m.{column} IN ({', '.join('?' * len(allowed))})")
            values.extend(allowed)

    among("state", wanted.states)
    among("category", wanted.categories)
    among("kind", wanted.kinds)
    among("stability", wanted.stabilities)
    among("layer", wanted.layers)
    among("source", wanted.sources)
    among("trust", wanted.trusts)
    for tag in wanted.tags:
        parts.append("EXISTS (SELECT 1 FROM json_each(m.tags) WHERE value = ?)")
        values.append(tag)
    if wanted.key is not None:
        parts.append("m.key = ?")
        values.append(wanted.key)
    if wanted.came_from is not None:
        folder, file = wanted.came_from.rstrip("/") + "/", "/" + wanted.came_from
        parts.append(
            "(m.source = ? OR m.source_agent = ? OR m.source_path = ?"
            " OR substr(m.source_path, 1, length(?)) = ? OR substr(m.source_path, -length(?)) = ?)"
        )
        values += [wanted.came_from] * 3 + [folder, folder, file, file]
    if wanted.session is not None:
        parts.append("m.session = ?")
        values.append(wanted.session)
    if wanted.pinned is not None:
        parts.append("m.pinned = ?")
        values.append(int(wanted.pinned))
    if wanted.forgotten is not None:
        parts.append(f"m.forgotten_at IS {'NOT ' if wanted.forgotten else ''}NULL")
    if wanted.quarantined is not None:
        # `>` and not `<>`: only a range lets the index of what is held be used.
        parts.append(f"m.quarantine {'>' if wanted.quarantined else '='} ''")
    if wanted.since is not None:
        parts.append(f"{HAPPENED} >= ?")
        values.append(to_micros(wanted.since))
    if wanted.until is not None:
        parts.append(f"{HAPPENED} < ?")
        values.append(to_micros(wanted.until))
    if wanted.known_by is not None:
        parts.append("m.created_at <= ?")
        values.append(to_micros(wanted.known_by))
    if wanted.alive_at is not None:
        parts.append("(m.expires_at IS NULL OR m.expires_at > ?)")
        values.append(to_micros(wanted.alive_at))
    if wanted.holds_at is not None:
        parts.append("m.superseded_by IS NULL AND (m.valid_until IS NULL OR m.valid_until > ?)")
        values.append(to_micros(wanted.holds_at))
    return "".join(f" AND {part}" for part in parts), values
