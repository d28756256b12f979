"""Warnings for the database administrator: what is missing and which migrations are to come, with
the command that helps. Changes nothing.
"""

from __future__ import annotations

from typing import Any

import psycopg

from holdfast.store.postgres import schema
from holdfast.store.postgres.migration_steps import waiting
from holdfast.store.postgres.names import SCHEMA
from holdfast.store.postgres.pgvector import lacking


def notes(connection: psycopg.Connection[Any], address: str) -> list[str]:
    """One or two sentences for each."""
    found = (lacking(connection, address), _to_come(connection, address))
    return [one for one in found if one]


def _to_come(connection: psycopg.Connection[Any], address: str) -> str:
    row = connection.execute(f"SELECT max(version) FROM {SCHEMA}.migrations").fetchone()
    behind = row is not None and row[0] < schema.newest()
    later = [one.step.name for one in waiting(connection, schema.MIGRATIONS)]
    if not later and not behind:
        return ""
    to_come = ", ".join([*([f"schema {schema.newest()}"] if behind else []), *later])
    return (
        f"The schema of {address} is not up to date ({to_come} to come). Everything works, slower"
        " in places. The owner of the schema runs: holdfast store migrate"
    )
