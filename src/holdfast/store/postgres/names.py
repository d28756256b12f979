"""Where our tables are, and where the names in statements are looked up."""

from __future__ import annotations

SCHEMA = "holdfast"


def search_path(vector_schema: str = "") -> str:
    """Where names are looked up: our tables, and pgvector where it is. Not `public`, unless that is
    where: somebody who may make functions there could make one that fits better than the server's
    own. And temporary tables last, so that none stands before one of ours."""
    places = [SCHEMA, vector_schema] if vector_schema not in ("", SCHEMA) else [SCHEMA]
    quoted = ['"{}"'.format(place.replace('"', '""')) for place in places]
    return ", ".join([*quoted, "pg_temp"])
