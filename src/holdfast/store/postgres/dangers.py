"""What somebody who sets a database up should know: who could listen on the line, and who could put
functions where we look for those of pgvector. Says it, and changes nothing."""

from __future__ import annotations

from typing import Any

import psycopg

# What does not leave this machine needs no encryption.
LOCAL = ("/", "localhost", "127.", "::1")
_SAFER = "Add sslmode=verify-full and sslrootcert=FILE to the URL."


def dangers(
    connection: psycopg.Connection[Any], address: str, vector_schema: str
) -> tuple[str, ...]:
    """A sentence for each, with what to do about it."""
    found = (_line(connection, address), _everybody(connection, vector_schema))
    return tuple(one for one in found if one)


def _line(connection: psycopg.Connection[Any], address: str) -> str:
    info = connection.info
    if not info.host or info.host.startswith(LOCAL):
        return ""
    if not connection.pgconn.ssl_in_use:
        return f"The line to {address} is not encrypted: what goes over it can be read. {_SAFER}"
    if info.get_parameters().get("sslmode") != "verify-full":
        return (
            f"The line to {address} is encrypted, but nobody looks whether the server at its other"
            f" end is the right one. {_SAFER}"
        )
    return ""


def _everybody(connection: psycopg.Connection[Any], schema: str) -> str:
    """Servers before 15 let everybody make functions in `public`; one that fits a call better than
    the server's own would be called instead, with our rights."""
    query = "SELECT has_schema_privilege('public', %s, 'CREATE')"
    if not schema or connection.execute(query, (schema,)).fetchone() != (True,):
        return ""
    return (
        f"Everybody may make functions in the schema `{schema}`, where those of pgvector are looked"
        f' for. Its owner runs: REVOKE CREATE ON SCHEMA "{schema}" FROM PUBLIC'
    )
