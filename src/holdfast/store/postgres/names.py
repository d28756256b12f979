"""Where our tables are, and where the names in statements are looked up."""

from __future__ import annotations

SCHEMA = "holdfast"


def search_path(vector_schema: str = "") -> str:
    """Where names are looked up: our tables, and pgvector where it is. Not `public`, unless that is
    where: somebody who may make functions there could make one that fits better than the server's
    own. And temporary tables last, so that none stands before one of ours."""
    quoted = vector_schema.replace('"', '""')
    return ", ".join([f'"{SCHEMA}"', *([f'"{quoted}"'] if quoted else []), "pg_temp"])
