"""pgvector: whether it is installed, how to install it, and what works without it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import psycopg

from holdfast.store.postgres.migration_steps import own_search_path
from holdfast.store.postgres.tables import SCHEMA

# Installed in our schema, not in the first schema of a search_path, which is mostly `public`: names
# in our statements are also looked up in the schema of pgvector, and only the owner creates
# functions in ours.
INSTALL = f"CREATE EXTENSION vector SCHEMA {SCHEMA}"
# Iterative index scans, which continue until enough rows pass the filter, came with pgvector 0.8.
_VECTOR_FROM = (0, 8)
_WITHOUT = (
    "Recall works without it, by words and by meaning; the vectors of large hubs are compared one"
    " by one."
)


class Vector(NamedTuple):
    """The schema of pgvector ('' where it is missing or too old), and its version."""

    schema: str = ""
    version: str = ""


def vector(connection: psycopg.Connection[Any]) -> Vector:
    """The installation of pgvector in this database."""
    row = connection.execute(
        "SELECT n.nspname, e.extversion FROM pg_catalog.pg_extension e"
        " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return Vector()
    return Vector(row[0] if _is_enough(row[1]) else "", row[1])


def _is_enough(version: str) -> bool:
    # A version may end in words; the numbers come first.
    parts = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    return parts >= _VECTOR_FROM


def missing_note(connection: psycopg.Connection[Any], address: str) -> str:
    """A sentence that says that pgvector is missing and how to install it; '' where it is there."""
    found = vector(connection)
    if found.schema:
        return ""
    if found.version:
        missing = f"pgvector {found.version} in {address} is older than 0.8."
    else:
        where = "in" if _available(connection) else "on the server of"
        missing = f"pgvector is not installed {where} {address}."
    return f"{missing} {_WITHOUT} To have it, {how_to_install(connection)}"


def how_to_install(connection: psycopg.Connection[Any]) -> str:
    """How to install pgvector: a package, where the server has none that is new enough, and then a
    statement."""
    offered, major = _available(connection), connection.info.server_version // 10_000
    run = "ALTER EXTENSION vector UPDATE" if vector(connection).version else INSTALL
    if (who := _service_admin(connection)) is not None:
        return f"{who} runs: {run}"
    if offered and _is_enough(offered):
        return f"a superuser runs: {run}"
    what = "a newer package" if offered else "the package"
    package = f"postgresql-{major}-pgvector"
    return f"install {what} {package} on the server; then a superuser runs: {run}"


# Managed services have no superuser. Each has a role in its place, by which it is recognised.
_SERVICE_ADMINS = {
    "azure_pg_admin": "add `vector` to the server parameter azure.extensions; then a member of"
    " azure_pg_admin",
    "rds_superuser": "a member of rds_superuser, where rds.allowed_extensions has `vector`,",
    "cloudsqlsuperuser": "a member of cloudsqlsuperuser",
    "alloydbsuperuser": "a member of alloydbsuperuser",
}


def _service_admin(connection: psycopg.Connection[Any]) -> str | None:
    """Who may install an extension on this managed service; None on a server of one's own."""
    found = connection.execute(
        "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", (list(_SERVICE_ADMINS),)
    ).fetchone()
    return None if found is None else _SERVICE_ADMINS[found[0]]


def _available(connection: psycopg.Connection[Any]) -> str:
    """The version that the server could install; '' where it has none."""
    row = connection.execute(
        "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    return "" if row is None else str(row[0])


def install_vector(connection: psycopg.Connection[Any]) -> None:
    """Installs or updates pgvector where that is possible and allowed. One that is installed stays
    in its schema. Our schema exists by now."""
    known = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
    refused = (
        psycopg.errors.InsufficientPrivilege,
        # A managed server whose list of allowed extensions does not have it.
        psycopg.errors.FeatureNotSupported,
        psycopg.errors.ReadOnlySqlTransaction,
        # Another process has installed it meanwhile.
        psycopg.errors.DuplicateObject,
        psycopg.errors.UniqueViolation,
    )
    with suppress(*refused), own_search_path(connection):
        found = vector(connection)
        if not found.schema and connection.execute(known).fetchone() is not None:
            connection.execute("ALTER EXTENSION vector UPDATE" if found.version else INSTALL)
