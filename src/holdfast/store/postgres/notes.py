"""What who keeps a database should know of it: what is missing, what is still to come, and where
the wall between hubs has gaps that older versions need. Says it, with the command that helps, and
changes nothing."""

from __future__ import annotations

import shlex
from typing import Any

import psycopg

from holdfast.store.postgres.extensions import lacking
from holdfast.store.postgres.names import SCHEMA
from holdfast.store.postgres.online import waiting
from holdfast.store.postgres.schema import MIGRATIONS, NEWEST
from holdfast.store.postgres.wall import VIEWS


def notes(connection: psycopg.Connection[Any], address: str) -> list[str]:
    """A sentence or two for each."""
    found = (
        lacking(connection, address),
        _to_come(connection, address),
        _gaps(connection, address),
    )
    return [one for one in found if one]


def _to_come(connection: psycopg.Connection[Any], address: str) -> str:
    row = connection.execute(f"SELECT max(version) FROM {SCHEMA}.migrations").fetchone()
    behind = row is not None and row[0] < NEWEST
    later = [one.step.name for one in waiting(connection, MIGRATIONS)]
    if not later and not behind:
        return ""
    to_come = ", ".join([*([f"schema {NEWEST}"] if behind else []), *later])
    return (
        f"The schema of {address} is not up to date ({to_come} to come). Everything works, slower"
        " in places. The owner of the schema runs: holdfast store migrate"
    )


def _gaps(connection: psycopg.Connection[Any], address: str) -> str:
    """What the role in use was given before there were views, and tables whose policies do not hold
    yet; whom the wall does not hold for is told nothing."""
    read, written = [], []
    for view in VIEWS:
        row = connection.execute(
            "SELECT has_table_privilege(c.oid, 'SELECT') AND NOT pg_has_role(c.relowner, 'USAGE'),"
            " NOT row_security_active(c.oid) FROM pg_class c WHERE c.oid = %s::regclass"
            " AND row_security_active(%s::regclass::oid)",
            (f"{SCHEMA}.{view.table}", f"{SCHEMA}.memories"),
        ).fetchone()
        if row is not None:
            read += [view.table] if row[0] else []
            written += [view.table] if row[1] else []
    if not read and not written:
        return ""
    row = connection.execute("SELECT current_user::text").fetchone()
    assert row is not None
    said = [f"may read {_and(read)} past their views"] if read else []
    said += [f"may write {_and(written)} for any hub"] if written else []
    return (
        f"The role `{row[0]}` of {address} {' and '.join(said)}, because older versions of Holdfast"
        " need that. When all programs are of this version, the owner of the schema runs: holdfast"
        f" store init --role {shlex.quote(row[0])}"
    )


def _and(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
