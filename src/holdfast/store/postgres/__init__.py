"""The store past one machine: PostgreSQL, through psycopg and its pool (extra `postgres`)."""

from __future__ import annotations

from holdfast.store.postgres.store import PostgresStore, open_store

__all__ = ["PostgresStore", "open_store"]
