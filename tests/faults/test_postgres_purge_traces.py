"""What a purge leaves on the disk of a PostgreSQL server, and that its owner can clear all of it as
the documentation says (docs/how-to/keep-memories-in-postgresql.md)."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from holdfast.api.memory import open as open_memory
from tests.postgres_server import Server, spare_server

psycopg = pytest.importorskip("psycopg")

from holdfast.store.postgres import PostgresStore  # noqa: E402 - needs the extra `postgres`
from tests.faults.postgres_edges import SETTINGS  # noqa: E402

pytestmark = pytest.mark.faults

_PAGE = Path(__file__).parents[2] / "docs/how-to/keep-memories-in-postgresql.md"
_SECRET = "zanzibarquux"


def _traces(server: Server) -> set[str]:
    """The folders of the server in which the word stands."""
    found = set()
    for path in server.data.rglob("*"):
        if path.is_file() and _SECRET.encode() in path.read_bytes():
            found.add(path.relative_to(server.data).parts[0])
    return found


def _clearing() -> list[str]:
    """The statements that the page tells the owner to run."""
    page = _PAGE.read_text(encoding="utf-8")
    told = re.search(r"## What a purge leaves.*?```sql\n(.*?)```", page, re.DOTALL)
    assert told is not None
    return [line.partition(" --")[0] for line in told[1].splitlines() if line.strip()]


def test_the_owner_of_the_server_can_clear_every_byte_of_what_was_purged(tmp_path: Path) -> None:
    if os.environ.get("HOLDFAST_TEST_POSTGRES"):
        pytest.skip("the files of a server that others use are not looked at")
    server = spare_server()
    # A statement that another test has left at work would keep what it may still see from being
    # cleared, in its own database.
    with psycopg.connect(server.url("postgres"), autocommit=True) as owner:
        owner.execute("DROP DATABASE IF EXISTS purged WITH (FORCE)")
        owner.execute("CREATE DATABASE purged")
    url = server.url("purged")
    with psycopg.connect(url, autocommit=True) as owner:
        PostgresStore(url, partitions=1).close()
        with open_memory(tmp_path, settings={**SETTINGS, "store.url": url}) as memory:
            hub = memory.hub("plans", create=True)
            stored = hub.remember(f"The garden gate is painted {_SECRET}")
            for number in range(3):
                hub.remember(f"Roses are watered at {number}")
            owner.execute("ANALYZE")
            hub.purge(stored.memory.id)
            rows = owner.execute("SELECT m::text FROM holdfast.memories m").fetchall()
            assert rows
            assert not [row for row in rows if _SECRET in row[0]]
            # As the page says: no statement finds it, and bytes of it are there.
            owner.execute("CHECKPOINT")
            assert {"base", "pg_wal"} <= _traces(server)
            for statement in _clearing():
                owner.execute(statement)
            assert _traces(server) == set()
            assert memory.core.store.check() == []
