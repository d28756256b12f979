"""The embedded store: one SQLite file, opened through apsw."""

from __future__ import annotations

from holdfast.store.sqlite.store import SqliteStore, open_store

__all__ = ["SqliteStore", "open_store"]
