"""A server that is too old is refused by everything that opens a store, and nothing is made on it.

Where the server of the tests is that old itself, it is asked; elsewhere the line to it changes what
it says of its version.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from tests.edges.cli.cli_calls import Run
from tests.postgres_server import databases

pytest.importorskip("psycopg_pool", reason="the extra `postgres` is not installed")

import psycopg

import holdfast
from holdfast.errors import StoreError
from tests.faults.postgres_edges import Line

pytestmark = pytest.mark.sqlite_only("says by itself which stores it is about")

OLDEST = 14
SAID = re.compile(rf" is PostgreSQL 13\.\S+.*; Holdfast needs {OLDEST} or newer\.")
# A server says it once, in the first words of a connection.
_VERSION = re.compile(rb"(?<=server_version\0)\d\d(?=\.)")


class OldLine(Line):
    """A line to a server that takes it for one of a version before the oldest."""

    def _pass_on(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while sent := one.recv(65536):
                other.sendall(_VERSION.sub(str(OLDEST - 1).encode(), sent))
        super()._pass_on(one, other)


@pytest.fixture
def name() -> Iterator[str]:
    name = databases().make_empty()
    yield name
    databases().drop(name)


@pytest.fixture
def url(name: str) -> Iterator[str]:
    given = databases().url(name)
    with psycopg.connect(given) as connection:
        old = connection.info.server_version < OLDEST * 10000
    if old:
        yield given
        return
    with closing(OldLine(given)) as line:
        yield line.url


@pytest.mark.parametrize(
    "command", ["store init --url", "store migrate --url", "store index --url", "move --to"]
)
def test_a_command_says_what_is_found_and_what_is_needed(
    run: Run, url: str, name: str, command: str
) -> None:
    run("remember", "The office is in Bonn")
    told = run(*command.split(), url)
    assert told.code == 6
    assert SAID.search(told.err), told.err
    assert "Upgrade the server" in told.err
    assert _schemas(name) == 0


def test_opening_a_store_says_so_too(url: str, name: str) -> None:
    with pytest.raises(StoreError, match=SAID), holdfast.open(url) as memory:
        memory.hub("plans").remember("The office is in Bonn")
    assert _schemas(name) == 0


def _schemas(name: str) -> int:
    with psycopg.connect(databases().url(name)) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'holdfast'"
        ).fetchone()
    assert row is not None
    return int(row[0])
