"""A Filter as SQL conditions: the same test as Filter.admits, on the table alias `m`.

Names that may be long (keys, paths, sessions) are looked up by a hash column, because an index
entry may not be longer than a third of a page.
"""

from __future__ import annotations

from typing import Any

from holdfast.domain.clock import to_micros
from holdfast.domain.query import Filter, Order
from holdfast.domain.viewer import Viewer

HAPPENED = "coalesce(m.occurred_at, m.created_at)"

# The column a list is sorted by, and whether it is descending; the number breaks ties.
ORDERINGS: dict[Order, tuple[str, bool]] = {
    "newest": ("m.number", True),
    "oldest": ("m.number", False),
    "number": ("m.number", False),
    "updated": ("m.updated_at", True),
    "accessed": ("coalesce(m.accessed_at, 0)", True),
    "happened": (HAPPENED, True),
}

# The same test as Viewer.sees.
SEEN = " AND (m.boundary = ANY(%(viewer_sees)s) OR m.owner = %(viewer)s)"


def viewer_values(viewer: Viewer | None) -> dict[str, Any]:
    """The values of SEEN."""
    if viewer is None:
        return {}
    # PostgreSQL stores no NUL, so an actor with one in its name owns nothing.
    name = None if "\0" in viewer.actor else viewer.actor
    return {"viewer": name, "viewer_sees": list(viewer.boundaries)}


# Each list of a filter and its column.
_LISTS = (
    ("states", "state"),
    ("categories", "category"),
    ("kinds", "kind"),
    ("stabilities", "stability"),
    ("layers", "layer"),
    ("sources", "source"),
    ("trusts", "trust"),
)
# Both bounds are always given: for one bound the planner assumes a third of all rows, and would
# read the whole table rather than use the index of times.
_NEVER = 2**62
_MOMENTS = (
    ("since", f"{HAPPENED} >= %(since)s AND {HAPPENED} < {_NEVER}"),
    ("until", f"{HAPPENED} < %(until)s AND {HAPPENED} > -{_NEVER}"),
    ("known_by", "m.created_at <= %(known_by)s"),
    ("alive_at", "(m.expires_at IS NULL OR m.expires_at > %(alive_at)s)"),
    (
        "holds_at",
        "m.superseded_by IS NULL AND (m.valid_until IS NULL OR m.valid_until > %(holds_at)s)",
    ),
)


def where(wanted: Filter) -> tuple[str, dict[str, Any]]:
    """The conditions (beginning with ' AND ', or empty) and their values."""
    parts: list[str] = []
    values: dict[str, Any] = {}
    for field, column in _LISTS:
        if allowed := getattr(wanted, field):
            parts.append(f"m.{column} = ANY(%({field})s)")
            values[field] = list(allowed)
    if wanted.tags:
        parts.append("m.tags @> %(tags)s::text[]")
        values["tags"] = list(wanted.tags)
    if wanted.key is not None:
        parts.append("m.key_hash = hashtextextended(%(key)s, 0) AND m.key = %(key)s")
        values["key"] = wanted.key
    if wanted.session is not None:
        parts.append(
            "m.session_hash = hashtextextended(%(session)s, 0) AND m.session = %(session)s"
        )
        values["session"] = wanted.session
    if wanted.came_from is not None:
        parts.append(
            "(m.source = %(came_from)s OR m.source_agent = %(came_from)s"
            " OR m.source_path = %(came_from)s OR starts_with(m.source_path, %(in_folder)s)"
            " OR right(m.source_path, length(%(as_file)s)) = %(as_file)s)"
        )
        values["came_from"] = wanted.came_from
        values["in_folder"] = wanted.came_from.rstrip("/") + "/"
        values["as_file"] = "/" + wanted.came_from
    if wanted.pinned is not None:
        parts.append("m.pinned" if wanted.pinned else "NOT m.pinned")
    if wanted.forgotten is not None:
        parts.append(f"m.forgotten_at IS {'NOT ' if wanted.forgotten else ''}NULL")
    if wanted.quarantined is not None:
        parts.append(f"m.quarantine {'<>' if wanted.quarantined else '='} ''")
    for field, condition in _MOMENTS:
        if (moment := getattr(wanted, field)) is not None:
            parts.append(condition)
            values[field] = to_micros(moment)
    return "".join(f" AND {part}" for part in parts), values
