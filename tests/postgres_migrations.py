"""Migrations of PostgreSQL that exist only in tests.

Only schema 1 is real so far. With these the tests show that a store can be migrated while it is
used, before the first release needs it.
"""

from __future__ import annotations

from holdfast.store.postgres.schema import MIGRATIONS, Backfill, Check, Index, Migration, newest

SCHEMA_PATH = "holdfast.store.postgres.schema.MIGRATIONS"

# Only work that is left for later: indexes of a table that is whole, and of one with partitions.
SECOND = Migration(
    newest() + 1,
    "indexes",
    oldest=1,
    later=(
        Index("records_at", "records", "(kind, hub_id, at, id)"),
        Index("memories_titles", "memories", "(hub_id, title, number)"),
        Index("memories_kinds", "memories", "(hub_id, kind, number) WHERE forgotten_at IS NULL"),
    ),
)
KNOWN = (*MIGRATIONS, SECOND)
LATER = [step.name for step in SECOND.later]

# The third: variants that the tests choose from.
NEXT = SECOND.version + 1
COLUMN = Migration(
    NEXT, "a column", oldest=1, before=("ALTER TABLE memories ADD COLUMN mood text",)
)
FILL_MOODS = Backfill(
    "moods",
    "memories",
    "UPDATE memories SET mood = 'calm' WHERE hub_id = %(hub)s AND number IN (SELECT number"
    " FROM memories WHERE hub_id = %(hub)s AND mood IS NULL LIMIT %(most)s)",
)
FILLED = COLUMN._replace(
    name="a mood for every memory",
    later=(FILL_MOODS, Check("mood_is_known", "memories", "mood IS NOT NULL")),
)
