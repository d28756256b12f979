"""The Reader of the contract, put together from its parts."""

from __future__ import annotations

from holdfast.store.postgres.records import RecordsReader
from holdfast.store.postgres.vectors import VectorsReader


class PostgresReader(VectorsReader, RecordsReader):
    """One consistent moment of the database, as values."""
