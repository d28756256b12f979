"""Extensions of the server that make the store better, and what to say where one is missing: what
still works, and the command that installs it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import psycopg

from holdfast.store.postgres.migration_steps import by_our_names
from holdfast.store.postgres.tables import SCHEMA

# Where nobody has installed it yet. Not in the first schema of somebody's path, which is mostly
# `public`: our statements are looked up where pgvector is too, and in our own schema only its owner
# makes functions. Whoever may use our tables may use it there.
INSTALL = f"CREATE EXTENSION vector SCHEMA {SCHEMA}"
# Index scans that go on until enough rows pass the filter came with pgvector 0.8.
_VECTOR_FROM = (0, 8)
_WITHOUT = (
    "Recall works without it, by words and by meaning; the vectors of large hubs are compared one"
    " by one."
)


class Vector(NamedTuple):
    """Where pgvector is installed ('' where it is not, or too old), and its version."""

    schema: str = ""
    version: str = ""


def vector(connection: psycopg.Connection[Any]) -> Vector:
    """What there is of pgvector in this database."""
    row = connection.execute(
        "SELECT n.nspname, e.extversion FROM pg_catalog.pg_extension e"
        " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return Vector()
    return Vector(row[0] if _is_enough(row[1]) else "", row[1])


def _is_enough(version: str) -> bool:
    # A version may end in words; what counts comes first.
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return parts >= _VECTOR_FROM


def lacking(connection: psycopg.Connection[Any], address: str) -> str:
    """What is missing in this database and how it gets there; '' where nothing is."""
    found = vector(connection)
    if found.schema:
        return ""
    if found.version:
        missing = f"pgvector {found.version} in {address} is older than 0.8."
    else:
        where = "in" if _offered(connection) else "on the server of"
        missing = f"pgvector is not installed {where} {address}."
    return f"{missing} {_WITHOUT} To have it, {remedy(connection)}"


def remedy(connection: psycopg.Connection[Any]) -> str:
    """What brings pgvector here: a package where the server has none that will do, and then a
    statement."""
    offered, major = _offered(connection), connection.info.server_version // 10_000
    run = "ALTER EXTENSION vector UPDATE" if vector(connection).version else INSTALL
    if offered and _is_enough(offered):
        return f"a superuser runs: {run}"
    what = "a newer package" if offered else "the package"
    package = f"postgresql-{major}-pgvector"
    return f"install {what} {package} on the server; then a superuser runs: {run}"


def _offered(connection: psycopg.Connection[Any]) -> str:
    """The version that could be installed; '' where the server has none."""
    row = connection.execute(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    return "" if row is None else str(row[0])


def make_vector(connection: psycopg.Connection[Any]) -> None:
    """Installs pgvector, or brings it up to date, where that is possible and allowed; one that is
    there stays where it is. Our schema is there by now."""
    known = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    refused = (
        psycopg.errors.InsufficientPrivilege,
        # A managed server with a list of what may be installed, which its owner has not put it on.
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.ReadOnlySqlTransaction,
        # Another process has made it meanwhile.
        psycopg.errors.DuplicateObject,
        psycopg.errors.UniqueViolation,
    )
    with suppress(*refused), by_our_names(connection):
        found = vector(connection)
        if not found.schema and connection.execute(known).fetchone() is not None:
            connection.execute("ALTER EXTENSION vector UPDATE" if found.version else INSTALL)
